"""Restores a backup: the database of the settings becomes what the file holds, or stays as it is.

FILE ─► copy beside the database ─► integrity ─► migrations ─► SQLite: takes the place of the old file
                                                             ─► PostgreSQL: all tables, in one transaction
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import inspect, text

from tidings.domain.errors import StartError, StoreUnavailable
from tidings.storage import migrate
from tidings.storage.engine.database import Database, Read, Write
from tidings.storage.maintenance import backup, table_copy
from tidings.storage.maintenance.table_copy import Progress
from tidings.storage.schema import metadata

_EXPECTED = "expected is a file that `tidings backup` wrote"
_MAGIC = b"SQLite format 3\0"
# Beginnings of files that people may take for a backup of ours.
_FOREIGN = {
    b"PGDMP": "it is a dump of pg_dump: restore it with pg_restore",
    b"--": "it looks like SQL: restore it with psql",
    b"PK": "it is a ZIP archive",
    b"\x1f\x8b": "it is compressed: run gunzip first",
}
# How long to wait for other processes to close the SQLite file.
_BUSY_TIMEOUT_MS = 2_000
_other_connections = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)
_keep_transaction = text("SET LOCAL idle_in_transaction_session_timeout = 0")


def restore(database: Database, path: Path, *, overwrite: bool, folder: Path, progress: Progress) -> int:
    """Replace the content of the database with a backup. Returns the number of users.

    overwrite: also replace a database that holds something. folder: for a temporary copy of the file.
    Raises StartError, with the database unchanged, if the file is no backup or damaged, if the database holds
    something and `overwrite` is not set, and if another process uses the database.
    """
    _require_backup(path)
    if not overwrite:
        _require_empty(database)
    with _staged(path, folder) as staged:
        users = _examine(path, staged)
        if database.is_sqlite:
            _put_in_place(database, staged)
        else:
            _load(database, path, staged, progress)
    return users


def _require_backup(path: Path) -> None:
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_MAGIC))
    except OSError as error:
        raise StartError(f"The backup {path} cannot be read: {error.strerror}") from error
    if beginning != _MAGIC:
        found = next((what for start, what in _FOREIGN.items() if beginning.startswith(start)), "it begins differently")
        raise StartError(f"{path} is not a backup of Tidings: {_EXPECTED}, but {found if beginning else 'it is empty'}")


def _require_empty(database: Database) -> None:
    if database.is_sqlite:
        is_used = Path(str(database.url.database)).exists()
    else:
        migrate.require_answer(database)
        with database.reading() as db:
            is_used = _has_tables(db)
    if is_used:
        raise StartError(
            f"The database {migrate.describe(database)} is not empty; to replace all that it holds, add --force"
        )


def _has_tables(db: Read) -> bool:
    found = inspect(db.connection).get_table_names()
    return not metadata.tables.keys().isdisjoint(found)


@contextmanager
def _staged(path: Path, folder: Path) -> Iterator[Path]:
    """Yields a copy of the file in `folder`, which is deleted at the end if it is still there."""
    staged = folder / ".tidings-restore.partial"
    backup.remove_file(staged)
    try:
        os.close(os.open(staged, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(_open_read_only(path)) as source, closing(sqlite3.connect(staged)) as target:
            source.backup(target)
        yield staged
    except sqlite3.Error as error:
        raise _damaged(path, str(error)) from error
    except OSError as error:
        raise StartError(f"The copy {staged} cannot be written: {error.strerror}") from error
    finally:
        backup.remove_file(staged)


def _open_read_only(path: Path) -> sqlite3.Connection:
    """Returns a connection that changes nothing, not even in the folder if the file has no log beside it."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if has_log else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)


def _damaged(path: Path, reason: str) -> StartError:
    return StartError(f"The backup {path} is damaged: {reason}; {_EXPECTED}, complete: try an older one")


def _examine(path: Path, staged: Path) -> int:
    """Check the copy and upgrade its schema. Returns the number of users. path: named in messages."""
    with closing(sqlite3.connect(staged)) as raw:
        found = [str(row[0]) for row in raw.execute("PRAGMA integrity_check(1)")]
        if found != ["ok"]:
            raise _damaged(path, " ".join(found[0].split()))
        tables = {str(row[0]) for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"alembic_version", "users", "feeds", "entries"} <= tables:
            raise StartError(f"{path} is an SQLite database, but not one of Tidings: {_EXPECTED}")
        (revision,) = raw.execute("SELECT version_num FROM alembic_version").fetchone() or ("none",)
        if not migrate.is_known(str(revision)):
            raise StartError(
                f"The backup {path} was made by a newer version of Tidings (schema {revision}): restore it with that"
                " version"
            )
        if orphan := raw.execute("PRAGMA foreign_key_check").fetchone():
            raise _damaged(path, f"rows of {orphan[0]} refer to rows of {orphan[2]} that are missing")
        (users,) = raw.execute("SELECT count(*) FROM users").fetchone()
    copy = backup.open_file(staged)
    try:
        migrate.upgrade(copy)
    finally:
        copy.close()
    backup.make_single(staged)
    return int(users)


def _put_in_place(database: Database, staged: Path) -> None:
    path = Path(str(database.url.database))
    if path.exists():
        _require_unused(path)
    backup.sync(staged)
    # The log of the old file must not be applied to the new one.
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    staged.replace(path)
    backup.sync(path.absolute().parent)


def _require_unused(path: Path) -> None:
    """Raises StartError if another process has the file open: leaving WAL mode needs to be alone."""
    try:
        with closing(sqlite3.connect(path)) as raw:
            raw.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
            raw.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise StartError(f"The database {path} is in use: stop Tidings, then run this command again") from error
        # It is damaged, which may be why it is replaced.


def _load(database: Database, path: Path, staged: Path, progress: Progress) -> None:
    copy = backup.open_file(staged)
    try:
        with copy.reading() as source, database.writing() as target:
            target.run(_keep_transaction)
            if target.scalar(_other_connections):
                raise StartError(
                    f"Other programs are connected to the database {migrate.describe(database)}: stop Tidings, then run"
                    " this command again"
                )
            _drop_tables(target)
            migrate.upgrade_within(target)
            table_copy.copy_all(source, target, progress)
    except StoreUnavailable as error:
        raise StartError(f"The backup {path} was not restored: {error.reason}") from error
    finally:
        copy.close()


def _drop_tables(db: Write) -> None:
    if _has_tables(db):
        # Tables of an older schema may have other names.
        migrate.upgrade_within(db)
        metadata.drop_all(db.connection)
        db.run(text("DROP TABLE alembic_version"))
