"""Percentiles and growth of what was measured."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """share: 0.5 for the median. 0 for nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def growth(values: Sequence[float]) -> float:
    """How many times as much the last third is as the middle one, by their medians: the beginning is warming up."""
    third = len(values) // 3
    if not third:
        return 1.0
    before, after = percentile(values[third : 2 * third], 0.5), percentile(values[2 * third :], 0.5)
    return after / before if before else 1.0
