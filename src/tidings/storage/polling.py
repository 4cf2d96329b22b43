"""Which feeds are due, who polls them, and what came of it.

A claim is a lease: whoever dies with one loses it when it ends, and nothing else.
"""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import ColumnElement, bindparam, or_, select, text, update

from tidings.domain.feeds import Feed
from tidings.domain.times import Instant
from tidings.storage.database import Write, columns
from tidings.storage.schema import feeds

# `NOT disabled` stands as in the partial index of due feeds: neither engine uses it for anything else.
_enabled = cast("ColumnElement[bool]", text("NOT feeds.disabled"))
_free = or_(feeds.c.claimed_until.is_(None), feeds.c.claimed_until <= bindparam("now"))
_due = (
    select(feeds.c.id)
    .where(_enabled, feeds.c.next_check_at <= bindparam("now"), _free)
    .order_by(feeds.c.next_check_at, feeds.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_claim = (
    update(feeds)
    .where(feeds.c.id.in_(_due.scalar_subquery()))
    .values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
    .returning(*columns(feeds, Feed))
)
_held = (feeds.c.id == bindparam("feed"), feeds.c.claimed_by == bindparam("worker"))
_renew = update(feeds).where(*_held).values(claimed_until=bindparam("until"))
_release_all = update(feeds).where(feeds.c.claimed_by == bindparam("worker")).values(claimed_until=None, claimed_by="")


def claim_due(db: Write, worker: str, *, now: Instant, until: Instant, limit: int) -> list[Feed]:
    """The longest overdue feeds that nobody holds, now held by `worker` until `until`."""
    claimed = db.all(Feed, _claim, worker=worker, now=now, until=until, limit=limit)
    return sorted(claimed, key=lambda feed: (feed.next_check_at, feed.id))


def renew(db: Write, worker: str, feed_id: int, until: Instant) -> bool:
    """False when somebody else holds the feed by now."""
    return db.run(_renew, feed=feed_id, worker=worker, until=until) > 0


def release_all(db: Write, worker: str) -> int:
    return db.run(_release_all, worker=worker)


def finish(db: Write, user_id: int, feed_id: int, worker: str | None, **values: Any) -> bool:
    """Write what a check came to, and let go of the feed.

    worker: who claimed it, or None for a check that a user asked for and that needs no claim.
    False when the feed is gone or, meanwhile, somebody else's: then nothing may be written about it.
    """
    owned: list[ColumnElement[bool]] = [feeds.c.id == feed_id, feeds.c.user_id == user_id]
    if worker is not None:
        owned.append(feeds.c.claimed_by == worker)
        values |= {"claimed_until": None, "claimed_by": ""}
    return db.run(update(feeds).where(*owned).values(**values)) > 0


def make_due(db: Write, user_id: int, *, now: Instant, checked_before: Instant, category_id: int | None = None) -> int:
    """Enabled feeds of the user (of one category) that were not checked since; how many."""
    which = [
        feeds.c.user_id == user_id,
        _enabled,
        feeds.c.checked_at <= checked_before,
        feeds.c.next_check_at > now,
    ]
    if category_id is not None:
        which.append(feeds.c.category_id == category_id)
    return db.run(update(feeds).where(*which).values(next_check_at=now))
