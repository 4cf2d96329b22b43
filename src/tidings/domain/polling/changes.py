"""Compares a parsed document with what a feed has stored, and says what to write.

identified entries, known entries ─► diff_entries ─► ChangeSet ─► entries made ready ─► FeedUpdate
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.feeds.feeds import Feed, ParsedEntry
from tidings.domain.polling.entry_identity import Identified
from tidings.domain.polling.ingestion import ReadyEntry, fingerprint
from tidings.domain.polling.sources import SourceLease
from tidings.domain.times import Instant


class KnownEntries(Struct, frozen=True):
    """Which of the hashes that were looked up a feed has.

    ids: of stored entries, by hash. fingerprints: of the same entries as published when they were last written.
    deleted: hashes of entries that were deleted and must not come back.
    """

    ids: Mapping[bytes, int]
    fingerprints: Mapping[bytes, bytes | None]
    deleted: frozenset[bytes]

    def __contains__(self, hash_: bytes) -> bool:
        return hash_ in self.ids or hash_ in self.deleted


class ChangeSet(Struct, frozen=True):
    """What a document changes in a feed, oldest entries first.

    new: by hash. changed: by id of the stored entry. deleted: hashes of deleted entries that the document still holds.
    renamed: new hashes by id, for entries stored under another hash. renamed_deleted: old and new hashes.
    """

    new: Mapping[bytes, ParsedEntry]
    changed: Mapping[int, ParsedEntry]
    deleted: frozenset[bytes] = frozenset()
    renamed: Mapping[int, bytes] = {}
    renamed_deleted: Sequence[tuple[bytes, bytes]] = ()


class PreparedFeedUpdate(Struct, frozen=True):
    """What a document brings to one feed, ready to be written in one transaction.

    lease: of the check; None when no check is under way (a push). now: when the document was read.
    values: of columns of the feed. new, changed: entries that the rules let in; changed by id of the stored entry.
    rule_errors: rules that could not be followed. skipped: items that could not be read.
    """

    user: User
    feed: Feed
    lease: SourceLease | None
    now: Instant
    values: dict[str, Any]
    changes: ChangeSet
    new: Sequence[ReadyEntry] = ()
    changed: Mapping[int, ReadyEntry] = {}
    rule_errors: Sequence[str] = ()
    skipped: int = 0


def diff_entries(feed: Feed, entries: Sequence[Identified], known: KnownEntries) -> ChangeSet:
    """Return which entries are new or changed.

    entries: in document order, in which the oldest comes last. known: looked up by all hashes of `entries`.
    """
    renamed, renamed_deleted = _renames(entries, known) if any(one.others for one in entries) else ({}, {})
    new: dict[bytes, ParsedEntry] = {}
    changed: dict[int, ParsedEntry] = {}
    deleted = set()
    is_updated = not (feed.ignore_entry_updates or feed.crawler)
    for one in reversed(entries):
        hash_ = one.hash
        stored_as = renamed.get(hash_, hash_)
        if (id_ := known.ids.get(stored_as)) is not None:
            if is_updated and known.fingerprints[stored_as] != fingerprint(one.entry):
                changed[id_] = one.entry
        elif renamed_deleted.get(hash_, hash_) in known.deleted:
            deleted.add(hash_)
        else:
            new[hash_] = one.entry
    return ChangeSet(
        new,
        changed,
        frozenset(deleted),
        {known.ids[old]: hash_ for hash_, old in renamed.items()},
        [(old, hash_) for hash_, old in renamed_deleted.items()],
    )


def _renames(entries: Sequence[Identified], known: KnownEntries) -> tuple[Mapping[bytes, bytes], Mapping[bytes, bytes]]:
    """Hashes of stored and of deleted entries that the feed has under another hash: the other hash by the new one."""
    # A hash that another entry of the document goes by is that one's own.
    taken = {one.hash for one in entries}
    renamed: dict[bytes, bytes] = {}
    renamed_deleted: dict[bytes, bytes] = {}
    for one in entries:
        if one.hash in known:
            continue
        others = [other for other in one.others if other not in taken]
        if (old := next((other for other in others if other in known.ids), None)) is not None:
            renamed[one.hash] = old
        elif (old := next((other for other in others if other in known.deleted), None)) is not None:
            renamed_deleted[one.hash] = old
        else:
            continue
        taken.add(old)
    return renamed, renamed_deleted
