"""What a tool is, and what agents see of it: a name, schemas of its arguments and its result, and hints.

    @tools.add("star_entries", title="Star entries", scope=KeyScope.WRITE)
    def star_entries(call: ToolCall, arguments: StarArguments) -> StarResult:
        ""Set or remove the star of entries.""

The docstring is what a model reads about the tool. The schemas derive from the structs.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from copy import deepcopy
from typing import Any, Final, TypeVar, get_type_hints

import msgspec
from msgspec import Meta, Struct

from tidings.agents.confirmations import Confirmations
from tidings.base.errors import InvalidField
from tidings.base.messages import verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.rules.services import RuleServices
from tidings.services import Services

Handler = TypeVar("Handler", bound=Callable[..., Any])

# Characters of the JSON of a result. A list ends before it gets longer, and says where it goes on.
MAX_RESULT_CHARS: Final = 50_000
MAX_PAGE: Final = 50
MAX_IDS: Final = 100

_ID: Final = r"^[1-9][0-9]{0,18}$"
# Ids are texts: they have up to 19 digits, and programs that read numbers as floats lose the last ones.
EntryId = msgspec.Meta(pattern=_ID, description="The id of an entry.")
FeedId = msgspec.Meta(pattern=_ID, description="The id of a feed, from list_feeds.")
CategoryId = msgspec.Meta(pattern=_ID, description="The id of a category, from list_categories.")
ViewId = msgspec.Meta(pattern=_ID, description="The id of a view, from list_views.")
LabelId = msgspec.Meta(pattern=_ID, description="The id of a label, from list_labels.")


def text(description: str, max_chars: int = 1_000) -> Meta:
    """Return what is said about an argument that is a text."""
    return Meta(max_length=max_chars, description=description)


def number(description: str, *, minimum: int, maximum: int) -> Meta:
    """Return what is said about an argument that is a number."""
    return Meta(ge=minimum, le=maximum, description=description)


class Arguments(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of a tool. A model that makes one up is told, instead of being misunderstood."""


class Result(Struct, frozen=True, kw_only=True):
    """The result of a tool."""


class FromStrangers(Result, frozen=True, kw_only=True):
    """The result of a tool that has texts of strangers, in members called `from_strangers`."""

    notice: str = ""
    """Set when it is sent."""


class ToolCall(Struct, frozen=True):
    """What a tool is called with, besides its arguments."""

    tool: str
    user: User
    services: Services
    rules: RuleServices
    confirmations: Confirmations
    mark: str
    """For the texts of strangers within the result."""

    def confirmation(self, arguments: Any, about: Any = None) -> str:
        """Return the token that the second call has. arguments, about: what it is bound to."""
        now = self.services.clock()
        return self.confirmations.token(self.user.id, self.tool, [msgspec.to_builtins(arguments), about], now)

    def told_at(self, token: str, arguments: Any, about: Any = None) -> int:
        """Return when the first call was made. Raises InvalidField for a token that is not for this call."""
        bound = [msgspec.to_builtins(arguments), about]
        return self.confirmations.told_at(token, self.user.id, self.tool, bound, self.services.clock())


class Tool(Struct, frozen=True):
    """A tool, as it is declared."""

    name: str
    title: str
    description: str
    scope: KeyScope
    run: Callable[[ToolCall, Any], Result | Awaitable[Result]]
    arguments: type[Arguments]
    shown: dict[str, Any]
    """As `tools/list` has it."""

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.run)

    def read(self, sent: Any) -> Arguments:
        """Return the arguments that were sent. Raises InvalidField."""
        try:
            return msgspec.convert(sent, self.arguments)
        except msgspec.ValidationError as error:
            reason, _, place = str(error).replace("`", "").partition(" - at $")
            field = place.strip(".") or "arguments"
            raise InvalidField(field, verbatim(f"{reason}. See the inputSchema of {self.name}.")) from error


class Tools:
    """The declared tools, in the order in which they are listed."""

    def __init__(self) -> None:
        self.by_name: dict[str, Tool] = {}

    def add(
        self,
        name: str,
        *,
        title: str,
        scope: KeyScope,
        is_destructive: bool = False,
        is_idempotent: bool = False,
        reaches_out: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Declare the decorated function as a tool.

        is_destructive: what it changes cannot simply be changed back. is_idempotent: a second call changes nothing
        more. reaches_out: it deals with other servers than this one.
        """
        hints = {
            "readOnlyHint": scope is KeyScope.READ,
            "destructiveHint": is_destructive,
            "idempotentHint": is_idempotent or scope is KeyScope.READ,
            "openWorldHint": reaches_out,
        }

        def declare(run: Handler) -> Handler:
            types = get_type_hints(run)
            description = " ".join((inspect.getdoc(run) or "").split())
            shown = {
                "name": name,
                "title": title,
                "description": description,
                "inputSchema": object_schema(types["arguments"]),
                "outputSchema": object_schema(types["return"]),
                "annotations": {"title": title, **hints},
            }
            self.by_name[name] = Tool(name, title, description, scope, run, types["arguments"], shown)
            return run

        return declare


def object_schema(shape: type[Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a struct without references: not every client follows them."""
    (schema,), definitions = msgspec.json.schema_components([shape], ref_template="{name}")

    def inlined(part: Any) -> Any:
        if isinstance(part, list):
            return [inlined(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return {**inlined(deepcopy(definitions[part["$ref"]])), **{k: v for k, v in part.items() if k != "$ref"}}
        if "properties" in part:
            # The name and the docstring of the struct are ours.
            own = {key: value for key, value in part.items() if key not in ("title", "description")}
            return own | {"properties": {name: inlined(one) for name, one in part["properties"].items()}}
        return {key: inlined(value) for key, value in part.items()}

    found: dict[str, Any] = inlined(schema)
    return found


def page_of(items: list[Any], *, room: int = MAX_RESULT_CHARS) -> list[Any]:
    """Return as many of the first items as fit into a result, at least one."""
    used = 0
    for number_, item in enumerate(items):
        used += len(msgspec.json.encode(item).decode())
        if used > room and number_:
            return items[:number_]
    return items


def ids(texts: Iterable[str]) -> list[int]:
    """Return ids as numbers, each once."""
    return list(dict.fromkeys(map(int, texts)))
