"""Migrations lead every database to the current schema, and leave one of a newer version unchanged."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.util import CommandError
from sqlalchemy import text

from support import distributed
from support.contracts import compare
from support.schemas import described
from tidings.base.errors import StartError
from tidings.engine.database import Database
from tidings.engine.search_tables import is_compared
from tidings.services.accounts.server_secret import ServerSecret
from tidings.storage import migrate, schema_revision
from tidings.storage.schema import metadata
from tidings.wiring import slices


def test_the_schema_is_the_reviewed_one(engine: str, database: Database, pytestconfig: pytest.Config) -> None:
    distributed.skip(database, "its keys name the user")
    compare(f"schema.{engine}.sql", described(database), write=pytestconfig.getoption("--write-contracts"))


# SQLite's reflection knows no expression indexes; PostgreSQL's compares them.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:autogenerate skipping metadata-specified expression-based index")
@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_migrations_produce_the_tables_of_the_code(database: Database) -> None:
    """With those of all slices, which the metadata has once they are imported."""
    distributed.skip(database, "its keys name the user")
    for name in slices.NAMES:
        if find_spec(f"tidings.{name}.tables"):
            import_module(f"tidings.{name}.tables")

    def is_included(thing: object, name: str | None, *_more: object) -> bool:
        return is_compared(thing, name, "sqlite" if database.is_sqlite else "postgresql")

    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": is_included})
        assert compare_metadata(context, metadata) == []


def test_alembic_refuses_to_write_a_migration_without_the_tables_of_the_slices(database: Database) -> None:
    """It would drop them: the ring of the storage does not know them."""
    config = Config()
    config.set_main_option("script_location", str(schema_revision.MIGRATIONS).replace("%", "%%"))
    with database.engine.connect() as connection:
        config.attributes["connection"] = connection
        with pytest.raises(CommandError, match="does not provide a MetaData object"):
            command.revision(config, autogenerate=True)


def test_every_database_has_its_secret_before_anyone_needs_it(database: Database) -> None:
    """So it is never written while another transaction of the same thread writes."""
    secrets = [ServerSecret(database) for _ in range(2)]
    with database.writing():
        found = secrets[0].get()
    migrate.upgrade(database)

    assert len(found) == 32
    assert secrets[1].get() == found


def test_migrating_again_changes_nothing(database: Database) -> None:
    before = described(database)

    assert migrate.upgrade(database) == []
    assert described(database) == before


@pytest.mark.slow
def test_two_processes_that_migrate_at_once_both_succeed(empty_database_url: str) -> None:
    databases = [Database(empty_database_url) for _ in range(2)]
    with ThreadPoolExecutor() as pool:
        steps = list(pool.map(migrate.upgrade, databases))

    assert sorted(len(taken) > 0 for taken in steps) == [False, True]
    for database in databases:
        migrate.check(database)
        database.close()


@pytest.mark.slow
def test_an_empty_database_is_refused_until_it_is_migrated(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    try:
        with pytest.raises(StartError, match="tidings migrate"):
            migrate.check(database)
        assert migrate.upgrade(database)[0] == "0036"
        migrate.check(database)
    finally:
        database.close()


def test_a_database_from_a_newer_version_is_refused_and_left_as_it_is(database: Database) -> None:
    with database.writing() as db:
        db.run(text("UPDATE alembic_version SET version_num = '9999'"))

    for look in (migrate.upgrade, migrate.check):
        with pytest.raises(StartError, match=r"newer version of Tidings \(schema 9999\)"):
            look(database)


def test_a_database_older_than_the_first_schema_is_refused_with_the_version_that_upgrades_it(
    database: Database,
) -> None:
    with database.writing() as db:
        db.run(text("UPDATE alembic_version SET version_num = '0035'"))

    for look in (migrate.upgrade, migrate.check):
        with pytest.raises(StartError, match=r"before 0\.2\.0 \(schema 0035\): start version 0\.2\.0 once"):
            look(database)


@pytest.mark.slow
def test_a_failed_migration_leaves_nothing_behind(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(empty_database_url)
    try:
        with database.writing() as db:
            db.run(text("CREATE TABLE tombstones (in_the_way INTEGER)"))

        with pytest.raises(StartError):
            migrate.upgrade(database)

        with database.writing() as db:
            db.run(text("DROP TABLE tombstones"))
        assert migrate.upgrade(database)[0] == "0036"
    finally:
        database.close()
