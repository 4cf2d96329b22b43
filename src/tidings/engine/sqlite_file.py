"""SQLite databases as files: copies, checks, and whether another process has one open."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct
from sqlalchemy import URL

from tidings.engine.database import Database

MAGIC = b"SQLite format 3\0"
# How long to wait for other processes to close a file.
_BUSY_TIMEOUT_MS = 2_000


class UnreadableFile(Exception):
    """SQLite cannot read a file; the text says why."""


class FileReport(Struct, frozen=True):
    """What SQLite reports about a file."""

    damage: str
    """Why it is not whole; "" if it is."""
    tables: frozenset[str]
    """The names of its tables."""


def path_of(database: Database) -> Path | None:
    """Return the file of an SQLite database, None for one on a server."""
    return Path(str(database.url.database)) if database.is_sqlite else None


def open_file(path: Path) -> Database:
    """Return the SQLite database of a file."""
    return Database(URL.create("sqlite", database=str(path)).render_as_string())


def vacuum_into(database: Database, path: Path) -> bool:
    """Copy an SQLite database into an empty file. Returns False, and does nothing, for a database on a server.

    Other processes go on reading and writing. Source: https://www.sqlite.org/lang_vacuum.html, "VACUUM with an INTO
    clause".
    """
    if database.is_sqlite:
        with database.outside_transaction() as raw:
            raw.execute("VACUUM INTO ?", [str(path)])
    return database.is_sqlite


def copy(path: Path, target: Path) -> None:
    """Copy a file, with what the log next to it holds, into an empty file. Raises UnreadableFile."""
    try:
        with closing(_open_read_only(path)) as source, closing(sqlite3.connect(target)) as copied:
            source.backup(copied)
    except sqlite3.Error as error:
        raise UnreadableFile(str(error)) from error


def _open_read_only(path: Path) -> sqlite3.Connection:
    """Return a connection that changes nothing, not even in the folder if the file has no log next to it."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if has_log else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)


def examine(path: Path) -> FileReport:
    """Check a file: its structure, and that no row refers to a missing one. Reads all of it."""
    try:
        with closing(sqlite3.connect(path)) as raw:
            problem = str(raw.execute("PRAGMA integrity_check(1)").fetchone()[0])
            if problem != "ok":
                return FileReport(" ".join(problem.split()), frozenset())
            orphan = raw.execute("PRAGMA foreign_key_check").fetchone()
            damage = f"rows of {orphan[0]} refer to rows of {orphan[2]} that are missing" if orphan else ""
            tables = raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            return FileReport(damage, frozenset(str(row[0]) for row in tables))
    except sqlite3.Error as error:
        return FileReport(str(error), frozenset())


def is_in_use(path: Path) -> bool:
    """Return whether another process has the file open: leaving WAL mode needs to be alone.

    A damaged file, which may be why it is to be replaced, is not in use.
    """
    try:
        make_single(path)
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
    return False


def make_single(path: Path) -> None:
    """Remove the log next to a file that is not in use: `Database.prepare_file` restores it."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        raw.execute("PRAGMA journal_mode = DELETE")


def remove(path: Path) -> None:
    """Delete a file and those that belong to it. Does nothing if there is none."""
    path.unlink(missing_ok=True)
    remove_log(path)


def remove_log(path: Path) -> None:
    """Delete what belongs to a file: it must not be applied to another one of the same name."""
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Write a file or a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
