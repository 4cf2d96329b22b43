"""The statements of snoozed entries, in addition to those of the core (`storage.entries.snoozed`)."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import and_, bindparam, func, select

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Read
from tidings.storage.ownership import of_same_user
from tidings.storage.schema import entries, feeds, snoozed_entries


class Snoozed(Struct, frozen=True):
    """A snoozed entry."""

    entry_id: int
    until: Instant


class SnoozedRow(Snoozed, frozen=True):
    """A snoozed entry with what a list shows of it."""

    title: str
    feed_id: int
    feed_title: str


_is_owned = snoozed_entries.c.user_id == bindparam("user")
_select_page = (
    select(
        snoozed_entries.c.entry_id,
        snoozed_entries.c.until,
        entries.c.title,
        entries.c.feed_id,
        feeds.c.title.label("feed_title"),
    )
    .select_from(
        snoozed_entries.join(
            entries,
            and_(entries.c.id == snoozed_entries.c.entry_id, entries.c.user_id == snoozed_entries.c.user_id),
        ).join(feeds, and_(feeds.c.id == entries.c.feed_id, of_same_user(feeds, entries)))
    )
    .where(_is_owned, entries.c.status == int(EntryStatus.READ))
    .order_by(snoozed_entries.c.until, snoozed_entries.c.entry_id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_select_all = (
    select(snoozed_entries.c.entry_id, snoozed_entries.c.until)
    .where(_is_owned)
    .order_by(snoozed_entries.c.until, snoozed_entries.c.entry_id)
)
_count = select(func.count()).select_from(snoozed_entries).where(_is_owned)
_is_due = snoozed_entries.c.until <= bindparam("now")
_select_due_users = select(snoozed_entries.c.user_id).where(_is_due).order_by(snoozed_entries.c.until).limit(500)
_select_due = (
    select(snoozed_entries.c.entry_id)
    .where(_is_owned, _is_due)
    .order_by(snoozed_entries.c.until, snoozed_entries.c.entry_id)
    .limit(bindparam("limit"))
)


def list_all(db: Read, user_id: int) -> list[Snoozed]:
    """Return the snoozed entries of a user, in the order in which they come back."""
    return db.all(Snoozed, _select_all, user=user_id)


def page(db: Read, user_id: int, *, offset: int, limit: int) -> list[SnoozedRow]:
    """Return some of the snoozed entries of a user, in the order in which they come back."""
    return db.all(SnoozedRow, _select_page, user=user_id, offset=offset, limit=limit)


def count(db: Read, user_id: int) -> int:
    return int(db.scalar(_count, user=user_id))


def due_users(db: Read, now: Instant) -> list[int]:
    """Return some of the users who have entries that come back now."""
    return sorted(set(db.scalars(_select_due_users, now=now)))


def due(db: Read, user_id: int, now: Instant, limit: int) -> list[int]:
    """Return the ids of entries of a user that come back now, those that have waited longest first."""
    return db.scalars(_select_due, user=user_id, now=now, limit=limit)
