"""Items that arrive one by one: each waiting caller gets the result of its batch, or its error."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from tidings.base.errors import StoreUnavailable
from tidings.base.messages import verbatim
from tidings.engine.database import Database, Write
from tidings.services.batching import MAX_ATTEMPTS, Batcher, write_batch


def test_items_added_during_a_batch_form_the_next_batch() -> None:
    batches: list[Sequence[int]] = []
    is_first, resume = threading.Event(), threading.Event()

    def work(items: Sequence[int]) -> Sequence[int | Exception]:
        batches.append(items)
        is_first.set()
        assert resume.wait(30)
        return [item * 10 for item in items]

    async def add_all() -> list[int]:
        batcher = Batcher(work)
        first = asyncio.create_task(batcher.add(1))
        assert await asyncio.to_thread(is_first.wait, 30)
        others = [asyncio.create_task(batcher.add(item)) for item in (2, 3, 4)]
        await asyncio.sleep(0)
        resume.set()
        return await asyncio.gather(first, *others)

    assert asyncio.run(add_all()) == [10, 20, 30, 40]
    assert batches == [[1], [2, 3, 4]]


@pytest.mark.parametrize("error", [StoreUnavailable(verbatim("gone")), ZeroDivisionError(), StopIteration()])
def test_an_error_is_raised_for_every_item_of_the_batch(error: Exception) -> None:
    def work(_: Sequence[int]) -> Sequence[int | Exception]:
        raise error

    async def add_all() -> list[int | BaseException]:
        batcher = Batcher(work)
        added = asyncio.gather(*(batcher.add(item) for item in range(3)), return_exceptions=True)
        return await asyncio.wait_for(added, 180)

    assert all(isinstance(each, Exception) for each in asyncio.run(add_all()))


def test_missing_outcomes_are_an_error() -> None:
    async def add_all() -> list[int | BaseException]:
        batcher: Batcher[int, int] = Batcher(lambda items: items[1:])
        added = asyncio.gather(*(batcher.add(item) for item in range(3)), return_exceptions=True)
        return await asyncio.wait_for(added, 180)

    assert isinstance(asyncio.run(add_all())[-1], RuntimeError)


def test_a_cancelled_caller_does_not_affect_the_others() -> None:
    is_working, resume = threading.Event(), threading.Event()

    def work(items: Sequence[int]) -> Sequence[int | Exception]:
        is_working.set()
        assert resume.wait(30)
        return list(items)

    async def add_all() -> int:
        batcher = Batcher(work)
        first = asyncio.create_task(batcher.add(1))
        second = asyncio.create_task(batcher.add(2))
        assert await asyncio.to_thread(is_working.wait, 30)
        first.cancel()
        resume.set()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(add_all()) == 2


def test_items_left_by_an_ended_event_loop_are_not_processed_in_the_next() -> None:
    batches: list[Sequence[int]] = []
    is_working, resume = threading.Event(), threading.Event()

    def work(items: Sequence[int]) -> Sequence[int | Exception]:
        batches.append(items)
        is_working.set()
        assert resume.wait(30)
        return list(items)

    batcher = Batcher(work)

    async def leave() -> None:
        tasks = [asyncio.create_task(batcher.add(1))]
        assert await asyncio.to_thread(is_working.wait, 30)
        tasks += [asyncio.create_task(batcher.add(item)) for item in (2, 3)]
        await asyncio.sleep(0)
        # The loop ends for all of them; the thread comes to its own end.
        asyncio.get_running_loop().call_soon(resume.set)

    asyncio.run(leave())

    assert asyncio.run(batcher.add(4)) == 4
    assert batches == [[1], [4]]


@pytest.mark.parametrize("failures", [MAX_ATTEMPTS - 1, MAX_ATTEMPTS])
def test_a_transaction_that_the_database_gives_up_is_repeated(database: Database, failures: int) -> None:
    given_up = StoreUnavailable(verbatim("deadlock"), is_of_transaction=True)
    attempts: list[Sequence[int]] = []

    def write(_: Write, items: Sequence[int]) -> Sequence[int]:
        attempts.append(items)
        if len(attempts) <= failures:
            raise given_up
        return [item * 10 for item in items]

    outcomes = write_batch(database, write, [1, 2])

    assert outcomes == ([10, 20] if failures < MAX_ATTEMPTS else [given_up] * 2)
    assert attempts == [[1, 2]] * MAX_ATTEMPTS


def test_an_unavailable_database_is_not_asked_again(database: Database) -> None:
    gone = StoreUnavailable(verbatim("gone"))
    attempts: list[Sequence[int]] = []

    def write(_: Write, items: Sequence[int]) -> Sequence[int]:
        attempts.append(items)
        raise gone

    assert write_batch(database, write, [1, 2]) == [gone] * 2
    assert attempts == [[1, 2]]
