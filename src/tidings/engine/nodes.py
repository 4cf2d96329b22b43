"""Which servers of a distributed PostgreSQL answer, and what goes on while one of them does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from tidings.engine import errors
from tidings.engine.database import Database, Read, Write, is_distributed

T = TypeVar("T")

# Of the coordinator for each of the others, one after the other. Its default is half a minute.
_TIMEOUT_MS = 1_000
# Prefixes of SQLSTATE: a server cannot be reached, or shuts down.
_DOWN: Final = ("08", "57P0")

_select_silent = text(
    "SELECT nodename || ':' || nodeport FROM pg_dist_node"
    " WHERE isactive AND groupid > 0 AND NOT citus_check_connection_to_node(nodename, nodeport) ORDER BY nodeid"
)
_ask_all = text("SELECT bool_and(success) FROM run_command_on_workers('SELECT 1')")
# Over connections of its own, which do not see what the transaction has written.
_run_on_shards = text(
    "SELECT result FROM run_command_on_shards(CAST(CAST(:table AS text) AS regclass), :query)"
    " WHERE success AND result <> ''"
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


def attempt(db: Write, read: Callable[[], T]) -> T | None:
    """Return what is read from all servers; None if one of them does not answer, and the transaction goes on.

    read: writes nothing, since a transaction that has tried to write to a server which is down cannot be committed.
    """
    if not is_distributed(db.connection):
        return read()
    dialect: Any = db.connection.dialect
    try:
        with db.connection.begin_nested():
            found = read()
    except DBAPIError as error:
        cause = errors.cause_of(error)
        if cause is None or not cause.code.startswith(_DOWN):
            raise
        dialect.has_silent_nodes = True
        return None
    dialect.has_silent_nodes = False
    return found


def did_all_answer(db: Write) -> bool:
    """Return whether the last `attempt` of this process had an answer of all servers; True before the first one."""
    return not getattr(db.connection.dialect, "has_silent_nodes", False)


def do_all_answer(db: Write) -> bool:
    """Ask all servers whether they answer. Takes some milliseconds."""
    return not is_distributed(db.connection) or bool(db.scalar(_ask_all))


def of_answering(db: Read, table: str, query: str) -> list[str]:
    """Return the results of a query on each shard of a table that are not empty, except where a server does not answer.

    query: selects one text; `%s` is the shard's name.
    """
    return db.scalars(_run_on_shards, table=table, query=query)
