"""Connections to PostgreSQL: directly, through a pooler such as PgBouncer, and to one of several hosts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from sqlalchemy import URL, Connection, Dialect, Engine, ExceptionContext, Integer, create_engine, event, make_url
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

# Statements of a transaction follow each other within milliseconds; a process that pauses this long was suspended.
IDLE_TRANSACTION_TIMEOUT_S = 10

# A connection that was unused for this long may be broken, and is tested before use.
PING_AFTER_IDLE_S = 1.0

# A server that vanished without a word is noticed after some 20 s: by packets that are not acknowledged
# (`tcp_user_timeout`, in milliseconds), and while waiting for an answer by keepalives. Source: libpq, "Parameter Key
# Words". `connect_timeout` counts for each host.
_TIMEOUTS = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
# Without it libpq takes the encoding of the database, and psycopg returns bytes from one in SQL_ASCII: not even a check
# of the encoding would work.
_ENCODING = {"client_encoding": "utf8"}
# The default cost is made for spinning disks: with it, a page of unread entries is selected by sorting all of them
# instead of reading an index. JIT compilation takes longer than any of our statements runs.
PLANNER_SETTINGS = {"random_page_cost": "1.1", "jit": "off"}
# A plan for any values, made after five executions, expects as many rows as the average user has, and reads all of one
# who has many. A process that was suspended inside a transaction loses the transaction and its locks.
_SETTINGS = PLANNER_SETTINGS | {
    "plan_cache_mode": "force_custom_plan",
    "idle_in_transaction_session_timeout": f"'{IDLE_TRANSACTION_TIMEOUT_S}s'",
}
_SET_FOR_SESSION = "; ".join(f"SET {name} = {value}" for name, value in _SETTINGS.items())
_SET_FOR_TRANSACTION = "; ".join(f"SET LOCAL {name} = {value}" for name, value in _SETTINGS.items())
# For statements that find rows by their keys alone: one plan is right for all values, and planning would take longer
# than the statement. Not where an earlier version divided tables into partitions: such a plan would open all of them.
_PLAN_ONCE = "plan_cache_mode = force_generic_plan"
_PLAN_EACH_TIME = f"plan_cache_mode = {_SETTINGS['plan_cache_mode']}"
# Of a distributed one. A transaction that has read several shards of a node over several connections may not write a
# copied table. A node that vanished without a word is waited for as long as the server itself. VALUES are part of the
# statements for the nodes up to so many rows; that is 200 kB.
_OF_NODES = {
    "citus.multi_shard_modify_mode": "'sequential'",
    "citus.node_connection_timeout": "'5s'",
    "citus.values_materialization_threshold": "2000",
}
_SET_OF_NODES_FOR_SESSION = "; ".join(f"SET {name} = {value}" for name, value in _OF_NODES.items())
_SET_OF_NODES_FOR_TRANSACTION = "; ".join(f"SET LOCAL {name} = {value}" for name, value in _OF_NODES.items())
_READ_ONLY = "25006"


def parse_url(url: str) -> URL:
    """Return the URL with our driver. Several hosts may be given as libpq writes them: `user@a:5432,b:5433/name`.

    Raises sqlalchemy.exc.ArgumentError or ValueError if it is malformed.
    """
    parts = urlsplit(url)
    user, at, places = parts.netloc.rpartition("@")
    hosts = places.split(",")
    if len(hosts) > 1:
        query = [*parse_qsl(parts.query, keep_blank_values=True), *(("host", host) for host in hosts)]
        url = urlunsplit(parts._replace(netloc=user + at, query=urlencode(query)))
    return make_url(url).set(drivername="postgresql+psycopg")


def connect_arguments(url: URL) -> dict[str, Any]:
    """Return connection arguments besides the URL: encoding, time limits, and of several hosts the writable one.

    An argument that the URL sets is kept.
    """
    wanted = _TIMEOUTS | _ENCODING
    hosts = url.query.get("host", url.host or "")
    if not isinstance(hosts, str) or "," in hosts:
        wanted["target_session_attrs"] = "read-write"
    return {name: value for name, value in wanted.items() if name not in url.query}


class PostgresPool:
    """A pool of connections. engine: every connection is a transaction.

    is_pooled: whether a pooler gives a server connection away between two transactions; known after the first
    connection. Then nothing can be prepared or set for a session: settings are set in each transaction.
    """

    def __init__(self, url: URL, pool_size: int) -> None:
        self.is_pooled = False
        added = connect_arguments(url)
        self.engine = create_engine(
            url,
            pool_size=pool_size,
            max_overflow=0,
            # The same few, whose servers have made their plans.
            pool_use_lifo=True,
            hide_parameters=True,
            connect_args=added,
        )
        self.engine.dialect.colspecs = {**self.engine.dialect.colspecs, Integer: _UntypedInteger}
        # A read is mostly one statement: BEGIN and COMMIT around it would triple its round trips.
        self._autocommit = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        event.listen(self.engine, "connect", self._prepare)
        event.listen(self.engine, "begin", self._begin)
        event.listen(self.engine, "checkin", _note_idle)
        event.listen(self.engine, "checkout", self._ping_idle)
        if "target_session_attrs" in {**url.query, **added}:
            event.listen(self.engine, "handle_error", _leave_read_only)

    @property
    def reader(self) -> Engine:
        return self.engine if self.is_pooled else self._autocommit

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection of its own, outside of the pool, in autocommit mode."""
        arguments, named = self.engine.dialect.create_connect_args(self.engine.url)
        named = {**named, **connect_arguments(self.engine.url), "autocommit": True}
        connection: psycopg.Connection[Any] = psycopg.connect(*arguments, **named)
        connection.prepare_threshold = None
        return connection

    def _prepare(self, connection: psycopg.Connection[Any], _record: Any) -> None:
        self.is_pooled = is_pooled(connection)
        # The dialect is what statements know when they are compiled.
        dialect: Any = self.engine.dialect
        dialect.is_distributed = _has_distributed_tables(connection)
        dialect.plans_once = not (self.is_pooled or dialect.is_distributed or _has_partitions(connection))
        if self.is_pooled:
            connection.prepare_threshold = None
        else:
            connection.execute(_SET_FOR_SESSION)
            if dialect.is_distributed:
                connection.execute(_SET_OF_NODES_FOR_SESSION)
        connection.commit()

    def _begin(self, connection: Connection) -> None:
        if self.is_pooled and connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
            connection.exec_driver_sql(_SET_FOR_TRANSACTION)
            if is_distributed(connection.dialect):
                connection.exec_driver_sql(_SET_OF_NODES_FOR_TRANSACTION)

    # `pool_pre_ping` would cost one more round trip for every checkout, even of connections used a moment ago.
    def _ping_idle(self, connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
        idle_since = record.info.get("idle_since")
        if idle_since is not None and time.monotonic() - idle_since > PING_AFTER_IDLE_S:
            try:
                self.engine.dialect.do_ping(connection)
            except psycopg.Error as error:
                # The pool makes a new connection, and discards the others as well.
                raise InvalidatePoolError from error


def notify(connection: Connection, channels: Iterable[str]) -> None:
    """Notify channels, after a transaction has ended. A failure is no failure of what was written before.

    By libpq itself: a cursor would begin a transaction, and take three times as long.
    """
    raw: Any = connection.connection.driver_connection
    try:
        raw.pgconn.exec_(";".join(f"NOTIFY {channel}" for channel in channels).encode())
    except psycopg.Error:
        connection.invalidate()


def is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Return whether a pooler stands between: then the process that it names is not the server's."""
    (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    return bool(pid != connection.info.backend_pid)


def is_distributed(dialect: Dialect) -> bool:
    """Return whether rows of users are on several servers, as of the first connection."""
    return bool(getattr(dialect, "is_distributed", False))


def may_plan_once(dialect: Dialect) -> bool:
    """Return whether `plan_once` saves time, as of the first connection."""
    return bool(getattr(dialect, "plans_once", False))


def plan_once(connection: Connection) -> None:
    """Let PostgreSQL plan each statement of this connection once for all values, from now on."""
    connection.exec_driver_sql(f"SET {_PLAN_ONCE}")


def plan_each_time(connection: Connection) -> None:
    """Let PostgreSQL plan each statement for its values again."""
    connection.exec_driver_sql(f"SET {_PLAN_EACH_TIME}")


def plan_once_in_transaction(connection: Connection) -> None:
    """As `plan_once`, until `plan_each_time_in_transaction` or the end of the transaction."""
    connection.exec_driver_sql(f"SET LOCAL {_PLAN_ONCE}")


def plan_each_time_in_transaction(connection: Connection) -> None:
    """End what `plan_once_in_transaction` began."""
    connection.exec_driver_sql(f"SET LOCAL {_PLAN_EACH_TIME}")


def _has_partitions(connection: psycopg.Connection[Any]) -> bool:
    return connection.execute("SELECT FROM pg_partitioned_table LIMIT 1").fetchone() is not None


def _has_distributed_tables(connection: psycopg.Connection[Any]) -> bool:
    (has_extension,) = connection.execute(
        "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"
    ).fetchone() or (False,)
    if not has_extension:
        return False
    return connection.execute("SELECT FROM pg_dist_partition WHERE partmethod = 'h' LIMIT 1").fetchone() is not None


def begin_snapshot(connection: Connection) -> None:
    """Let the nodes of a distributed database begin their snapshots now, within milliseconds of each other.

    Each connection to a node has a snapshot of its own, from its first statement on: further ones may not be opened
    later in the transaction. Does nothing on a database that is not distributed.
    """
    if is_distributed(connection.dialect):
        connection.exec_driver_sql("SET LOCAL citus.max_adaptive_executor_pool_size TO 1")
        any_table = "SELECT logicalrelid FROM pg_dist_partition WHERE partmethod = 'h' ORDER BY 1 LIMIT 1"
        table = connection.exec_driver_sql(any_table).scalar_one()
        connection.exec_driver_sql(f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608 - a name of our schema


def _note_idle(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info["idle_since"] = time.monotonic()


def _leave_read_only(context: ExceptionContext) -> None:
    """Give up connections to a server that became a standby: new connections go to the host that takes writes."""
    error = context.original_exception
    if isinstance(error, psycopg.Error) and error.sqlstate == _READ_ONLY:
        context.is_disconnect = True


class _UntypedInteger(Integer):
    """A parameter without a cast. Cast to INTEGER, an id of 2^31 or more would be an error instead of not found."""

    render_bind_cast = False
