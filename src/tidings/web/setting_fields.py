"""Fields of the account settings: enough to render a form and to parse it.

Fields have the names of `domain.accounts.users.User` and of the API. `domain.accounts.user_changes` checks
their values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.domain.accounts.users import User
from tidings.web.language import _

_TYPES = get_type_hints(User)


class Field(Struct, frozen=True):
    """A field of a form."""

    kind: str
    """text, number, area, select, choice or check."""
    name: str
    label: str
    """Message id."""
    help: str = ""
    """Message id; empty for none."""
    choices: Callable[[], Mapping[str, str]] | None = None
    """Return value and label of each choice; None for other kinds."""
    more: Mapping[str, Any] = {}
    """Additional attributes of the input element."""


class Group(Struct, frozen=True):
    """Fields under a heading; "" for none."""

    title: str
    fields: tuple[Field, ...]


def form_values(user: User, groups: tuple[Group, ...]) -> dict[str, Any]:
    """Return the values of the form by name."""
    return {field.name: _text(getattr(user, field.name)) for group in groups for field in group.fields}


def sent_values(sent: Mapping[str, str], groups: tuple[Group, ...]) -> dict[str, Any]:
    """Return the values of a sent form by name. Browsers do not send boxes that are not ticked."""
    return {
        field.name: field.name in sent if field.kind == "check" else sent.get(field.name, "")
        for group in groups
        for field in group.fields
    }


def parse(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as services take them. Raises InvalidInput for a number that cannot be parsed."""
    return {name: _value(name, value) for name, value in fields.items()}


def _text(value: Any) -> Any:
    return value if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _value(name: str, value: Any) -> Any:
    kind = _TYPES[name]
    if kind not in (int, float):
        return value
    message = _("Type a whole number.") if kind is int else _("Type a number, such as 1.5.")
    try:
        number = kind(str(value).strip().replace(",", "."))
    except ValueError as error:
        raise InvalidInput(verbatim(message), field=name) from error
    if kind is float and not math.isfinite(number):
        raise InvalidInput(verbatim(message), field=name)
    return number
