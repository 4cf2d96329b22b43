"""The encoding in which a database stores text."""

from __future__ import annotations

from sqlalchemy import text

from tidings.engine.database import Read, is_sqlite

NEEDED = "UTF8"
_select_encoding = text("SELECT current_setting('server_encoding')")


def encoding_of(db: Read) -> str:
    """Return the encoding of a database by PostgreSQL's name. A database of SQLite can store any text."""
    return NEEDED if is_sqlite(db.connection) else str(db.scalar(_select_encoding))
