"""Whether a transaction waits for a lock: of PostgreSQL, or of a node of a distributed one."""

from __future__ import annotations

from sqlalchemy import text

from tidings.engine.database import Database, is_distributed

_WAITING = "SELECT count(*) FROM {view} WHERE datname = current_database() AND wait_event_type = 'Lock'"


def is_any_waiting(database: Database) -> bool:
    with database.reading() as db:
        view = "citus_stat_activity" if is_distributed(db.connection) else "pg_stat_activity"
        return bool(db.scalar(text(_WAITING.format(view=view))))
