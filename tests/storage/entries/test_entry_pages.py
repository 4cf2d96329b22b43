"""Pages of entries that begin after a cursor."""

from __future__ import annotations

import pytest

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import Direction, Entry, EntryCursor, EntryFilter, EntryStatus, Order, PageRequest
from tidings.engine.database import Database
from tidings.storage.entries import entry_lists


def place(entry: Entry, order: Order) -> EntryCursor:
    return EntryCursor(getattr(entry, order.value), entry.id)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("order", [Order.PUBLISHED_AT, Order.CHANGED_AT, Order.CREATED_AT])
def test_a_page_continues_after_the_cursor_also_among_equal_times(
    database: Database, order: Order, direction: Direction
) -> None:
    feed_fixture = FeedFixture.create(database)
    # Three of each moment: a page ends among them.
    feed_fixture.add(*(ready(f"Entry {n}", published_at=Instant(NOW + n // 3 * SECOND)) for n in range(11)))
    other = FeedFixture.create(database)
    other.add(ready("Somebody else's"))

    with database.reading() as db:
        everything = entry_lists.rows(
            db, feed_fixture.user_id, EntryFilter(), PageRequest(order=order, direction=direction, limit=50)
        )
        seen: list[Entry] = []
        while True:
            cursor = place(seen[-1], order) if seen else None
            page = PageRequest(order=order, direction=direction, limit=2, cursor=cursor)
            found = entry_lists.rows(db, feed_fixture.user_id, EntryFilter(statuses=(EntryStatus.UNREAD,)), page)
            if not found:
                break
            seen += found

    assert [entry.id for entry in seen] == [entry.id for entry in everything]
    assert len(seen) == 11
