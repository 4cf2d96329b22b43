"""The environment of a run: a disk that can be filled, a database server, and the processes of the service."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from loopback.clock import WrongClock, wrong_clock
from loopback.processes import Process, is_stopped, tree
from loopback.service import Command, environment
from support.postgres import Cluster, PostgresMissing, create_database

DISK_BYTES = {"sqlite": 128 * 2**20, "postgresql": 512 * 2**20}


class Disk:
    """A mounted folder of limited size if that is wanted and root runs this, otherwise an ordinary folder."""

    def __init__(self, folder: Path, size_bytes: int, *, is_wanted: bool) -> None:
        self.folder = folder
        folder.mkdir()
        options = f"size={size_bytes},mode=755"
        self.is_small = is_wanted and _ran("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder))

    def fill(self) -> None:
        with (self.folder / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(b"\0" * 2**20)
        with (self.folder / "filler").open("ab", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(b"\0" * 512)

    def empty(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)

    def set_read_only(self, is_read_only: bool) -> bool:
        """Return whether it succeeded. The system refuses it while files are open for writing."""
        return self.is_small and _ran("mount", "-o", f"remount,{'ro' if is_read_only else 'rw'}", str(self.folder))

    def remove(self) -> None:
        if self.is_small:
            _ran("umount", str(self.folder)) or _ran("umount", "-l", str(self.folder))


def _ran(*command: str) -> bool:
    program = shutil.which(command[0])
    if program is None:
        return False
    return subprocess.run([program, *command[1:]], check=False, capture_output=True, timeout=30).returncode == 0


@dataclass
class Testbed:
    """rng: chooses the faults. tried: numbers of faults, by name. keeper: the task that restarts commands."""

    engine: str
    folder: Path
    rng: random.Random
    disk: Disk
    commands: list[Command]
    database_url: str
    clock: WrongClock | None
    cluster: Cluster | None
    tried: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    restarts_commands: bool = True
    keeper: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://{self.commands[0].environment['TIDINGS_LISTEN_ADDR']}"

    def processes(self, *roles: str) -> list[Process]:
        everything = [process for command in self.commands for process in command.processes()]
        return [process for process in everything if not roles or process.role in roles]

    async def keep_commands_running(self) -> None:
        while True:
            for command in self.commands:
                if self.restarts_commands and command.start_again_when_ended():
                    self.notes[f"`tidings {command.name}` ended with {command.ended[-1]} and was started again"] += 1
            await asyncio.sleep(0.5)

    async def heal(self) -> None:
        """Undo all faults."""
        for process in self.processes():
            if is_stopped(process.pid):
                send(process.pid, signal.SIGCONT)
        self.disk.empty()
        self.disk.set_read_only(False)
        if self.clock:
            self.clock.set(0)
        if self.cluster:
            for pid in postgres_pids(self.cluster):
                send(pid, signal.SIGCONT)
            await asyncio.to_thread(self.start_postgres)
        self.restarts_commands = True

    def start_postgres(self) -> None:
        """Start the server unless it is running."""
        assert self.cluster
        with suppress(OSError, psycopg.OperationalError), psycopg.connect(self.cluster.url, connect_timeout=5):
            return
        with suppress(PostgresMissing):  # it is starting already, or cannot start yet
            self.cluster.start()

    def close(self) -> None:
        for command in self.commands:
            command.stop()
        if self.cluster:
            with suppress(PostgresMissing):
                self.cluster.stop()
        self.disk.remove()


def make_testbed(engine: str, folder: Path, rng: random.Random, faults: frozenset[str], **settings: str) -> Testbed:
    """Return the environment, with PostgreSQL running but not the service. faults: names; empty for all."""
    is_disk_broken = not faults or any(name.startswith("disk") for name in faults)
    disk = Disk(folder / "disk", DISK_BYTES[engine], is_wanted=is_disk_broken)
    cluster, data = None, disk.folder
    database_url = f"sqlite:///{data / 'tidings.db'}"
    if engine == "postgresql":
        home, data = disk.folder / "cluster", disk.folder / "data"
        home.mkdir()
        data.mkdir()
        # After a crash of the server, committed transactions must be there.
        cluster = Cluster(home, is_durable=True)
        cluster.start()
        database_url = create_database(cluster.url, "tidings")
    clock = wrong_clock(folder)
    env = environment(database_url, data, **settings) | (clock.environment if clock else {})
    # The logs are not on the disk that is filled.
    commands = [Command("serve", env, folder), Command("worker", env, folder)]
    return Testbed(engine, folder, rng, disk, commands, database_url, clock, cluster)


def send(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, what)


def postgres_pids(cluster: Cluster) -> list[int]:
    try:
        return [process.pid for process in tree(cluster.pid)]
    except (OSError, ValueError, IndexError):
        return []
