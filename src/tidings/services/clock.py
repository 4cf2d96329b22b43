"""The clock: a function that returns the current time, which tests replace."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidings.base.times import Instant

Clock = Callable[[], Instant]


def system_clock() -> Instant:
    """Returns the current time in microseconds since 1970, UTC."""
    return Instant(time.time_ns() // 1000)
