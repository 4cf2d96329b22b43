"""The categories of feeds other than the first, which is in `feeds` and on each entry.

Most feeds have none. Their entries are read by the category, those of others by the feed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Select, and_, bindparam, delete, select

from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list, upsert
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.ownership import of_same_user
from tidings.storage.schema import categories, feed_categories, feeds

T = TypeVar("T")

with_first = feeds.join(categories, and_(categories.c.id == feeds.c.category_id, of_same_user(categories, feeds)))
"""Feeds with their first category."""

_of_user = feed_categories.c.user_id == bindparam("user")
_select_all = (
    select(feed_categories.c.feed_id, feed_categories.c.category_id)
    .where(_of_user)
    .order_by(feed_categories.c.feed_id, feed_categories.c.category_id)
)
_select_listed = _select_all.where(in_list(feed_categories.c.feed_id, "feeds"))
_select_titles = (
    select(feed_categories.c.feed_id, categories.c.title)
    .join_from(
        feed_categories,
        categories,
        and_(categories.c.id == feed_categories.c.category_id, of_same_user(categories, feed_categories)),
    )
    .where(_of_user, in_list(feed_categories.c.feed_id, "feeds"))
    .order_by(feed_categories.c.feed_id, feed_categories.c.category_id)
)
_add = upsert(feed_categories, ["feed_id", "category_id"])
_remove = delete(feed_categories).where(_of_user, in_list(feed_categories.c.feed_id, "feeds"))
_remove_some = _remove.where(in_list(feed_categories.c.category_id, "categories"))


def select_feeds_in(parameter: str) -> Select[Any]:
    """Return the SELECT of the feeds in categories that are not their first. parameter: of the categories' ids."""
    return select(feed_categories.c.feed_id).where(_of_user, in_list(feed_categories.c.category_id, parameter))


# Of the few feeds with several categories, those whose first is another one.
_select_feeds_in_others = select(feeds.c.id).where(
    feeds.c.user_id == bindparam("user"),
    feeds.c.id.in_(select_feeds_in("categories")),
    ~in_list(feeds.c.category_id, "categories"),
)


def of_user(db: Read, user_id: int) -> dict[int, tuple[int, ...]]:
    """Return the further categories of the user's feeds by feed id; feeds without any are missing."""
    return _by_feed(db.tuples(_select_all, user=user_id))


def of_feeds(db: Read, user_id: int, feed_ids: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Like `of_user`, for some feeds."""
    return _by_feed(db.tuples(_select_listed, user=user_id, feeds=feed_ids))


def titles_of_feeds(db: Read, user_id: int, feed_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Like `of_feeds`, with the titles of the categories."""
    return _by_feed(db.tuples(_select_titles, user=user_id, feeds=feed_ids))


def feeds_in(db: Read, user_id: int, category_ids: Collection[int]) -> list[int]:
    """Return the user's feeds that are in one of these categories, but whose first category is not among them."""
    return db.scalars(_select_feeds_in_others, user=user_id, categories=category_ids)


def set_all(db: Write, user_id: int, category_ids: Mapping[int, Sequence[int]]) -> None:
    """Set the further categories of feeds by feed id. The feeds and the categories belong to the user."""
    db.run(_remove, user=user_id, feeds=category_ids)
    change_log.note(db, user_id, Kind.FEED, category_ids)
    add(db, user_id, ((feed_id, one) for feed_id, given in category_ids.items() for one in given))


def add(db: Write, user_id: int, pairs: Iterable[tuple[int, int]]) -> None:
    """Put feeds into further categories. pairs: ids of feed and category, which belong to the user."""
    rows = [{"user_id": user_id, "feed_id": feed_id, "category_id": one} for feed_id, one in pairs]
    if rows:
        db.run_many(_add, rows)
        change_log.note(db, user_id, Kind.FEED, [row["feed_id"] for row in rows])


def remove(db: Write, user_id: int, feed_ids: Collection[int], category_ids: Collection[int]) -> int:
    """Take feeds out of categories that are not their first. Returns how many were taken out."""
    change_log.note(db, user_id, Kind.FEED, feed_ids)
    return db.run(_remove_some, user=user_id, feeds=feed_ids, categories=category_ids)


def _by_feed(pairs: Iterable[tuple[int, T]]) -> dict[int, tuple[T, ...]]:
    found: dict[int, tuple[T, ...]] = {}
    for feed_id, value in pairs:
        found[feed_id] = (*found.get(feed_id, ()), value)
    return found
