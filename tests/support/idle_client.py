"""A connection to PostgreSQL whose client has sent a part of what belongs together, and one that waits for its lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import text

from tidings.engine.database import Database

LOCK = "SELECT pg_advisory_xact_lock(20)"


@contextmanager
def half_sent(database_url: str, *statements: str) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection that has sent these statements, and not the end of what belongs together.

    The first one has been executed.
    """
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT 1")
        holder.pgconn.enter_pipeline_mode()
        for number, statement in enumerate(statements):
            holder.pgconn.send_query_params(statement.encode(), None)
            holder.pgconn.send_flush_request()
            holder.pgconn.flush()
            if number == 0:
                holder.pgconn.get_result()
        try:
            yield holder
        finally:
            holder.close()


@contextmanager
def waiting_for_the_lock(database: Database, lock: str = LOCK) -> Iterator[threading.Event]:
    """Yield what is set when another thread has got the lock."""
    has_lock = threading.Event()

    def take() -> None:
        with database.writing() as db:
            db.scalars(text(lock))
            has_lock.set()

    thread = threading.Thread(target=take)
    thread.start()
    yield has_lock
    thread.join(60)
    assert has_lock.is_set()
