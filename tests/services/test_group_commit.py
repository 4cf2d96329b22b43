"""Writes of several threads in one transaction: what each thread receives, and when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tidings.base.errors import StoreUnavailable
from tidings.base.messages import verbatim
from tidings.services.group_commit import GroupCommit

Write = Callable[[Sequence[str]], Sequence[str]]
WAIT_S = 30
LOST = StoreUnavailable(verbatim("gone"))
DEADLOCK = StoreUnavailable(verbatim("gone"), is_of_transaction=True)


class Writer:
    """Groups of items such as "a1", whose first character is the owner. The first group waits until `finish_first`.

    groups: as they were written. failing: items that make their group fail, with the error.
    """

    def __init__(self, *, max_weight: int = 100, patience_s: float = WAIT_S) -> None:
        self.groups: list[list[str]] = []
        self.failing: dict[str, BaseException] = {}
        self._has_begun, self._may_end = threading.Event(), threading.Event()
        self._group_commit: GroupCommit[str, str] = GroupCommit(
            self._write, owner=lambda item: ord(item[0]), weight=len, max_weight=max_weight, patience_s=patience_s
        )
        self._threads = ThreadPoolExecutor(20)

    def write_together(self, *items: str) -> list[Future[str]]:
        """Write items while a first one is being written, so that they form the next group, in this order."""
        first = self._threads.submit(self.write, "first")
        self.wait_until_begun()
        futures = []
        for number, item in enumerate(items, 1):
            futures.append(self._threads.submit(self.write, item))
            self._wait_for_waiting(number)
        self.finish_first()
        assert first.result(WAIT_S) == "FIRST"
        self._threads.shutdown()
        return futures

    def write(self, item: str) -> str:
        return self._group_commit.write(item)

    def wait_until_begun(self) -> None:
        assert self._has_begun.wait(WAIT_S)

    def finish_first(self) -> None:
        self._may_end.set()

    def _wait_for_waiting(self, number: int) -> None:
        pause = threading.Event()
        while len(self._group_commit._waiting) < number:
            pause.wait(0.001)

    def _write(self, items: Sequence[str]) -> Sequence[str]:
        self.groups.append(list(items))
        if not self._has_begun.is_set():
            self._has_begun.set()
            assert self._may_end.wait(WAIT_S)
        for item in items:
            if item in self.failing:
                raise self.failing[item]
        return [item.upper() for item in items]


def test_items_that_arrive_during_a_write_are_written_together_in_their_order() -> None:
    writer = Writer()

    futures = writer.write_together("a1", "b1", "a2")

    assert [future.result() for future in futures] == ["A1", "B1", "A2"]
    assert writer.groups == [["first"], ["a1", "b1", "a2"]]


def test_a_write_alone_waits_for_no_other() -> None:
    writer = Writer()

    assert writer.write_together() == []
    assert writer.groups == [["first"]]


@pytest.mark.parametrize("error", [ValueError("broken"), DEADLOCK])
def test_the_error_of_one_item_is_raised_in_its_thread_alone(error: BaseException) -> None:
    writer = Writer()
    writer.failing["b1"] = error

    futures = writer.write_together("a1", "b1", "c1", "a2")

    assert [futures[number].result() for number in (0, 2, 3)] == ["A1", "C1", "A2"]
    assert futures[1].exception() is error


def test_items_of_a_failed_group_are_written_alone_and_those_of_a_user_in_their_order() -> None:
    writer = Writer()
    writer.failing["b1"] = DEADLOCK

    writer.write_together("a1", "b1", "a2", "b2", "a3")

    alone = [group[0] for group in writer.groups[2:]]
    assert [len(group) for group in writer.groups] == [1, 5, 1, 1, 1, 1, 1]
    assert [item for item in alone if item[0] == "a"] == ["a1", "a2", "a3"]
    assert [item for item in alone if item[0] == "b"] == ["b1", "b2"]


def test_a_database_that_does_not_answer_is_not_asked_again_for_each_item() -> None:
    writer = Writer()
    writer.failing["b1"] = LOST

    futures = writer.write_together("a1", "b1", "c1")

    assert [future.exception() for future in futures] == [LOST] * 3
    assert len(writer.groups) == 2


def test_later_items_are_written_after_a_failed_group() -> None:
    writer = Writer(max_weight=4)
    writer.failing["a1"] = LOST

    futures = writer.write_together("a1", "a2", "b1", "b2")

    assert [future.exception() for future in futures[:2]] == [LOST, LOST]
    assert [future.result() for future in futures[2:]] == ["B1", "B2"]


def test_a_heavy_item_is_a_group_of_its_own() -> None:
    writer = Writer(max_weight=5)

    writer.write_together("a1", "a23456789", "b1", "b2", "b3")

    assert writer.groups == [["first"], ["a1"], ["a23456789"], ["b1", "b2"], ["b3"]]


def test_missing_outcomes_are_an_error() -> None:
    group_commit: GroupCommit[str, str] = GroupCommit(
        lambda items: items[1:], owner=lambda _: 0, weight=len, max_weight=9, patience_s=WAIT_S
    )

    with pytest.raises(RuntimeError):
        group_commit.write("a")


def test_a_group_that_takes_long_does_not_hold_up_the_next() -> None:
    writer = Writer(patience_s=0.01)

    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(writer.write, "slow")
        writer.wait_until_begun()
        assert writer.write("a1") == "A1"
        assert not slow.done()
        writer.finish_first()

    assert slow.result() == "SLOW"
    assert writer.write("a2") == "A2"
    assert writer.groups == [["slow"], ["a1"], ["a2"]]
