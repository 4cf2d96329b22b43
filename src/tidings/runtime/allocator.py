"""Settings of the C library's memory allocator, so that memory that was needed for a moment is given back.

glibc gives each thread an arena of its own, up to eight per core, and keeps what is freed inside of them. Other C
libraries have none of these functions; nothing happens there.
"""

from __future__ import annotations

import ctypes
import threading
import time
from contextlib import suppress

# <malloc.h> of glibc.
M_ARENA_MAX = -8

TRIM_INTERVAL_S = 30.0


def share_one_arena() -> None:
    """Let all threads allocate from one arena. Call it before they start.

    Threads that hold Python's lock one at a time seldom allocate at the same moment.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def keep_trimming() -> None:
    """Start a thread that gives free memory back to the system every half minute."""
    with suppress(OSError, AttributeError):
        trim = ctypes.CDLL(None).malloc_trim
        threading.Thread(target=_keep_trimming, args=(trim,), name="malloc-trim", daemon=True).start()


def _keep_trimming(trim: ctypes._NamedFuncPointer) -> None:
    while True:
        time.sleep(TRIM_INTERVAL_S)
        trim(0)
