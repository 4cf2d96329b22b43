"""Gives memory that was needed for a moment back to the system: settings of the C library's allocator, and garbage.

glibc gives each thread an arena of its own, up to eight per core, and keeps what is freed inside of them. Other C
libraries have none of these functions; there only the rest happens.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable
from contextlib import suppress

# <malloc.h> of glibc.
M_ARENA_MAX = -8

TRIM_INTERVAL_S = 15.0

# They give memory back to the allocator before it is trimmed.
_releases: list[Callable[[], bool]] = []


def share_one_arena() -> None:
    """Let all threads allocate from one arena. Call it before they start.

    Threads that hold Python's lock one at a time seldom allocate at the same moment.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def release_regularly(release: Callable[[], bool]) -> None:
    """Call a function every TRIM_INTERVAL_S, in a thread.

    release: returns whether the process had little to do since the last call.
    """
    _releases.append(release)


def keep_trimming() -> None:
    """Start a thread that gives free memory back to the system every TRIM_INTERVAL_S."""
    threading.Thread(target=_keep_trimming, name="malloc-trim", daemon=True).start()


def _keep_trimming() -> None:
    trim = None
    with suppress(OSError, AttributeError):
        trim = ctypes.CDLL(None).malloc_trim
    while True:
        time.sleep(TRIM_INTERVAL_S)
        # A full collection stops all threads for some milliseconds: only while there is little to do.
        had_little_to_do = [release() for release in _releases]
        if all(had_little_to_do):
            gc.collect()
        if trim is not None:
            trim(0)
