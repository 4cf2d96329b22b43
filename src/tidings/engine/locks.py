"""Locks that only PostgreSQL needs: SQLite has one writer at a time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Executable, bindparam, func, select

from tidings.engine.database import Write
from tidings.engine.engines import is_sqlite

_take_advisory_lock = select(func.pg_advisory_xact_lock(bindparam("number")))


def advisory_lock(db: Write, number: int) -> None:
    """Take the advisory lock of this number until the transaction ends; waits while another transaction holds it."""
    if not is_sqlite(db.connection):
        db.scalar(_take_advisory_lock, number=number)


def lock_rows(db: Write, statement: Executable, /, **parameters: Any) -> None:
    """Run a SELECT … FOR UPDATE for its locks alone. Later statements see what others committed before the lock."""
    if not is_sqlite(db.connection):
        db.scalars(statement, **parameters)


def limit_waits(db: Write, seconds: float) -> None:
    """Let statements of the transaction wait this long for a lock; then they raise StoreUnavailable."""
    if not is_sqlite(db.connection):
        db.connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(seconds * 1000)}")
