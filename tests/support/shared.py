"""What the processes of a run share, such as a PostgreSQL server: the first one that needs it makes it for all.

The first process of the run holds one end of a pipe, into which nothing is written (`LIFE`, in the folder of the run).
What is to end with the run, even if that is killed, reads from the other end.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

LIFE = "life"
# Processes of xdist inherit it from the first one.
_VARIABLE = "TESTS_SHARE"


def begin() -> Callable[[], None]:
    """Make the folder of a run, which processes started from now on find. Returns what ends the run."""
    folder = Path(tempfile.mkdtemp(prefix="shared-"))
    # PostgreSQL runs as another user.
    folder.chmod(0o755)
    os.environ[_VARIABLE] = str(folder)
    os.mkfifo(folder / LIFE)
    # Opened for writing alone, it would wait for a reader.
    held = os.open(folder / LIFE, os.O_RDWR | os.O_CLOEXEC)

    def end() -> None:
        os.close(held)
        shutil.rmtree(folder, ignore_errors=True)

    return end


def folder() -> Path | None:
    """Return the folder of this run; None outside of one, as in a benchmark."""
    name = os.environ.get(_VARIABLE)
    return Path(name) if name else None


def once(name: str, make: Callable[[Path], str]) -> str:
    """Return what `make` returned in the first process that asked for `name`; others wait for it.

    make: called with the folder of this run. If it raises, the next process tries again.
    """
    place = folder()
    assert place
    made = place / f"{name}.made"
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made.exists():
            return made.read_text()
        text = make(place)
        made.write_text(text)
        return text
