"""Look at processes by their id. Source: proc(5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def is_running(pid: int) -> bool:
    """Return whether a process runs. A zombie, which remains in a container without an init, has ended.

    A process may end between the opening of its file and the reading of it, which fails in ways of its own (ESRCH).
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def children(pid: int) -> Iterator[int]:
    """Yield the ids of the children of a process, zombies included. Threads may end while they are listed."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            listed = (thread / "children").read_text(encoding="ascii")
        except OSError:
            continue
        yield from map(int, listed.split())
