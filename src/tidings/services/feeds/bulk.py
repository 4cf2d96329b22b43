"""The same change to many feeds of a user. Ids that are not the user's are passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tidings.domain.feeds import feed_changes
from tidings.domain.polling.next_check import Schedule
from tidings.services.clock import Clock
from tidings.services.feeds.categories import owned as owned_category
from tidings.services.polling.next_check import Timing
from tidings.storage.engine import notify
from tidings.storage.engine.database import Database, Write
from tidings.storage.entries import counters
from tidings.storage.feeds import bulk, feeds

# Feeds of one transaction: SQLite has one writer, and everybody else who writes waits that long.
AT_ONCE = 100
# Deleting takes their entries along.
DELETED_AT_ONCE = 10


class BulkFeedChanges:
    """Each gives how many feeds it changed. What was done stays done if the rest cannot be."""

    def __init__(self, database: Database, clock: Clock, *, schedule: Schedule) -> None:
        self._database = database
        self._clock = clock
        self._schedule = schedule

    def move(self, user_id: int, feed_ids: Sequence[int], category_id: int) -> int:
        """NotFound when there is no such category."""

        def move(db: Write, ids: list[int]) -> int:
            owned_category(db, user_id, category_id)
            return bulk.move(db, user_id, ids, category_id)

        return self._in_turn(user_id, feed_ids, move)

    def enable(self, user_id: int, feed_ids: Sequence[int]) -> int:
        """They are checked at once; errors of earlier checks are forgotten."""

        def enable(db: Write, ids: list[int]) -> int:
            count = bulk.enable(db, user_id, ids, self._clock())
            if count:
                notify.notify(db, notify.FEEDS)
            return count

        return self._in_turn(user_id, feed_ids, enable)

    def disable(self, user_id: int, feed_ids: Sequence[int]) -> int:
        return self._in_turn(user_id, feed_ids, lambda db, ids: bulk.disable(db, user_id, ids))

    def set_interval(self, user_id: int, feed_ids: Sequence[int], minutes: int) -> int:
        """minutes: 0 to follow how often each publishes. InvalidInput when out of bounds."""
        feed_changes.validate({"check_interval_minutes": minutes})
        timing, now = Timing.draw(self._schedule), self._clock()

        def set_interval(db: Write, ids: list[int]) -> int:
            found = feeds.get_many(db, user_id, ids)
            bulk.set_interval(db, user_id, minutes, {one.id: timing.after_change(one, minutes, now) for one in found})
            return len(found)

        return self._in_turn(user_id, feed_ids, set_interval)

    def delete(self, user_id: int, feed_ids: Sequence[int]) -> int:
        """With their entries."""
        return self._in_turn(user_id, feed_ids, lambda db, ids: bulk.remove(db, user_id, ids), DELETED_AT_ONCE)

    def _in_turn(
        self, user_id: int, feed_ids: Sequence[int], change: Callable[[Write, list[int]], int], size: int = AT_ONCE
    ) -> int:
        count = 0
        for ids in _chunks(feed_ids, size):
            with self._database.writing() as db:
                # As a poll does before it writes: the other way round, the two would wait for each other.
                count += change(db, counters.lock(db, user_id, ids))
        return count


def _chunks(feed_ids: Sequence[int], size: int) -> Iterator[list[int]]:
    ids = sorted(set(feed_ids))
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
