"""The order in which users put their labels and saved views."""

from __future__ import annotations

from collections.abc import Sequence


def moved(ids: Sequence[int], id_: int, position: int) -> list[int]:
    """Return ids in their order after one was moved to a position, counted from 1; beyond the end means last."""
    others = [one for one in ids if one != id_]
    others.insert(max(0, position - 1), id_)
    return others
