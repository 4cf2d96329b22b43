"""The processes of a service and their resource usage, from /proc of Linux."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

# Names of forked processes, cut to 15 characters by the kernel. Their command line is that of the supervisor.
NAMES = {"tidings worker": "worker", "tidings web wor": "web worker"}


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    command: str
    name: str

    @property
    def role(self) -> str:
        """supervisor, worker, web worker or helper, by its name, which the supervisor sets, and command line."""
        if self.name in NAMES:
            return NAMES[self.name]
        match = re.search(r"-m tidings (serve|web|worker)\b", self.command)
        if match:
            return "worker" if match[1] == "worker" else "supervisor"
        return "helper"


@dataclass(frozen=True)
class Usage:
    """The usage of all processes of a service. memory_bytes: proportional set size, so that shared pages count once.

    descriptors: without connections of clients.
    """

    memory_bytes: int
    descriptors: int
    threads: int
    processes: int


def tree(root: int) -> list[Process]:
    """Return the process and its descendants, parents first; empty if it has ended."""
    by_parent: dict[int, list[Process]] = {}
    everything = {process.pid: process for process in _all()}
    for process in everything.values():
        by_parent.setdefault(process.parent, []).append(process)
    found = [everything[root]] if root in everything else []
    for process in found:
        found += by_parent.get(process.pid, [])
    return found


def usage(pids: list[int], *, port: int) -> Usage:
    """Return the usage of the processes that have not ended. port: where the service listens."""
    connections = {f"socket:[{inode}]" for inode in _inodes_of_connections(port)}
    memory = descriptors = threads = processes = 0
    for pid in pids:
        with suppress(OSError):
            memory += memory_bytes(pid)
            descriptors += sum(_target(each) not in connections for each in (PROC / str(pid) / "fd").iterdir())
            threads += _number(pid, "status", "Threads")
            processes += 1
    return Usage(memory, descriptors, threads, processes)


def memory_bytes(pid: int) -> int:
    """Return the proportional set size: a page that n processes share counts as one n-th."""
    return _number(pid, "smaps_rollup", "Pss") * 1024


def _inodes_of_connections(port: int) -> Iterator[str]:
    """Yield the inodes of sockets with this local port, the listening one included. Source: proc(5), /proc/net/tcp."""
    for line in (PROC / "net" / "tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].rpartition(":")[2], 16) == port:
            yield fields[9]


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:  # closed meanwhile
        return ""


def is_stopped(pid: int) -> bool:
    """Return whether the process is stopped by SIGSTOP."""
    try:
        return _stat(pid)[0] in {"T", "t"}
    except OSError:
        return False


def _all() -> Iterator[Process]:
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError, IndexError):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                state, parent = _stat(int(folder.name))
                if state != "Z":
                    name = (folder / "comm").read_text("utf-8", "replace").strip()
                    yield Process(int(folder.name), parent, command, name)


def _stat(pid: int) -> tuple[str, int]:
    """Return state and parent. The name before them is in parentheses and may contain any characters."""
    fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[1])


def _number(pid: int, file: str, name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+)", (PROC / str(pid) / file).read_text(), re.MULTILINE)
    return int(match[1]) if match else 0
