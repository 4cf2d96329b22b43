"""The indexer takes up what was written, by itself, and stops when told to."""

from __future__ import annotations

import asyncio

import pytest

from support.shelf import Shelf, ready
from tidings.domain.errors import StoreUnavailable
from tidings.services.search import Search
from tidings.storage import search
from tidings.storage.database import Database
from tidings.worker import indexer
from tidings.worker.indexer import Indexer


def test_what_was_written_is_indexed_by_itself(database: Database) -> None:
    shelf = Shelf.of_somebody(database)
    shelf.add(*(ready(f"Rain {n}") for n in range(130)))

    asyncio.run(run_until_done(Search(database), database))

    assert shelf.total("rain") == 130


def test_a_database_that_does_not_answer_is_asked_again(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    class Shaky(Search):
        tries = 0

        def work(self) -> int:
            Shaky.tries += 1
            if Shaky.tries == 1:
                raise StoreUnavailable("away")
            return super().work()

    monkeypatch.setattr(indexer, "AFTER_TROUBLE_S", 0.01)
    shelf = Shelf.of_somebody(database)
    shelf.add(ready("Rain"))
    asyncio.run(run_until_done(Shaky(database), database))

    assert shelf.total("rain") == 1


async def run_until_done(work: Search, database: Database) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(Indexer(work).run(stop))
    async with asyncio.timeout(30):
        while await asyncio.to_thread(is_behind, database):  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.01)
    stop.set()
    async with asyncio.timeout(5):
        await running


def is_behind(database: Database) -> bool:
    with database.reading() as db:
        return search.is_behind(db)
