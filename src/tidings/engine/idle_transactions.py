"""Transactions whose client has gone silent while others wait for their locks.

PostgreSQL ends one by itself (`idle_in_transaction_session_timeout`), but only between two answers: a process that was
suspended in the middle of statements that it sends together, as `executemany` of the driver does, keeps its locks.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import text

from tidings.engine.database import Database
from tidings.engine.postgresql import IDLE_TRANSACTION_TIMEOUT_S

_SILENT: Final = "clock_timestamp() - make_interval(secs => CAST(:silent_s AS double precision))"
_end = text(
    f"""
    SELECT count(*) FILTER (WHERE pg_terminate_backend(holder.pid))
    FROM pg_stat_activity AS holder
    WHERE holder.datname = current_database() AND holder.usename = current_user
        AND holder.xact_start IS NOT NULL AND holder.wait_event = 'ClientRead' AND holder.state_change < {_SILENT}
        AND holder.pid IN (
            SELECT unnest(pg_blocking_pids(waiting.pid)) FROM pg_stat_activity AS waiting
            WHERE waiting.datname = current_database() AND waiting.query_start < {_SILENT}
                AND waiting.wait_event IN ('transactionid', 'tuple', 'advisory')
        )
    """  # noqa: S608 - our own text
)


def end(database: Database, *, silent_s: float = IDLE_TRANSACTION_TIMEOUT_S) -> int:
    """End transactions of ours that have sent nothing for so long while another waits for them. Returns their number.

    What they have changed is rolled back. Of a distributed database, transactions on the coordinator.
    """
    if database.is_sqlite:
        return 0
    with database.reading() as db:
        return int(db.scalar(_end, silent_s=silent_s))
