"""Feeds with their categories and the name of their icon: as one text each, and as records with the same text.

A text tells whether anything that is shown of a feed has changed since it was read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Select, bindparam, func, select

from tidings.domain.feeds.categories import Category
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Read, columns
from tidings.engine.row_text import row_text
from tidings.engine.statements import in_list, joined, split_ids
from tidings.storage.feeds import further_categories
from tidings.storage.feeds.feeds import IN_ORDER
from tidings.storage.ownership import is_own
from tidings.storage.schema import categories, feed_categories, feeds, icons


class FeedRecord(Struct, frozen=True):
    """A feed in one state, with the text that describes this state."""

    text: str
    feed: Feed
    category: Category
    icon_name: str
    """The public name of the icon, "" without one."""
    further_ids: tuple[int, ...] = ()
    """Its categories after the first."""


def texts(
    db: Read, user_id: int, names: tuple[str, ...], feed_ids: Collection[int] | None = None
) -> Sequence[tuple[int, str]]:
    """Return the ids and texts of the feeds that belong to the user; None: of all feeds, in the order of the API.

    names: columns of feeds that the text consists of, in addition to categories and icon.
    """
    if feed_ids is None:
        return db.tuples(_select_texts(names), user=user_id)
    return db.tuples(_select_listed_texts(names), user=user_id, ids=feed_ids)


def records(db: Read, user_id: int, names: tuple[str, ...], feed_ids: Collection[int]) -> list[FeedRecord]:
    """Return the feeds with these ids that belong to the user, in no order."""
    found = []
    for feed, row in db.joined(Feed, _select_records(names), user=user_id, ids=feed_ids):
        category = Category(
            feed.category_id,
            user_id,
            row["category_title"],
            row["category_is_hidden"],
            row["category_parent_id"],
            keep_duplicates=row["category_keeps_duplicates"],
        )
        further = tuple(sorted(split_ids(row["further_ids"])))
        found.append(FeedRecord(row["text"], feed, category, row["icon_name"], further))
    return found


_is_listed = in_list(feeds.c.id, "ids")
_icon_name = func.coalesce(icons.c.external_id, "")
_further_ids = (
    select(joined(feed_categories.c.category_id))
    .where(feed_categories.c.feed_id == feeds.c.id, is_own(feed_categories, feeds))
    .correlate(feeds)
    .scalar_subquery()
)


@lru_cache(maxsize=16)
def _select_texts(names: tuple[str, ...]) -> Select[Any]:
    return _of_user(select(feeds.c.id, _text(names))).order_by(*IN_ORDER)


@lru_cache(maxsize=16)
def _select_listed_texts(names: tuple[str, ...]) -> Select[Any]:
    return _of_user(select(feeds.c.id, _text(names))).where(_is_listed)


@lru_cache(maxsize=16)
def _select_records(names: tuple[str, ...]) -> Select[Any]:
    category = (
        categories.c.title.label("category_title"),
        categories.c.hide_globally.label("category_is_hidden"),
        categories.c.parent_id.label("category_parent_id"),
        categories.c.keep_duplicates.label("category_keeps_duplicates"),
    )
    # The text from the same statement, so that it belongs to this state.
    further = _further_ids.label("further_ids")
    selected = select(*columns(feeds, Feed), *category, _icon_name.label("icon_name"), further, _text(names))
    return _of_user(selected).where(_is_listed)


def _text(names: tuple[str, ...]) -> ColumnElement[Any]:
    of_category = (categories.c[name] for name in ("title", "hide_globally", "parent_id", "keep_duplicates"))
    category = (feeds.c.category_id, *of_category)
    return row_text(*(feeds.c[name] for name in names), *category, _icon_name, _further_ids).label("text")


def _of_user(statement: Select[Any]) -> Select[Any]:
    with_icons = further_categories.with_first.outerjoin(icons, icons.c.id == feeds.c.icon_id)
    return statement.select_from(with_icons).where(feeds.c.user_id == bindparam("user"))
