"""A page of a category with many others below it has the first entries of all, however they are spread."""

from __future__ import annotations

import pytest

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import MINUTE, Instant
from tidings.domain.entries.entries import Direction, EntryCursor, EntryFilter, EntryStatus, PageRequest
from tidings.engine.database import Database
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import entry_writes

CATEGORIES = 30


@pytest.mark.parametrize("busy", [0, 35, 400])
def test_a_page_has_the_first_entries_of_all_categories(database: Database, busy: int) -> None:
    """busy: how many of the newest entries are in one category."""
    user_id, top, moments = _stored(database, busy)
    filter_ = EntryFilter(category_id=top, statuses=(EntryStatus.UNREAD,))
    with database.reading() as db:
        for direction in Direction:
            expected = sorted(moments, key=lambda id_: (moments[id_], id_), reverse=direction is Direction.DESC)
            first = entry_lists.rows(db, user_id, filter_, PageRequest(direction=direction))
            assert [entry.id for entry in first] == expected[:100]
            cursor = EntryCursor(first[-1].published_at, first[-1].id)
            second = entry_lists.rows(db, user_id, filter_, PageRequest(direction=direction, cursor=cursor))
            assert [entry.id for entry in second] == expected[100:200]
            third = entry_lists.rows(db, user_id, filter_, PageRequest(direction=direction, offset=200))
            assert [entry.id for entry in third] == expected[200:300]
        assert entry_lists.total(db, user_id, filter_) == len(moments)


def _stored(database: Database, busy: int) -> tuple[int, int, dict[int, Instant]]:
    """Store entries in categories below one. Returns the user, that category, and when each was published, by id."""
    user_id = FeedFixture.create(database).user_id
    moments: dict[int, Instant] = {}
    with database.writing() as db:
        top = categories.add(db, user_id, title="Top", title_key="top", hide_globally=False)
        for number in range(CATEGORIES):
            path = f"Top / {number}"
            category_id = categories.add(
                db, user_id, title=path, title_key=path.lower(), name=str(number), parent_id=top, hide_globally=False
            )
            feed_id = feeds.add(
                db, user_id, category_id=category_id, feed_url=f"http://127.0.0.1:1/{number}", title="x",
                created_at=NOW, checked_at=NOW, next_check_at=NOW,
            )  # fmt: skip
            ages = [number + CATEGORIES * one + busy for one in range(12)] + (list(range(busy)) if number == 7 else [])
            dated = [Instant(NOW - age * MINUTE) for age in ages]
            new = [ready("x", published_at=moment) for moment in dated]
            ids = entry_writes.add(db, user_id, feed_id, category_id, new, now=NOW)
            moments |= dict(zip(ids, dated, strict=True))
    return user_id, top, moments
