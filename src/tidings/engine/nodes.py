"""Which servers of a distributed PostgreSQL answer."""

from __future__ import annotations

from sqlalchemy import text

from tidings.engine.database import Database, is_distributed

# Of the coordinator for each of the others, one after the other. Its default is half a minute.
_TIMEOUT_MS = 1_000

_select_silent = text(
    "SELECT nodename || ':' || nodeport FROM pg_dist_node"
    " WHERE isactive AND groupid > 0 AND NOT citus_check_connection_to_node(nodename, nodeport) ORDER BY nodeid"
)


def may_have_some(database: Database) -> bool:
    """Return whether the database is one that can be distributed over several servers."""
    return not database.is_sqlite


def silent(database: Database) -> list[str]:
    """Return the servers that the coordinator cannot connect to, as `host:port`.

    Empty if the database is not distributed. Takes up to a second for each server that does not answer.
    """
    if database.is_sqlite:
        return []
    with database.writing() as db:
        if not is_distributed(db.connection):
            return []
        db.connection.exec_driver_sql(f"SET LOCAL citus.node_connection_timeout TO {_TIMEOUT_MS}")
        return db.scalars(_select_silent)
