"""Threads for handlers: quick ones run one after the other, slow ones keep nobody waiting."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from tidings.http import thread_queue
from tidings.http.thread_queue import ThreadQueue

LONG_S = 10


class Counted:
    """A function that notes the order of its calls and how many run side by side."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def __call__(self, number: int) -> int:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            self.order.append(number)
        # Gives others the chance to start.
        threading.Event().wait(0.001)
        with self._lock:
            self._now -= 1
        return number


@pytest.fixture
def queue() -> Iterator[ThreadQueue]:
    made = ThreadQueue(2, 100, max_concurrency=1, name="test")
    yield made
    made.close()


@pytest.mark.parametrize(("max_concurrency", "most"), [(1, 1), (3, 3)])
def test_quick_functions_run_in_their_order_and_not_more_than_allowed(
    monkeypatch: pytest.MonkeyPatch, max_concurrency: int, most: int
) -> None:
    monkeypatch.setattr(thread_queue, "PATIENCE_S", LONG_S)
    queue, function = ThreadQueue(8, 100, max_concurrency=max_concurrency, name="test"), Counted()

    async def run_all() -> list[int]:
        return await asyncio.gather(*(queue.run(function, number) for number in range(50)))

    assert asyncio.run(run_all()) == list(range(50))
    assert function.most <= most
    assert sorted(function.order) == list(range(50))
    if max_concurrency == 1:
        assert function.order == list(range(50))
    queue.close()


def test_a_function_that_takes_long_lets_others_run_beside_it(queue: ThreadQueue) -> None:
    released = threading.Event()

    async def run_both() -> bool:
        waiting, _ = await asyncio.gather(queue.run(released.wait, LONG_S), queue.run(released.set))
        return waiting

    assert asyncio.run(run_both()) is True


def test_not_more_threads_than_allowed_are_slow(monkeypatch: pytest.MonkeyPatch, queue: ThreadQueue) -> None:
    """A slow one that has ended goes on with what waits, without being noticed by a timer."""
    released, ended = threading.Event(), threading.Event()

    async def run_all() -> tuple[bool, list[bool]]:
        slow = [asyncio.create_task(queue.run(released.wait, LONG_S)) for _ in range(2)]
        waiting = [asyncio.create_task(queue.run(ended.is_set)) for _ in range(3)]
        await asyncio.sleep(5 * thread_queue.PATIENCE_S)
        is_none_done = not any(task.done() for task in (*slow, *waiting))
        monkeypatch.setattr(thread_queue, "PATIENCE_S", 3600)
        await asyncio.sleep(0.1)
        ended.set()
        released.set()
        await asyncio.gather(*slow)
        return is_none_done, await asyncio.wait_for(asyncio.gather(*waiting), LONG_S)

    assert asyncio.run(run_all()) == (True, [True, True, True])


def wait_for_threads(queue: ThreadQueue) -> None:
    """Wait until no thread takes functions. They end a moment after the last result."""
    while queue._runners:
        time.sleep(0.01)


def test_after_slow_functions_one_runs_at_a_time_again(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, function, released = ThreadQueue(8, 100, max_concurrency=1, name="test"), Counted(), threading.Event()

    async def run_all() -> None:
        slow = [asyncio.create_task(queue.run(released.wait, LONG_S)) for _ in range(3)]
        # They are the first in the queue.
        await asyncio.sleep(0)
        await queue.run(int)
        monkeypatch.setattr(thread_queue, "PATIENCE_S", LONG_S)
        released.set()
        await asyncio.gather(*slow)
        await asyncio.to_thread(wait_for_threads, queue)
        await asyncio.gather(*(queue.run(function, number) for number in range(20)))

    asyncio.run(run_all())

    assert function.most == 1
    assert function.order == list(range(20))
    queue.close()


def test_errors_are_raised_where_the_result_is_awaited(queue: ThreadQueue) -> None:
    async def run_both() -> int:
        with pytest.raises(ZeroDivisionError):
            await queue.run(divmod, 1, 0)
        return await queue.run(int, "7")

    assert asyncio.run(run_both()) == 7


def test_what_was_cancelled_while_it_waited_is_not_run(queue: ThreadQueue) -> None:
    released, called = threading.Event(), threading.Event()

    async def run_all() -> bool:
        slow = [asyncio.create_task(queue.run(released.wait, LONG_S)) for _ in range(2)]
        waiting = asyncio.create_task(queue.run(called.set))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        released.set()
        await asyncio.gather(*slow)
        return not queue.is_full and await queue.run(called.is_set)

    assert asyncio.run(run_all()) is False


def test_closing_cancels_what_waits() -> None:
    queue = ThreadQueue(1, 3, max_concurrency=1, name="test")
    begun, released = threading.Event(), threading.Event()

    def wait() -> bool:
        begun.set()
        return released.wait(LONG_S)

    async def run_all() -> list[type]:
        slow = asyncio.create_task(queue.run(wait))
        assert await asyncio.to_thread(begun.wait, LONG_S)
        waiting = [asyncio.create_task(queue.run(int)) for _ in range(2)]
        await asyncio.sleep(0)
        assert queue.is_full
        closing = asyncio.create_task(asyncio.to_thread(queue.close))
        errors = await asyncio.gather(*waiting, return_exceptions=True)
        released.set()
        assert await slow
        await closing
        return [type(error) for error in errors]

    assert asyncio.run(run_all()) == [asyncio.CancelledError] * 2
