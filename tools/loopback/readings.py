"""Percentiles and growth of measured values."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile; 0 without values. share: 0.5 for the median."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def growth(values: Sequence[float]) -> float:
    """Return the median of the last third divided by that of the middle third: the first third is the warm-up."""
    third = len(values) // 3
    if not third:
        return 1.0
    before, after = percentile(values[third : 2 * third], 0.5), percentile(values[2 * third :], 0.5)
    return after / before if before else 1.0
