"""Changes many feeds of a user in the same way. Ids that are not the user's are ignored."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from tidings.domain.feeds import feed_changes
from tidings.domain.polling.check_times import Schedule
from tidings.engine import notify
from tidings.engine.database import Database, Write
from tidings.services.clock import Clock
from tidings.services.feeds.categories import owned_category
from tidings.services.polling.decide import after_interval_change
from tidings.storage.entries import counters, duplicates
from tidings.storage.feeds import bulk, feeds, further_categories

# Feeds of one transaction: SQLite has one writer, and other writers wait that long.
BATCH_SIZE = 100
# Fewer, because deleting a feed deletes its entries too.
DELETE_BATCH_SIZE = 10


class BulkFeedChanges:
    """Each method returns the number of feeds changed. After an error, batches that were written stay changed."""

    def __init__(self, database: Database, clock: Clock, *, schedule: Schedule) -> None:
        self._database = database
        self._clock = clock
        self._schedule = schedule

    def move(self, user_id: int, feed_ids: Sequence[int], category_id: int, *, left_id: int | None = None) -> int:
        """Move feeds from their first category to another one; they stay in the others.

        left_id: the category that they leave, if it is not the first. Raises NotFound for a category that is not the
        user's.
        """

        def move(db: Write, ids: list[int]) -> int:
            owned_category(db, user_id, category_id)
            further = further_categories.of_feeds(db, user_id, ids) if left_id is not None else {}
            leaving = [feed_id for feed_id in ids if left_id in further.get(feed_id, ())]
            if leaving and left_id is not None and left_id != category_id:
                further_categories.remove(db, user_id, leaving, [left_id])
                self._add(db, user_id, leaving, category_id)
            return len(leaving) + bulk.move(db, user_id, [one for one in ids if one not in leaving], category_id)

        return self._in_batches(user_id, feed_ids, move)

    def add_to(self, user_id: int, feed_ids: Sequence[int], category_id: int) -> int:
        """Put feeds into a category in addition to those they are in. Raises NotFound as `move` does."""

        def add(db: Write, ids: list[int]) -> int:
            owned_category(db, user_id, category_id)
            return self._add(db, user_id, ids, category_id)

        return self._in_batches(user_id, feed_ids, add)

    @staticmethod
    def _add(db: Write, user_id: int, feed_ids: Sequence[int], category_id: int) -> int:
        others = [feed.id for feed in feeds.get_many(db, user_id, feed_ids) if feed.category_id != category_id]
        further_categories.add(db, user_id, [(feed_id, category_id) for feed_id in others])
        return len(others)

    def set_categories(self, user_id: int, category_ids: Mapping[int, Sequence[int]]) -> int:
        """Set all categories of feeds. Raises NotFound as `move` does.

        category_ids: by feed id, the first one first.
        """

        def set_categories(db: Write, ids: list[int]) -> int:
            for category_id in {one for feed_id in ids for one in category_ids[feed_id]}:
                owned_category(db, user_id, category_id)
            for first in {category_ids[feed_id][0] for feed_id in ids}:
                bulk.move(db, user_id, [feed_id for feed_id in ids if category_ids[feed_id][0] == first], first)
            further_categories.set_all(db, user_id, {feed_id: category_ids[feed_id][1:] for feed_id in ids})
            return len(ids)

        return self._in_batches(user_id, list(category_ids), set_categories)

    def enable(self, user_id: int, feed_ids: Sequence[int]) -> int:
        """Enable feeds, clear their errors and make them due now."""

        def enable(db: Write, ids: list[int]) -> int:
            count = bulk.enable(db, user_id, ids, self._clock())
            if count:
                notify.notify(db, notify.FEEDS)
            return count

        return self._in_batches(user_id, feed_ids, enable)

    def disable(self, user_id: int, feed_ids: Sequence[int]) -> int:
        return self._in_batches(user_id, feed_ids, lambda db, ids: bulk.disable(db, user_id, ids))

    def set_interval(self, user_id: int, feed_ids: Sequence[int], minutes: int) -> int:
        """Set the check interval. minutes: 0 to derive it from how often each feed publishes. Raises InvalidInput."""
        feed_changes.validate({"check_interval_minutes": minutes})
        now, random_fraction = self._clock(), random.random()  # noqa: S311 - nothing secret about it

        def set_interval(db: Write, ids: list[int]) -> int:
            selected = feeds.get_many(db, user_id, ids)
            times = {
                feed.id: after_interval_change(feed, minutes, self._schedule, now, random_fraction=random_fraction)
                for feed in selected
            }
            bulk.set_interval(db, user_id, minutes, times)
            return len(selected)

        return self._in_batches(user_id, feed_ids, set_interval)

    def delete(self, user_id: int, feed_ids: Sequence[int]) -> int:
        """Delete feeds and their entries."""
        count = 0
        for ids in _batches(feed_ids, DELETE_BATCH_SIZE):
            with self._database.writing() as db:
                owned = duplicates.lock_for_deletion(db, user_id, ids)
                duplicates.keep_folded(db, user_id, owned)
                count += bulk.remove(db, user_id, owned)
        return count

    def _in_batches(self, user_id: int, feed_ids: Sequence[int], change: Callable[[Write, list[int]], int]) -> int:
        count = 0
        for ids in _batches(feed_ids, BATCH_SIZE):
            with self._database.writing() as db:
                # Polls lock counters first too: in another order, the two transactions would deadlock.
                count += change(db, counters.lock(db, user_id, ids))
        return count


def _batches(feed_ids: Sequence[int], size: int) -> Iterator[list[int]]:
    ids = sorted(set(feed_ids))
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
