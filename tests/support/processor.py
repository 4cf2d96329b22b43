"""Measures the processor time of processes. Linux only."""

from __future__ import annotations

from pathlib import Path


def spent_ms(pid: int) -> float:
    """Return the milliseconds of processor time that a process and its descendants have used since they started."""
    parents = {int(process.name): _parent(process) for process in Path("/proc").glob("[0-9]*")}
    family, size = {pid}, 0
    while len(family) > size:
        size = len(family)
        family |= {child for child, parent in parents.items() if parent in family}
    return sum(map(_spent_ns, family)) / 1e6


def _parent(process: Path) -> int:
    try:
        # The name of the process, in parentheses, may contain any characters.
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0  # it has just ended


def _spent_ns(pid: int) -> int:
    spent = 0
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            spent += int(thread.read_text().split()[0])
        except OSError:
            continue
    return spent
