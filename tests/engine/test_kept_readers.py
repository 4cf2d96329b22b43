"""Connections for reading are kept between reads: what a read sees, and that nobody waits for one that is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from sqlalchemy import insert, text

from support import distributed
from support.databases import PostgresDatabases
from support.divided_entries import divide
from tidings.base.errors import NotFound, StoreUnavailable
from tidings.base.messages import verbatim
from tidings.base.times import Instant
from tidings.engine import kept_readers
from tidings.engine.database import Database, Read
from tidings.storage.schema import sign_in_failures

SIZE = 4
FAILURES = text("SELECT count(*) FROM sign_in_failures")


@pytest.fixture
def small(database_url: str) -> Iterator[Database]:
    with closing(Database(database_url, pool_size=SIZE)) as small:
        yield small


def connection_of(db: Read) -> int:
    return id(db.connection)


def add_failure(database: Database, lane: bytes) -> None:
    with database.writing() as db:
        db.run(insert(sign_in_failures).values(lane=lane, failures=1, last_at=Instant(1), next_turn_at=Instant(1)))


def failures(database: Database) -> int:
    with database.reading() as db:
        return int(db.scalar(FAILURES))


def fail_after(db: Read) -> None:
    db.scalar(FAILURES)
    raise RuntimeError


def test_the_next_read_has_the_same_connection_and_sees_what_was_written_since(small: Database) -> None:
    with small.reading() as db:
        first = connection_of(db)
        before = db.scalar(FAILURES)
    for number in range(5):
        add_failure(small, b"%d" % number)
        with small.reading() as db:
            assert connection_of(db) == first
            assert db.scalar(FAILURES) == before + number + 1


def test_a_read_sees_one_state_on_sqlite(small: Database, engine: str) -> None:
    failures(small)
    with small.reading() as db:
        before = db.scalar(FAILURES)
        add_failure(small, b"meanwhile")
        seen = db.scalar(FAILURES)
    assert seen == (before if engine == "sqlite" else before + 1)
    assert failures(small) == before + 1


def test_reads_at_the_same_time_have_connections_of_their_own(small: Database) -> None:
    for _ in range(3):
        with small.reading() as one, small.reading() as other:
            assert connection_of(one) != connection_of(other)
            assert one.scalar(FAILURES) == other.scalar(FAILURES)


def test_a_connection_with_an_error_is_not_kept(small: Database) -> None:
    for _ in range(2 * SIZE):
        with pytest.raises(RuntimeError), small.reading() as db:
            fail_after(db)
        with pytest.raises(Exception, match="nowhere"), small.reading() as db:
            db.scalar(text("SELECT nothing FROM nowhere"))
    assert failures(small) == failures(small)


def test_all_connections_can_be_used_for_reading_and_for_writing(small: Database) -> None:
    with ExitStack() as stack:
        for _ in range(SIZE):
            stack.enter_context(small.reading()).scalar(FAILURES)
    with ExitStack() as stack:
        for _ in range(SIZE if not small.is_sqlite else 1):
            stack.enter_context(small.writing()).scalar(FAILURES)
    assert failures(small) == failures(small)


def test_who_waits_gets_a_connection_that_would_have_been_kept(small: Database) -> None:
    found: list[int] = []
    with ExitStack() as stack:
        for _ in range(SIZE):
            stack.enter_context(small.reading()).scalar(FAILURES)
        waiting = threading.Thread(target=lambda: found.append(failures(small)))
        waiting.start()
        kept = small._engines._kept
        while not kept._waiting:
            assert waiting.is_alive()
    waiting.join(60)
    assert found


def test_kept_connections_are_closed_with_the_database(small: Database) -> None:
    failures(small)
    pool = small._engines.reader.pool
    assert pool.checkedout() == 1  # type: ignore[attr-defined]
    small.close_unused()
    small.close()
    assert pool.checkedout() == 0  # type: ignore[attr-defined]


def test_one_that_was_unused_for_long_is_tested_by_the_pool(small: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    if small.is_sqlite:
        pytest.skip("a file does not go away")
    with small.reading() as db:
        pid = db.scalar(text("SELECT pg_backend_pid()"))
    with small.writing() as db:
        db.scalar(text("SELECT pg_terminate_backend(CAST(:pid AS integer))"), pid=pid)
    with pytest.raises(StoreUnavailable), small.reading() as db:
        db.scalar(FAILURES)
    with small.reading() as db:
        pid = db.scalar(text("SELECT pg_backend_pid()"))
    with small.writing() as db:
        db.scalar(text("SELECT pg_terminate_backend(CAST(:pid AS integer))"), pid=pid)
    monkeypatch.setattr(kept_readers, "PING_AFTER_IDLE_S", -1.0)
    monkeypatch.setattr("tidings.engine.postgresql.PING_AFTER_IDLE_S", -1.0)
    assert failures(small) == failures(small)


MODE = text("SHOW plan_cache_mode")
ONCE, EACH_TIME = "force_generic_plan", "force_custom_plan"


def mode(database: Database, *, by_key: bool) -> str:
    with database.reading(by_key=by_key) as db:
        return str(db.scalar(MODE))


def test_only_statements_that_find_rows_by_key_are_planned_once(small: Database) -> None:
    if small.is_sqlite:
        pytest.skip("SQLite has no plans for other values")
    distributed.skip(small, "a plan for all values would name the nodes of all users")
    # It is set when a connection is kept.
    mode(small, by_key=True)
    for _ in range(3):
        assert mode(small, by_key=True) == ONCE
        assert mode(small, by_key=False) == EACH_TIME
        with small.writing(by_key=True) as db:
            assert db.scalar(MODE) == ONCE
        with small.writing() as db:
            assert db.scalar(MODE) == EACH_TIME


def test_a_part_of_a_read_has_its_plans_made_once(small: Database) -> None:
    if small.is_sqlite:
        pytest.skip("SQLite has no plans for other values")
    distributed.skip(small, "a plan for all values would name the nodes of all users")
    mode(small, by_key=True)
    for _ in range(3):
        with small.reading() as db:
            with db.by_key() as keyed:
                assert keyed.scalar(MODE) == ONCE
            assert db.scalar(MODE) == EACH_TIME
    with small.writing() as transaction, transaction.by_key() as keyed:
        assert keyed is transaction


def test_a_part_of_a_read_waits_for_no_other_connection(small: Database) -> None:
    with ExitStack() as stack:
        reads = [stack.enter_context(small.reading()) for _ in range(SIZE)]
        assert stack.enter_context(reads[-1].by_key()) is reads[-1]


def test_a_part_of_a_read_sees_the_state_of_the_read_on_sqlite(small: Database) -> None:
    if not small.is_sqlite:
        pytest.skip("on PostgreSQL each statement has its own state")
    failures(small)
    with small.reading() as db:
        before = db.scalar(FAILURES)
        add_failure(small, b"meanwhile")
        with db.by_key() as keyed:
            assert keyed.scalar(FAILURES) == before


def test_a_connection_that_leaves_those_by_key_plans_each_time_again(small: Database) -> None:
    if small.is_sqlite:
        pytest.skip("SQLite has no plans for other values")
    distributed.skip(small, "a plan for all values would name the nodes of all users")
    mode(small, by_key=True)
    with pytest.raises(RuntimeError), small.reading(by_key=True) as db:
        fail_after(db)
    mode(small, by_key=True)
    with ExitStack() as stack:
        # All of the pool, by which those that are kept are closed.
        for _ in range(SIZE):
            assert stack.enter_context(small.writing()).scalar(MODE) == EACH_TIME


def test_an_answer_that_is_an_error_of_ours_leaves_the_connection_as_it_is(small: Database) -> None:
    failures(small)
    with small.reading() as db:
        first = connection_of(db)
    with pytest.raises(NotFound), small.reading():
        raise NotFound(verbatim("nothing"))
    with small.reading() as db:
        assert connection_of(db) == first


def test_partitions_are_planned_for_the_values(postgres_url: str) -> None:
    """A plan for all values would open all partitions."""
    with closing(PostgresDatabases(postgres_url)) as databases, databases.migrated() as url:
        divide(url)
        with closing(Database(url, pool_size=SIZE)) as database:
            assert [mode(database, by_key=True) for _ in range(3)] == [EACH_TIME] * 3
            with database.writing(by_key=True) as db:
                assert db.scalar(MODE) == EACH_TIME
