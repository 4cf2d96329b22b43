"""Pages of entries that begin at a place instead of a number."""

from __future__ import annotations

import pytest

from support.shelf import NOW, Shelf, ready
from tidings.domain.entries import Direction, Entry, EntryFilter, Order, Page, Place, Status
from tidings.domain.times import SECOND, Instant
from tidings.storage import entry_lists
from tidings.storage.database import Database


def place(entry: Entry, order: Order) -> Place:
    return Place(getattr(entry, order.value), entry.id)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("order", [Order.PUBLISHED_AT, Order.CHANGED_AT, Order.CREATED_AT])
def test_one_page_goes_on_where_the_other_ended_also_among_equals(
    database: Database, order: Order, direction: Direction
) -> None:
    shelf = Shelf.of_somebody(database)
    # Three of each moment: a page ends among them.
    shelf.add(*(ready(f"Entry {n}", published_at=Instant(NOW + n // 3 * SECOND)) for n in range(11)))
    other = Shelf.of_somebody(database)
    other.add(ready("Somebody else's"))

    with database.reading() as db:
        everything = entry_lists.rows(
            db, shelf.user_id, EntryFilter(), Page(order=order, direction=direction, limit=50)
        )
        seen: list[Entry] = []
        while True:
            beyond = place(seen[-1], order) if seen else None
            page = Page(order=order, direction=direction, limit=2, beyond=beyond)
            found = entry_lists.rows(db, shelf.user_id, EntryFilter(statuses=(Status.UNREAD,)), page)
            if not found:
                break
            seen += found

    assert [entry.id for entry in seen] == [entry.id for entry in everything]
    assert len(seen) == 11
