"""How much more memory a running service takes at its peak. Linux only."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path


def watch_growth(pid: int) -> Callable[[], int]:
    """Return a function that returns the growth of a process and its children from now up to their peak, in bytes.

    Pages of the database file that SQLite maps are left out: they are the system's cache, not memory of the process.
    """
    processes = [pid, *descendants(pid)]
    before, mapped = _sum(processes, "VmRSS"), _mapped(processes)
    for one in processes:
        # Sets the peak (VmHWM) back.
        Path(f"/proc/{one}/clear_refs").write_text("5")

    def growth() -> int:
        return (_sum(processes, "VmHWM") - before - max(_mapped(processes) - mapped, 0)) * 1024

    return growth


def descendants(pid: int) -> list[int]:
    children = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*children, *(one for child in children for one in descendants(child))]


def _mapped(processes: list[int]) -> int:
    """Return the kilobytes of mapped files. Those of a file system in memory, like /dev/shm, are counted apart."""
    return _sum(processes, "RssFile") + _sum(processes, "RssShmem")


def _sum(processes: list[int], what: str) -> int:
    """Return the sum of a value of /proc/PID/status, in kilobytes."""
    return sum(_kilobytes(Path(f"/proc/{pid}/status").read_text(), what) for pid in processes)


def _kilobytes(status: str, what: str) -> int:
    match = re.search(rf"^{what}:\s+(\d+) kB", status, re.MULTILINE)
    assert match
    return int(match[1])
