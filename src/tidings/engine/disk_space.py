"""The size of the database on disk, and returning free space: an SQLite file shrinks only on request."""

from __future__ import annotations

from sqlalchemy import text

from tidings.engine.database import Database, Read, Write, is_distributed, is_sqlite

_PAGES = text("PRAGMA page_count")
_FREE = text("PRAGMA freelist_count")
_PAGE_SIZE = text("PRAGMA page_size")
_AUTO_VACUUM = text("PRAGMA auto_vacuum")
_INCREMENTAL = 2
_POSTGRES_SIZE = text("SELECT pg_database_size(current_database())")
_SIZE_OF_ALL_NODES = text(
    "SELECT sum(CAST(result AS bigint)) FROM run_command_on_all_nodes('SELECT pg_database_size(current_database())')"
    " WHERE success"
)


def size(db: Read) -> int:
    """Return the size of the database in bytes."""
    if is_sqlite(db.connection):
        return int(db.scalar(_PAGES)) * int(db.scalar(_PAGE_SIZE))
    return int(db.scalar(_SIZE_OF_ALL_NODES if is_distributed(db.connection) else _POSTGRES_SIZE))


def pages(db: Read) -> tuple[int, int]:
    """Return the free pages and all pages of the file; (0, 0) where free pages cannot be returned in steps."""
    if not is_sqlite(db.connection) or db.scalar(_AUTO_VACUUM) != _INCREMENTAL:
        return 0, 0
    return int(db.scalar(_FREE)), int(db.scalar(_PAGES))


def shrink(db: Write, count: int) -> int:
    """Move up to `count` pages from the end of the file into free ones. Returns by how many pages the file shrank."""
    before = int(db.scalar(_PAGES))
    raw = db.connection.connection.cursor()
    try:
        # One page is freed per row that is read: SQLAlchemy reads no rows of a statement without columns.
        raw.execute(f"PRAGMA incremental_vacuum({int(count)})")
        raw.fetchall()
    finally:
        raw.close()
    return before - int(db.scalar(_PAGES))


def vacuum(database: Database) -> None:
    """Rewrite an SQLite file at its smallest size (VACUUM). Does nothing on PostgreSQL.

    Needs the size of the database again while it runs, and blocks all other writes.
    """
    if not database.is_sqlite:
        return
    with database.outside_transaction() as raw:
        raw.execute("PRAGMA auto_vacuum = INCREMENTAL")
        raw.execute("VACUUM")
