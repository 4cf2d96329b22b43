"""Writes a backup of the database while it is in use: one SQLite file, whatever engine it comes from.

SQLite      ─► VACUUM INTO                    ─► FILE.partial ─► FILE
PostgreSQL  ─► one snapshot, table by table   ─► FILE.partial ─► FILE
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tidings.base.errors import StartError, StoreUnavailable
from tidings.engine import sqlite_file
from tidings.engine.database import Database
from tidings.maintenance.store import table_copy
from tidings.maintenance.store.table_copy import Progress
from tidings.storage import migrate, schema_revision


def copy_to(database: Database, path: Path, progress: Progress) -> int:
    """Write a consistent copy to a new file, which only its owner may read. Returns its size in bytes.

    Other processes continue to read and write. The file has its name only when it is complete. Raises StartError if it
    exists or cannot be written.
    """
    try:
        with _new_file(path) as partial:
            if not sqlite_file.vacuum_into(database, partial):
                _copy_tables(database, partial, progress)
    except StoreUnavailable as error:
        raise StartError(f"The backup {path} cannot be written: {error.reason}") from error
    except OSError as error:
        raise StartError(f"The backup {path} cannot be written: {error.strerror}") from error
    return path.stat().st_size


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """Yield an empty file next to `path`, which takes its name at the end. Raises FileExistsError."""
    if path.exists():
        raise FileExistsError(0, "File exists; choose another name, or remove it")
    partial = path.with_name(f"{path.name}.partial")
    sqlite_file.remove(partial)  # left by a backup that was killed
    # VACUUM INTO accepts an empty file, and keeps its permissions: a database holds API keys and sessions.
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield partial
        sqlite_file.sync(partial)
        partial.replace(path)
        sqlite_file.sync(path.absolute().parent)
    finally:
        sqlite_file.remove(partial)


def _copy_tables(database: Database, partial: Path, progress: Progress) -> None:
    copy = sqlite_file.open_file(partial)
    try:
        with database.snapshot(of_all_users=True) as source:
            schema_revision.check(source)
            migrate.upgrade(copy)
            with copy.writing() as target:
                table_copy.copy_all(source, target, progress)
    finally:
        copy.close()
    sqlite_file.make_single(partial)
