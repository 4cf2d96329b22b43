"""The indexer takes up what was written, by itself, and stops when told to."""

from __future__ import annotations

import asyncio

import pytest

from support.entry_fixtures import FeedFixture, ready
from tidings.base.errors import StoreUnavailable
from tidings.base.messages import verbatim
from tidings.engine.database import Database
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.entries import search_index
from tidings.worker import loops
from tidings.worker.indexer import Indexer


def test_the_worker_indexes_written_entries(database: Database) -> None:
    feed_fixture = FeedFixture.create(database)
    feed_fixture.add(*(ready(f"Rain {n}") for n in range(130)))

    asyncio.run(run_until_done(SearchIndexer(database), database))

    assert feed_fixture.total("rain") == 130


def test_the_worker_retries_while_the_database_is_unavailable(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    class UnavailableAtFirst(SearchIndexer):
        tries = 0

        def work(self) -> int:
            UnavailableAtFirst.tries += 1
            if UnavailableAtFirst.tries == 1:
                raise StoreUnavailable(verbatim("away"))
            return super().work()

    monkeypatch.setattr(loops, "RETRY_AFTER_ERROR_S", 0.01)
    feed_fixture = FeedFixture.create(database)
    feed_fixture.add(ready("Rain"))
    asyncio.run(run_until_done(UnavailableAtFirst(database), database))

    assert feed_fixture.total("rain") == 1


async def run_until_done(work: SearchIndexer, database: Database) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(Indexer(work).run(stop))
    async with asyncio.timeout(120):
        while await asyncio.to_thread(is_behind, database):  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.01)
    stop.set()
    async with asyncio.timeout(60):
        await running


def is_behind(database: Database) -> bool:
    with database.reading() as db:
        return search_index.is_behind(db)
