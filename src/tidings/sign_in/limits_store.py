"""Limits of accounts, and how much accounts have."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from sqlalchemy import and_, bindparam, func, or_, select, update

from tidings.base.times import Instant
from tidings.domain.feeds.feeds import SAVED_PAGES_URL
from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list, upsert
from tidings.sign_in.limits_model import MEGABYTE, Limits, Usage
from tidings.sign_in.tables import account_limits
from tidings.storage.entries.contents import has_body, has_shared
from tidings.storage.schema import entries, entry_contents, feed_counters, feeds, shared_contents, users

_table = account_limits.c
_names = ("max_feeds", "max_entries", "max_megabytes")
_select_limits = select(_table.user_id, *(_table[name] for name in _names), _table.size_bytes).where(
    in_list(_table.user_id, "user_ids")
)
_set_limits = upsert(account_limits, ["user_id"], update=_names).values(
    user_id=bindparam("user"), **{name: bindparam(name) for name in _names}
)
_set_size = upsert(account_limits, ["user_id"], update=("size_bytes", "measured_at")).values(
    user_id=bindparam("user"), size_bytes=bindparam("size"), measured_at=bindparam("moment")
)
_add_size = (
    update(account_limits)
    .where(_table.user_id == bindparam("user"), _table.size_bytes.is_not(None))
    .values(size_bytes=_table.size_bytes + bindparam("more"))
)
# Saving a page is not subscribing: the feed of saved pages is not counted.
_count_feeds = (
    select(func.count())
    .select_from(feeds)
    .where(feeds.c.user_id == bindparam("user"), feeds.c.feed_url != SAVED_PAGES_URL)
)
_count_entries = select(func.coalesce(func.sum(feed_counters.c.unread + feed_counters.c.read), 0)).where(
    feed_counters.c.user_id == bindparam("user")
)
# A shared content counts for each user who has it: what others subscribe to changes nobody's size.
_size = func.coalesce(func.length(shared_contents.c.content), func.length(entry_contents.c.content))
_sum_sizes = (
    select(func.coalesce(func.sum(_size), 0))
    .select_from(entries.join(entry_contents, has_body).outerjoin(shared_contents, has_shared))
    .where(entries.c.user_id == bindparam("user"))
)

_allowed = func.coalesce(_table.max_megabytes, bindparam("default_size"))
_select_due = (
    select(users.c.id)
    .select_from(users.outerjoin(account_limits, _table.user_id == users.c.id))
    .where(
        _allowed > 0,
        or_(
            _table.measured_at.is_(None),
            _table.measured_at < bindparam("before"),
            and_(_table.size_bytes >= _allowed * MEGABYTE, _table.measured_at < bindparam("full_before")),
        ),
    )
    .order_by(users.c.id)
    .limit(1)
)


class StoredLimits(Struct, frozen=True):
    """The limits of one account, and the size of its articles when it was last measured."""

    limits: Limits = Limits()
    size_bytes: int | None = None


def limits_of(db: Read, user_ids: Collection[int]) -> Mapping[int, StoredLimits]:
    """Return the limits of accounts that have their own, by user id."""
    rows = db.rows(_select_limits, user_ids=sorted(user_ids))
    return {row["user_id"]: StoredLimits(Limits(*(row[name] for name in _names)), row["size_bytes"]) for row in rows}


def set_limits(db: Write, user_id: int, limits: Limits) -> None:
    db.run(_set_limits, user=user_id, **{name: getattr(limits, name) for name in _names})


def usage_of(db: Read, user_id: int, size_bytes: int | None) -> Usage:
    """Return how much an account has. The number of its feeds decides how long that takes."""
    return Usage(int(db.scalar(_count_feeds, user=user_id)), int(db.scalar(_count_entries, user=user_id)), size_bytes)


def add_size(db: Write, user_id: int, more: int) -> None:
    """Add to the size that was measured."""
    db.run(_add_size, user=user_id, more=more)


def set_size(db: Write, user_id: int, size_bytes: int, now: Instant) -> None:
    db.run(_set_size, user=user_id, size=size_bytes, moment=now)


def measured_size(db: Read, user_id: int) -> int:
    """Return what the articles of a user take. Reads the whole archive of the user."""
    return int(db.scalar(_sum_sizes, user=user_id))


def due_for_measuring(db: Read, *, default_megabytes: int, before: Instant, full_before: Instant) -> int | None:
    """Return an account whose size is limited, and was last measured before a moment; None without any.

    full_before: for accounts that have reached their limit.
    """
    user_id: int | None = db.scalar(_select_due, default_size=default_megabytes, before=before, full_before=full_before)
    return user_id
