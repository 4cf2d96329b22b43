"""Stores the updates of many feeds in one transaction.

lock counters ─► check leases ─► columns of feeds ─► renamed, new and changed entries ─► events ─► release leases
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import TidingsError
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import PreparedFeedUpdate
from tidings.domain.polling.sources import NO_VALIDATORS, SourceLease
from tidings.engine.database import Write
from tidings.services.listeners import Listeners, StoredEntries
from tidings.storage.entries import counters
from tidings.storage.feeds import feeds
from tidings.storage.polling import claims, feed_store, sources
from tidings.storage.polling.feed_store import CurrentFeed

# A feed and the values of its columns to write.
FeedColumns: TypeAlias = tuple[Feed, Mapping[str, Any]]


class CheckResult(Struct, frozen=True):
    """The result of a check for one feed. error: None if it succeeded.

    changed: number of changed entries. skipped: number of items that could not be read. is_lost: nothing was written,
    because the feed was deleted or another worker claimed its source.
    """

    error: TidingsError | None = None
    new_ids: Sequence[int] = ()
    changed: int = 0
    skipped: int = 0
    is_lost: bool = False


def store(db: Write, updates: Sequence[PreparedFeedUpdate], *, listeners: Listeners) -> list[CheckResult]:
    """Write updates of different feeds and return the results in the same order.

    Releases the lease of a source with a single feed, since nothing else of its check remains to be written.
    """
    current = _lock(db, [update.feed for update in updates])
    # Transactions that lock rows of several feeds do so in this order.
    ours = sorted((update for update in updates if _holds_lease(update, current)), key=lambda update: update.feed.id)
    record(db, [(update.feed, _columns(update, current[update.feed.id])) for update in ours if update.values])
    _rename(db, ours)
    ids = _add_new(db, ours, current)
    for update in ours:
        feed_store.change(db, update.feed.user_id, update.changed, now=update.now)
        feed_store.mark_seen(db, update.feed.id, update.changes.deleted, now=update.now)
    listeners.tell_entries_stored(
        db,
        [
            StoredEntries(update.user, update.feed, ids[update.feed.id], update.now)
            for update in ours
            if ids[update.feed.id]
        ],
    )
    _release(db, updates, current)
    results = {
        update.feed.id: CheckResult(None, ids[update.feed.id], len(update.changed), update.skipped) for update in ours
    }
    return [results.get(update.feed.id, CheckResult(is_lost=True)) for update in updates]


def finish(db: Write, checks: Sequence[tuple[SourceLease, Sequence[FeedColumns]]]) -> list[bool]:
    """Write the remaining columns of checks and release their leases.

    Returns for each check whether it was written; False if it lost its lease.
    """
    leased: defaultdict[str, list[int]] = defaultdict(list)
    for lease, _ in checks:
        if lease.worker:
            leased[lease.worker].append(lease.source_id)
    leases = {worker: claims.held(db, ids, worker) for worker, ids in leased.items()}
    is_ours = [not lease.worker or lease.source_id in leases[lease.worker] for lease, _ in checks]
    record(db, [column for (_, columns), ours in zip(checks, is_ours, strict=True) if ours for column in columns])
    for worker, ids in leases.items():
        claims.release(db, ids, worker)
    _touch(db, [feed.id for lease, columns in checks if not lease.worker for feed, _ in columns])
    return is_ours


def record(db: Write, results: Sequence[FeedColumns]) -> None:
    """Write columns of feeds."""
    feed_store.record(db, [(feed, _without_url(columns)) for feed, columns in results])
    # Rows of feeds are locked before those of sources, and all feeds are locked now.
    for feed, columns in results:
        if "feed_url" in columns:
            # Moved permanently: the feed gets another source.
            feeds.change(db, feed.user_id, feed.id, feed_url=columns["feed_url"])


def _without_url(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in columns.items() if name != "feed_url"} if "feed_url" in columns else columns


def _lock(db: Write, batch: Sequence[Feed]) -> dict[int, CurrentFeed]:
    """Lock feeds until the transaction ends, and return their current state by id.

    Omits deleted feeds, and feeds whose `match_entries_by_url` was changed, since their entries have other hashes now.
    """
    locked = counters.lock_each(db, ((feed.user_id, feed.id) for feed in batch))
    current = feed_store.current(db, locked) if locked else {}
    by_url = {feed.id: feed.match_entries_by_url for feed in batch}
    return {id_: feed for id_, feed in current.items() if feed.match_entries_by_url == by_url[id_]}


def _holds_lease(update: PreparedFeedUpdate, current: Mapping[int, CurrentFeed]) -> bool:
    now, lease = current.get(update.feed.id), update.lease
    if now is None or lease is None or not lease.worker:
        return now is not None
    return (now.source_id, now.claimed_by) == (lease.source_id, lease.worker)


def _columns(update: PreparedFeedUpdate, current: CurrentFeed) -> Mapping[str, Any]:
    """Returns the columns to write. Rules that were changed during the check have removed the validators: they stay so,
    and the next check parses the document again.
    """
    were_removed = update.feed.body_digest is not None and current.body_digest is None
    return {**update.values, **NO_VALIDATORS} if were_removed else update.values


def _rename(db: Write, updates: Iterable[PreparedFeedUpdate]) -> None:
    """Change the hashes of stored entries that their feed now identifies in another way."""
    for update in updates:
        feed_store.rename(db, update.feed.user_id, update.feed.id, update.changes.renamed)
        feed_store.rename_deleted(db, update.feed.id, update.changes.renamed_deleted)


def _add_new(
    db: Write, updates: Sequence[PreparedFeedUpdate], current: Mapping[int, CurrentFeed]
) -> dict[int, list[int]]:
    """Add new entries, except entries that another check has stored meanwhile. Returns their ids by feed id."""
    known = feed_store.look_up(db, {update.feed.id: [entry.hash for entry in update.new] for update in updates})
    missing = [
        replace(update, new=[entry for entry in update.new if entry.hash not in known[update.feed.id]])
        for update in updates
    ]
    return feed_store.add_all(db, missing, {feed_id: feed.category_id for feed_id, feed in current.items()})


def _release(db: Write, updates: Sequence[PreparedFeedUpdate], current: Mapping[int, CurrentFeed]) -> None:
    """Release the leases of sources with a single feed, even lost ones, so that changes by users take effect at once.

    Sources that were checked without a lease get their next check from their feeds.
    """
    leased: defaultdict[str, list[int]] = defaultdict(list)
    unleased: list[int] = []
    for update in updates:
        if update.lease is None or not update.lease.worker:
            if update.feed.id in current:
                unleased.append(current[update.feed.id].source_id)
        elif len(update.lease.feeds) == 1:
            leased[update.lease.worker].append(update.lease.source_id)
    for worker, source_ids in leased.items():
        claims.release(db, source_ids, worker)
    sources.touch(db, unleased)


def _touch(db: Write, feed_ids: Sequence[int]) -> None:
    if feed_ids:
        sources.touch(db, sources.of_feeds(db, feed_ids))
