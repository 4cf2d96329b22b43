"""Parses query strings into structs. A value that cannot be parsed counts as not sent (docs/api.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar, get_type_hints

from msgspec import Struct

Q = TypeVar("Q", bound="Query")
INT64 = 2**63

_BOOLEANS = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)


class Query(Struct, frozen=True):
    """Parameters of an endpoint: fields of type `int | None`, `bool | None`, `str`, or `tuple[str, ...]` (repeatable).

    Numbers are whole and not negative. If a parameter that is not repeatable is sent twice, the first counts.
    """


def read(shape: type[Q], pairs: Sequence[tuple[str, str]]) -> Q:
    """Returns the parameters. pairs: names and values, in the order sent."""
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


def boolean(values: list[str]) -> bool | None:
    """Returns the first value as a boolean; None if it is none."""
    return _BOOLEANS.get(values[0].strip())


_PARSERS: dict[Any, Callable[[list[str]], Any]] = {
    int | None: _number,
    bool | None: boolean,
    str: lambda values: values[0],
    tuple[str, ...]: tuple,
}
