"""Lean lists: `fields` names the members of the items of a list that a client wants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.http.endpoints import Endpoint
from tidings.http.requests import Request

PARAMETER: Final = "fields"


class Fields(Struct, frozen=True):
    """The members of items that a client wants.

    Handlers that read less for fewer members have a parameter of this type.
    """

    names: tuple[str, ...] = ()
    """Empty for all."""

    def __contains__(self, name: str) -> bool:
        return not self.names or name in self.names

    def has_any(self, *names: str) -> bool:
        return not self.names or not set(names).isdisjoint(self.names)

    def of(self, item: Struct) -> dict[str, Any]:
        """Return the wanted members of an item. Only where there are names."""
        values = ((name, getattr(item, name, UNSET)) for name in self.names)
        return {name: value for name, value in values if value is not UNSET}


ALL_FIELDS: Final = Fields()


def wanted_fields(request: Request, endpoint: Endpoint) -> Fields:
    """Return what a request wants of the items of a list. Raises InvalidInput for members that they do not have."""
    if endpoint.lists is None or PARAMETER not in request.query_string:
        return ALL_FIELDS
    values = [value for name, value in request.query if name == PARAMETER]
    names = tuple(dict.fromkeys(name for value in values for part in value.split(",") if (name := part.strip())))
    known = endpoint.lists.__struct_fields__
    if unknown := [name[:40] for name in names if name not in known]:
        some = ", ".join(map(repr, unknown[:10]))
        raise InvalidInput(
            verbatim(f"fields: there is no {some}; expected some of {', '.join(known)}."), field=PARAMETER
        )
    return Fields(names)


def lean(result: Any, fields: Fields) -> Any:
    """Return what a handler returned with only the wanted members of its items: a list, or an object that has one."""
    if not fields.names:
        return result
    if isinstance(result, list):
        return _lean_items(result, fields)
    if not isinstance(result, Struct):
        return result
    members = ((name, getattr(result, name)) for name in result.__struct_fields__)
    return {name: _lean_items(value, fields) if isinstance(value, list) else value for name, value in members}


def _lean_items(items: Sequence[Any], fields: Fields) -> list[Any]:
    """What is encoded already has only these."""
    return [fields.of(item) if isinstance(item, Struct) else item for item in items]
