"""What time it is, as something that a test can hold still."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidings.domain.times import Instant

Clock = Callable[[], Instant]


def system_clock() -> Instant:
    return Instant(time.time_ns() // 1000)
