"""Checks that work grows linearly with its input, by processor time, which a busy machine changes little."""

from __future__ import annotations

import time
from collections.abc import Callable

# Below this, the resolution of the clock dominates.
MIN_DURATION_S = 0.002
TIMES = 8
TRIES = 3


def assert_linear(run: Callable[[int], object], size: int) -> None:
    """Fail if eight times the input takes over three times eight times as long; squared growth takes 64 times."""
    _assert_growth(run, size, factor=3 * TIMES)


def assert_constant(run: Callable[[int], object], size: int) -> None:
    """Fail if eight times the input takes over four times as long; linear growth takes eight times."""
    _assert_growth(run, size, factor=TIMES / 2)


def assert_squared(run: Callable[[int], object], size: int) -> None:
    """Fail if eight times the input takes over three times 64 times as long: for depths that have a limit."""
    _assert_growth(run, size, factor=3 * TIMES**2)


def _assert_growth(run: Callable[[int], object], size: int, *, factor: float) -> None:
    """Compare the shortest of the measurements so far. A second and third one are made only when the first is bad."""
    small = large = float("inf")
    for _ in range(TRIES):
        small, large = min(small, _took_s(run, size)), min(large, _took_s(run, TIMES * size))
        if large <= factor * max(small, MIN_DURATION_S):
            return
    raise AssertionError(f"{size}: {small:.4f} s, {TIMES * size}: {large:.4f} s")


def _took_s(run: Callable[[int], object], size: int) -> float:
    started = time.thread_time()
    run(size)
    return time.thread_time() - started
