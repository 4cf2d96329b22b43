"""What can be set on an account, said once: enough to make a form of it, and to read that form again.

Fields have the names of `domain.accounts.users.User` and of the API. `domain.accounts.user_changes` checks
their values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.errors import InvalidInput
from tidings.domain.messages import verbatim
from tidings.web.language import _
from tidings.web.message_translation import translated

_TYPES = get_type_hints(User)


class Field(Struct, frozen=True):
    """kind: text, number, area, select, choice or check. label, help: in English. choices: value and label, or None.

    more: attributes of its input.
    """

    kind: str
    name: str
    label: str
    help: str = ""
    choices: Callable[[], Mapping[str, str]] | None = None
    more: Mapping[str, Any] = {}


class Group(Struct, frozen=True):
    """Fields under a heading of their own; "" for none."""

    title: str
    fields: tuple[Field, ...]


def shown(user: User, groups: tuple[Group, ...]) -> dict[str, Any]:
    """By name, as the form has them."""
    return {field.name: _text(getattr(user, field.name)) for group in groups for field in group.fields}


def typed(sent: Mapping[str, str], groups: tuple[Group, ...]) -> dict[str, Any]:
    """The same, of a form that was sent. A box that is not ticked is not sent at all."""
    return {
        field.name: field.name in sent if field.kind == "check" else sent.get(field.name, "")
        for group in groups
        for field in group.fields
    }


def read(given: Mapping[str, Any]) -> dict[str, Any]:
    """As services take them. InvalidInput for what should be a number and is none."""
    return {name: _value(name, value) for name, value in given.items()}


def beside(error: InvalidInput, prefix: str = "") -> InvalidInput:
    """The same for a form, which shows it at the field: without the name that programs need.

    prefix: what stands before the names of fields, as in `linkding.url`.
    """
    field = (error.field or "").removeprefix(prefix)
    message = translated(error.problem)
    return InvalidInput(verbatim(message[:1].upper() + message[1:]), field=field)


def _text(value: Any) -> Any:
    return value if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _value(name: str, value: Any) -> Any:
    kind = _TYPES[name]
    if kind not in (int, float):
        return value
    try:
        number = kind(str(value).strip().replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        whole = _("Type a whole number.") if kind is int else _("Type a number, such as 1.5.")
        raise InvalidInput(verbatim(whole), field=name)
    return number
