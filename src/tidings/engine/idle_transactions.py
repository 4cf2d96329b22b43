"""Idle transactions that others wait for: their client has sent nothing for a while, and holds locks.

PostgreSQL ends one by itself (`idle_in_transaction_session_timeout`), but only between two answers: a process that was
suspended in the middle of statements that it sends together, as `executemany` of the driver does, keeps its locks.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import text

from tidings.engine.database import Database, is_distributed
from tidings.engine.postgresql import IDLE_TRANSACTION_TIMEOUT_S

# As PostgreSQL's own.
LIMIT_S: Final = IDLE_TRANSACTION_TIMEOUT_S

_IS_LONG_AGO: Final = "< clock_timestamp() - make_interval(secs => CAST(:idle_s AS double precision))"
_FROM_IDLE: Final = f"""
    FROM pg_stat_activity AS holder
    WHERE holder.datname = current_database() AND holder.usename = current_user
        AND holder.xact_start IS NOT NULL AND holder.wait_event = 'ClientRead' AND holder.state_change {_IS_LONG_AGO}
"""
_end = text(
    f"""
    SELECT count(*) FILTER (WHERE pg_terminate_backend(holder.pid))
    {_FROM_IDLE}
        AND holder.pid IN (
            SELECT unnest(pg_blocking_pids(waiting.pid)) FROM pg_stat_activity AS waiting
            WHERE waiting.datname = current_database() AND waiting.query_start {_IS_LONG_AGO}
                AND waiting.wait_event IN ('transactionid', 'tuple', 'advisory')
        )
    """  # noqa: S608 - our own text
)
# Of a distributed one the locks are those of the nodes, where a transaction has other processes with the same global
# id. Its process on the coordinator waits for them as it waits for its client: it is idle if none of them is active.
_count_idle = text(f"SELECT count(*) {_FROM_IDLE}")
_end_over_nodes = text(
    f"""
    WITH of_nodes AS MATERIALIZED (SELECT global_pid, is_worker_query, state, query_start FROM citus_stat_activity),
        waits AS MATERIALIZED (SELECT waiting_gpid, blocking_gpid FROM citus_lock_waits),
        idle AS (SELECT holder.pid, citus_calculate_gpid(citus_coordinator_nodeid(), holder.pid) AS gpid {_FROM_IDLE})
    SELECT count(*) FILTER (WHERE pg_terminate_backend(idle.pid)) FROM idle
    WHERE NOT EXISTS (SELECT FROM of_nodes WHERE global_pid = idle.gpid AND is_worker_query AND state = 'active')
        AND idle.gpid IN (
            SELECT waits.blocking_gpid FROM waits JOIN of_nodes AS waiting ON waiting.global_pid = waits.waiting_gpid
            WHERE NOT waiting.is_worker_query AND waiting.query_start {_IS_LONG_AGO}
        )
    """  # noqa: S608 - our own text
)


def end(database: Database, *, idle_s: float) -> int:
    """End transactions of ours that have sent nothing for so long while another waits for them. Returns their number.

    What they have changed is rolled back. None on SQLite.
    """
    if database.is_sqlite:
        return 0
    with database.reading() as db:
        if not is_distributed(db.connection):
            return int(db.scalar(_end, idle_s=idle_s))
        # Asking the nodes takes tens of milliseconds.
        return int(db.scalar(_end_over_nodes, idle_s=idle_s)) if db.scalar(_count_idle, idle_s=idle_s) else 0
