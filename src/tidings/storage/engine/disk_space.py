"""How much room the database takes, and giving back what it does not need: an SQLite file shrinks only when told to."""

from __future__ import annotations

from sqlalchemy import text

from tidings.storage.engine.database import Database, Read, Write
from tidings.storage.engine.engines import is_sqlite

_PAGES = text("PRAGMA page_count")
_FREE = text("PRAGMA freelist_count")
_PAGE_SIZE = text("PRAGMA page_size")
_AUTO_VACUUM = text("PRAGMA auto_vacuum")
_INCREMENTAL = 2
_POSTGRES_SIZE = text("SELECT pg_database_size(current_database())")


def size(db: Read) -> int:
    """Bytes."""
    if is_sqlite(db.connection):
        return int(db.scalar(_PAGES)) * int(db.scalar(_PAGE_SIZE))
    return int(db.scalar(_POSTGRES_SIZE))


def pages(db: Read) -> tuple[int, int]:
    """How many pages of the file are free, and how many it has. (0, 0) where nothing can be given back by steps."""
    if not is_sqlite(db.connection) or db.scalar(_AUTO_VACUUM) != _INCREMENTAL:
        return 0, 0
    return int(db.scalar(_FREE)), int(db.scalar(_PAGES))


def give_back(db: Write, count: int) -> int:
    """Pages at the end of the file move into free ones before them; how many the file lost."""
    before = int(db.scalar(_PAGES))
    raw = db.connection.connection.cursor()
    try:
        # A page for each row that is read: SQLAlchemy reads none of a statement that has no columns.
        raw.execute(f"PRAGMA incremental_vacuum({int(count)})")
        raw.fetchall()
    finally:
        raw.close()
    return before - int(db.scalar(_PAGES))


def vacuum(database: Database) -> None:
    """Write an SQLite file anew, as small as it can be. PostgreSQL looks after its own.

    Takes as much room again meanwhile, and nobody else writes until it is done.
    """
    if not database.is_sqlite:
        return
    with database.outside_transaction() as raw:
        raw.execute("PRAGMA auto_vacuum = INCREMENTAL")
        raw.execute("VACUUM")
