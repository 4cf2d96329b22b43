"""Backups and their restoration: whole or not at all, whatever the file and the engine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from support.databases import Databases
from support.entry_fixtures import FeedFixture, ready
from support.every_table import fill
from tidings.base.errors import StartError
from tidings.engine import sequences
from tidings.engine.database import Database
from tidings.maintenance.store import backup, table_copy
from tidings.maintenance.store.restore import restore
from tidings.storage import migrate

pytestmark = pytest.mark.slow


# Of each table. Of those with large rows: a page, and a part of one.
ROWS = 12


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page of large rows have ten."""
    monkeypatch.setattr(table_copy, "SMALL_PAGE_SIZE", 10)


def no_progress(_done: int, _total: int) -> None:
    pass


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A database to restore, which no other program may use."""
    with databases.migrated(is_alone=True) as url:
        yield url


# All clients of a restored backup begin again (docs/sync.md).
BEGUN_AGAIN = {"list_versions", "changes"}


def digests_of_restored(database: Database) -> dict[str, table_copy.TableDigest]:
    return {name: digest for name, digest in digests(database).items() if name not in BEGUN_AGAIN}


def digests(database: Database) -> dict[str, table_copy.TableDigest]:
    with database.reading() as db:
        return {table.name: table_copy.digest(db, table) for table in table_copy.tables()}


def restored(database: Database, path: Path, *, overwrite: bool = False) -> int:
    return restore(database, path, overwrite=overwrite, folder=path.parent, progress=no_progress)


@pytest.fixture
def filled(database: Database) -> Database:
    with database.writing() as db:
        fill(db, ROWS)
    return database


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Database]:
    """An empty database; on SQLite not even a file."""
    found = Database(empty_database_url)
    yield found
    found.close()


@pytest.fixture
def backup_file(filled: Database, tmp_path: Path) -> Path:
    path = tmp_path / "backup.db"
    backup.copy_to(filled, path, no_progress)
    return path


def test_a_backup_is_restored_equal_by_digest(filled: Database, empty: Database, backup_file: Path) -> None:
    before = digests_of_restored(filled)
    with filled.writing() as db:
        db.run(text("DELETE FROM users"))

    assert restored(empty, backup_file) == ROWS

    assert digests_of_restored(empty) == before
    migrate.check(empty)


def test_a_backup_is_restored_into_the_other_engine(backup_file: Path, filled: Database, tmp_path: Path) -> None:
    other = Database(f"sqlite:///{tmp_path}/other.db")

    restored(other, backup_file)

    assert digests_of_restored(other) == digests_of_restored(filled)
    other.close()


def test_a_database_that_holds_something_is_replaced_only_with_overwrite(filled: Database, backup_file: Path) -> None:
    before = digests_of_restored(filled)
    with filled.writing() as db:
        db.run(text("UPDATE users SET theme = 'changed since'"))
    changed = digests(filled)

    with pytest.raises(StartError, match=r"is not empty; .* add --force"):
        restored(filled, backup_file)
    assert digests(filled) == changed
    filled.close()

    assert restored(filled, backup_file, overwrite=True) == ROWS
    filled.close()
    assert digests_of_restored(filled) == before


def test_a_database_in_use_is_not_replaced(filled: Database, backup_file: Path) -> None:
    used = Database(filled.url.render_as_string(hide_password=False))
    try:
        with used.reading() as db:
            db.scalar(text("SELECT count(*) FROM users"))
        before = digests(filled)
        filled.close()

        with pytest.raises(StartError, match="stop Tidings"):
            restored(filled, backup_file, overwrite=True)

        assert digests(used) == before
    finally:
        used.close()


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def scramble(path: Path) -> None:
    with path.open("r+b") as file:
        for page in range(3, 40):
            file.seek(page * 4096)
            file.write(b"\xff" * 200)


def replace_by(content: bytes) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        path.write_bytes(content)

    return apply


def change(*statements: str) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        with sqlite3.connect(path) as raw:
            for statement in statements:
                raw.execute(statement)
        raw.close()

    return apply


DAMAGES: list[tuple[Callable[[Path], None], str]] = [
    (cut_short, "damaged: .* expected a file that `tidings backup` wrote"),
    (scramble, "damaged: .* expected a file that `tidings backup` wrote"),
    (replace_by(b""), "expected a file that `tidings backup` wrote, but it is empty"),
    (replace_by(b"PGDMP\x01"), "a dump of pg_dump: restore it with pg_restore"),
    (replace_by(b"--\n-- PostgreSQL database dump"), "restore it with psql"),
    (replace_by(b"<?xml version='1.0'?><opml/>"), "but it begins differently"),
    (change("DROP TABLE alembic_version"), "is an SQLite database, but not one of Tidings"),
    (change("UPDATE alembic_version SET version_num = '9999'"), r"newer version of Tidings \(schema 9999\)"),
    (change("UPDATE alembic_version SET version_num = '0035'"), r"before 0\.2\.0 \(schema 0035\): restore it with"),
    (change("PRAGMA foreign_keys = OFF", "DELETE FROM users WHERE id = 7"), "damaged: rows of .* are missing"),
    (Path.unlink, "cannot be read: No such file"),
]


def test_a_damaged_or_foreign_file_changes_nothing_and_the_message_says_what_was_expected(
    filled: Database, backup_file: Path
) -> None:
    before = digests(filled)
    content = backup_file.read_bytes()
    for damage, says in DAMAGES:
        filled.close()
        backup_file.write_bytes(content)
        damage(backup_file)

        with pytest.raises(StartError, match=says):
            restored(filled, backup_file, overwrite=True)

        assert digests(filled) == before, says
        assert [file.name for file in backup_file.parent.glob("*partial*")] == [], says


def test_a_restoration_that_fails_half_way_changes_nothing(
    filled: Database, backup_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digests(filled)
    filled.close()

    class DiskFull(Exception):
        pass

    def fail(*_: object) -> None:
        raise DiskFull

    monkeypatch.setattr(sequences, "write", fail)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DiskFull):
        restored(filled, backup_file, overwrite=True)

    assert digests(filled) == before


def test_an_older_backup_is_brought_to_the_current_schema(empty: Database, tmp_path: Path) -> None:
    older = Database(f"sqlite:///{tmp_path}/older.db")
    migrate.upgrade(older, "0036")
    with older.writing() as db:
        db.run(text("INSERT INTO users (username, password_hash, created_at) VALUES ('alice', 'x', 1)"))
    older.close()

    assert restored(empty, tmp_path / "older.db") == 1

    migrate.check(empty)
    with empty.reading() as db:
        assert db.scalar(text("SELECT username FROM users")) == "alice"
        assert db.scalar(text("SELECT count(needs_icon_object) FROM api_keys")) == 0


def test_a_backup_with_a_log_beside_it_is_restored_with_what_the_log_holds(database: Database, tmp_path: Path) -> None:
    copied = Database(f"sqlite:///{tmp_path}/live.db")
    migrate.upgrade(copied)
    feed = FeedFixture.create(copied)
    feed.add(ready("Only in the log"))
    assert (tmp_path / "live.db-wal").stat().st_size > 0
    database.close()

    restored(database, tmp_path / "live.db", overwrite=True)

    assert FeedFixture(database, feed.user_id, feed.category_id, feed.feed_id).titles() == ["Only in the log"]
    copied.close()
