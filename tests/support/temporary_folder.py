"""Where tests put their files: in memory where there is enough, so that no test waits for the disk.

What a killed process has written survives in both; only a power cut would make a difference, which no test makes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
PREFIX = "tidings-tests-"
NEEDED_BYTES = 8 * 2**30


def use_memory() -> Path | None:
    """Make this process and those that it starts put temporary files into memory.

    Returns the new folder, to be removed at the end; None where TMPDIR names another place or memory is short.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return None
    _remove_what_killed_runs_left()
    if min(shutil.disk_usage(MEMORY).free, _available_memory()) < NEEDED_BYTES:
        return None
    folder = MEMORY / f"{PREFIX}{os.getpid()}"
    folder.mkdir()
    # PostgreSQL runs as another user.
    folder.chmod(0o755)
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None
    return folder


def _remove_what_killed_runs_left() -> None:
    for folder in MEMORY.glob(f"{PREFIX}*"):
        if not Path("/proc", folder.name.removeprefix(PREFIX)).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _available_memory() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0
