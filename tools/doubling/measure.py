"""Measures how the processor time of a reader grows with its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from doubling.inputs import Input
from tidings.domain.errors import TidingsError

# Characters of the shorter input; the longer one has FACTOR times as many.
LENGTH: Final = 16_000
FACTOR: Final = 4
# A quadratic reader takes FACTOR² = 16 times as long; a linear one FACTOR, and a little more as caches fill up.
MAX_GROWTH: Final = 9.0
# Times below this are too short to be compared: such a reader is fast enough for every input that limits admit.
MIN_S: Final = 0.03
TRIES: Final = 3


@dataclass(frozen=True)
class Growth:
    """The processor time of a reader for an input, and for one that is FACTOR times as long, in seconds."""

    short_s: float
    long_s: float

    @property
    def ratio(self) -> float:
        return self.long_s / max(self.short_s, 1e-6)

    @property
    def is_linear(self) -> bool:
        return self.long_s < MIN_S or self.ratio <= MAX_GROWTH


def growth(read: Callable[[str], object], make: Input, length: int = LENGTH) -> Growth:
    """Return the growth of the processor time; the best of several tries, as far as the first one is not linear."""
    best = _measured(read, make, length)
    for _ in range(TRIES - 1):
        if best.is_linear:
            break
        again = _measured(read, make, length)
        best = min(best, again, key=lambda one: one.ratio)
    return best


def _measured(read: Callable[[str], object], make: Input, length: int) -> Growth:
    return Growth(_seconds(read, make(length)), _seconds(read, make(length * FACTOR)))


def _seconds(read: Callable[[str], object], text: str) -> float:
    # A collection of garbage takes as long as all objects of the process need, not as long as this input.
    gc.disable()
    started = time.thread_time()
    try:
        with suppress(TidingsError):
            read(text)
        return time.thread_time() - started
    finally:
        gc.enable()
