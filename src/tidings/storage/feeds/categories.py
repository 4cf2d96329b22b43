"""The categories of a user."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, select, update

from tidings.base.text import normalize_for_search, sort_key
from tidings.domain.feeds.categories import Category, CategoryCounts, CategoryTree, with_app_titles
from tidings.engine import distribution
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list, lock_rows, references_planned_once, take_ids
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.entries.counters import counted_feeds
from tidings.storage.schema import categories, feed_counters, feeds, users

_select_by_user = select(*columns(categories, Category)).where(categories.c.user_id == bindparam("user"))
_select_by_id = _select_by_user.where(categories.c.id == bindparam("id"))
_select_by_key = _select_by_user.where(categories.c.title_key == bindparam("key"))

_select_counts = (
    select(
        feeds.c.category_id,
        func.count(feeds.c.id).label("feed_count"),
        func.sum(feed_counters.c.unread).label("total_unread"),
    )
    .select_from(counted_feeds)
    .where(feeds.c.user_id == bindparam("user"))
    .group_by(feeds.c.category_id)
)

_select_feed_ids = select(feeds.c.id).where(feeds.c.user_id == bindparam("user"), in_list(feeds.c.category_id, "ids"))
_insert_many = insert(categories)
# FOR NO KEY UPDATE: feeds can still be added to them.
_lock = (
    select(categories.c.id)
    .where(categories.c.user_id == bindparam("user"))
    .order_by(categories.c.id)
    .with_for_update(key_share=True)
)
_select_style = select(users.c.category_titles).where(users.c.id == bindparam("user"))
_is_owned = (categories.c.user_id == bindparam("user"), categories.c.id == bindparam("number"))
_set_key = update(categories).where(*_is_owned).values(title_key=bindparam("key"))
_set_place = (
    update(categories)
    .where(*_is_owned)
    .values(
        title=bindparam("shown"),
        title_key=bindparam("key"),
        name=bindparam("part"),
        parent_id=bindparam("parent"),
        hide_globally=bindparam("hidden"),
        keep_duplicates=bindparam("keeps"),
    )
)


def select_with_below(parameter: str) -> Select[Any]:
    """Return the SELECT of the ids of categories and of all below them. parameter: their ids; and the user."""
    return _with_those_below("below", in_list(categories.c.id, parameter))


def select_hidden_ids() -> Select[Any]:
    """Return the SELECT of the ids of a user's categories that are hidden globally, by themselves or by one above."""
    return _with_those_below("hidden", categories.c.hide_globally)


def _with_those_below(name: str, is_chosen: ColumnElement[bool]) -> Select[Any]:
    """Return the SELECT of the ids of the user's categories that are chosen, and of all below them.

    name: of the common table expression.
    """
    of_user = select(categories.c.id).where(categories.c.user_id == bindparam("user"))
    chosen = of_user.where(is_chosen).cte(name, recursive=True)
    return select(chosen.union(of_user.where(categories.c.parent_id == chosen.c.id)).c.id)


_select_with_below = select_with_below("ids")


def list_all(db: Read, user_id: int) -> list[Category]:
    """Return the user's categories by title."""
    return sorted(db.all(Category, _select_by_user, user=user_id), key=_order)


def _order(category: Category) -> tuple[str, str, int]:
    return sort_key(category.title), category.title, category.id


def paths(db: Read, user_id: int) -> dict[int, str]:
    """Return the paths of the user's categories by id."""
    tree = CategoryTree(list_all(db, user_id))
    return {category.id: tree.path(category.id) for category, _ in tree.walk()}


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


def with_below(db: Read, user_id: int, category_ids: Collection[int]) -> list[int]:
    """Return the ids of the user's categories among these, and of all categories below them."""
    return db.scalars(_select_with_below, user=user_id, ids=category_ids)


def lowest(db: Read, user_id: int, category_ids: Collection[int]) -> int | None:
    """Return the category that is below all the others: what it has is what all of them have. None if none is."""
    if len(category_ids) < 2:
        return next(iter(category_ids), None)
    shared = set.intersection(*(set(with_below(db, user_id, [one])) for one in category_ids))
    return next((one for one in category_ids if one in shared), None)


def lock_all(db: Write, user_id: int) -> None:
    """Lock the categories of a user, so that no other transaction changes the tree."""
    lock_rows(db, _lock, user=user_id)


def title_style(db: Read, user_id: int) -> str:
    """Return how apps see the user's categories, of `TITLE_STYLES`."""
    return str(db.scalar(_select_style, user=user_id))


def add(
    db: Write,
    user_id: int,
    *,
    title: str,
    title_key: str,
    hide_globally: bool,
    name: str = "",
    parent_id: int | None = None,
) -> int:
    """Add a category and return its id. title_key: the case-folded title. name: "" if it is the title."""
    values = {"user_id": user_id, "title": title, "title_key": title_key, "hide_globally": hide_globally}
    category_id = db.insert(insert(categories).values(**values, name=name or title, parent_id=parent_id))
    change_log.note(db, user_id, Kind.CATEGORY, [category_id])
    return category_id


def add_many(db: Write, user_id: int, new: Sequence[Category]) -> dict[int, int]:
    """Add categories in one statement. Returns their ids by those that they have, which are negative.

    Parents may be among the new ones. Their titles are computed. The caller has locked the categories.
    """
    if not new:
        return {}
    present = list_all(db, user_id)
    ids = dict(zip((one.id for one in new), take_ids(db, categories, len(new)), strict=True))
    added = [replace(one, id=ids[one.id], parent_id=ids.get(one.parent_id or 0, one.parent_id)) for one in new]
    titled = with_app_titles([*present, *added], title_style(db, user_id))
    # First, since a new one may take a title that another was shown by.
    arrange(db, user_id, present, [one for one in titled if one.id not in ids.values()])
    change_log.note(db, user_id, Kind.CATEGORY, ids.values())
    db.run_many(_insert_many, [{"id": one.id, **_values(one)} for one in titled if one.id in ids.values()])
    return ids


def _values(category: Category) -> dict[str, Any]:
    return {
        "user_id": category.user_id,
        "title": category.title,
        "title_key": normalize_for_search(category.title),
        "hide_globally": category.hide_globally,
        "parent_id": category.parent_id,
        "name": category.name,
        "keep_duplicates": category.keep_duplicates,
    }


def arrange(db: Write, user_id: int, before: Sequence[Category], after: Sequence[Category]) -> None:
    """Write the categories that differ. The caller has locked them."""
    known = {one.id: one for one in before}
    changed = [one for one in after if one != known.get(one.id)]
    if len(changed) > 1:
        # Titles are unique at every moment, and one may get the title of another: the same as no title is first.
        db.run_many(_set_key, [{"user": user_id, "number": one.id, "key": f"\n{one.id}"} for one in changed])
    rows = [
        {
            "user": user_id,
            "number": one.id,
            "shown": one.title,
            "key": normalize_for_search(one.title),
            "part": one.name,
            "parent": one.parent_id,
            "hidden": one.hide_globally,
            "keeps": one.keep_duplicates,
        }
        for one in changed
    ]
    if rows:
        db.run_many(_set_place, rows)
        change_log.note(db, user_id, Kind.CATEGORY, [one.id for one in changed])


def retitle(db: Write, user_id: int) -> None:
    """Give all categories of a user the titles that apps show, as the setting says now."""
    lock_all(db, user_id)
    present = list_all(db, user_id)
    arrange(db, user_id, present, with_app_titles(present, title_style(db, user_id)))


def remove(db: Write, user_id: int, category_ids: Collection[int]) -> bool:
    """Delete categories with their feeds and the entries of these. Returns False if the user has none of them."""
    change_log.note(db, user_id, Kind.CATEGORY, category_ids)
    feed_ids = db.scalars(_select_feed_ids, user=user_id, ids=list(category_ids))
    change_log.note_removed_feeds(db, user_id, feed_ids)
    distribution.clear_references(db, feeds, user_id, feed_ids)
    distribution.clear_references(db, categories, user_id, category_ids)
    with references_planned_once(db):
        return db.run(delete(categories).where(categories.c.user_id == user_id, categories.c.id.in_(category_ids))) > 0
