"""Group commit: writes that threads ask for at the same time go into one transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

from tidings.base.errors import StoreUnavailable

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class _Request(Generic[Item, Outcome]):
    """An item whose thread waits. outcome: None until it is written; an exception is raised in its thread.

    is_leader: its thread writes the next group. alone: items that its thread writes in transactions of their own.
    """

    __slots__ = ("_turn", "alone", "is_leader", "item", "outcome")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.outcome: Outcome | BaseException | None = None
        self.is_leader = False
        self.alone: list[_Request[Item, Outcome]] = []
        self._turn = threading.Lock()
        self._turn.acquire()

    def wait(self, seconds: float) -> bool:
        """Wait until there is an outcome, or something to do for this thread. Returns False if it takes longer."""
        return self._turn.acquire(timeout=seconds)

    def wake(self) -> None:
        self._turn.release()


class GroupCommit(Generic[Item, Outcome]):
    """Writes the items of threads in groups. While one group is written, the next is collected; nothing waits longer.

    write: writes items in one transaction, in their order, and returns the outcome of each after the commit. If it
    raises, nothing was written.
    owner: returns the user of an item. weight: returns the weight of an item.
    max_weight: maximum sum of weights in a group; a single heavier item is a group of its own.
    patience_s: a group that takes longer, since it waits for rows that another transaction changes, stops holding up
    the next one.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Item]], Sequence[Outcome]],
        *,
        owner: Callable[[Item], int],
        weight: Callable[[Item], int],
        max_weight: int,
        patience_s: float,
    ) -> None:
        self._write = write
        self._owner = owner
        self._weight = weight
        self._max_weight = max_weight
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._waiting: list[_Request[Item, Outcome]] = []
        # The request whose thread writes; the next group is written after it.
        self._leader: _Request[Item, Outcome] | None = None

    def write(self, item: Item) -> Outcome:
        """Write an item. Returns its outcome once it is committed; raises what `write` raises for it."""
        own: _Request[Item, Outcome] = _Request(item)
        self._enqueue(own)
        while not own.is_leader and not own.wait(self._patience_s):
            self._replace_leader(own)
        if own.is_leader:
            self._lead(own)
        for request in own.alone:
            request.outcome = self._write_group([request])[0]
            if request is not own:
                request.wake()
        if isinstance(own.outcome, BaseException):
            raise own.outcome
        return cast("Outcome", own.outcome)

    def _enqueue(self, request: _Request[Item, Outcome]) -> None:
        with self._lock:
            self._waiting.append(request)
            if self._leader is None:
                self._leader = request
                request.is_leader = True

    def _replace_leader(self, request: _Request[Item, Outcome]) -> None:
        """Let the thread of the request write the next group, if it is the first one that waits."""
        with self._lock:
            if self._waiting and self._waiting[0] is request:
                self._leader = request
                request.is_leader = True

    def _lead(self, own: _Request[Item, Outcome]) -> None:
        """Write a group, which begins with the request of this thread, and wake the other threads of the group."""
        group = self._take_group()
        outcomes = self._write_group(group)
        self._appoint_next(own)
        for request, outcome in zip(group, outcomes, strict=True):
            request.outcome = outcome
        woken = group if not _is_to_be_split(group, outcomes) else self._split(group)
        for request in woken:
            if request is not own:
                request.wake()

    def _split(self, group: Sequence[_Request[Item, Outcome]]) -> list[_Request[Item, Outcome]]:
        """Give the items of each user to the thread of the first one, in their order. Returns the requests to wake."""
        firsts: dict[int, _Request[Item, Outcome]] = {}
        for request in group:
            firsts.setdefault(self._owner(request.item), request).alone.append(request)
        return list(firsts.values())

    def _write_group(self, group: Sequence[_Request[Item, Outcome]]) -> Sequence[Outcome | BaseException]:
        try:
            outcomes = self._write([request.item for request in group])
            if len(outcomes) != len(group):
                raise RuntimeError(f"{len(outcomes)} outcomes of {len(group)} items")  # noqa: TRY301
        except BaseException as error:  # noqa: BLE001 - raised in the threads of the group
            return [error] * len(group)
        return outcomes

    def _take_group(self) -> list[_Request[Item, Outcome]]:
        with self._lock:
            remaining, count = self._max_weight, 0
            for request in self._waiting:
                remaining -= self._weight(request.item)
                if remaining < 0 and count:
                    break
                count += 1
            group, self._waiting = self._waiting[:count], self._waiting[count:]
            return group

    def _appoint_next(self, leader: _Request[Item, Outcome]) -> None:
        with self._lock:
            if self._leader is not leader:
                return
            self._leader = following = self._waiting[0] if self._waiting else None
            if following is None:
                return
            following.is_leader = True
        following.wake()


def _is_to_be_split(group: Sequence[object], outcomes: Sequence[object]) -> bool:
    """Return whether a failed group is written again, item by item: one of them may be the reason.

    Not if the database does not answer: it would not answer the others either, and may have committed the group.
    """
    failure = outcomes[0]
    if len(group) == 1 or not isinstance(failure, Exception):
        return False
    return not isinstance(failure, StoreUnavailable) or failure.is_of_transaction
