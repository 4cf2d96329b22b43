"""Members of wire structs that are settings, derived from their declarations.

The structs keep their own members and their docstrings; these decorators insert the settings. Handlers pass settings on
by name, so that nothing here needs their types.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, TypeVar, cast, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from tidings.api.schema_annotations import one_of, up_to
from tidings.domain.setting_declarations import Declared
from tidings.http.json_body import Int64

T = TypeVar("T", bound=Struct)

_NO_TYPES: Mapping[str, Any] = {}


def shows(
    settings: Iterable[Declared[Any]], *, before: str, types: Mapping[str, Any] = _NO_TYPES
) -> Callable[[type[T]], type[T]]:
    """Return a decorator that adds the settings to a response. before: the member that they precede.

    types: of members by name, where the API has another type than the column.
    """
    members = [(one.name, types.get(one.name, one.type)) for one in settings]

    def extend(shape: type[T]) -> type[T]:
        own = msgspec.structs.fields(shape)
        place = [field.name for field in own].index(before)
        fields = [(field.name, field.type) for field in own]
        return _redefined(shape, [*fields[:place], *members, *fields[place:]])

    return extend


def accepts(
    settings: Iterable[Declared[Any]], *, nullable: Collection[str] = (), types: Mapping[str, Any] = _NO_TYPES
) -> Callable[[type[T]], type[T]]:
    """Return a decorator that adds the settings to a body, each optional.

    nullable: settings for which null is a value. They are UNSET if they are not sent; the others are None.
    types: as in `shows`.
    """
    members = [_optional(one, types.get(one.name), is_nullable=one.name in nullable) for one in settings]

    def extend(shape: type[T]) -> type[T]:
        own = [(field.name, field.type, field.default) for field in msgspec.structs.fields(shape)]
        return _redefined(shape, [*own, *members])

    return extend


def _optional(declared: Declared[Any], wire_type: Any, *, is_nullable: bool) -> tuple[str, Any, Any]:
    value_type: Any = wire_type or declared.type
    value_type = Int64 if int in (declared.type, *get_args(declared.type)) else value_type
    hint: Any = value_type | UnsetType | None if is_nullable else value_type | None
    setting = declared.setting
    if setting.choices:
        hint = Annotated[hint, one_of(setting.choices)]
    if setting.range is not None:
        minimum, maximum = setting.range
        hint = Annotated[hint, up_to(maximum, minimum=minimum)]
    return declared.name, hint, UNSET if is_nullable else None


def _redefined(shape: type[T], members: list[Any]) -> type[T]:
    config = shape.__struct_config__
    namespace = {"__doc__": shape.__doc__} if shape.__doc__ else None
    made = msgspec.defstruct(
        shape.__name__, members, namespace=namespace, module=shape.__module__, frozen=config.frozen
    )
    return cast("type[T]", made)
