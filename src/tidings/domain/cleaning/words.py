"""A notation for tables of names."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The names in a text, however it is laid out."""
    return frozenset(text.split())
