"""Workers end transactions of suspended processes."""

from __future__ import annotations

import asyncio

import pytest

from support.idle_client import LOCK, half_sent, waiting_for_the_lock
from tidings.engine.database import Database
from tidings.maintenance.lock_watch import LockWatch


def test_a_worker_ends_a_transaction_that_others_wait_for(database: Database, database_url: str) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has no server that goes on")

    async def watch_until_free() -> bool:
        stop = asyncio.Event()
        watching = asyncio.create_task(LockWatch(database, interval_s=0.1, idle_s=0).run(stop))
        try:
            return await asyncio.to_thread(has_lock.wait, 60)
        finally:
            stop.set()
            await watching

    with half_sent(database_url, LOCK), waiting_for_the_lock(database) as has_lock:
        assert asyncio.run(watch_until_free())
