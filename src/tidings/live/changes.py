"""What an event says: the objects that rows of the change log name, as they are now."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus, Folded
from tidings.engine.database import Read
from tidings.storage.accounts.change_log import Kind, LoggedChange
from tidings.storage.entries import entries, folded
from tidings.storage.feeds import feeds

# Entries, feeds and ids of which an event tells more than their number. Who wants all asks /v1/sync.
MAX_LISTED: Final = 100
# Lists of which clients get all when one object has changed.
LISTS: Final = (Kind.SETTINGS, Kind.CATEGORY, Kind.LABEL, Kind.VIEW, Kind.RULE, Kind.IMPORT)


class EntryState(Struct, frozen=True, omit_defaults=True):
    """An entry that was added or changed. status: unread, read, or removed, after which nothing else is sent of it."""

    id: int
    status: str
    feed_id: int | None = None
    starred: bool = False
    new: bool = False


class FeedState(Struct, frozen=True, omit_defaults=True):
    """A feed that was added or changed. removed: it is gone, and nothing else is sent of it."""

    id: int
    removed: bool = False
    disabled: bool = False
    parsing_error_count: int = 0
    parsing_error_message: str = ""


class FeedCounts(Struct, frozen=True):
    """The number of unread and read entries of a feed."""

    id: int
    unread: int
    read: int


class EntryStates(Struct, frozen=True):
    """count: how many entries. new: how many of them are new. listed: the newest of them, at most 100."""

    count: int
    new: int
    listed: list[EntryState]


class FeedStates(Struct, frozen=True):
    """count: how many feeds. listed: at most 100 of them."""

    count: int
    listed: list[FeedState]


class Ids(Struct, frozen=True):
    """count: how many. ids: the newest of them, at most 100."""

    count: int
    ids: list[int]


class Changes(Struct, frozen=True, omit_defaults=True):
    """What has changed since the event before. Members without a change are left out.

    counts: of the feeds of the entries, left out for more than 100 feeds. lists: names of what to get again: settings,
    categories, labels, views, rules, imports. deliveries: those that failed, or that succeeded after they had failed.
    rule_runs: ids of rules that are applied to stored entries, or are undone there.
    """

    entries: EntryStates | None = None
    counts: list[FeedCounts] = []
    feeds: FeedStates | None = None
    lists: list[str] = []
    deliveries: Ids | None = None
    rule_runs: Ids | None = None


def described(db: Read, user: User, rows: Iterable[LoggedChange]) -> Changes:
    """Return what happened in transactions of a user."""
    changed: dict[Kind, set[int]] = {}
    for row in rows:
        for kind, ids in row.changed.items():
            changed.setdefault(kind, set()).update(ids)
    about, new = changed.get(Kind.ENTRY, set()), changed.get(Kind.NEW_ENTRY, set())
    return Changes(
        entries=_entries(db, user, about, new) if about else None,
        counts=_counts(db, user, about) if about else [],
        feeds=_feeds(db, user, changed[Kind.FEED]) if Kind.FEED in changed else None,
        lists=[kind.value for kind in LISTS if kind in changed],
        deliveries=_ids(changed.get(Kind.DELIVERY)),
        rule_runs=_ids(changed.get(Kind.RULE_RUN)),
    )


def _entries(db: Read, user: User, ids: Collection[int], new: Collection[int]) -> EntryStates:
    newest = sorted(ids, reverse=True)[:MAX_LISTED]
    found = {entry.id: entry for entry in entries.get_many(db, user.id, newest)}
    folded_as = Folded.for_apps(user)
    are_folded = [id_ for id_, entry in found.items() if entry.status == EntryStatus.FOLDED]
    of_originals = folded.statuses(db, user.id, are_folded) if folded_as is Folded.ALL else {}
    listed = []
    for id_ in newest:
        entry = found.get(id_)
        status = EntryStatus.REMOVED if entry is None else entry.status
        if status == EntryStatus.FOLDED:
            is_hidden = folded_as is Folded.HIDE
            status = EntryStatus.REMOVED if is_hidden else EntryStatus(of_originals.get(id_, EntryStatus.READ))
        if entry is None or status == EntryStatus.REMOVED:
            listed.append(EntryState(id_, EntryStatus.REMOVED.api_name))
        else:
            state = EntryStatus(status).api_name
            listed.append(EntryState(id_, state, entry.feed_id, entry.starred, id_ in new))
    return EntryStates(len(ids), len(new), listed)


def _counts(db: Read, user: User, entry_ids: Collection[int]) -> list[FeedCounts]:
    if len(entry_ids) > MAX_LISTED * MAX_LISTED:
        return []
    feed_ids = {feed_id for _entry_id, feed_id in entries.feeds_of(db, user.id, sorted(entry_ids))}
    if len(feed_ids) > MAX_LISTED:
        return []
    counted = folded.counters_for_apps(db, user)
    return [FeedCounts(one.feed_id, one.unread, one.read) for one in counted if one.feed_id in feed_ids]


def _feeds(db: Read, user: User, ids: Collection[int]) -> FeedStates:
    listed_ids = sorted(ids, reverse=True)[:MAX_LISTED]
    found = {feed.id: feed for feed in feeds.get_many(db, user.id, listed_ids)}
    listed = [
        FeedState(id_, removed=True)
        if (feed := found.get(id_)) is None
        else FeedState(
            id_,
            disabled=feed.disabled,
            parsing_error_count=feed.parsing_error_count,
            parsing_error_message=feed.parsing_error_message,
        )
        for id_ in listed_ids
    ]
    return FeedStates(len(ids), listed)


def _ids(ids: Collection[int] | None) -> Ids | None:
    return Ids(len(ids), sorted(ids, reverse=True)[:MAX_LISTED]) if ids else None
