"""Writes a backup of the database while it is in use: one SQLite file, whatever engine it comes from.

SQLite      ─► VACUUM INTO                    ─► FILE.partial ─► FILE
PostgreSQL  ─► one snapshot, table by table   ─► FILE.partial ─► FILE
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import URL

from tidings.domain.errors import StartError, StoreUnavailable
from tidings.storage import migrate, revision
from tidings.storage.engine.database import Database
from tidings.storage.maintenance import table_copy
from tidings.storage.maintenance.table_copy import Progress


def copy_to(database: Database, path: Path, progress: Progress) -> int:
    """Write a consistent copy to a new file, which only its owner may read. Returns its size in bytes.

    Other processes go on reading and writing. The file has its name only when it is complete. Raises StartError if it
    exists or cannot be written. Source: https://www.sqlite.org/lang_vacuum.html, "VACUUM with an INTO clause".
    """
    try:
        with _new_file(path) as partial:
            if database.is_sqlite:
                with database.outside_transaction() as raw:
                    raw.execute("VACUUM INTO ?", [str(partial)])
            else:
                _copy_tables(database, partial, progress)
    except StoreUnavailable as error:
        raise StartError(f"The backup {path} cannot be written: {error.reason}") from error
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StartError(f"The backup {path} cannot be written: {reason}") from error
    return path.stat().st_size


def open_file(path: Path) -> Database:
    """Returns the SQLite database of a file."""
    return Database(URL.create("sqlite", database=str(path)).render_as_string())


def sync(path: Path) -> None:
    """Write a file or a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_single(path: Path) -> None:
    """Give up the log beside an SQLite file that nobody uses: `prepare_file` brings it back."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """Yields an empty file beside `path`, which takes its name at the end. Raises FileExistsError."""
    if path.exists():
        raise FileExistsError(0, "File exists; choose another name, or remove it")
    partial = path.with_name(f"{path.name}.partial")
    remove_file(partial)  # of a backup that was killed
    # VACUUM INTO accepts an empty file, and keeps its permissions: a database holds API keys and sessions.
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield partial
        sync(partial)
        partial.replace(path)
        sync(path.absolute().parent)
    finally:
        remove_file(partial)


def remove_file(path: Path) -> None:
    """Delete an SQLite file with the files that belong to it. Does nothing if there is none."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _copy_tables(database: Database, partial: Path, progress: Progress) -> None:
    copy = open_file(partial)
    try:
        with database.snapshot() as source:
            revision.check(source)
            migrate.upgrade(copy)
            with copy.writing() as target:
                table_copy.copy_all(source, target, progress)
    finally:
        copy.close()
    make_single(partial)
