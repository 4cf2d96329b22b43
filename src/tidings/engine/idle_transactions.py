"""Idle transactions that others wait for: their client has sent nothing for a while, and holds locks.

PostgreSQL ends one by itself (`idle_in_transaction_session_timeout`), but only between two answers: a process that was
suspended in the middle of statements that it sends together, as `executemany` of the driver does, keeps its locks.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import text

from tidings.engine.database import Database
from tidings.engine.postgresql import IDLE_TRANSACTION_TIMEOUT_S

# As PostgreSQL's own.
LIMIT_S: Final = IDLE_TRANSACTION_TIMEOUT_S

_IS_LONG_AGO: Final = "< clock_timestamp() - make_interval(secs => CAST(:idle_s AS double precision))"
_end = text(
    f"""
    SELECT count(*) FILTER (WHERE pg_terminate_backend(holder.pid))
    FROM pg_stat_activity AS holder
    WHERE holder.datname = current_database() AND holder.usename = current_user
        AND holder.xact_start IS NOT NULL AND holder.wait_event = 'ClientRead' AND holder.state_change {_IS_LONG_AGO}
        AND holder.pid IN (
            SELECT unnest(pg_blocking_pids(waiting.pid)) FROM pg_stat_activity AS waiting
            WHERE waiting.datname = current_database() AND waiting.query_start {_IS_LONG_AGO}
                AND waiting.wait_event IN ('transactionid', 'tuple', 'advisory')
        )
    """  # noqa: S608 - our own text
)


def end(database: Database, *, idle_s: float) -> int:
    """End transactions of ours that have sent nothing for so long while another waits for them. Returns their number.

    What they have changed is rolled back. Of a distributed database, transactions on the coordinator. None on SQLite.
    """
    if database.is_sqlite:
        return 0
    with database.reading() as db:
        return int(db.scalar(_end, idle_s=idle_s))
