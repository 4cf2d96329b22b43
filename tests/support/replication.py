"""A PostgreSQL server with a streaming standby, for tests of failover."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg

from support.ports import free_port
from support.postgres import Cluster, PostgresMissing, create_database
from tidings.engine.database import Database
from tidings.storage import migrate


class Pair:
    """A server and its standby."""

    def __init__(self, stack: ExitStack) -> None:
        folders = [
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidings-ha-", ignore_cleanup_errors=True)))
            for _ in range(2)
        ]
        ports = free_port(), free_port()
        self.primary = Cluster(folders[0], port=ports[0])
        self.primary.start()
        stack.callback(_stop, self.primary)
        self.standby = Cluster(folders[1], port=ports[1], standby_of=self.primary)
        self.standby.start()
        stack.callback(_stop, self.standby)
        create_database(self.primary.url, "tidings")
        self.url = f"postgresql://tidings@127.0.0.1:{ports[1]},127.0.0.1:{ports[0]}/tidings"
        database = Database(self.url)
        migrate.upgrade(database)
        database.close()

    def wait_for_standby(self) -> None:
        """Until it has all that was written."""
        with psycopg.connect(self.primary.url) as connection:
            (written,) = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone() or ("",)
        with psycopg.connect(self.standby.url, autocommit=True) as connection:
            until(
                lambda: (
                    connection.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [written]).fetchone() == (True,)
                )
            )


def _stop(cluster: Cluster) -> None:
    """A test may have stopped it already."""
    with suppress(PostgresMissing):
        cluster.stop()


def until(is_done: Callable[[], bool]) -> None:
    for _ in range(600):
        if is_done():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within a minute")
