"""Locks that PostgreSQL needs where SQLite, with one writer at a time, has none to take."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Executable, bindparam, func, select

from tidings.storage.engine.database import Write
from tidings.storage.engine.engines import is_sqlite

_one_at_a_time = select(func.pg_advisory_xact_lock(bindparam("number")))


def one_at_a_time(db: Write, number: int) -> None:
    """Wait until no other transaction holds the lock of this number; hold it until this one ends."""
    if not is_sqlite(db.connection):
        db.scalar(_one_at_a_time, number=number)


def hold_rows(db: Write, statement: Executable, /, **parameters: Any) -> None:
    """Run a SELECT … FOR UPDATE for its locks alone: what others committed before is seen by what comes next."""
    if not is_sqlite(db.connection):
        db.scalars(statement, **parameters)
