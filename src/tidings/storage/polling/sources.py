"""Sources: the documents that are fetched, and when each is due. Claims: `storage.polling.claims`.

The next check of a source is the earliest of its enabled feeds. A transaction that changes when a feed is due, or
whether it is enabled, calls `touch_sources` as well. Every transaction locks feeds before sources.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, exists, false, func, or_, select, update

from tidings.base.times import Instant
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.shared_sources import fetch_key, host_with_port
from tidings.engine import statements
from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list, upsert
from tidings.storage.schema import feeds, sources

# The update locks an existing row, so that no cleanup deletes the source before its feed is written.
_get_or_add = upsert(sources, ["fetch_key"], update=["host"]).returning(sources.c.id)
_is_listed = in_list(sources.c.id, "ids")
_lock = select(sources.c.id).where(_is_listed).order_by(sources.c.id).with_for_update()
earliest_check = (
    select(func.min(feeds.c.next_check_at))
    .where(feeds.c.source_id == sources.c.id, feeds.c.disabled == false())
    .scalar_subquery()
)
_set_next_check = update(sources).where(_is_listed).values(next_check_at=earliest_check)
_select_by_feeds = select(feeds.c.source_id).where(in_list(feeds.c.id, "ids")).distinct()
# All transactions that lock many feeds do it in the order of ids, or they would wait for each other.
lock_feeds = select(feeds.c.id).where(in_list(feeds.c.id, "ids")).order_by(feeds.c.id).with_for_update()
_delete_unused = delete(sources).where(
    _is_listed, sources.c.next_check_at.is_(None), ~exists().where(feeds.c.source_id == sources.c.id)
)


def ensure_sources(db: Write, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the ids of the sources of feeds, adding missing sources, in the order of `rows`.

    rows: columns of feeds; missing options have their defaults.
    """
    wanted = {fetch_key(row): host_with_port(row["feed_url"]) for row in rows}
    # In the order of keys, or two imports of the same feeds would wait for each other.
    ids = {key: int(db.scalar(_get_or_add, fetch_key=key, host=wanted[key])) for key in sorted(wanted)}
    return [ids[fetch_key(row)] for row in rows]


def touch_sources(db: Write, source_ids: Iterable[int]) -> None:
    """Set the next check of sources to the earliest of their enabled feeds."""
    ids = sorted(set(source_ids))
    if ids:
        lock_sources(db, ids)
        db.run(_set_next_check, ids=ids)


def lock_sources(db: Write, ids: list[int]) -> None:
    """Lock sources in the order of ids; later statements see what others committed before."""
    statements.lock_rows(db, _lock, ids=ids)


def of_feeds(db: Read, feed_ids: Iterable[int]) -> list[int]:
    """Return the ids of the sources of feeds."""
    return db.scalars(_select_by_feeds, ids=list(feed_ids))


def remove_unused_sources(db: Write, source_ids: Iterable[int]) -> None:
    """Delete the sources that have no feeds."""
    db.run(_delete_unused, ids=sorted(set(source_ids)))


def revert_failure(db: Write, feed: Feed, *, written: Instant, next_check_at: Instant) -> None:
    """Undo a failed check that was caused by our own network.

    feed: as it was before the check. written: the next check that was recorded with the failure.
    """
    names = ("checked_at", "failed_checks", "parsing_error_count", "parsing_error_message")
    values = {name: getattr(feed, name) for name in names} | {"next_check_at": next_check_at}
    # A later change of the feed must not be overwritten.
    is_unchanged = (feeds.c.id == feed.id, feeds.c.user_id == feed.user_id, feeds.c.next_check_at == written)
    if db.run(update(feeds).where(*is_unchanged, feeds.c.failed_checks == feed.failed_checks + 1).values(**values)):
        touch_sources(db, of_feeds(db, [feed.id]))


def postpone_host(db: Write, host: str, until: Instant, *, user_ids: Collection[int], users_until: Instant) -> None:
    """Make no feed of a host due before `until`, and none of some users before `users_until`."""
    theirs = db.scalars(_select_due_before_of_users, host=host, until=users_until, user_ids=sorted(user_ids))
    others = set(db.scalars(_select_due_before, host=host, until=until)) - set(theirs)
    set_next_checks(db, dict.fromkeys(theirs, users_until) | dict.fromkeys(others, until))


def make_due(
    db: Write,
    user_id: int,
    *,
    now: Instant,
    checked_before: Instant,
    category_id: int | None = None,
    feed_ids: Sequence[int] | None = None,
) -> int:
    """Make enabled feeds of the user due now, unless they were checked after `checked_before`. Return how many.

    category_id, feed_ids: only feeds of this category, or only these.
    """
    conditions = [
        feeds.c.user_id == user_id,
        feeds.c.disabled == false(),
        # A check in the future: a clock was wrong, and nothing is known of when it was.
        or_(feeds.c.checked_at <= checked_before, feeds.c.checked_at > now),
        feeds.c.next_check_at > now,
    ]
    if category_id is not None:
        conditions.append(feeds.c.category_id == category_id)
    if feed_ids is not None:
        conditions.append(feeds.c.id.in_(feed_ids))
    ids = db.scalars(select(feeds.c.id).where(*conditions))
    set_next_check(db, ids, now)
    return len(ids)


def set_next_check(db: Write, feed_ids: Iterable[int], moment: Instant) -> None:
    """Set when these feeds are checked next, and their sources with them."""
    set_next_checks(db, dict.fromkeys(feed_ids, moment))


def set_next_checks(db: Write, moments: Mapping[int, Instant]) -> None:
    """Set when feeds are checked next, by id, and their sources with them."""
    if not moments:
        return
    db.scalars(lock_feeds, ids=sorted(moments))
    for moment in set(moments.values()):
        db.run(_set_next_check_of_feeds, ids=sorted(id_ for id_ in moments if moments[id_] == moment), moment=moment)
    touch_sources(db, of_feeds(db, moments))


_select_due_before = select(feeds.c.id).where(
    feeds.c.source_id.in_(
        select(sources.c.id).where(sources.c.host == bindparam("host"), sources.c.next_check_at < bindparam("until"))
    ),
    feeds.c.disabled == false(),
    feeds.c.next_check_at < bindparam("until"),
)
_select_due_before_of_users = _select_due_before.where(in_list(feeds.c.user_id, "user_ids"))
_set_next_check_of_feeds = update(feeds).where(in_list(feeds.c.id, "ids")).values(next_check_at=bindparam("moment"))
