"""A short notation for sets of names."""

from __future__ import annotations


def name_set(text: str) -> frozenset[str]:
    """Return the set of the blank-separated names in a text."""
    return frozenset(text.split())
