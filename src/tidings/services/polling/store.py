"""Looks up what feeds have stored, and stores the updates of many feeds in one transaction.

lock accounts with a limit ─► lock counters ─► check leases ─► renamed entries ─► what there is room for
    ─► listeners decide about what arrives ─► columns of feeds ─► new and changed entries ─► listeners hear of them
    ─► release leases
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import TidingsError
from tidings.base.messages import encode_message, join_sentences, msg
from tidings.base.times import Instant
from tidings.content.model import ParsedEntry, ParsedFeed
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import (
    FeedUpdate,
    KnownEntries,
    dates_of_unknown,
    diff_entries,
    identify_entries,
    other_hashes,
)
from tidings.domain.polling.shared_sources import NO_VALIDATORS, SourceLease
from tidings.engine.database import Database, Read, Write
from tidings.services.listeners import AccountRoom, ArrivingEntries, FeedState, Listeners
from tidings.storage.accounts import change_log
from tidings.storage.entries import counters
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes, sources
from tidings.storage.polling.entry_writes import CurrentFeed

# Writing the rows of an entry without content takes as long as writing this many characters of content.
ENTRY_OVERHEAD_CHARACTERS = 1_000

_LEFT_OUT = msg("New entries of this feed that are not stored yet: {count:,}.")

# A feed and the values of its columns to write.
FeedColumns: TypeAlias = tuple[Feed, Mapping[str, Any]]


class CheckResult(Struct, frozen=True):
    """What a check did for one feed."""

    error: TidingsError | None = None
    """None if the check succeeded."""
    new_ids: Sequence[int] = ()
    changed: int = 0
    """Number of changed entries."""
    skipped: int = 0
    """Number of items that could not be read."""
    left_out: int = 0
    """Number of new entries that the account has no room for."""
    is_lost: bool = False
    """Nothing was written, because the feed was deleted or another worker claimed its source."""


def look_up(db: Read, documents: Mapping[int, ParsedFeed], owners: Mapping[int, int]) -> dict[int, KnownEntries]:
    """Return what is stored of the entries of each feed, by feed id.

    documents: by feed id, as `identify_entries` returns them. owners: users' ids by feed id. Other hashes are looked up
    only for entries that are not stored under their own, usually none or a few new ones; and stored entries with their
    dates, which may be the same ones, for those that are not stored under these either.
    """
    hashes = {feed_id: [hash_ for hash_, _ in document.hashed_entries] for feed_id, document in documents.items()}
    known = entry_writes.look_up(db, hashes, owners.values())
    if unknown := [(owners[feed_id], feed_id) for feed_id, found in known.items() if not found]:
        # Without any entry, as before its first document, a feed has none under other hashes or with the same date.
        stored = entry_writes.with_entries(db, unknown)
        documents = {id_: document for id_, document in documents.items() if known[id_] or id_ in stored}
    others = {
        feed_id: [
            other
            for hash_, entry in document.hashed_entries
            if hash_ not in known[feed_id]
            for other in other_hashes(document, entry)
        ]
        for feed_id, document in documents.items()
        if document.other_hashes
    }
    others = {feed_id: wanted for feed_id, wanted in others.items() if wanted}
    for feed_id, found in entry_writes.look_up(db, others, owners.values()).items() if others else ():
        known[feed_id] |= found
    dates = {
        (owners[feed_id], feed_id): missing
        for feed_id, document in documents.items()
        if (missing := dates_of_unknown(document, known[feed_id]))
    }
    for feed_id, same_date in entry_writes.of_dates(db, dates).items() if dates else ():
        known[feed_id] = replace(known[feed_id], same_date=same_date)
    return known


def find_changes(db: Read, user: User, feed: Feed, document: ParsedFeed, *, now: Instant) -> FeedUpdate[ParsedEntry]:
    """Return what a document changes in one feed of the user."""
    identified = identify_entries(feed, document)
    return diff_entries(
        user, feed, identified, look_up(db, {feed.id: identified}, {feed.id: user.id})[feed.id], now=now
    )


def other_feeds_at(database: Database, url: str, batch: Sequence[Feed]) -> dict[int, int]:
    """Return which of these feeds' users have another feed at this URL, and its id, by feed id."""
    with database.reading() as db:
        others = {feed.id: feeds.id_by_url(db, feed.user_id, url) for feed in batch}
    return {feed_id: other for feed_id, other in others.items() if other not in (None, feed_id)}


def size_of(update: FeedUpdate[ReadyEntry]) -> int:
    """Return the size of an update, in about the number of characters to write."""
    entries = (*update.new.values(), *update.changed.values())
    return sum(ENTRY_OVERHEAD_CHARACTERS + len(entry.content) for entry in entries)


def store_updates(db: Write, updates: Sequence[FeedUpdate[ReadyEntry]], *, listeners: Listeners) -> list[CheckResult]:
    """Write updates of different feeds and return the results in the same order.

    Releases the lease of a source with a single feed, since nothing else of its check remains to be written.
    """
    rooms = listeners.lock_rooms(db, {update.feed.user_id for update in updates if update.new})
    current = _lock(db, [update.feed for update in updates])
    # Transactions that lock rows of several feeds do so in this order.
    ours = sorted((update for update in updates if _holds_lease(update, current)), key=lambda update: update.feed.id)
    _rename(db, ours)
    arriving = _arriving(db, ours, current, rooms)
    completions = listeners.tell_entries_arriving(db, arriving)
    columns = [_columns(update, current[update.feed.id]) for update in ours]
    for one, values in zip(arriving, columns, strict=True):
        if one.left_out:
            values |= left_out_columns(one, rooms[one.user.id])
    written = [(one.feed, values) for one, values in zip(arriving, columns, strict=True) if values]
    record(db, written)
    add_arriving(db, arriving)
    for update in ours:
        entry_writes.change(db, update.feed.user_id, update.changed, now=update.now)
        entry_writes.mark_seen(db, update.feed.user_id, update.feed.id, update.deleted, now=update.now)
    for complete in completions:
        complete(db)
    listeners.tell_entries_stored(db, [one.stored for one in arriving if one.ids])
    listeners.tell_feed_states(db, _new_states(written))
    _release(db, updates, current)
    results = {
        update.feed.id: CheckResult(
            None, list(one.ids.values()), len(update.changed), update.skipped, left_out=one.left_out
        )
        for update, one in zip(ours, arriving, strict=True)
    }
    return [results.get(update.feed.id, CheckResult(is_lost=True)) for update in updates]


def finish(
    db: Write, checks: Sequence[tuple[SourceLease, Sequence[FeedColumns]]], *, listeners: Listeners
) -> list[bool]:
    """Write the remaining columns of checks and release their leases.

    Return for each check whether it was written; False if it lost its lease.
    """
    leased: defaultdict[str, list[int]] = defaultdict(list)
    for lease, _ in checks:
        if lease.worker:
            leased[lease.worker].append(lease.source_id)
    leases = {worker: sources.held(db, ids, worker) for worker, ids in leased.items()}
    is_ours = [not lease.worker or lease.source_id in leases[lease.worker] for lease, _ in checks]
    written = [column for (_, columns), ours in zip(checks, is_ours, strict=True) if ours for column in columns]
    record(db, written)
    for worker, ids in leases.items():
        sources.release(db, ids, worker)
    asked = [feed for lease, columns in checks if not lease.worker for feed, _ in columns]
    _touch(db, [feed.id for feed in asked])
    _show(db, asked)
    listeners.tell_feed_states(db, _new_states(written))
    return is_ours


def record(db: Write, results: Sequence[FeedColumns]) -> None:
    """Write columns of feeds."""
    entry_writes.record(db, [(feed, _without_url(columns)) for feed, columns in results])
    # Rows of feeds are locked before rows of sources, and all feeds are locked now.
    for feed, columns in results:
        if "feed_url" in columns:
            # Moved permanently: the feed gets another source.
            feeds.change(db, feed.user_id, feed.id, feed_url=columns["feed_url"])


def _new_states(results: Iterable[FeedColumns]) -> list[FeedState]:
    """Return which feeds begin to fail, or are well again, as their new columns say."""
    return [
        FeedState(
            feed,
            is_failing=is_failing,
            error=columns["parsing_error_message"] if is_failing else "",
            is_disabled=bool(is_failing and columns.get("disabled")),
            now=columns["checked_at"],
        )
        for feed, columns in results
        if (is_failing := columns.get("is_failing")) is not None
    ]


def _without_url(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in columns.items() if name != "feed_url"} if "feed_url" in columns else columns


def _lock(db: Write, batch: Sequence[Feed]) -> dict[int, CurrentFeed]:
    """Lock feeds until the transaction ends, and return their current state by id.

    Omits deleted feeds, and feeds whose `match_entries_by_url` was changed, since their entries have other hashes now.
    """
    locked = counters.lock_each(db, ((feed.user_id, feed.id) for feed in batch))
    current = entry_writes.current(db, locked) if locked else {}
    by_url = {feed.id: feed.match_entries_by_url for feed in batch}
    return {id_: feed for id_, feed in current.items() if feed.match_entries_by_url == by_url[id_]}


def _holds_lease(update: FeedUpdate[ReadyEntry], current: Mapping[int, CurrentFeed]) -> bool:
    now, lease = current.get(update.feed.id), update.lease
    if now is None or lease is None or not lease.worker:
        return now is not None
    return (now.source_id, now.claimed_by) == (lease.source_id, lease.worker)


def left_out_columns(arriving: ArrivingEntries, room: AccountRoom) -> dict[str, Any]:
    """Return the columns of a feed some of whose new entries have no room, besides those of its check.

    The next check reads the document again, and stores what there is room for by then. The reason is shown, as if it
    were an error of the feed, which it is not: the check has succeeded.
    """
    assert room.problem is not None
    message = join_sentences(room.problem.text, _LEFT_OUT.with_values(count=arriving.left_out))
    text = message.english()
    return {
        **NO_VALIDATORS,
        "parsing_error_count": 1,
        "parsing_error_message": text,
        "parsing_error_form": encode_message(message, text),
    }


def _columns(update: FeedUpdate[ReadyEntry], current: CurrentFeed) -> dict[str, Any]:
    """Return the columns to write. Rules that were changed during the check have removed the validators: they stay so,
    and the next check parses the document again.
    """
    were_removed = update.feed.body_digest is not None and current.body_digest is None
    return {**update.columns, **(NO_VALIDATORS if were_removed else {})}


def _rename(db: Write, updates: Iterable[FeedUpdate[ReadyEntry]]) -> None:
    """Change the hashes of stored entries that their feed now identifies in another way."""
    for update in updates:
        entry_writes.rename(db, update.feed.user_id, update.feed.id, update.renamed)
        entry_writes.rename_deleted(db, update.feed.user_id, update.feed.id, update.renamed_deleted)


def _arriving(
    db: Write,
    updates: Sequence[FeedUpdate[ReadyEntry]],
    current: Mapping[int, CurrentFeed],
    rooms: Mapping[int, AccountRoom],
) -> list[ArrivingEntries]:
    """Return what arrives with each update, without entries that another check has stored since the look-up, and
    without those that the account has no room for. rooms: by user.
    """
    known = entry_writes.look_up(
        db, {update.feed.id: update.new for update in updates}, [update.feed.user_id for update in updates]
    )
    arriving = [
        ArrivingEntries(
            user=update.user,
            feed=update.feed,
            category_id=current[update.feed.id].category_id,
            now=update.now,
            new={hash_: one for hash_, one in update.new.items() if hash_ not in known[update.feed.id]},
            changed=update.changed,
            is_news=bool(update.feed.checked_at),
        )
        for update in updates
    ]
    for one in arriving:
        if (room := rooms.get(one.user.id)) is not None:
            one.fit_into(room)
    return arriving


def add_arriving(db: Write, arriving: Sequence[ArrivingEntries]) -> None:
    """Add new entries and set their ids, and remember those that listeners dropped.

    The caller has locked the counters of the feeds, which are in the order of their ids.
    """
    ids = iter(entry_writes.add_all(db, [(one.feed, one.category_id, one.now, one.new.values()) for one in arriving]))
    for one in arriving:
        one.ids = {hash_: next(ids) for hash_ in one.new}
        entry_writes.refuse(db, one.feed.user_id, one.feed.id, one.dropped, now=one.now)


def _release(db: Write, updates: Sequence[FeedUpdate[ReadyEntry]], current: Mapping[int, CurrentFeed]) -> None:
    """Release the leases of sources with a single feed, even lost ones, so that changes by users take effect
    immediately.

    Sources that were checked without a lease get their next check from their feeds.
    """
    leased: defaultdict[str, list[int]] = defaultdict(list)
    unleased: list[int] = []
    for update in updates:
        if update.lease is None or not update.lease.worker:
            if update.feed.id in current:
                unleased.append(current[update.feed.id].source_id)
                _show(db, [update.feed])
        elif len(update.lease.feeds) == 1:
            leased[update.lease.worker].append(update.lease.source_id)
    for worker, source_ids in leased.items():
        sources.release(db, source_ids, worker)
    sources.touch_sources(db, unleased)


def _touch(db: Write, feed_ids: Sequence[int]) -> None:
    if feed_ids:
        sources.touch_sources(db, sources.of_feeds(db, feed_ids))


def _show(db: Write, checked: Iterable[Feed]) -> None:
    """Let lists show the checks of these feeds immediately, since their users have asked for them."""
    for feed in checked:
        change_log.note(db, feed.user_id)
