"""Sources: which documents are fetched, and when next. Claims: `storage.polling.claims`.

A source's next check is the earliest of its enabled feeds. Whoever changes when a feed is due, or whether it is
enabled, says so here in the same transaction; feeds come before sources in every transaction that locks both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, exists, false, func, select, update

from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.sources import fetch_key, host_of
from tidings.domain.times import Instant
from tidings.storage.engine import locks
from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.id_list import in_list
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import feeds, sources

# The row that is there is locked by it: nobody tidies the source away before its feed is written.
_ensure = upsert(sources, ["fetch_key"], update=["host"]).returning(sources.c.id)
_some = in_list(sources.c.id, "ids")
_lock = select(sources.c.id).where(_some).order_by(sources.c.id).with_for_update()
earliest_check = (
    select(func.min(feeds.c.next_check_at))
    .where(feeds.c.source_id == sources.c.id, feeds.c.disabled == false())
    .scalar_subquery()
)
_touch = update(sources).where(_some).values(next_check_at=earliest_check)
_of_feeds = select(feeds.c.source_id).where(in_list(feeds.c.id, "ids")).distinct()
# In one order for all that change many feeds: they would otherwise wait for each other.
lock_feeds = select(feeds.c.id).where(in_list(feeds.c.id, "ids")).order_by(feeds.c.id).with_for_update()
_remove_unused = delete(sources).where(
    _some, sources.c.next_check_at.is_(None), ~exists().where(feeds.c.source_id == sources.c.id)
)


def ensure(db: Write, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """The ids of the sources of feeds, in their order. rows: columns of feeds, as far as they are given."""
    wanted = {fetch_key(row): host_of(row["feed_url"]) for row in rows}
    # In one order for all: two imports of the same feeds would otherwise wait for each other.
    ids = {key: int(db.scalar(_ensure, fetch_key=key, host=wanted[key])) for key in sorted(wanted)}
    return [ids[fetch_key(row)] for row in rows]


def touch(db: Write, source_ids: Iterable[int]) -> None:
    """Their next check is what their feeds say now."""
    ids = sorted(set(source_ids))
    if ids:
        lock(db, ids)
        db.run(_touch, ids=ids)


def lock(db: Write, ids: list[int]) -> None:
    """First the lock, then the look: what others changed and committed before us is then counted."""
    locks.hold_rows(db, _lock, ids=ids)


def of_feeds(db: Read, feed_ids: Iterable[int]) -> list[int]:
    return db.scalars(_of_feeds, ids=list(feed_ids))


def remove_unused(db: Write, source_ids: Iterable[int]) -> None:
    """Those among them that no feed shows any more."""
    db.run(_remove_unused, ids=sorted(set(source_ids)))


def take_back(db: Write, feed: Feed, *, written: Instant, next_check_at: Instant) -> None:
    """A failure that was none. feed: as it was before. written: the next check that came with the failure."""
    names = ("checked_at", "failed_checks", "parsing_error_count", "parsing_error_message")
    values = {name: getattr(feed, name) for name in names} | {"next_check_at": next_check_at}
    # Whatever was done to the feed since is newer than what we know of it.
    still = (feeds.c.id == feed.id, feeds.c.user_id == feed.user_id, feeds.c.next_check_at == written)
    if db.run(update(feeds).where(*still, feeds.c.failed_checks == feed.failed_checks + 1).values(**values)):
        touch(db, of_feeds(db, [feed.id]))


def put_off(db: Write, host: str, until: Instant) -> None:
    """Feeds of a host that asked to be left alone are not due before."""
    _set_next(db, db.scalars(_due_before, host=host, until=until), until)


def make_due(
    db: Write,
    user_id: int,
    *,
    now: Instant,
    checked_before: Instant,
    category_id: int | None = None,
    feed_ids: Sequence[int] | None = None,
) -> int:
    """Enabled feeds of the user (of one category, or those named) that were not checked since; how many."""
    which = [
        feeds.c.user_id == user_id,
        feeds.c.disabled == false(),
        feeds.c.checked_at <= checked_before,
        feeds.c.next_check_at > now,
    ]
    if category_id is not None:
        which.append(feeds.c.category_id == category_id)
    if feed_ids is not None:
        which.append(feeds.c.id.in_(feed_ids))
    ids = db.scalars(select(feeds.c.id).where(*which))
    _set_next(db, ids, now)
    return len(ids)


def _set_next(db: Write, feed_ids: Sequence[int], moment: Instant) -> None:
    if feed_ids:
        db.scalars(lock_feeds, ids=sorted(feed_ids))
        db.run(_set_due, ids=sorted(feed_ids), moment=moment)
        touch(db, of_feeds(db, feed_ids))


_due_before = select(feeds.c.id).where(
    feeds.c.source_id.in_(
        select(sources.c.id).where(sources.c.host == bindparam("host"), sources.c.next_check_at < bindparam("until"))
    ),
    feeds.c.disabled == false(),
    feeds.c.next_check_at < bindparam("until"),
)
_set_due = update(feeds).where(in_list(feeds.c.id, "ids")).values(next_check_at=bindparam("moment"))
