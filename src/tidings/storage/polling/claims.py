"""Which sources are due, who polls them, and what came of it.

A claim is a lease: whoever dies with one loses it when it ends, and nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, exists, false, func, or_, select, text, update

from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.sources import SourceLease
from tidings.domain.times import Instant
from tidings.storage.engine import locks
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.engine.id_list import in_list
from tidings.storage.polling import host_limits, sources
from tidings.storage.schema import feeds
from tidings.storage.schema import hosts as host_table
from tidings.storage.schema import sources as source_table
from tidings.storage.websub import subscriptions

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
        in_list(source_table.c.host, "hosts"),
        source_table.c.claimed_until > bindparam("now"),
    )
    .group_by(source_table.c.host)
)
_some = in_list(source_table.c.id, "ids")
_claim = update(source_table).where(_some).values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
_members = (
    select(feeds.c.source_id, *columns(feeds, Feed))
    .where(in_list(feeds.c.source_id, "ids"), feeds.c.disabled == false())
    .order_by(feeds.c.id)
)
_is_held = source_table.c.claimed_by == bindparam("worker")
_held = select(source_table.c.id).where(_is_held, text("claimed_by <> ''")).order_by(source_table.c.id)
# In the order in which others let go of sources: the two would otherwise wait for each other.
_hold = _held.with_for_update()
# What is just let go of needs no renewal: nobody ever waits here.
_hold_free = _held.where(_some).with_for_update(skip_locked=True)
_renew = update(source_table).where(_some).values(claimed_until=bindparam("until"))
_release_all = update(source_table).where(_some).values(claimed_until=None, claimed_by="")
_release = (
    update(source_table)
    .where(_some, _is_held)
    .values(next_check_at=sources.earliest_check, claimed_until=None, claimed_by="")
)
_held_of = select(source_table.c.id).where(_some, _is_held)


def any_due(db: Read, now: Instant) -> bool:
    """Whether a claim would find something: asking takes no lock."""
    return db.scalar(_any_due, now=now) is not None


def claim_due(
    db: Write, worker: str, *, now: Instant, until: Instant, limit: int, per_host: int, gap: int = 0
) -> list[SourceLease]:
    """The longest overdue sources that nobody holds, now held by `worker` until `until`.

    per_host: how many of one host may be held at the same time, by whomever. gap: microseconds between two fetches
    from one host; with one, a claim takes a single source of each.
    """
    locks.one_at_a_time(db, _LOCK_ID)
    chosen = _choose(db, now=now, limit=limit, per_host=1 if gap else per_host, held_at_most=per_host)
    if not chosen:
        return []
    ids = sorted(chosen)
    db.run(_claim, ids=ids, until=until, worker=worker)
    if gap:
        host_limits.close(db, dict.fromkeys(chosen.values(), Instant(now + gap)), asked=False)
    shown: defaultdict[int, list[Feed]] = defaultdict(list)
    for feed, row in db.joined(Feed, _members, ids=ids):
        shown[row.source_id].append(feed)
    if abandoned := chosen.keys() - shown.keys():
        release(db, abandoned, worker)
        sources.remove_unused(db, abandoned)
    hubs = subscriptions.known(db, ids, now)
    return [
        SourceLease(id_, shown[id_], worker, is_pushed=hubs.get(id_, False), has_hub=id_ in hubs)
        for id_ in chosen
        if id_ in shown
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
    return db.run(_release_all, ids=held) if held else 0


def release(db: Write, source_ids: Iterable[int], worker: str) -> None:
    """Release those that the worker holds; they are due when their feeds say now."""
    ids = sorted(set(source_ids))
    if ids:
        sources.lock(db, ids)
        db.run(_release, ids=ids, worker=worker)


def held(db: Read, source_ids: Iterable[int], worker: str) -> set[int]:
    """Return those of the sources that the worker still holds."""
    return set(db.scalars(_held_of, ids=sorted(set(source_ids)), worker=worker))
