"""The tidier works by itself when it is time, stops in the middle when told to, and is not put off by trouble."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.errors import StoreUnavailable
from tidings.base.messages import verbatim
from tidings.base.times import DAY, Instant
from tidings.engine.database import Database
from tidings.maintenance import cleanup_worker as cleanup
from tidings.maintenance.cleanup import Cleanup, CleanupSettings, CleanupStep
from tidings.maintenance.cleanup_worker import CleanupWorker


@pytest.fixture
def feed_fixture(database: Database, monkeypatch: pytest.MonkeyPatch) -> FeedFixture:
    monkeypatch.setattr(cleanup, "POLL_INTERVAL_S", 0.01)
    return FeedFixture.create(database)


def record_earlier_run(database: Database) -> None:
    """As when a worker has looked before: the first round comes an hour later."""
    assert not Cleanup(database, lambda: NOW, CleanupSettings()).begin("earlier")


def due_in(feed_fixture: FeedFixture, kind: type[Cleanup] = Cleanup) -> Cleanup:
    record_earlier_run(feed_fixture.database)
    return kind(feed_fixture.database, lambda: Instant(NOW + 200 * DAY), CleanupSettings())


async def run_until(worker: CleanupWorker, is_done: asyncio.Event) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(worker.run(stop))
    async with asyncio.timeout(60):
        await is_done.wait()
    stop.set()
    async with asyncio.timeout(60):
        await running


def test_the_worker_deletes_old_entries(feed_fixture: FeedFixture) -> None:
    feed_fixture.add(*(ready(f"Entry {n}") for n in range(300)))

    async def run_scenario() -> None:
        gone = asyncio.Event()
        watching = asyncio.create_task(until_empty(gone))
        await run_until(CleanupWorker(due_in(feed_fixture), "worker"), gone)
        await watching

    async def until_empty(gone: asyncio.Event) -> None:
        while await asyncio.to_thread(feed_fixture.total):  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.01)
        gone.set()

    asyncio.run(run_scenario())

    assert feed_fixture.total() == 0


def test_a_stopped_cleanup_releases_its_lease_at_once(feed_fixture: FeedFixture) -> None:
    feed_fixture.add(*(ready(f"Entry {n}") for n in range(300)))

    async def run_scenario() -> None:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        class Slow(Cleanup):
            def steps(self, *, unlimited: bool = False) -> Iterator[CleanupStep]:
                for step in super().steps(unlimited=unlimited):
                    loop.call_soon_threadsafe(begun.set)
                    yield step

        await run_until(CleanupWorker(due_in(feed_fixture, Slow), "stopped"), begun)

    asyncio.run(run_scenario())

    assert due_in(feed_fixture).begin("next", ignore_schedule=True)


def test_the_worker_retries_while_the_database_is_unavailable(feed_fixture: FeedFixture) -> None:
    feed_fixture.add(ready("Old"))

    async def run_scenario() -> None:
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        class UnavailableAtFirst(Cleanup):
            tries = 0

            def begin(self, worker: str, *, ignore_schedule: bool = False) -> bool:
                UnavailableAtFirst.tries += 1
                if UnavailableAtFirst.tries == 1:
                    raise StoreUnavailable(verbatim("away"))
                return super().begin(worker, ignore_schedule=ignore_schedule)

            def finish(self, worker: str, removed_entries: int) -> None:
                super().finish(worker, removed_entries)
                loop.call_soon_threadsafe(done.set)

        await run_until(CleanupWorker(due_in(feed_fixture, UnavailableAtFirst), "worker"), done)

    asyncio.run(run_scenario())

    assert feed_fixture.total() == 0
