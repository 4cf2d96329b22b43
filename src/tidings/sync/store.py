"""The statements of sync: ids of what there is, what follows from a change, and the cleanup of the log."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import bindparam, delete, or_, select

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list
from tidings.storage.schema import changes, duplicates, entries, feed_categories, feeds, list_versions

_is_owned = changes.c.user_id == bindparam("user")
_select_feeds = (
    select(feeds.c.id)
    .where(feeds.c.user_id == bindparam("user"), feeds.c.id > bindparam("after"))
    .order_by(feeds.c.id)
    .limit(bindparam("limit"))
)
_select_entries = (
    select(entries.c.id)
    .where(
        entries.c.user_id == bindparam("user"),
        entries.c.id > bindparam("after"),
        entries.c.status != int(EntryStatus.REMOVED),
    )
    .order_by(entries.c.user_id, entries.c.id)
    .limit(bindparam("limit"))
)
_select_feeds_of_categories = select(feeds.c.id).where(
    feeds.c.user_id == bindparam("user"),
    or_(
        in_list(feeds.c.category_id, "categories"),
        feeds.c.id.in_(
            select(feed_categories.c.feed_id).where(
                feed_categories.c.user_id == bindparam("user"), in_list(feed_categories.c.category_id, "categories")
            )
        ),
    ),
)
_select_repeating = select(duplicates.c.entry_id).where(
    duplicates.c.user_id == bindparam("user"), in_list(duplicates.c.original_id, "ids")
)
_of_user = changes.c.user_id == list_versions.c.user_id
_second_time = select(changes.c.made_at).where(_of_user).order_by(changes.c.number).limit(1).offset(1)
_first_number = select(changes.c.number).where(_of_user).order_by(changes.c.number).limit(1)
_select_with_old = (
    select(list_versions.c.user_id, list_versions.c.number)
    .where(
        or_(
            _second_time.scalar_subquery() < bindparam("before"),
            list_versions.c.number - _first_number.scalar_subquery() >= bindparam("kept"),
        )
    )
    .order_by(list_versions.c.user_id)
    .limit(bindparam("limit"))
)
_select_first = (
    select(changes.c.number, changes.c.made_at).where(_is_owned).order_by(changes.c.number).limit(bindparam("limit"))
)
_delete_before = delete(changes).where(_is_owned, changes.c.number < bindparam("first"))


def feed_ids(db: Read, user_id: int, after: int, limit: int) -> list[int]:
    """Return the next feeds of the user."""
    return db.scalars(_select_feeds, user=user_id, after=after, limit=limit)


def entry_ids(db: Read, user_id: int, after: int, limit: int) -> list[int]:
    """Return the next entries of the user, without removed ones."""
    return db.scalars(_select_entries, user=user_id, after=after, limit=limit)


def feeds_of_categories(db: Read, user_id: int, category_ids: Collection[int]) -> list[int]:
    """Return the feeds that show one of these categories."""
    return db.scalars(_select_feeds_of_categories, user=user_id, categories=sorted(category_ids))


def repeating(db: Read, user_id: int, entry_ids: Collection[int]) -> list[int]:
    """Return the entries that repeat one of these, and may show its status."""
    return db.scalars(_select_repeating, user=user_id, ids=sorted(entry_ids))


def remove_old(db: Write, before: Instant, kept: int, limit: int) -> int:
    """Delete rows of the log that clients no longer need. Returns how many.

    before: a client that has a row is in step until the next one is written. Its row stays if that was not before.
    kept: how many rows of a user stay, however new they are. limit: the largest number of rows to delete.
    """
    deleted = 0
    for user_id, last in db.tuples(_select_with_old, before=before, kept=kept, limit=limit):
        # In the order of the numbers, up to the first one that stays: others need not be read.
        first = None
        for number, made_at in db.tuples(_select_first, user=user_id, limit=limit - deleted + 1):
            if made_at >= before and last - number < kept - 1:
                break
            first = number
        if first is not None:
            deleted += db.run(_delete_before, user=user_id, first=first)
        if deleted >= limit:
            break
    return deleted
