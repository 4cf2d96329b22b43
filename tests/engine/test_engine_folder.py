"""Differences between SQLite and PostgreSQL are confined to `storage/engine`; upserts are written once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

import tidings
from tidings.base.times import Instant
from tidings.engine.database import Database
from tidings.engine.statements import upsert
from tidings.maintenance.tables import chores
from tidings.storage.polling import host_limits
from tidings.storage.schema import hosts as host_table

SOURCE = Path(tidings.__file__).parent
# A table declares what each engine needs of it beside its columns; migrations are history.
FREE = ("engine/", "storage/schema/", "storage/migrations/", "archives/readers/")
DRIVERS = ("psycopg", "sqlite3", "sqlalchemy.dialects")
NAMES = {"dialect", "is_sqlite", "on_conflict_do_nothing", "on_conflict_do_update", "pg_advisory_xact_lock"}
# SQL in text.
WORDS = ("pragma", "pg_", "on conflict", "rowid", "sqlite_", "notify ", "listen ")


def engine_specifics(source: str) -> Iterator[str]:
    """Yield what in a module depends on the engine."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [getattr(node, "module", None) or "", *(name.name for name in node.names)]
            yield from (name for name in names if name.startswith(DRIVERS))
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield node.attr
        elif isinstance(node, ast.Call):
            texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            yield from (text for text in texts if called == "text" and any(word in text.lower() for word in WORDS))


@pytest.mark.slow
def test_no_module_outside_the_folder_depends_on_the_engine() -> None:
    found = {}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(FREE) and (reasons := list(engine_specifics(path.read_text()))):
            found[name] = reasons
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "import psycopg",
        "from sqlalchemy.dialects.postgresql import insert",
        "import sqlalchemy.dialects.sqlite",
        'if db.connection.dialect.name == "sqlite": pass',
        "func.pg_advisory_xact_lock(1)",
        "insert(t).on_conflict_do_nothing()",
        'text("INSERT INTO t VALUES (1) ON CONFLICT (id) DO NOTHING")',
        'text("PRAGMA page_count")',
    ],
)
def test_what_depends_on_the_engine_is_recognised(source: str) -> None:
    assert list(engine_specifics(source))


def test_an_existing_row_is_updated_or_left_unchanged(database: Database) -> None:
    leave, move = upsert(chores, ["name"]), upsert(chores, ["name"], update=["next_at"])
    given = {"name": "tidying", "claimed_by": ""}
    next_at = select(chores.c.next_at)
    with database.writing() as db:
        for statement, at, expected in ((leave, 1, 1), (leave, 2, 1), (move, 3, 3)):
            db.run(statement.values(**given, next_at=at))
            assert db.scalar(next_at) == expected
        assert db.scalar(select(func.count()).select_from(chores)) == 1


def test_a_row_is_updated_under_a_condition(database: Database) -> None:
    until = select(host_table.c.closed_until)
    with database.writing() as db:
        for at, expected in ((5, 5), (3, 5), (9, 9)):
            host_limits.pause(db, "example.org", until=Instant(at), asked_until=Instant(at))
            assert db.scalar(until) == expected
