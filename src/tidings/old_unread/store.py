"""The statements of old unread entries."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from sqlalchemy import ColumnElement, bindparam, delete, false, insert, select

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Read, Write, columns
from tidings.engine.full_text import without_index
from tidings.engine.statements import in_list
from tidings.old_unread.tables import read_after
from tidings.storage.schema import entries, feeds


class ReadAfter(Struct, frozen=True):
    """After how many days unread entries become read: of a feed, of a category, or of all feeds."""

    days: int
    """0: never."""
    category_id: int | None = None
    feed_id: int | None = None


_of_user = read_after.c.user_id == bindparam("user")
_select = select(*columns(read_after, ReadAfter)).where(_of_user).order_by(read_after.c.id)
_select_users = select(read_after.c.user_id).where(read_after.c.days > 0).distinct().order_by(read_after.c.user_id)
_select_feeds = select(feeds.c.id, feeds.c.category_id).where(feeds.c.user_id == bindparam("user"))
_is_general = (read_after.c.category_id.is_(None), read_after.c.feed_id.is_(None))
_select_old = (
    select(entries.c.id)
    .where(
        entries.c.user_id == bindparam("user"),
        entries.c.changed_at < bindparam("before"),
        without_index(entries.c.status) == int(EntryStatus.UNREAD),
        without_index(entries.c.starred) == false(),
        in_list(without_index(entries.c.feed_id), "feeds"),
    )
    .order_by(entries.c.changed_at, entries.c.id)
    .limit(bindparam("limit"))
)


def settings(db: Read, user_id: int) -> list[ReadAfter]:
    return db.all(ReadAfter, _select, user=user_id)


def users(db: Read) -> list[int]:
    """Return the users who have old entries marked as read."""
    return db.scalars(_select_users)


def feed_categories(db: Read, user_id: int) -> dict[int, int]:
    """Return the first category of each feed of a user."""
    return dict(db.tuples(_select_feeds, user=user_id))


def put(db: Write, user_id: int, setting: ReadAfter | None, *, category_id: int | None, feed_id: int | None) -> None:
    """Set or remove the number of days of a feed, of a category, or of all feeds."""
    place: list[ColumnElement[bool]] = [*_is_general]
    if feed_id is not None:
        place = [read_after.c.feed_id == feed_id]
    elif category_id is not None:
        place = [read_after.c.category_id == category_id]
    db.run(delete(read_after).where(_of_user, *place), user=user_id)
    if setting is not None:
        row = {"category_id": category_id, "feed_id": feed_id, "days": setting.days}
        db.run(insert(read_after).values(user_id=user_id, **row))


def old_entries(db: Read, user_id: int, feed_ids: Collection[int], *, before: Instant, limit: int) -> list[int]:
    """Return the ids of unread entries that have not changed since `before`, the oldest first, without starred ones."""
    return db.scalars(_select_old, user=user_id, feeds=sorted(feed_ids), before=before, limit=limit)
