"""The categories of a user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from tidings.base.text import sort_key
from tidings.domain.feeds.categories import Category, CategoryCounts
from tidings.engine.database import Read, Write, columns
from tidings.storage.schema import categories, feed_counters, feeds

_select_by_user = select(*columns(categories, Category)).where(categories.c.user_id == bindparam("user"))
_select_by_id = _select_by_user.where(categories.c.id == bindparam("id"))
_select_by_key = _select_by_user.where(categories.c.title_key == bindparam("key"))

_select_counts = (
    select(
        feeds.c.category_id,
        func.count(feeds.c.id).label("feed_count"),
        func.sum(feed_counters.c.unread).label("total_unread"),
    )
    .select_from(feeds.join(feed_counters, feed_counters.c.feed_id == feeds.c.id))
    .where(feeds.c.user_id == bindparam("user"))
    .group_by(feeds.c.category_id)
)

_insert_many = insert(categories).returning(categories.c.id, sort_by_parameter_order=True)


def list_all(db: Read, user_id: int) -> list[Category]:
    """Return the user's categories by title."""
    return sorted(db.all(Category, _select_by_user, user=user_id), key=_order)


def _order(category: Category) -> tuple[str, str, int]:
    return sort_key(category.title), category.title, category.id


def get(db: Read, user_id: int, category_id: int) -> Category | None:
    return db.one(Category, _select_by_id, user=user_id, id=category_id)


def by_key(db: Read, user_id: int, title_key: str) -> Category | None:
    """Return the category with this case-folded title; None if there is none."""
    return db.one(Category, _select_by_key, user=user_id, key=title_key)


def first(db: Read, user_id: int) -> Category | None:
    """Return the category of feeds that are added without one: the first by title."""
    return min(db.all(Category, _select_by_user, user=user_id), key=_order, default=None)


def counts(db: Read, user_id: int) -> dict[int, CategoryCounts]:
    """Return counts by category id; a category without feeds is missing."""
    return {
        row["category_id"]: CategoryCounts(feed_count=row["feed_count"], total_unread=int(row["total_unread"]))
        for row in db.rows(_select_counts, user=user_id)
    }


def add(db: Write, user_id: int, *, title: str, title_key: str, hide_globally: bool) -> int:
    """Add a category and return its id. title_key: the case-folded title."""
    return db.insert(
        insert(categories).values(user_id=user_id, title=title, title_key=title_key, hide_globally=hide_globally)
    )


def add_many(db: Write, user_id: int, titles: Mapping[str, str]) -> dict[str, int]:
    """Add categories in one statement. Returns their ids by case-folded title. titles: by case-folded title."""
    rows = [
        {"user_id": user_id, "title": title, "title_key": key, "hide_globally": False} for key, title in titles.items()
    ]
    return dict(zip(titles, db.insert_many(_insert_many, rows), strict=True))


def change(db: Write, user_id: int, category_id: int, **values: Any) -> None:
    """Write columns of a category."""
    if values:
        is_owned = (categories.c.user_id == user_id, categories.c.id == category_id)
        db.run(update(categories).where(*is_owned).values(**values))


def remove(db: Write, user_id: int, category_id: int) -> bool:
    """Delete a category with its feeds and their entries. Returns False if the user has no such category."""
    return db.run(delete(categories).where(categories.c.user_id == user_id, categories.c.id == category_id)) > 0
