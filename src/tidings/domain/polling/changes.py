"""Compares a parsed document with the stored entries of a feed, and returns what to write.

identified entries, known entries ─► diff_entries ─► ChangeSet ─► prepared entries ─► PreparedFeedUpdate
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from tidings.base.times import Instant
from tidings.content.model import ParsedEntry
from tidings.domain.accounts.users import User
from tidings.domain.entries.ready import ReadyEntry
from tidings.domain.feeds.feeds import WORSE_PAGES, Feed
from tidings.domain.polling.entry_identity import IdentifiedEntry
from tidings.domain.polling.ingestion import fingerprint
from tidings.domain.polling.sources import SourceLease


class KnownEntries(Struct, frozen=True):
    """The looked-up hashes that a feed has.

    ids: ids of stored entries, by hash. fingerprints: of the same entries, as published when they were last written.
    deleted: hashes of deleted entries, which must not be stored again.
    """

    ids: Mapping[bytes, int]
    fingerprints: Mapping[bytes, bytes | None]
    deleted: frozenset[bytes]

    def __contains__(self, hash_: bytes) -> bool:
        return hash_ in self.ids or hash_ in self.deleted

    def __or__(self, other: KnownEntries) -> KnownEntries:
        """Returns the result of both look-ups."""
        return KnownEntries(
            {**self.ids, **other.ids}, {**self.fingerprints, **other.fingerprints}, self.deleted | other.deleted
        )


class ChangeSet(Struct, frozen=True):
    """The changes that a document makes to a feed, oldest entries first.

    new: by hash. changed: by id of the stored entry. deleted: hashes of deleted entries that the document still holds.
    renamed: new hashes by id, for entries stored under another hash. renamed_deleted: old and new hashes.
    """

    new: Mapping[bytes, ParsedEntry]
    changed: Mapping[int, ParsedEntry]
    deleted: frozenset[bytes] = frozenset()
    renamed: Mapping[int, bytes] = {}
    renamed_deleted: Sequence[tuple[bytes, bytes]] = ()


class PreparedFeedUpdate(Struct, frozen=True):
    """The update of one feed by a document, ready to be written in one transaction.

    lease: of the check; None for a push, which has no check. now: when the document was parsed.
    values: new values of the feed's columns. new, changed: entries that pass the filter rules; changed: by id of the
    stored entry. rule_errors: rules that could not be applied. skipped: the number of items that could not be parsed.
    worse_pages: the number of new entries whose pages have far less text than the feed; None if no page was fetched.
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
    worse_pages: int | None = None

    def with_page_note(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Returns columns of the feed in which `limits_reached` says whether pages have far less text than the feed.

        What is noted stays until pages are fetched again.
        """
        noted = dict(columns)
        words = set(str(noted.get("limits_reached", "")).split())
        if self.worse_pages:
            noted["limits_reached"] = " ".join(sorted(words | {WORSE_PAGES}))
        elif self.worse_pages is None and self.feed.crawler and not words:
            noted.pop("limits_reached", None)
        return noted


def diff_entries(feed: Feed, entries: Sequence[IdentifiedEntry], known: KnownEntries) -> ChangeSet:
    """Returns which entries are new or changed.

    entries: in document order, in which the oldest comes last. known: looked up by all hashes of `entries`.
    """
    has_others = any(identified.other_hashes for identified in entries)
    renamed, renamed_deleted = _find_renamed(entries, known) if has_others else ({}, {})
    new: dict[bytes, ParsedEntry] = {}
    changed: dict[int, ParsedEntry] = {}
    deleted = set()
    is_updated = not (feed.ignore_entry_updates or feed.crawler)
    for identified in reversed(entries):
        hash_ = identified.hash
        stored_as = renamed.get(hash_, hash_)
        if (id_ := known.ids.get(stored_as)) is not None:
            if is_updated and known.fingerprints[stored_as] != fingerprint(identified.entry):
                changed[id_] = identified.entry
        elif renamed_deleted.get(hash_, hash_) in known.deleted:
            deleted.add(hash_)
        else:
            new[hash_] = identified.entry
    return ChangeSet(
        new,
        changed,
        frozenset(deleted),
        {known.ids[old]: hash_ for hash_, old in renamed.items()},
        [(old, hash_) for hash_, old in renamed_deleted.items()],
    )


def _find_renamed(
    entries: Sequence[IdentifiedEntry], known: KnownEntries
) -> tuple[Mapping[bytes, bytes], Mapping[bytes, bytes]]:
    """Returns, for stored and for deleted entries that the feed has under another hash, that old hash by the new."""
    # The hash of another entry of the document belongs to that entry.
    taken = {identified.hash for identified in entries}
    renamed: dict[bytes, bytes] = {}
    renamed_deleted: dict[bytes, bytes] = {}
    unknown = [
        identified for identified in reversed(entries) if identified.other_hashes and identified.hash not in known
    ]
    # Of several entries that may be the stored one, it is the unchanged one, else the oldest.
    for identified in sorted(unknown, key=lambda identified: not _is_unchanged(identified, known)):
        others = [other for other in identified.other_hashes if other not in taken]
        if (old := next((other for other in others if other in known.ids), None)) is not None:
            renamed[identified.hash] = old
        elif (old := next((other for other in others if other in known.deleted), None)) is not None:
            renamed_deleted[identified.hash] = old
        else:
            continue
        taken.add(old)
    return renamed, renamed_deleted


def _is_unchanged(entry: IdentifiedEntry, known: KnownEntries) -> bool:
    stored = [known.fingerprints[other] for other in entry.other_hashes if other in known.ids]
    return bool(stored) and fingerprint(entry.entry) in stored
