"""Sources: the documents that are fetched, when each is due, and which worker has claimed it.

The next check of a source is the earliest of its enabled feeds. A transaction that changes when a feed is due, or
whether it is enabled, calls `touch_sources` as well. Every transaction locks feeds before sources.

A claim is a lease: when a worker dies, its claims expire, and other workers check the sources.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Select, bindparam, delete, exists, false, func, or_, select, text, true, update

from tidings.base.times import MINUTE, SECOND, Instant
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.shared_sources import SourceLease, counted_host, fetch_key
from tidings.engine import nodes, statements
from tidings.engine.database import Read, Write, columns, is_distributed
from tidings.engine.statements import in_list, upsert
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.polling import host_limits
from tidings.storage.schema import feeds, hosts, sources

T = TypeVar("T")

# The update locks an existing row, so that no cleanup deletes the source before its feed is written.
_get_or_add = upsert(sources, ["fetch_key"], update=["host"]).returning(
    sources.c.fetch_key, sources.c.id, sources.c.is_shared
)
_select_first_feeds = (
    select(feeds.c.id)
    .where(feeds.c.source_id == bindparam("source"))
    .order_by(feeds.c.disabled, feeds.c.next_check_at)
    .limit(bindparam("limit"))
)
_select_shown = select(feeds.c.source_id, feeds.c.id).where(in_list(feeds.c.source_id, "ids"))
_is_listed = in_list(sources.c.id, "ids")
_begin_sharing = update(sources).where(_is_listed).values(is_shared=true(), unshared_after=0)
_lock = select(sources.c.id).where(_is_listed).order_by(sources.c.id).with_for_update()
# Read from the index: a source may have a million feeds.
_earliest = select(func.min(feeds.c.next_check_at)).where(feeds.c.disabled == false())
_earliest_check = _earliest.where(feeds.c.source_id == sources.c.id).scalar_subquery()
_set_next_check = update(sources).where(_is_listed).values(next_check_at=_earliest_check)
# Where feeds are on other servers than sources, one statement cannot read and write both. All servers are asked.
_select_earliest = (
    select(feeds.c.source_id, func.min(feeds.c.next_check_at))
    .where(feeds.c.disabled == false(), in_list(feeds.c.source_id, "ids"))
    .group_by(feeds.c.source_id)
)
_set_known_check = (
    update(sources).where(sources.c.id == bindparam("source")).values(next_check_at=bindparam("earliest"))
)
# Users of a server that does not answer get what they missed this long, in microseconds, after it is back.
_CATCH_UP = 30 * MINUTE
_set_partly_known_check = _set_known_check.values(
    next_check_at=func.least(
        bindparam("earliest"), text(f"CAST(extract(epoch FROM now()) * {SECOND} AS bigint) + {_CATCH_UP}")
    )
)
# Of one shard. A source may have a million feeds, but each user only a few.
_OWNERS = "SELECT string_agg(DISTINCT CAST(user_id AS text), ',') FROM %s WHERE source_id = ANY ('{ids}')"
_is_of_listed = in_list(feeds.c.user_id, "users")
_select_by_feeds = select(feeds.c.source_id).where(in_list(feeds.c.id, "ids")).distinct()
_select_by_feeds_of_users = _select_by_feeds.where(_is_of_listed)
# All transactions that lock many feeds do it in the order of ids, or they would wait for each other.
_lock_feeds = select(feeds.c.id).where(in_list(feeds.c.id, "ids")).order_by(feeds.c.id).with_for_update()
_lock_undue = _lock.where(sources.c.next_check_at.is_(None))
_delete = delete(sources).where(_is_listed)
_select_owners = select(feeds.c.user_id).where(in_list(feeds.c.id, "ids"))
_lock_owned = _lock_feeds.where(in_list(feeds.c.user_id, "users"))


def ensure_sources(db: Write, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the ids of the sources of feeds, adding missing sources, in the order of `rows`.

    rows: columns of feeds; missing options have their defaults, and new feeds have no `id`.
    """
    keys = [fetch_key(row) for row in rows]
    wanted = {key: counted_host(row) for key, row in zip(keys, rows, strict=True)}
    # In the order of keys, or two imports of the same feeds would wait for each other.
    found = db.upsert_many(_get_or_add, [{"fetch_key": key, "host": wanted[key]} for key in sorted(wanted)])
    ids = {key: int(id_) for key, id_, _ in found}
    # When the second feed comes, the contents that the first one has are shared.
    if alone := sorted(id_ for _, id_, is_shared in found if not is_shared):
        known, times = {row.get("id") for row in rows}, Counter(ids[key] for key in keys)
        shown, _ = _of_sources(db, db.tuples, _select_shown, alone)
        others = {source_id for source_id, feed_id in shown if feed_id not in known}
        if several := [id_ for id_ in alone if id_ in others or times[id_] > 1]:
            db.run(_begin_sharing, ids=several)
    return [ids[key] for key in keys]


def touch_sources(db: Write, source_ids: Iterable[int]) -> None:
    """Set the next check of sources to the earliest of their enabled feeds."""
    ids = sorted(set(source_ids))
    if ids:
        lock_sources(db, ids)
        _update_next_checks(db, ids)


def _update_next_checks(db: Write, ids: Collection[int]) -> None:
    if not is_distributed(db.connection):
        db.run(_set_next_check, ids=ids)
        return
    rows, is_complete = _of_sources(db, db.tuples, _select_earliest, ids)
    earliest: dict[int, Instant] = dict(rows)
    if is_complete:
        db.run_many(_set_known_check, [{"source": id_, "earliest": earliest.get(id_)} for id_ in ids])
    else:
        db.run_many(_set_partly_known_check, [{"source": id_, "earliest": at} for id_, at in earliest.items()])


def _of_sources(
    db: Write, read: Callable[..., Sequence[T]], statement: Select[Any], ids: Iterable[int]
) -> tuple[Sequence[T], bool]:
    """Return what a statement reads of the feeds that show these sources, and whether these are all of them.

    read: a method of `db`. While a server does not answer, the feeds of its users are missing.
    """
    wanted = sorted(ids)
    found = nodes.attempt(db, lambda: read(statement, ids=wanted))
    if found is not None:
        return found, True
    owners = nodes.of_answering(db, "feeds", _OWNERS.replace("ids", ",".join(map(str, wanted))))
    users = sorted({int(user) for some in owners for user in some.split(",")})
    # With an empty list the database would ask all servers again.
    return read(statement.where(_is_of_listed), ids=wanted, users=users) if users else [], False


def lock_sources(db: Write, ids: list[int]) -> None:
    """Lock sources in the order of ids; later statements see what others committed before."""
    statements.lock_rows(db, _lock, ids=ids)


def of_feeds(db: Read, feed_ids: Iterable[int], user_id: int | None = None) -> list[int]:
    """Return the ids of the sources of feeds. user_id: the owner of all of them, if they have the same."""
    if user_id is not None and is_distributed(db.connection):
        return db.scalars(_select_by_feeds_of_users, ids=list(feed_ids), users=[user_id])
    return db.scalars(_select_by_feeds, ids=list(feed_ids))


def remove_unused_sources(db: Write, source_ids: Iterable[int]) -> None:
    """Delete the sources that have no feeds. While a server does not answer, that is not known: all are kept."""
    undue = db.scalars(_lock_undue, ids=sorted(set(source_ids)))
    used = nodes.attempt(db, lambda: {id_ for id_ in undue if db.scalars(_select_first_feeds, source=id_, limit=1)})
    if used is not None and (unused := [id_ for id_ in undue if id_ not in used]):
        db.run(_delete, ids=unused)


def lock_feeds(db: Write, feed_ids: Iterable[int], user_id: int | None = None) -> None:
    """Lock feeds; later statements see what others committed before.

    user_id: as in `of_feeds`. Without it they may be of any users.
    """
    ids = sorted(set(feed_ids))
    if is_distributed(db.connection):
        owners = db.scalars(_select_owners, ids=ids) if user_id is None else [user_id]
        for some in statements.lockable_together(db, owners):
            db.scalars(_lock_owned, users=some, ids=ids)
    else:
        statements.lock_rows(db, _lock_feeds, ids=ids)


def revert_failure(db: Write, feed: Feed, *, written: Instant, next_check_at: Instant) -> None:
    """Undo a failed check that was caused by our own network.

    feed: as it was before the check. written: the next check that was recorded with the failure.
    """
    names = ("checked_at", "failed_checks", "parsing_error_count", "parsing_error_message")
    values = {name: getattr(feed, name) for name in names} | {"next_check_at": next_check_at}
    # A later change of the feed must not be overwritten.
    is_unchanged = (feeds.c.id == feed.id, feeds.c.user_id == feed.user_id, feeds.c.next_check_at == written)
    if db.run(update(feeds).where(*is_unchanged, feeds.c.failed_checks == feed.failed_checks + 1).values(**values)):
        change_log.note(db, feed.user_id, Kind.FEED, [feed.id])
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
    feed_ids: Sequence[int] | None = None,
) -> int:
    """Make enabled feeds of the user due now, unless they were checked after `checked_before`. Return how many.

    feed_ids: only these.
    """
    conditions = [
        feeds.c.user_id == user_id,
        feeds.c.disabled == false(),
        # A check in the future: a clock was wrong, and nothing is known of when it was.
        or_(feeds.c.checked_at <= checked_before, feeds.c.checked_at > now),
        feeds.c.next_check_at > now,
    ]
    if feed_ids is not None:
        conditions.append(feeds.c.id.in_(feed_ids))
    ids = db.scalars(select(feeds.c.id).where(*conditions))
    set_next_checks(db, dict.fromkeys(ids, now), user_id)
    if ids:
        # The user has asked for it, and looks for the result.
        change_log.note(db, user_id)
    return len(ids)


def set_next_check(db: Write, feed_ids: Iterable[int], moment: Instant) -> None:
    """Set when these feeds are checked next, and their sources with them."""
    set_next_checks(db, dict.fromkeys(feed_ids, moment))


def set_next_checks(db: Write, moments: Mapping[int, Instant], user_id: int | None = None) -> None:
    """Set when feeds are checked next, by id, and their sources with them. user_id: as in `of_feeds`."""
    if not moments:
        return
    lock_feeds(db, moments, user_id)
    for moment in set(moments.values()):
        ids = sorted(id_ for id_ in moments if moments[id_] == moment)
        if user_id is not None and is_distributed(db.connection):
            db.run(_set_next_check_of_users, ids=ids, moment=moment, users=[user_id])
        else:
            db.run(_set_next_check_of_feeds, ids=ids, moment=moment)
    touch_sources(db, of_feeds(db, moments, user_id))


_select_due_before = select(feeds.c.id).where(
    feeds.c.source_id.in_(
        select(sources.c.id).where(sources.c.host == bindparam("host"), sources.c.next_check_at < bindparam("until"))
    ),
    feeds.c.disabled == false(),
    feeds.c.next_check_at < bindparam("until"),
)
_select_due_before_of_users = _select_due_before.where(in_list(feeds.c.user_id, "user_ids"))
_set_next_check_of_feeds = update(feeds).where(in_list(feeds.c.id, "ids")).values(next_check_at=bindparam("moment"))
_set_next_check_of_users = _set_next_check_of_feeds.where(_is_of_listed)


# Claims

# How often a claim searches again past hosts that are busy, before it returns fewer sources than the limit.
MAX_SEARCHES = 4
# Id of an advisory lock, chosen arbitrarily. Without it, two claims would not count each other's sources of a host.
_LOCK_ID = 7_430_212

_is_free = or_(sources.c.claimed_until.is_(None), sources.c.claimed_until <= bindparam("now"))
_is_closed = exists().where(hosts.c.host == sources.c.host, hosts.c.closed_until > bindparam("now"))
_is_due = (sources.c.next_check_at.is_not(None), sources.c.next_check_at <= bindparam("now"))
_select_due = (
    select(sources.c.id, sources.c.host)
    .where(*_is_due, _is_free, ~_is_closed, sources.c.host.not_in(bindparam("busy", expanding=True)))
    .order_by(sources.c.next_check_at, sources.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True, of=sources)
)
_any_due = select(sources.c.id).where(*_is_due, _is_free, ~_is_closed).limit(1)
_count_claimed_by_host = (
    select(sources.c.host, func.count().label("claimed"))
    .where(
        text("claimed_by <> ''"),
        in_list(sources.c.host, "hosts"),
        sources.c.claimed_until > bindparam("now"),
    )
    .group_by(sources.c.host)
)
_claim = update(sources).where(_is_listed).values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
_select_feeds = (
    select(feeds.c.source_id, *columns(feeds, Feed))
    .where(in_list(feeds.c.source_id, "ids"), feeds.c.disabled == false())
    .order_by(feeds.c.id)
)
_is_held = sources.c.claimed_by == bindparam("worker")
_select_held = select(sources.c.id).where(_is_held, text("claimed_by <> ''")).order_by(sources.c.id)
# In the order of ids, as every release locks them, or two releases would wait for each other.
_lock_held = _select_held.with_for_update()
# A source that is being released needs no renewal, so a renewal never waits.
_lock_renewable = _select_held.where(_is_listed).with_for_update(skip_locked=True)
_renew = update(sources).where(_is_listed).values(claimed_until=bindparam("until"))
_release_all = update(sources).where(_is_listed).values(claimed_until=None, claimed_by="")
_release = (
    update(sources).where(_is_listed, _is_held).values(next_check_at=_earliest_check, claimed_until=None, claimed_by="")
)
_release_held = (
    update(sources).where(_is_listed, _is_held).values(claimed_until=None, claimed_by="").returning(sources.c.id)
)
_select_still_held = select(sources.c.id).where(_is_listed, _is_held)


def any_due(db: Read, now: Instant) -> bool:
    """Return whether a claim would find a source. Takes no lock."""
    return db.scalar(_any_due, now=now) is not None


def claim_due(
    db: Write, worker: str, *, now: Instant, until: Instant, limit: int, per_host: int, gap: int = 0
) -> list[SourceLease]:
    """Claim the longest overdue free sources for `worker` until `until`, and return them with their enabled feeds.

    per_host: how many sources of one host all workers together may hold. gap: microseconds between two fetches from
    one host; with a gap, a claim takes a single source per host.
    """
    statements.advisory_lock(db, _LOCK_ID)
    chosen = _choose(db, now=now, limit=limit, per_host=1 if gap else per_host, max_held=per_host)
    if not chosen:
        return []
    ids = sorted(chosen)
    db.run(_claim, ids=ids, until=until, worker=worker)
    if gap:
        host_limits.close(db, dict.fromkeys(chosen.values(), Instant(now + gap)))
    feeds_by_source: defaultdict[int, list[Feed]] = defaultdict(list)
    found, is_complete = _of_sources(db, partial(db.joined, Feed), _select_feeds, ids)
    for feed, row in found:
        feeds_by_source[row["source_id"]].append(feed)
    # While a server does not answer, its users may have feeds of these sources: the claims expire.
    if is_complete and (unused := chosen.keys() - feeds_by_source.keys()):
        release(db, unused, worker)
        remove_unused_sources(db, unused)
    return [SourceLease(id_, feeds_by_source[id_], worker) for id_ in chosen if id_ in feeds_by_source]


def _choose(db: Write, *, now: Instant, limit: int, per_host: int, max_held: int) -> dict[int, str]:
    """Return the host by source id, the longest overdue source first."""
    chosen: dict[int, str] = {}
    taken: Counter[str] = Counter()
    full: set[str] = set()
    for _ in range(MAX_SEARCHES):
        found = [
            (row["id"], row["host"])
            for row in db.rows(_select_due, now=now, busy=sorted(full), limit=limit - len(chosen) + len(taken))
            if row["id"] not in chosen
        ]
        new_hosts = {host for _, host in found} - taken.keys()
        held = _claimed_by_host(db, new_hosts, now)
        room = {host: max_held - held.get(host, 0) for host in new_hosts}
        for id_, host in found:
            free = min(per_host, room.get(host, per_host)) - taken[host]
            if free > 0 and len(chosen) < limit:
                chosen[id_] = host
                taken[host] += 1
            else:
                full.add(host)
        if len(chosen) >= limit or not found or not full:
            break
    return chosen


def _claimed_by_host(db: Read, names: Collection[str], now: Instant) -> dict[str, int]:
    """Return how many sources of each host are claimed; a host without any is missing."""
    rows = db.rows(_count_claimed_by_host, hosts=sorted(names), now=now) if names else ()
    return {row["host"]: row["claimed"] for row in rows}


def renew(db: Write, worker: str, source_ids: Sequence[int], until: Instant) -> set[int]:
    """Renew the claims that the worker still holds. Return the renewed ids; rows that are locked are skipped."""
    renewable = db.scalars(_lock_renewable, ids=list(source_ids), worker=worker)
    if renewable:
        db.run(_renew, ids=renewable, until=until)
    return set(renewable)


def release_all(db: Write, worker: str) -> int:
    """Release all sources of a worker. Return how many."""
    claimed = db.scalars(_lock_held, worker=worker)
    return db.run(_release_all, ids=claimed) if claimed else 0


def release(db: Write, source_ids: Iterable[int], worker: str) -> None:
    """Release the sources if the worker holds them, and set their next check from their feeds."""
    ids = sorted(set(source_ids))
    if ids:
        lock_sources(db, ids)
        if is_distributed(db.connection):
            _update_next_checks(db, db.scalars(_release_held, ids=ids, worker=worker))
        else:
            db.run(_release, ids=ids, worker=worker)


def held(db: Read, source_ids: Iterable[int], worker: str) -> set[int]:
    """Return the ids of the sources that the worker still holds."""
    return set(db.scalars(_select_still_held, ids=sorted(set(source_ids)), worker=worker))
