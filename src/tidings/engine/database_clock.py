"""The clock of the database server, which all machines that share a database can read."""

from __future__ import annotations

from sqlalchemy import text

from tidings.base.times import Instant
from tidings.engine.database import Read, is_sqlite

_select_server_time = text("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)")


def now(db: Read) -> Instant | None:
    """Return the server's time; None on SQLite, which has no clock of its own."""
    return None if is_sqlite(db.connection) else Instant(db.scalar(_select_server_time))
