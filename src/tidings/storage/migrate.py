"""Migrates a database to the current schema, and rejects one of a newer version."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from tidings.domain.errors import StartError, StoreUnavailable
from tidings.storage.engine import database_errors, locks
from tidings.storage.engine.database import Database, Write
from tidings.storage.revision import MIGRATIONS

# Advisory lock of migrations, any number that no other lock in this database uses.
LOCK_ID = 7_483_464_737


def upgrade(database: Database) -> list[str]:
    """Run the missing revisions and return them, oldest first. One transaction: a failed upgrade changes nothing.

    Raises StartError if the database cannot be opened or was written by a newer version.
    """
    try:
        with database_errors.without_log():
            database.prepare_file()
        with database.engine.begin() as connection:
            # Several machines may start at once: one migrates, the others wait and then find nothing to do.
            locks.advisory_lock(Write(connection), LOCK_ID)
            before = _known_revision(connection)
            command.upgrade(_config(connection), "head")
            return _between(before)
    except (StoreUnavailable, DBAPIError) as error:
        raise _unusable(database, error) from error


def check(database: Database) -> None:
    """Raises StartError unless the schema is current: `web` and `worker` do not migrate."""
    try:
        with database_errors.without_log(), database.reading() as db:
            revision = _known_revision(db.connection)
    except (StoreUnavailable, DBAPIError) as error:
        raise _unusable(database, error) from error
    if revision != _scripts().get_current_head():
        raise StartError(f"The database {describe(database)} is not up to date: run `tidings migrate` first")


def describe(database: Database) -> str:
    """Returns the URL of the database without the password."""
    return database.url.render_as_string(hide_password=True)


def _known_revision(connection: Connection) -> str | None:
    revision = MigrationContext.configure(connection).get_current_revision()
    known = {script.revision for script in _scripts().walk_revisions()}
    if revision is not None and revision not in known:
        raise StartError(
            f"The database {connection.engine.url.render_as_string(hide_password=True)} was made by a newer version of "
            f"Tidings (schema {revision}): run that version, or restore an older backup"
        )
    return revision


def _between(before: str | None) -> list[str]:
    newest_first = [script.revision for script in _scripts().walk_revisions()]
    done = newest_first[: newest_first.index(before)] if before else newest_first
    return done[::-1]


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _unusable(database: Database, error: StoreUnavailable | DBAPIError) -> StartError:
    reason = error.reason if isinstance(error, StoreUnavailable) else database_errors.first_line(error.orig)
    return StartError(f"The database {describe(database)} cannot be used: {reason}")
