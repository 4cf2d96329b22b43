"""Recognising entries after their user chose to tell them apart otherwise: by address instead of id, or back."""

from __future__ import annotations

from typing import Any

from tidings.domain.feeds import Feed, ParsedEntry, ParsedFeed
from tidings.domain.identity import Identified, identified, renewed
from tidings.storage import counters, identity, intake
from tidings.storage.database import Database, Read, Write


def recognised(database: Database, feed: Feed, document: ParsedFeed) -> dict[bytes, ParsedEntry]:
    """Entries of the document by hash, oldest first.

    What is stored under another hash, from before the user chose, has this one afterwards.
    """
    entries = identified(feed, document)
    if any(one.others for one in entries) and _has_strangers(database, feed, entries):
        with database.writing() as db:
            if counters.hold(db, feed.user_id, [feed.id]) and is_current(db, feed):
                _rename(db, feed, entries)
    return oldest_first(entries)


def oldest_first(entries: list[Identified]) -> dict[bytes, ParsedEntry]:
    """By hash. The last item of a document is its oldest: it gets the lowest id."""
    return {one.hash: one.entry for one in reversed(entries)}


def is_current(db: Read, feed: Feed) -> bool:
    """False when the user chose otherwise since the feed was looked at: its entries have other hashes by now."""
    return identity.matches_by_url(db, feed.user_id, feed.id) == feed.match_entries_by_url


def switched(db: Write, feed: Feed, *, by_url: bool) -> dict[str, Any]:
    """Columns to change in the feed; its entries are changed here. The caller holds the feed's counters.

    Of addresses all is known. Ids are known again when they stand in a document: until then, entries go by their
    addresses, which is what `once_matched_by_url` is for. Either way the next document is read, changed or not: it
    may be the last to name both.
    """
    if by_url:
        identity.rename(db, feed.user_id, feed.id, renewed(identity.stored(db, feed.user_id, feed.id)))
    unread = {"etag_header": "", "last_modified_header": "", "body_digest": None}
    return unread if by_url else unread | {"once_matched_by_url": True}


def _has_strangers(database: Database, feed: Feed, entries: list[Identified]) -> bool:
    """Whether there is any that nobody knows by its hash: a new one, or one stored under another."""
    with database.reading() as db:
        return bool(_strangers(db, feed, entries))


def _strangers(db: Read, feed: Feed, entries: list[Identified]) -> list[Identified]:
    there = intake.met_by(db, feed.id, [one.hash for one in entries])
    return [one for one in entries if one.hash not in there]


def _rename(db: Write, feed: Feed, entries: list[Identified]) -> None:
    strangers = _strangers(db, feed, entries)
    guesses = [other for one in strangers for other in one.others]
    # A hash that another entry of the document goes by is that one's own.
    own = {one.hash for one in entries}
    there = intake.met_by(db, feed.id, guesses)
    stored = {hash_: one for hash_, one in there.known.items() if hash_ not in own}
    buried = set(there.buried - own)
    renamed: dict[int, bytes] = {}
    reburied: list[tuple[bytes, bytes]] = []
    for one in strangers:
        if (old := next((other for other in one.others if other in stored), None)) is not None:
            renamed[stored.pop(old).id] = one.hash
        elif (old := next((other for other in one.others if other in buried), None)) is not None:
            buried.discard(old)
            reburied.append((old, one.hash))
    identity.rename(db, feed.user_id, feed.id, renamed)
    identity.rebury(db, feed.id, reburied)
