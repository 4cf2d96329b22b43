"""Errors of an unavailable database are recognized by their codes; the cause appears in the log and nowhere else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy.exc
from sqlalchemy import text
from structlog.testing import capture_logs

from tidings.base.errors import StoreUnavailable
from tidings.engine import database as database_module
from tidings.engine import errors
from tidings.engine.database import Database
from tidings.engine.errors import Cause, CauseLog, ConcurrentChange
from tidings.storage import migrate

pytestmark = pytest.mark.slow

USERS = text("SELECT count(*) FROM users")
TABLE = "CREATE TABLE scratch (words BLOB)"
SOME_MB = "INSERT INTO scratch VALUES (zeroblob(4000000))"


@pytest.fixture(autouse=True)
def unlogged_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget causes that another test in this process has logged."""
    monkeypatch.setattr(database_module, "_causes", CauseLog())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "one.db"


@pytest.fixture
def on_sqlite(file: Path) -> Iterator[Database]:
    migrated = Database(f"sqlite:///{file}")
    migrate.upgrade(migrated)
    migrated.close()
    opened = Database(f"sqlite:///{file}")
    yield opened
    opened.close()


@pytest.fixture
def on_postgresql(database: Database) -> Database:
    if database.is_sqlite:
        pytest.skip("SQLite has codes of its own")
    return database


def run(database: Database, *statements: str) -> None:
    """Run statements in one transaction."""
    with database.writing() as db:
        for statement in statements:
            db.run(text(statement))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pragma", "code"), [("max_page_count = 1", "SQLITE_FULL"), ("query_only = ON", "SQLITE_READONLY")]
)
def test_sqlite_cannot_write(on_sqlite: Database, pragma: str, code: str) -> None:
    with capture_logs() as logged, pytest.raises(StoreUnavailable) as raised:
        run(on_sqlite, f"PRAGMA {pragma}", TABLE, SOME_MB)

    (line,) = logged
    assert (line["event"], line["code"], line["reason"]) == ("database unavailable", code, raised.value.reason)
    assert raised.value.reason
    assert raised.value.reason not in raised.value.message


@pytest.mark.slow
@pytest.mark.parametrize("damaged", [range(100), range(100, 4_000_000)], ids=["head", "rest"])
def test_sqlite_reads_a_damaged_file(on_sqlite: Database, file: Path, damaged: range) -> None:
    with on_sqlite.outside_transaction() as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    on_sqlite.close()
    content = bytearray(file.read_bytes())
    content[damaged.start : damaged.stop] = b"\xab" * len(content[damaged.start : damaged.stop])
    file.write_bytes(content)

    with pytest.raises(StoreUnavailable), on_sqlite.reading() as db:
        db.scalar(USERS)


@pytest.mark.slow
def test_sqlite_is_kept_busy_by_another_process(
    on_sqlite: Database, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Database(f"sqlite:///{file}")
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_S", 0.05)

    with other.writing(), capture_logs() as logged:
        with pytest.raises(StoreUnavailable), on_sqlite.writing():
            pytest.fail("this transaction has not begun")
        with on_sqlite.reading() as db:
            assert db.scalar(USERS) == 0
    other.close()

    assert [line["code"] for line in logged] == ["SQLITE_BUSY"]


@pytest.mark.slow
def test_waiting_for_the_write_lock_has_a_deadline_and_readers_do_not_wait(
    on_sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_S", 0.05)
    refused: list[StoreUnavailable] = []

    def write() -> None:
        try:
            with on_sqlite.writing() as db:
                db.run(text("UPDATE users SET username = 'lost'"))
        except StoreUnavailable as error:
            refused.append(error)

    with on_sqlite.writing():
        second = threading.Thread(target=write)
        second.start()
        second.join(60)
        with on_sqlite.reading() as db:
            assert db.scalar(USERS) == 0

    assert len(refused) == 1
    with on_sqlite.writing() as db:  # the queue goes on
        db.scalar(USERS)


SQLSTATES = ["08006", "57P01", "57P03", "25006", "57014", "40P01", "53100", "53200", "53300", "58030", "XX001"]


@pytest.mark.parametrize("sqlstate", SQLSTATES)
def test_postgresql_is_unavailable(on_postgresql: Database, sqlstate: str) -> None:
    with capture_logs() as logged, pytest.raises(StoreUnavailable) as raised, on_postgresql.writing() as db:
        db.run(text(f"DO $$ BEGIN RAISE EXCEPTION 'volume /data' USING ERRCODE = '{sqlstate}'; END $$"))

    assert [(line["code"], line["reason"]) for line in logged] == [(sqlstate, "volume /data")]
    assert "/data" not in raised.value.message
    with on_postgresql.reading() as db:
        assert db.scalar(USERS) == 0


NODE_SAYS = 'duplicate key value violates unique constraint "pk_search_pending_102037"'


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        (NODE_SAYS, ConcurrentChange),
        ("server closed the connection unexpectedly", StoreUnavailable),
        ("failure on connection marked as essential: 10.0.0.2:5432", StoreUnavailable),
        ("could not commit transaction for shard 102009 on at least one active node", StoreUnavailable),
        ("no shard", sqlalchemy.exc.DBAPIError),
    ],
)
def test_what_a_distributed_database_says_in_an_internal_error(
    on_postgresql: Database, says: str, expected: type[Exception]
) -> None:
    with pytest.raises(expected), on_postgresql.writing() as db:
        db.run(text(f"DO $$ BEGIN RAISE EXCEPTION '{says}' USING ERRCODE = 'XX000'; END $$"))


def test_postgresql_gives_up_a_statement_at_its_limit(on_postgresql: Database) -> None:
    with pytest.raises(StoreUnavailable):
        run(on_postgresql, "SET LOCAL statement_timeout = '10ms'", "SELECT pg_sleep(60)")


def test_programming_errors_are_not_translated(database: Database) -> None:
    for wrong in ("SELECT connection is locked, disk is full", "SELECT nothing FROM nowhere"):
        with pytest.raises(sqlalchemy.exc.DBAPIError), database.reading() as db:
            db.scalar(text(wrong))


@pytest.mark.slow
def test_a_pool_without_a_free_connection_is_unavailable(on_sqlite: Database, file: Path) -> None:
    small = Database(f"sqlite:///{file}", pool_size=1)
    small._engines.reader.pool._timeout = 0.01  # type: ignore[attr-defined]

    with small.reading(), pytest.raises(StoreUnavailable), small.reading():
        pytest.fail("there was no connection")
    small.close()


def test_a_repeated_cause_is_logged_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    causes = CauseLog()
    with capture_logs() as logged:
        for code in ("53100", "53100", "53100", "57P01"):
            causes.log(Cause(code, "why"))
        monkeypatch.setattr(errors, "LOG_INTERVAL_S", 0.0)
        causes.log(Cause("53100", "why"))

    assert [(line["code"], line["suppressed"]) for line in logged] == [("53100", 0), ("57P01", 0), ("53100", 2)]


@pytest.mark.slow
def test_nothing_is_written_into_a_deleted_or_replaced_file(on_sqlite: Database, file: Path) -> None:
    run(on_sqlite, TABLE)
    moved = file.rename(file.with_name("moved.db"))

    with pytest.raises(StoreUnavailable) as gone:
        run(on_sqlite, SOME_MB)
    file.write_bytes(moved.read_bytes())
    with pytest.raises(StoreUnavailable) as replaced:
        run(on_sqlite, SOME_MB)

    assert "is gone" in gone.value.reason
    assert "was replaced" in replaced.value.reason
    file.unlink()
    moved.rename(file)
    run(on_sqlite, SOME_MB)


@pytest.mark.slow
def test_a_write_fails_when_its_file_is_deleted_meanwhile(on_sqlite: Database, file: Path) -> None:
    with pytest.raises(StoreUnavailable), on_sqlite.writing():
        file.rename(file.with_name("moved.db"))
