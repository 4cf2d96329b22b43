"""How long one small input may take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MAX_INPUT_BYTES: Final = 16_384
SECONDS: Final = 2.0


@contextmanager
def in_time() -> Iterator[None]:
    """Of the processor, so that a busy machine finds nothing that is not there."""
    started = time.process_time()
    yield
    took = time.process_time() - started
    assert took <= SECONDS, f"took {took:.1f} s"
