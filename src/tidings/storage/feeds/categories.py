"""Categories, always a user's own."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from tidings.domain.feeds.categories import Category, CategoryCounts
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.schema import categories, feed_counters, feeds

_mine = select(*columns(categories, Category)).where(categories.c.user_id == bindparam("user"))
_by_id = _mine.where(categories.c.id == bindparam("id"))
_by_key = _mine.where(categories.c.title_key == bindparam("key"))
_by_title = _mine.order_by(categories.c.title, categories.c.id)
_first = _by_title.limit(1)

_counts = (
    select(
        feeds.c.category_id,
        func.count(feeds.c.id).label("feed_count"),
        func.sum(feed_counters.c.unread).label("total_unread"),
    )
    .select_from(feeds.join(feed_counters, feed_counters.c.feed_id == feeds.c.id))
    .where(feeds.c.user_id == bindparam("user"))
    .group_by(feeds.c.category_id)
)


def list_all(db: Read, user_id: int) -> list[Category]:
    """By title, in code-point order."""
    return db.all(Category, _by_title, user=user_id)


def get(db: Read, user_id: int, category_id: int) -> Category | None:
    return db.one(Category, _by_id, user=user_id, id=category_id)


def by_key(db: Read, user_id: int, title_key: str) -> Category | None:
    return db.one(Category, _by_key, user=user_id, key=title_key)


def first(db: Read, user_id: int) -> Category | None:
    """Where a feed goes when nobody said where."""
    return db.one(Category, _first, user=user_id)


def counts(db: Read, user_id: int) -> dict[int, CategoryCounts]:
    """By category id; a category without feeds is missing."""
    return {
        row.category_id: CategoryCounts(feed_count=row.feed_count, total_unread=int(row.total_unread))
        for row in db.tuples(_counts, user=user_id)
    }


def add(db: Write, user_id: int, *, title: str, title_key: str, hide_globally: bool) -> int:
    return db.insert(
        insert(categories).values(user_id=user_id, title=title, title_key=title_key, hide_globally=hide_globally)
    )


def change(db: Write, user_id: int, category_id: int, **values: Any) -> None:
    if values:
        owned = (categories.c.user_id == user_id, categories.c.id == category_id)
        db.run(update(categories).where(*owned).values(**values))


def remove(db: Write, user_id: int, category_id: int) -> bool:
    """With its feeds and their entries."""
    return db.run(delete(categories).where(categories.c.user_id == user_id, categories.c.id == category_id)) > 0
