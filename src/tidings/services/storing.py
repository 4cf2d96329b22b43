"""Writing what documents bring to feeds: many feeds in one transaction.

hold the feeds ─► still ours? ─► what the checks came to ─► new and changed entries ─► who is told of them ─► let go
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from tidings.domain.feeds import Feed
from tidings.domain.times import Instant
from tidings.services import outbox
from tidings.services.intake import Brought, Held
from tidings.storage import counters, feeds, intake, pieces, polling, sources, tombstones
from tidings.storage.database import Write
from tidings.storage.intake import Addition
from tidings.storage.polling import Current, Result


class Stored(Struct, frozen=True):
    """What came of one answer. lost: the feed was deleted or taken over meanwhile, nothing was written."""

    new_ids: tuple[int, ...] = ()
    changed: int = 0
    skipped: int = 0
    next_check_at: Instant = Instant(0)
    lost: bool = False


def store(db: Write, batch: Sequence[Brought]) -> list[Stored]:
    """Write it; what became of each, in the same order. No feed is twice in a batch."""
    current = hold(db, [one.feed for one in batch])
    ours = [one for one in batch if one.feed.id in current and _is_held(one.source, current[one.feed.id])]
    # Whoever else takes rows of several feeds does so in this order.
    ours.sort(key=lambda one: one.feed.id)
    record(db, [Result(one.feed, one.values) for one in ours if one.values])
    ids = add_new(db, [(current[one.feed.id], one) for one in ours])
    told = outbox.listeners(db, (one.feed.user_id for one in ours if ids[one.feed.id]))
    for one in ours:
        intake.change(db, one.feed.user_id, one.selection.changed, now=one.now)
        tombstones.mark_seen(db, one.feed.id, one.selection.buried, now=one.now)
        if one.feed.user_id in told:
            outbox.post_new_entries(db, one.user, one.feed, ids[one.feed.id], one.now)
    _let_go(db, batch, current)
    pieces.keep(db, {one.source.id: one.pieces for one in ours if one.pieces and one.source and one.source.is_last})
    stored = {one.feed.id: _stored(one, ids[one.feed.id]) for one in ours}
    return [stored.get(one.feed.id, Stored(lost=True)) for one in batch]


def _stored(one: Brought, ids: list[int]) -> Stored:
    next_check_at = one.values.get("next_check_at", one.feed.next_check_at)
    return Stored(tuple(ids), len(one.selection.changed), one.skipped, next_check_at)


def _is_held(source: Held | None, current: Current) -> bool:
    return source is None or source.is_held(current)


def _let_go(db: Write, batch: Sequence[Brought], current: Mapping[int, Current]) -> None:
    """Of sources of which nothing else is left to write, whether or not this was; what a user changed meanwhile is then
    read at once. Those that nobody held are due when their feeds say now."""
    last: defaultdict[str, list[int]] = defaultdict(list)
    for one in batch:
        if one.source is not None and one.source.is_last:
            last[one.source.worker].append(one.source.id)
    for worker, source_ids in last.items():
        sources.release(db, source_ids, worker)
    unheld = [one.feed.id for one in batch if one.source is None]
    sources.touch(db, [current[feed_id].source_id for feed_id in unheld if feed_id in current])


def record(db: Write, results: Sequence[Result]) -> None:
    """What checks came to, on their feeds."""
    polling.record(db, [Result(one.feed, _but_address(one.values)) for one in results])
    # All feeds are held by now: they come before sources.
    for result in results:
        if "feed_url" in result.values:
            # Moved for good: it is fetched from another source from now on.
            feeds.change(db, result.feed.user_id, result.feed.id, feed_url=result.values["feed_url"])


def _but_address(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in values.items() if name != "feed_url"} if "feed_url" in values else values


def hold(db: Write, batch: Sequence[Feed]) -> dict[int, Current]:
    """Feeds as they are now, by id, held until the transaction ends; without those of which what was read says nothing
    any more."""
    held = counters.hold_each(db, ((feed.user_id, feed.id) for feed in batch))
    current = polling.current(db, held) if held else {}
    # Entries that are told apart otherwise have other hashes by now.
    by_url = {feed.id: feed.match_entries_by_url for feed in batch}
    return {id_: one for id_, one in current.items() if one.match_entries_by_url == by_url[id_]}


def add_new(db: Write, batch: Sequence[tuple[Current, Brought]]) -> dict[int, list[int]]:
    """Ids of new entries by feed. What another check stored meanwhile is left out; a feed may have been moved, too."""
    asked = {one.feed.id: [entry.hash for entry in one.selection.new] for _, one in batch}
    met = intake.met(db, asked)
    additions = [
        Addition(
            one.feed.user_id,
            one.feed.id,
            current.category_id,
            [entry for entry in one.selection.new if entry.hash not in met[one.feed.id]],
            one.now,
        )
        for current, one in batch
    ]
    return dict(zip(asked, intake.add_all(db, additions), strict=True))
