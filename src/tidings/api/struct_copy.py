"""Copies the fields of a record into a wire struct, by field name."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeVar

from msgspec import Struct

T = TypeVar("T", bound=Struct)


class StructCopy(Generic[T]):
    """`StructCopy(Out, "icon")(record, icon=…)`: an Out with the record's values, and the given values.

    own: names of the fields that a record does not have, or has in another form. The order of fields in Out does not
    matter: the mapping is computed once. The struct is made with positional arguments, since keywords take four times
    as long, and a page of entries makes hundreds of structs.
    """

    def __init__(self, shape: type[T], *own: str) -> None:
        names = shape.__struct_fields__
        if unknown := set(own).difference(names):
            raise TypeError(f"{shape.__name__} has no fields {sorted(unknown)}")
        shared = tuple(name for name in names if name not in own)
        order = [(*shared, *own).index(name) for name in names]
        self._own = frozenset(own)
        self._make: Callable[..., T] = shape
        self._shared = _several(attrgetter, shared)
        self._from_own = _several(itemgetter, own)
        self._sorted = _several(itemgetter, order)

    def __call__(self, record: object, **own: Any) -> T:
        if own.keys() != self._own:
            raise TypeError(f"own fields are {sorted(self._own)}, not {sorted(own)}")
        return self._make(*self._sorted(self._shared(record) + self._from_own(own)))


def _several(getter: Callable[..., Callable[[Any], Any]], keys: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return a getter that always returns a tuple; `operator.itemgetter` does so for several keys only."""
    if len(keys) > 1:
        return getter(*keys)
    if not keys:
        return lambda _values: ()
    get_value = getter(*keys)
    return lambda values: (get_value(values),)
