"""What each engine reports about its own files and sessions."""

from __future__ import annotations

from sqlalchemy import text

from tidings.engine.database import Read, Write, is_sqlite

_check = text("PRAGMA integrity_check(20)")
_rebuild = text("REINDEX")
_count_others = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    # Without what the nodes of a distributed database keep open for each other.
    " AND backend_type = 'client backend' AND application_name NOT LIKE 'citus%'"
)
_keep_transaction = text("SET LOCAL idle_in_transaction_session_timeout = 0")


def damages(db: Read) -> list[str]:
    """Return what SQLite finds wrong with its file, a sentence each. Always empty on PostgreSQL."""
    return [str(line) for line in db.scalars(_check) if line != "ok"] if is_sqlite(db.connection) else []


def rebuild_indexes(db: Write) -> None:
    """Rebuild all indexes of an SQLite file. Does nothing on PostgreSQL."""
    if is_sqlite(db.connection):
        db.run(_rebuild)


def begin_long_transaction(db: Write) -> None:
    """Let the transaction pause between two statements for longer than transactions usually may."""
    if not is_sqlite(db.connection):
        db.run(_keep_transaction)


def other_sessions(db: Read) -> int:
    """Return how many other programs are connected to the same PostgreSQL database; 0 on SQLite."""
    return 0 if is_sqlite(db.connection) else int(db.scalar(_count_others))
