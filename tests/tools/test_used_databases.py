"""Databases of PostgreSQL that several tests use one after the other: each test finds what the first one found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from support.databases import PostgresDatabases
from support.entry_fixtures import FeedFixture
from support.every_table import fill_described
from tidings.engine.database import Database
from tidings.storage import migrate

# It starts PostgreSQL, which no quick test needs.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def databases(postgres_url: str) -> Iterator[PostgresDatabases]:
    databases = PostgresDatabases(postgres_url, is_verified=True)
    yield databases
    databases.close()


@contextmanager
def opened(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()


def all_rows(url: str) -> dict[str, list[tuple[object, ...]]]:
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in names.fetchall()}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_rows_of_a_test_are_gone_for_the_next(databases: PostgresDatabases) -> None:
    with databases.migrated() as first:
        at_first = all_rows(first)
        with opened(first) as database:
            fill_described(database, 3)
        assert all_rows(first) != at_first

    with databases.migrated() as second:
        assert second == first
        assert all_rows(second) == at_first
        with opened(second) as database:
            migrate.check(database)


def test_ids_start_again(databases: PostgresDatabases) -> None:
    ids = []
    for _ in range(2):
        with databases.migrated() as url, opened(url) as database:
            ids.append(FeedFixture.create(database).feed_id)

    assert ids == [ids[0]] * 2


def test_open_transactions_end_with_the_test(databases: PostgresDatabases) -> None:
    with databases.migrated() as first:
        left_open = psycopg.connect(first)
        left_open.execute("LOCK TABLE entries")

    with databases.migrated() as second:
        assert second == first
        assert "entries" in all_rows(second)
    with pytest.raises(psycopg.OperationalError):
        left_open.execute("SELECT 1")
    left_open.close()


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE another (id integer)",
        "ALTER TABLE entries ADD COLUMN another integer",
        "DROP INDEX ix_entries_user_published",
        "UPDATE alembic_version SET version_num = 'newer'; ALTER TABLE entries DROP COLUMN author",
        "ALTER DATABASE {name} SET default_transaction_read_only = on",
    ],
)
def test_a_changed_schema_is_not_used_again(databases: PostgresDatabases, change: str) -> None:
    with databases.migrated() as first, psycopg.connect(first, autocommit=True) as connection:
        connection.execute(change.format(name=connection.info.dbname))

    with databases.migrated() as second:
        assert second != first
        with opened(second) as database:
            migrate.check(database)
