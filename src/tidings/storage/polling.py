"""Which sources are due, who polls them, and what came of it.

A claim is a lease: whoever dies with one loses it when it ends, and nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from sqlalchemy import Update, bindparam, exists, false, func, or_, select, text, update

from tidings.domain.feeds import Feed
from tidings.domain.sources import Claim
from tidings.domain.times import Instant
from tidings.storage import hosts, sources, websub
from tidings.storage.database import Read, Write, columns
from tidings.storage.lists import among
from tidings.storage.schema import feeds
from tidings.storage.schema import hosts as host_table
from tidings.storage.schema import sources as source_table

# So often a claim looks past hosts that are busy before it takes fewer than it could.
MOST_LOOKS = 4
# Any number, the same everywhere: two claims at once would each count the other's connections as none.
_LOCK_ID = 7_430_212

_is_free = or_(source_table.c.claimed_until.is_(None), source_table.c.claimed_until <= bindparam("now"))
_is_closed = exists().where(host_table.c.host == source_table.c.host, host_table.c.closed_until > bindparam("now"))
_is_due = (source_table.c.next_check_at.is_not(None), source_table.c.next_check_at <= bindparam("now"))
_due = (
    select(source_table.c.id, source_table.c.host)
    .where(*_is_due, _is_free, ~_is_closed, source_table.c.host.not_in(bindparam("busy", expanding=True)))
    .order_by(source_table.c.next_check_at, source_table.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True, of=source_table)
)
_any_due = select(source_table.c.id).where(*_is_due, _is_free, ~_is_closed).limit(1)
_busy = (
    select(source_table.c.host, func.count())
    .where(
        text("claimed_by <> ''"),
        among(source_table.c.host, "hosts"),
        source_table.c.claimed_until > bindparam("now"),
    )
    .group_by(source_table.c.host)
)
_some = among(source_table.c.id, "ids")
_claim = update(source_table).where(_some).values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
_members = (
    select(feeds.c.source_id, *columns(feeds, Feed))
    .where(among(feeds.c.source_id, "ids"), feeds.c.disabled == false())
    .order_by(feeds.c.id)
)
_is_held = source_table.c.claimed_by == bindparam("worker")
_held = select(source_table.c.id).where(_is_held, text("claimed_by <> ''")).order_by(source_table.c.id)
# In the order in which others let go of sources: the two would otherwise wait for each other.
_hold = _held.with_for_update()
# What is just let go of needs no renewal: nobody ever waits here.
_hold_free = _held.where(_some).with_for_update(skip_locked=True)
_renew = update(source_table).where(_some).values(claimed_until=bindparam("until"))
_release = update(source_table).where(_some).values(claimed_until=None, claimed_by="")
_current = (
    select(feeds.c.id, feeds.c.category_id, feeds.c.match_entries_by_url, source_table.c.id, source_table.c.claimed_by)
    .select_from(feeds.join(source_table, source_table.c.id == feeds.c.source_id))
    .where(among(feeds.c.user_id, "users"), among(feeds.c.id, "feeds"))
)
_one_claim_at_a_time = select(func.pg_advisory_xact_lock(_LOCK_ID))


class Current(Struct, frozen=True):
    """A feed as it is in this moment, as far as storing asks: with what it is fetched from, and who holds that."""

    feed_id: int
    category_id: int
    match_entries_by_url: bool
    source_id: int
    claimed_by: str


class Result(Struct, frozen=True):
    """What a check came to for one feed. values: of its columns."""

    feed: Feed
    values: Mapping[str, Any]


def current(db: Read, held: Collection[tuple[int, int]]) -> dict[int, Current]:
    """By feed id: they may have been moved or changed since they were looked at. held: users with feeds of theirs."""
    users, ids = (sorted({pair[place] for pair in held}) for place in (0, 1))
    return {one.feed_id: one for one in db.all(Current, _current, users=users, feeds=ids)}


def any_due(db: Read, now: Instant) -> bool:
    """Whether a claim would find something: asking takes no lock."""
    return db.scalar(_any_due, now=now) is not None


def claim_due(
    db: Write, worker: str, *, now: Instant, until: Instant, limit: int, per_host: int, gap: int = 0
) -> list[Claim]:
    """The longest overdue sources that nobody holds, now held by `worker` until `until`.

    per_host: how many of one host may be held at the same time, by whomever. gap: microseconds between two fetches
    from one host; with one, a claim takes a single source of each.
    """
    if db.connection.dialect.name == "postgresql":
        db.scalar(_one_claim_at_a_time)
    chosen = _choose(db, now=now, limit=limit, per_host=1 if gap else per_host, held_at_most=per_host)
    if not chosen:
        return []
    ids = sorted(chosen)
    db.run(_claim, ids=ids, until=until, worker=worker)
    if gap:
        hosts.close(db, dict.fromkeys(chosen.values(), Instant(now + gap)), asked=False)
    shown: defaultdict[int, list[Feed]] = defaultdict(list)
    for source_id, *values in db.tuples(_members, ids=ids):
        shown[source_id].append(Feed(*values))
    if abandoned := chosen.keys() - shown.keys():
        sources.release(db, abandoned, worker)
        sources.remove_unused(db, abandoned)
    hubs = websub.known(db, ids, now)
    return [
        Claim(id_, shown[id_], is_pushed=hubs.get(id_, False), has_hub=id_ in hubs) for id_ in chosen if id_ in shown
    ]


def _choose(db: Write, *, now: Instant, limit: int, per_host: int, held_at_most: int) -> dict[int, str]:
    """The host by source id, in the order in which they are due."""
    chosen: dict[int, str] = {}
    taken: Counter[str] = Counter()
    full: set[str] = set()
    for _ in range(MOST_LOOKS):
        found = [
            (id_, host)
            for id_, host in db.tuples(_due, now=now, busy=sorted(full), limit=limit - len(chosen) + len(taken))
            if id_ not in chosen
        ]
        asked = {host for _, host in found} - taken.keys()
        held = dict(db.tuples(_busy, hosts=sorted(asked), now=now)) if asked else {}
        room = {host: held_at_most - held.get(host, 0) for host in asked}
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


def renew(db: Write, worker: str, source_ids: Sequence[int], until: Instant) -> set[int]:
    """Those that the worker still holds; without such as somebody writes to in this moment."""
    held = db.scalars(_hold_free, ids=list(source_ids), worker=worker)
    if held:
        db.run(_renew, ids=held, until=until)
    return set(held)


def release_all(db: Write, worker: str) -> int:
    """How many the worker held."""
    held = db.scalars(_hold, worker=worker)
    return db.run(_release, ids=held) if held else 0


def record(db: Write, results: Iterable[Result]) -> None:
    """Write what checks came to on their feeds. When their sources are due next is told by `sources`."""
    alike: defaultdict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for result in sorted(results, key=lambda one: one.feed.id):
        values = {f"set_{name}": value for name, value in sorted(result.values.items())}
        row = values | {"feed": result.feed.id, "user": result.feed.user_id}
        alike[tuple(values)].append(row)
    if len(alike) > 1:
        # In one order, whatever each of them gets: see `_set_next`.
        db.scalars(_lock, ids=sorted(row["feed"] for rows in alike.values() for row in rows))
    for names, rows in alike.items():
        db.run_many(_record(names), rows)


@lru_cache(maxsize=64)
def _record(names: tuple[str, ...]) -> Update:
    """names: of parameters, `set_` before that of their column. There are some dozen of such combinations."""
    changed: dict[str, Any] = {name.removeprefix("set_"): bindparam(name) for name in names}
    return update(feeds).where(feeds.c.id == bindparam("feed"), feeds.c.user_id == bindparam("user")).values(**changed)


def take_back(db: Write, feed: Feed, *, written: Instant, next_check_at: Instant) -> None:
    """A failure that was none. feed: as it was before. written: the next check that came with the failure."""
    names = ("checked_at", "failed_checks", "parsing_error_count", "parsing_error_message")
    values = {name: getattr(feed, name) for name in names} | {"next_check_at": next_check_at}
    # Whatever was done to the feed since is newer than what we know of it.
    still = (feeds.c.id == feed.id, feeds.c.user_id == feed.user_id, feeds.c.next_check_at == written)
    if db.run(update(feeds).where(*still, feeds.c.failed_checks == feed.failed_checks + 1).values(**values)):
        sources.touch(db, sources.of_feeds(db, [feed.id]))


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
        # In one order for all that change many feeds: they would otherwise wait for each other.
        db.scalars(_lock, ids=sorted(feed_ids))
        db.run(_set_due, ids=sorted(feed_ids), moment=moment)
        sources.touch(db, sources.of_feeds(db, feed_ids))


_due_before = select(feeds.c.id).where(
    feeds.c.source_id.in_(
        select(source_table.c.id).where(
            source_table.c.host == bindparam("host"), source_table.c.next_check_at < bindparam("until")
        )
    ),
    feeds.c.disabled == false(),
    feeds.c.next_check_at < bindparam("until"),
)
_lock = select(feeds.c.id).where(among(feeds.c.id, "ids")).order_by(feeds.c.id).with_for_update()
_set_due = update(feeds).where(among(feeds.c.id, "ids")).values(next_check_at=bindparam("moment"))
