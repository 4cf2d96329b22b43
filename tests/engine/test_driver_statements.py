"""A statement gives the same, fails in the same way and is told to listeners, whoever executes it."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from sqlalchemy import CompoundSelect, Executable, Select, bindparam, event, func, insert, literal, select, text, update
from sqlalchemy.exc import DBAPIError

from tidings.base.errors import StoreUnavailable
from tidings.base.times import Instant
from tidings.engine import driver_statements
from tidings.engine.database import Database, Read
from tidings.engine.errors import ConcurrentChange
from tidings.engine.statements import in_list, joined
from tidings.storage.accounts import users
from tidings.storage.schema import entry_contents
from tidings.storage.schema import users as table

NOW = Instant(0)
# The first two are SQLAlchemy's.
TIMES = 4

BY_NAME = select(table.c.id, table.c.username, table.c.is_admin, table.c.last_login_at).where(
    table.c.username == bindparam("name")
)


def add(database: Database, name: str, *, is_admin: bool = False) -> int:
    with database.writing() as db:
        return users.add(db, username=name, password_hash="x", is_admin=is_admin, now=NOW)


def is_kept(database: Database, statement: Executable) -> bool:
    """Return whether the driver executes the statement from now on, where it reads or where it writes."""
    return any(
        kept is not None
        for engine in (database._engines.reader, database._engines.writer)
        for kept in driver_statements._statements(engine.dialect).get(statement, {}).values()
    )


def test_rows_have_the_types_of_their_columns_each_time(database: Database) -> None:
    ids = {"alice": add(database, "alice", is_admin=True), "bob": add(database, "bob")}

    for _ in range(TIMES):
        for name, id_ in ids.items():
            expected = (id_, name, name == "alice", None)
            as_row = dict(zip(("id", "username", "is_admin", "last_login_at"), expected, strict=True))
            with database.reading() as db:
                (found,) = db.tuples(BY_NAME, name=name)
                assert (found, type(found), type(found[2])) == (expected, tuple, bool)
                assert db.rows(BY_NAME, name=name) == [as_row]
                assert db.row(BY_NAME, name=name) == as_row
                assert db.scalar(BY_NAME, name=name) == id_
                assert db.scalars(BY_NAME, name=name) == [id_]
                assert (db.row(BY_NAME, name="nobody"), db.scalar(BY_NAME, name="nobody")) == (None, None)
    assert is_kept(database, BY_NAME)


def test_bodies_are_compressed_and_read_each_time(database: Database) -> None:
    body, kept = "<p>Rain fell on the valley.</p>" * 100, select(bindparam("body", type_=entry_contents.c.content.type))
    for number in range(TIMES):
        with database.reading() as db:
            assert db.scalar(kept, body=f"{body}{number}") == f"{body}{number}"
    assert is_kept(database, kept)


def _alike(name: str) -> Select[Any]:
    return select(table.c.id).where(table.c.username == name)


def test_statements_that_differ_in_a_value_alone_keep_their_own(database: Database) -> None:
    ids = [add(database, "alice"), add(database, "bob")]
    alice, bob = _alike("alice"), _alike("bob")

    for _ in range(TIMES):
        with database.reading() as db:
            assert [db.scalar(alice), db.scalar(bob)] == ids
    assert is_kept(database, bob)


def test_what_an_update_sets_depends_on_the_names_it_is_given(database: Database) -> None:
    id_ = add(database, "alice")
    change = update(table).where(table.c.id == bindparam("which"))

    for number in range(TIMES):
        with database.writing() as db:
            assert db.run(change, which=id_, language=f"l{number}") == 1
            assert db.run(change, which=id_, theme=f"t{number}") == 1
            assert db.run(change, which=id_ + 1, theme="another") == 0
        with database.reading() as db:
            row = db.row(select(table.c.language, table.c.theme))
        assert row == {"language": f"l{number}", "theme": f"t{number}"}


def test_a_list_may_have_any_length_each_time(database: Database) -> None:
    ids = [add(database, f"user{number}") for number in range(5)]
    as_parameter = select(table.c.id).where(in_list(table.c.id, "ids")).order_by(table.c.id)
    with_placeholders = select(table.c.id).where(table.c.id.in_(bindparam("ids", expanding=True))).order_by(table.c.id)

    for number in (0, 1, 5, 2, 3):
        with database.reading() as db:
            assert db.scalars(as_parameter, ids=ids[:number]) == ids[:number]
            assert db.scalars(with_placeholders, ids=ids[:number]) == ids[:number]
    assert is_kept(database, as_parameter)
    assert not is_kept(database, with_placeholders)


@pytest.mark.parametrize(
    "statement",
    [
        text("SELECT '100%' AS share, :given AS given"),
        select(literal("100%").label("share"), bindparam("given", type_=table.c.username.type).label("given")),
        select(literal("100%").label("share"), literal("it").label("given")).union_all(
            select(literal("100%"), literal("it"))
        ).limit(1),
    ],
    ids=["text", "select", "union"],
)  # fmt: skip
def test_kinds_of_statements(database: Database, statement: Select[Any] | CompoundSelect[Any]) -> None:
    for _ in range(TIMES):
        with database.reading() as db:
            assert db.rows(statement, given="it") == [{"share": "100%", "given": "it"}]


def test_joined_ids_are_read_by_the_driver(database: Database) -> None:
    ids = {add(database, "alice"), add(database, "bob")}
    statement = select(joined(table.c.id))

    for _ in range(TIMES):
        with database.reading() as db:
            assert set(map(int, db.scalar(statement).split(","))) == ids
    assert is_kept(database, statement)


def test_a_duplicate_row_is_a_concurrent_change_each_time(database: Database) -> None:
    add(database, "alice")
    new = insert(table)
    for _ in range(TIMES):
        with pytest.raises(ConcurrentChange), database.writing() as db:
            db.run(new, username="alice", password_hash="x", is_admin=False, created_at=NOW)
    for number in range(TIMES):
        with database.writing() as db:
            db.run(new, username=f"user{number}", password_hash="x", is_admin=False, created_at=NOW)
        with pytest.raises(ConcurrentChange), database.writing() as db:
            db.run(new, username="alice", password_hash="x", is_admin=False, created_at=NOW)
    assert is_kept(database, new)


def test_an_error_of_the_driver_is_raised_as_one_of_sqlalchemy(database: Database) -> None:
    kept = select(func.abs(bindparam("number")) if database.is_sqlite else literal(1) / bindparam("number"))
    wrong = -(2**63) if database.is_sqlite else 0
    for _ in range(TIMES):
        with database.reading() as db:
            assert db.scalar(kept, number=1) == 1
            with pytest.raises(DBAPIError, match="hidden") as raised:
                db.scalar(kept, number=wrong)
        assert "SELECT" in str(raised.value)
    assert is_kept(database, kept)


CUT_OTHERS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
)


def _read_cut(database: Database, statement: Executable) -> None:
    """Execute a statement on a connection that was cut after its last one."""
    with database.reading() as db:
        assert db.scalar(statement) == 7
        with database.reading() as other:
            other.scalars(CUT_OTHERS)
        db.scalar(statement)


def test_a_connection_that_was_cut_fails_once_and_is_replaced(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite is a file")
    kept = select(literal(7))
    for _ in range(TIMES):
        with pytest.raises(StoreUnavailable):
            _read_cut(database, kept)
        with database.reading() as db:
            assert db.scalar(kept) == 7
    assert is_kept(database, kept)


def test_listeners_are_told_of_each_execution(database: Database) -> None:
    told: list[tuple[str, str, Any]] = []
    kept = select(literal(1).label("one"), bindparam("given", type_=table.c.id.type))
    with database.reading() as db:
        for name in ("before_cursor_execute", "after_cursor_execute"):

            def note(_connection: Any, _cursor: Any, sql: str, bound: Any, *_: Any, name: str = name) -> None:
                told.append((name, sql, bound))

            event.listen(db.connection, name, note)
        for _ in range(TIMES):
            db.tuples(kept, given=3)

    assert [name for name, _, _ in told] == ["before_cursor_execute", "after_cursor_execute"] * TIMES
    assert len({(sql, str(bound)) for _, sql, bound in told}) == 1


def test_a_transaction_begins_with_its_first_statement(database: Database) -> None:
    kept = select(func.count()).select_from(table)
    for number in range(TIMES):
        add(database, f"user{number}")
        with database.reading() as db:
            assert db.scalar(kept) == number + 1
            assert db.connection.in_transaction()
            add_in_between = number == TIMES - 1
            if add_in_between:
                add(database, "later")
            # A read on SQLite sees one state.
            assert db.scalar(kept) == number + 1 + (add_in_between and not database.is_sqlite)


def test_statements_are_forgotten_with_their_last_reference(database: Database) -> None:
    def run(db: Read, name: str) -> None:
        once = _alike(name)
        assert [db.scalar(once) for _ in range(TIMES)] == [None] * TIMES

    with database.reading() as db:
        # SQLAlchemy keeps the first of those that are equal but for their values.
        run(db, "first")
        gc.collect()
        before = len(driver_statements._statements(db.connection.dialect))
        for number in range(10):
            run(db, f"user{number}")
        gc.collect()
        assert len(driver_statements._statements(db.connection.dialect)) == before
