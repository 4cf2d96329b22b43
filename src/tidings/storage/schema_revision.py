"""The revision of the schema: the one of this version of Tidings, and the one of a database."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.exc import OperationalError, ProgrammingError

from tidings.engine import errors
from tidings.engine.database import Read
from tidings.engine.errors import SchemaReplaced

MIGRATIONS = Path(__file__).with_name("migrations")
_read = text("SELECT version_num FROM alembic_version")


@cache
def known() -> tuple[str, ...]:
    """Return the revisions of this version of Tidings, oldest first: the files of migrations begin with theirs."""
    return tuple(sorted(path.name.split("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py")))


def current() -> str:
    """Return the newest revision of this version of Tidings."""
    return known()[-1]


def of(db: Read) -> str | None:
    """Return the revision of a database that has the table of revisions."""
    revision: str | None = db.scalar(_read)
    return revision


def check(db: Read) -> None:
    """Raise SchemaReplaced, which `Database` makes a StoreUnavailable, if the database has another revision."""
    try:
        revision = of(db)
    except (OperationalError, ProgrammingError) as error:
        if errors.cause_of(error) is not None:
            raise
        # There is no such table.
        revision = None
    if revision != current():
        raise SchemaReplaced(revision, current())
