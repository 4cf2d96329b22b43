"""Restores a backup: the database of the settings becomes what the file holds, or stays as it is.

FILE ─► copy next to the database ─► integrity ─► migrations ─► SQLite: takes the place of the old file
                                                             ─► PostgreSQL: all tables, in one transaction
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import inspect, text

from tidings.base.errors import StartError, StoreUnavailable
from tidings.engine import integrity, sqlite_file
from tidings.engine.database import Database, Read, Write, is_distributed
from tidings.engine.sqlite_file import UnreadableFile
from tidings.maintenance.store import table_copy
from tidings.maintenance.store.table_copy import Progress
from tidings.storage import migrate
from tidings.storage.accounts import change_log
from tidings.storage.schema import metadata, users

_EXPECTED = "expected a file that `tidings backup` wrote"
# Beginnings of files that people may mistake for one of our backups.
_FOREIGN = {
    b"PGDMP": "it is a dump of pg_dump: restore it with pg_restore",
    b"--": "it looks like SQL: restore it with psql",
    b"PK": "it is a ZIP archive",
    b"\x1f\x8b": "it is compressed: run gunzip first",
}
_TABLES = frozenset({"alembic_version", "users", "feeds", "entries"})


def restore(database: Database, path: Path, *, overwrite: bool, folder: Path, progress: Progress) -> int:
    """Replace the content of the database with a backup. Returns the number of users.

    overwrite: replace a database even if it is not empty. folder: for a temporary copy of the file.
    Raises StartError, with the database unchanged, if the file is not a backup or damaged, if the database holds
    something and `overwrite` is not set, and if another process uses the database.
    """
    _require_backup(path)
    if not overwrite:
        _require_empty(database)
    with _staged(path, folder) as staged:
        count = _examine(path, staged)
        if file := sqlite_file.path_of(database):
            _put_in_place(file, staged)
        else:
            _load(database, path, staged, progress)
    return count


def _require_backup(path: Path) -> None:
    try:
        with path.open("rb") as file:
            beginning = file.read(len(sqlite_file.MAGIC))
    except OSError as error:
        raise StartError(f"The backup {path} cannot be read: {error.strerror}") from error
    if beginning != sqlite_file.MAGIC:
        kind = next((what for start, what in _FOREIGN.items() if beginning.startswith(start)), "it begins differently")
        raise StartError(f"{path} is not a backup of Tidings: {_EXPECTED}, but {kind if beginning else 'it is empty'}")


def _require_empty(database: Database) -> None:
    if file := sqlite_file.path_of(database):
        is_used = file.exists()
    else:
        migrate.require_answer(database)
        with database.reading() as db:
            is_used = _has_tables(db)
    if is_used:
        raise StartError(
            f"The database {migrate.describe(database)} is not empty; to replace all that it holds, add --force"
        )


def _has_tables(db: Read) -> bool:
    tables = inspect(db.connection).get_table_names()
    return not metadata.tables.keys().isdisjoint(tables)


@contextmanager
def _staged(path: Path, folder: Path) -> Iterator[Path]:
    """Yield a copy of the file in `folder`, which is deleted at the end if it is still there."""
    staged = folder / ".tidings-restore.partial"
    sqlite_file.remove(staged)
    try:
        os.close(os.open(staged, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        sqlite_file.copy(path, staged)
        yield staged
    except UnreadableFile as error:
        raise _damaged(path, str(error)) from error
    except OSError as error:
        raise StartError(f"The copy {staged} cannot be written: {error.strerror}") from error
    finally:
        sqlite_file.remove(staged)


def _damaged(path: Path, reason: str) -> StartError:
    return StartError(f"The backup {path} is damaged: {reason}; {_EXPECTED}, complete: try an older one")


def _examine(path: Path, staged: Path) -> int:
    """Check the copy and upgrade its schema. Returns the number of users. path: named in messages."""
    report = sqlite_file.examine(staged)
    if report.damage:
        raise _damaged(path, report.damage)
    if not report.tables >= _TABLES:
        raise StartError(f"{path} is an SQLite database, but not one of Tidings: {_EXPECTED}")
    copy = sqlite_file.open_file(staged)
    try:
        with copy.reading() as db:
            revision = migrate.current_revision(db)
        if revision is not None and migrate.is_too_old(revision):
            raise StartError(
                f"The backup {path} was made by a version of Tidings before 0.2.0 (schema {revision}): restore it with"
                " version 0.2.0, which upgrades it"
            )
        if revision is None or not migrate.is_known(revision):
            raise StartError(
                f"The backup {path} was made by a newer version of Tidings (schema {revision}): restore it with that"
                " version"
            )
        migrate.upgrade(copy)
        with copy.writing() as db:
            # What clients have synced since the backup is not what it holds.
            change_log.restart_all(db)
        with copy.reading() as db:
            count = table_copy.count_rows(db, users)
    finally:
        copy.close()
    sqlite_file.make_single(staged)
    return count


def _put_in_place(file: Path, staged: Path) -> None:
    if file.exists() and sqlite_file.is_in_use(file):
        raise StartError(f"The database {file} is in use: stop Tidings, then run this command again")
    sqlite_file.sync(staged)
    sqlite_file.remove_log(file)
    staged.replace(file)
    sqlite_file.sync(file.absolute().parent)


def _load(database: Database, path: Path, staged: Path, progress: Progress) -> None:
    copy = sqlite_file.open_file(staged)
    # Connections that were kept for reading would count as other programs.
    database.close()
    try:
        with copy.reading() as source, database.writing() as target:
            integrity.begin_long_transaction(target)
            if integrity.other_sessions(target):
                raise StartError(
                    f"Other programs are connected to the database {migrate.describe(database)}: stop Tidings, then run"
                    " this command again"
                )
            _empty(target)
            migrate.upgrade_within(target)
            table_copy.copy_all(source, target, progress)
    except StoreUnavailable as error:
        raise StartError(f"The backup {path} was not restored: {error.reason}") from error
    finally:
        copy.close()


def _empty(db: Write) -> None:
    """Remove all tables; where they are distributed, all rows, so that they remain distributed."""
    if not _has_tables(db):
        return
    # Tables of an older schema may have other names.
    migrate.upgrade_within(db)
    if is_distributed(db.connection):
        table_copy.remove_rows(db)
        return
    metadata.drop_all(db.connection)
    db.run(text("DROP TABLE alembic_version"))
