"""Conditions as people build them, one in a row: a field, how it is compared, and with what."""

from __future__ import annotations

from msgspec import Struct


class Condition(Struct, frozen=True):
    """A row of a form that builds a query or a filter. What the words mean, the language that is built says."""

    field: str
    how: str
    value: str = ""

    @property
    def is_blank(self) -> bool:
        return not self.value.strip()
