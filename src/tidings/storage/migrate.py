"""Migrates a database to the current schema, and rejects one of a newer version.

Alembic is imported when a database is migrated: with Mako and Pygments it takes 8 MB, and `serve` migrates in a process
that ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from tidings.base.errors import StartError, StoreUnavailable
from tidings.engine import distribution, encoding, errors, full_text, sqlite_file, statements
from tidings.engine.database import Database, Read, Write
from tidings.engine.distribution import Distribution
from tidings.storage import schema_revision
from tidings.storage.accounts import server_secrets
from tidings.storage.schema import metadata

if TYPE_CHECKING:
    from alembic.config import Config

# Advisory lock of migrations, any number that no other lock in this database uses.
LOCK_ID = 7_483_464_737
# The revision of a database into which `tidings move` is copying: this prefix and the revision that it will have.
MOVING = "moving-"


def upgrade(database: Database, revision: str = "head") -> list[str]:
    """Run the missing revisions up to this one and return them, oldest first.

    One transaction: a failed upgrade changes nothing.

    Raises StartError if the database cannot be opened or was written by a newer version.
    """
    try:
        with errors.without_log():
            database.prepare_file()
        with database.engine.begin() as connection:
            return upgrade_within(Write(connection), revision)
    except (StoreUnavailable, DBAPIError) as error:
        raise _unusable(database, error) from error


def upgrade_within(db: Write, revision: str = "head") -> list[str]:
    """Like `upgrade`, in a transaction that the caller commits."""
    from alembic import command

    # Several machines may start together: one migrates, the others wait and then find nothing to do.
    statements.advisory_lock(db, LOCK_ID)
    before = _known_revision(db)
    command.upgrade(_config(db.connection), revision)
    after = current_revision(db)
    if after == schema_revision.current():
        server_secrets.ensure(db)
    return _between(before, after)


def distribute(database: Database, shards: int) -> Distribution:
    """Distribute what users read over the nodes of the database, permanently. Returns what was distributed.

    shards: into how many parts. One transaction: if it fails nothing has changed.
    Raises StartError for SQLite, for a PostgreSQL without the extension or with another version of it, for a schema
    that is not current, and for a database that is distributed, divided into partitions, or in use.
    """
    check(database)
    # Connections that were kept for reading would count as other programs.
    database.close()
    try:
        with errors.without_log(), database.engine.begin() as connection:
            db = Write(connection)
            statements.advisory_lock(db, LOCK_ID)
            distributed = distribution.distribute(db, metadata, shards)
            # Entries have vectors of their own there.
            full_text.unshare(db)
            return distributed
    except (StoreUnavailable, DBAPIError) as error:
        raise _unusable(database, error) from error


def current_revision(db: Read) -> str | None:
    """Return the revision that the database names, known or not; None without any."""
    return schema_revision.of(db) if inspect(db.connection).has_table("alembic_version") else None


def is_known(revision: str) -> bool:
    """Return whether this version of Tidings can upgrade a database of this revision."""
    return revision in schema_revision.known()


def is_too_old(revision: str) -> bool:
    """Return whether a database of this revision has to be upgraded by an older version of Tidings first."""
    return revision < schema_revision.known()[0]


def check(database: Database) -> None:
    """Raise StartError unless the schema is current: `web` and `worker` do not migrate. Creates no file."""
    path = sqlite_file.path_of(database)
    if path is not None and not path.exists():
        raise StartError(
            f"There is no database {describe(database)}: check its path, or run `tidings migrate` first to create it"
        )
    try:
        with errors.without_log(), database.reading() as db:
            revision = _known_revision(db)
    except (StoreUnavailable, DBAPIError) as error:
        raise _unusable(database, error) from error
    if revision != schema_revision.current():
        raise StartError(f"The database {describe(database)} is not up to date: run `tidings migrate` first")


def require_answer(database: Database) -> None:
    """Raise StartError, with the reason, if the database does not answer. A new SQLite file is created."""
    try:
        with errors.without_log():
            database.ping()
    except StoreUnavailable as error:
        raise _unusable(database, error) from error


def describe(database: Database) -> str:
    """Return the URL of the database without the password."""
    return database.url.render_as_string(hide_password=True)


def _known_revision(db: Read) -> str | None:
    url = db.connection.engine.url.render_as_string(hide_password=True)
    found = encoding.encoding_of(db)
    if found != encoding.NEEDED:
        raise StartError(
            f"The database {url} has the encoding {found}, which cannot store all text, or not as text: create one with"
            " `createdb --template=template0 --encoding=UTF8 NAME`, and name it in TIDINGS_DATABASE_URL"
        )
    revision = current_revision(db)
    if revision is not None and revision.startswith(MOVING):
        raise StartError(
            f"A move into the database {url} is not complete: run the same `tidings move` again, which goes on where it"
            " stopped"
        )
    if revision is not None and is_too_old(revision):
        raise StartError(
            f"The database {url} was made by a version of Tidings before 0.2.0 (schema {revision}): start version 0.2.0"
            " once, which upgrades it, then this version"
        )
    if revision is not None and not is_known(revision):
        raise StartError(
            f"The database {url} was made by a newer version of Tidings (schema {revision}): run that version, or "
            "restore an older backup"
        )
    return revision


def _between(before: str | None, after: str | None) -> list[str]:
    return [revision for revision in schema_revision.known() if (before or "") < revision <= (after or "")]


def _config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(schema_revision.MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _unusable(database: Database, error: StoreUnavailable | DBAPIError) -> StartError:
    reason = error.reason if isinstance(error, StoreUnavailable) else errors.first_line(error.orig)
    return StartError(f"The database {describe(database)} cannot be used: {reason}")
