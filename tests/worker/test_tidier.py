"""The tidier works by itself when it is time, stops in the middle when told to, and is not put off by trouble."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from support.shelf import NOW, Shelf, ready
from tidings.domain.errors import StoreUnavailable
from tidings.domain.times import DAY, Instant
from tidings.services.tidying import Step, Tidying, TidyingSettings
from tidings.storage.database import Database
from tidings.worker import tidier
from tidings.worker.tidier import Tidier


@pytest.fixture
def shelf(database: Database, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setattr(tidier, "LOOK_AGAIN_S", 0.01)
    return Shelf.of_somebody(database)


def known_to(database: Database) -> None:
    """As when a worker has looked before: the first round comes an hour later."""
    assert not Tidying(database, lambda: NOW, TidyingSettings()).begin("earlier")


def later(shelf: Shelf, kind: type[Tidying] = Tidying) -> Tidying:
    known_to(shelf.database)
    return kind(shelf.database, lambda: Instant(NOW + 200 * DAY), TidyingSettings())


async def run_until(worker: Tidier, is_done: asyncio.Event) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(worker.run(stop))
    async with asyncio.timeout(60):
        await is_done.wait()
    stop.set()
    async with asyncio.timeout(60):
        await running


def test_what_is_old_goes_by_itself(shelf: Shelf) -> None:
    shelf.add(*(ready(f"Entry {n}") for n in range(300)))

    async def scene() -> None:
        gone = asyncio.Event()
        watching = asyncio.create_task(until_empty(gone))
        await run_until(Tidier(later(shelf), "worker"), gone)
        await watching

    async def until_empty(gone: asyncio.Event) -> None:
        while await asyncio.to_thread(shelf.total):  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.01)
        gone.set()

    asyncio.run(scene())

    assert shelf.total() == 0


def test_a_round_that_is_stopped_is_given_back_at_once(shelf: Shelf) -> None:
    shelf.add(*(ready(f"Entry {n}") for n in range(300)))

    async def scene() -> None:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        class Slow(Tidying):
            def steps(self, *, everything: bool = False) -> Iterator[Step]:
                for step in super().steps(everything=everything):
                    loop.call_soon_threadsafe(begun.set)
                    yield step

        await run_until(Tidier(later(shelf, Slow), "stopped"), begun)

    asyncio.run(scene())

    assert later(shelf).begin("next", due_or_not=True)


def test_a_database_that_does_not_answer_is_asked_again(shelf: Shelf) -> None:
    shelf.add(ready("Old"))

    async def scene() -> None:
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        class Shaky(Tidying):
            tries = 0

            def begin(self, worker: str, *, due_or_not: bool = False) -> bool:
                Shaky.tries += 1
                if Shaky.tries == 1:
                    raise StoreUnavailable("away")
                return super().begin(worker, due_or_not=due_or_not)

            def finish(self, worker: str, removed_entries: int) -> None:
                super().finish(worker, removed_entries)
                loop.call_soon_threadsafe(done.set)

        await run_until(Tidier(later(shelf, Shaky), "worker"), done)

    asyncio.run(scene())

    assert shelf.total() == 0
