"""`tidings backup`: a copy that only its owner may read, made while the database is in use."""

from __future__ import annotations

import stat

import pytest

from cli.commands import Tidings, error_line
from support.people import PASSWORD
from tidings.services import Services
from tidings.storage.accounts import users
from tidings.storage.engine.database import Database


def test_a_backup_has_all_data_and_is_readable_by_its_owner_only(
    tidings: Tidings, services: Services, database: Database
) -> None:
    if not database.is_sqlite:
        pytest.skip("PostgreSQL has pg_dump")
    services.users.create("alice", PASSWORD)
    target = tidings.folder / "copy.db"

    with database.writing() as db:
        users.add(db, username="unfinished", password_hash="x", is_admin=False, now=services.clock())
        done = tidings("backup", str(target))

    assert (done.returncode, done.stderr) == (0, "")
    assert str(target) in done.stdout
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    copy = Database(f"sqlite:///{target}")
    with copy.reading() as db:
        assert [user.username for user in users.list_all(db)] == ["alice"]
    copy.close()


def test_a_backup_replaces_no_file(tidings: Tidings, database: Database) -> None:
    if not database.is_sqlite:
        pytest.skip("PostgreSQL has pg_dump")
    target = tidings.folder / "precious"
    target.write_text("mine")

    refused = tidings("backup", str(target))

    assert refused.returncode != 0
    assert "File exists" in error_line(refused, 1)
    assert target.read_text() == "mine"
    assert tidings("backup", str(tidings.folder / "missing" / "copy.db")).returncode != 0


def test_on_postgresql_a_backup_names_pg_dump(tidings: Tidings, database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite is copied")

    assert "pg_dump" in error_line(tidings("backup", str(tidings.folder / "copy.db")), 1)
