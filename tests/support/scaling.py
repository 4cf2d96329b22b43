"""Checks that work grows linearly with its input, by processor time, which a busy machine changes little."""

from __future__ import annotations

import time
from collections.abc import Callable

# Below this, what is measured is the clock.
SHORTEST_S = 0.002
TIMES = 8


def assert_linear(run: Callable[[int], object], size: int) -> None:
    """Fail if eight times the input takes over three times eight times as long; squared growth takes 64 times."""
    small, large = (min(_took_s(run, each) for _ in range(3)) for each in (size, TIMES * size))
    assert large <= 3 * TIMES * max(small, SHORTEST_S), f"{size}: {small:.4f} s, {TIMES * size}: {large:.4f} s"


def _took_s(run: Callable[[int], object], size: int) -> float:
    started = time.thread_time()
    run(size)
    return time.thread_time() - started
