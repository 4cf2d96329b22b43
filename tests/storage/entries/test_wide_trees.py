"""A page of a category with many others below it has the first entries of all, however they are spread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import MINUTE, Instant
from tidings.domain.entries.entries import Direction, EntryCursor, EntryFilter, EntryStatus, PageRequest
from tidings.engine.database import Database
from tidings.storage.entries import counters, entry_lists
from tidings.storage.feeds import categories, feeds, further_categories
from tidings.storage.polling import entry_writes

CATEGORIES = 30


@pytest.mark.parametrize("shared", [False, True], ids=["own", "shared"])
@pytest.mark.parametrize("busy", [0, 35, 400])
def test_a_page_has_the_first_entries_of_all_categories(database: Database, busy: int, shared: bool) -> None:
    """busy: how many of the newest entries are in one category. shared: whether it is not the first of some feeds."""
    user_id, top, moments = _stored(database, busy, shared=shared)
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


@pytest.mark.parametrize("others", [0, 20_000])
def test_a_page_far_from_the_first_is_read_in_order_unless_the_list_has_few_entries(
    database: Database, others: int
) -> None:
    """others: number of entries of the user that are not in the list."""
    user_id, top, moments = _stored(database, 35, shared=True)
    filter_ = EntryFilter(category_id=top, statuses=(EntryStatus.UNREAD,))
    with database.writing() as db:
        elsewhere = feeds.add(
            db, user_id, category_id=categories.first(db, user_id).id, feed_url="http://127.0.0.1:1/x", title="x",  # type: ignore[union-attr]
            created_at=NOW, checked_at=NOW, next_check_at=NOW,
        )  # fmt: skip
        counters.lock(db, user_id, [elsewhere])
        delta = counters.CounterDelta()
        delta.add(user_id, elsewhere, EntryStatus.UNREAD, starred=False, times=others)
        delta.write(db)
    statements: list[str] = []
    with statements_of(database, statements), database.reading() as db:
        listed = entry_lists.rows(db, user_id, filter_, PageRequest(offset=200))

    expected = sorted(moments, key=lambda id_: (moments[id_], id_))
    assert [entry.id for entry in listed] == expected[200:300]
    assert any("listed" in one for one in statements) == (others > 0)


@contextmanager
def statements_of(database: Database, seen: list[str]) -> Iterator[None]:
    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    event.listen(database._engines.reader, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(database._engines.reader, "before_cursor_execute", note)


def _stored(database: Database, busy: int, *, shared: bool) -> tuple[int, int, dict[int, Instant]]:
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
            first_id = category_id
            if shared and number % 3 == 1:
                first_id = categories.add(db, user_id, title=f"{number}", title_key=f"{number}", hide_globally=False)
            feed_id = feeds.add(
                db, user_id, category_id=first_id, feed_url=f"http://127.0.0.1:1/{number}", title="x",
                created_at=NOW, checked_at=NOW, next_check_at=NOW,
            )  # fmt: skip
            if first_id != category_id:
                further_categories.add(db, user_id, [(feed_id, category_id), (feed_id, top)])
            ages = [number + CATEGORIES * one + busy for one in range(12)] + (list(range(busy)) if number == 7 else [])
            dated = [Instant(NOW - age * MINUTE) for age in ages]
            new = [ready("x", published_at=moment) for moment in dated]
            ids = entry_writes.add(db, user_id, feed_id, first_id, new, now=NOW)
            moments |= dict(zip(ids, dated, strict=True))
    return user_id, top, moments
