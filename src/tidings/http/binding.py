"""Makes the arguments of a handler from a request, by the handler's signature.

request: Request      the request itself, for the few that need its raw form
<name>_id: int        from the path; InvalidPathId unless a whole number of 1 to 2^63 - 1
<name>: str           from the path; of a path that ends with {name:path}, all of the rest
query: Query          from the query string; a value that cannot be parsed counts as not sent (docs/api.md)
query: QueryOrForm    from the query string and the body, a form
form: Form            from the body, a form; a value that cannot be parsed counts as not sent
body: Struct          from the body, JSON
body: LazyBody[Struct] the same, decoded by the handler itself, after it has checked that the resource exists

A surface adds sources of its own by type, such as the user and the services.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.http import forms, json_body
from tidings.http.endpoints import Endpoint
from tidings.http.requests import Request

C = TypeVar("C")
T = TypeVar("T", bound=Struct)
Q = TypeVar("Q", bound="Query")
INT64 = 2**63


class Query(Struct, frozen=True):
    """Parameters of an endpoint: fields of type `int | None`, `bool | None`, `str`, or tuples of repeatable ones.

    `tuple[str, ...]` has all values, `tuple[int, ...]` those that are numbers. Numbers are whole and not negative. If a
    parameter that is not repeatable is sent twice, the first counts.
    """


class InvalidPathId(InvalidInput):
    """The id in a path is not a valid id."""


class Form(Query, frozen=True):
    """Fields of a form: `str`, `int | None`, `bool | None` (a checkbox has the value 1), `tuple[str, ...]`."""


class QueryOrForm(Query, frozen=True):
    """Fields from the query string and from the body, a form; of both the query string comes first."""


class LazyBody(Generic[T]):
    """A JSON body that is decoded when `read` is called."""

    def __init__(self, raw: bytes, shape: type[T]) -> None:
        self._raw, self._shape = raw, shape

    def read(self) -> T:
        """Return the decoded body. Raises InvalidInput."""
        return json_body.decode(self._raw, self._shape)


class Call(Struct, Generic[C]):
    """A request to an endpoint."""

    request: Request
    endpoint: Endpoint
    path: dict[str, str]
    """The path parameters."""
    context: C
    """What the surface found out about the caller."""


Source = Callable[[Call[C]], Any]
# The source of each argument by its name, in the order in which their errors are reported.
ArgumentSources = list[tuple[str, Source[C]]]


def constants(values: Mapping[type, object]) -> dict[type, Source[Any]]:
    """Return sources that always give the same value, by its type."""

    def constant(value: object) -> Source[Any]:
        return lambda _call: value

    return {kind: constant(value) for kind, value in values.items()}


def argument_sources(handler: Callable[..., Any], sources: Mapping[Any, Source[C]]) -> ArgumentSources[C]:
    """Return the sources of the arguments of a handler. Path ids come before the body, so that their errors win."""
    hints = get_type_hints(handler)
    names = inspect.signature(handler).parameters
    resolved = [(name, *_source(name, hints[name], sources)) for name in names]
    return [(name, source) for name, _rank, source in sorted(resolved, key=lambda argument: argument[1])]


def arguments(from_sources: ArgumentSources[C], call: Call[C]) -> dict[str, Any]:
    """Return the arguments of a call. Raises InvalidInput."""
    return {name: source(call) for name, source in from_sources}


def _source(name: str, hint: Any, sources: Mapping[Any, Source[C]]) -> tuple[int, Source[C]]:
    """Return the rank, by which arguments are ordered, and the source."""
    if hint in sources:
        return 0, sources[hint]
    if hint is Request:
        return 0, lambda call: call.request
    if hint is int:
        return 1, lambda call: parse_id(name, call.path[name], error=InvalidPathId)
    if hint is str:
        return 1, lambda call: call.path[name]
    if get_origin(hint) is LazyBody:
        shape = get_args(hint)[0]
        return 2, lambda call: LazyBody(call.request.content, shape)
    if issubclass(hint, Form):
        return 2, lambda call: read_query(hint, forms.fields(call.request))
    if issubclass(hint, QueryOrForm):
        return 2, lambda call: read_query(hint, [*call.request.query, *forms.fields(call.request)])
    if issubclass(hint, Query):
        return 2, lambda call: read_query(hint, call.request.query)
    if issubclass(hint, Struct):
        return 3, lambda call: json_body.decode(call.request.content, hint)
    raise TypeError(f"an endpoint has no use for a parameter {name}: {hint}")


def parse_id(name: str, text: str, *, error: type[InvalidInput] = InvalidInput) -> int:
    """Return the id that a text contains. Raises `error` unless it is a whole number from 1 to 2^63 - 1."""
    if text.isascii() and text.isdigit() and len(text) < 20 and text[0] != "0" and int(text) < INT64:
        return int(text)
    what = name.removesuffix("_id")
    raise error(
        msg(
            "{text} is not a valid {what} id: it has to be a whole number above zero.", text=repr(text[:40]), what=what
        ),
        field=name,
    )


def read_query(shape: type[Q], pairs: Sequence[tuple[str, str]]) -> Q:
    """Return the parameters. pairs: names and values, in the order sent."""
    sent: dict[str, list[str]] = {}
    for name, value in pairs:
        sent.setdefault(name, []).append(value)
    values = {name: parse(sent[name]) for name, parse in _parsers(shape).items() if name in sent}
    return shape(**{name: value for name, value in values.items() if value is not None})


@cache
def _parsers(shape: type[Query]) -> dict[str, Callable[[list[str]], Any]]:
    return {name: _PARSERS[hint] for name, hint in get_type_hints(shape).items() if name in shape.__struct_fields__}


def _number(values: list[str]) -> int | None:
    text = values[0].strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) < INT64 else None


_BOOLEANS = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)


def boolean(values: list[str]) -> bool | None:
    """Return the first value as a boolean; None if it is none."""
    return _BOOLEANS.get(values[0].strip())


_PARSERS: dict[Any, Callable[[list[str]], Any]] = {
    int | None: _number,
    bool | None: boolean,
    str: lambda values: values[0],
    tuple[str, ...]: tuple,
    tuple[int, ...]: lambda values: tuple(number for value in values if (number := _number([value])) is not None),
}
