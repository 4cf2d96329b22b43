"""Turns the parsed items of a document into the entries of a feed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.times import Instant
from tidings.content.cleaning.depth_limits import MAX_CHARS
from tidings.content.dates.date_order import DateOrder, find_order, is_numeric
from tidings.content.formats.identity import EntryIdentity, entry_hashes
from tidings.content.formats.limits import MAX_ENTRIES, MAX_NAME_CHARS, limit_entry
from tidings.content.model import DocumentLimit, FeedFormat, ParsedEntry
from tidings.content.xml.namespaces import TagNames

AnyItem = TypeVar("AnyItem")


class FeedDefaults(Struct, frozen=True, kw_only=True):
    """Values of a feed that an entry without its own inherits."""

    names: TagNames
    format: FeedFormat
    url: str
    """The URL of the document."""
    declared_base: str
    """`xml:base` of the feed, "" if absent."""
    site_url: str
    author: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    now: Instant | None = None
    """The time of fetching."""
    date_order: DateOrder | None = None
    """The order of the numbers in its dates; None if they do not show it."""


def order_of_dates(
    items: Sequence[AnyItem], texts: Callable[[AnyItem], Iterable[str]], now: Instant | None
) -> DateOrder | None:
    """Return the order of the numbers in the dates of the items; None if they do not show it.

    texts: returns the dates of an item. Only documents with a numeric date among the first three items are searched.
    """
    if not any(is_numeric(each) for item in items[:3] for each in texts(item)):
        return None
    return find_order([each for item in items for each in texts(item)], now)


class UnhashedEntry(Struct, frozen=True):
    """An entry without its hash, which depends on the other entries of the document."""

    identity: EntryIdentity
    entry: ParsedEntry


class BuiltEntries(Struct, frozen=True):
    """The entries of a document, and what was left out."""

    entries: tuple[ParsedEntry, ...]
    """In document order."""
    other_hashes: dict[str, tuple[str, ...]]
    """Other hashes under which an entry may be stored, by its hash."""
    skipped: int
    """Number of unusable items."""
    limits_reached: frozenset[DocumentLimit]
    """Which of the limits on the number of entries and on the text of an entry were reached."""


def build_entries(items: Iterable[UnhashedEntry | None]) -> BuiltEntries:
    """Return the entries of the items; None stands for an unusable item, as does an item without any identity.

    Items after the first `MAX_ENTRIES` are ignored. Of repeated entries the first is kept, which is the newest in most
    feeds.
    """
    usable, skipped = [], 0
    rest = iter(items)
    for item in islice(rest, MAX_ENTRIES):
        if item is None:
            skipped += 1
        else:
            usable.append(item)
    entries: dict[str, ParsedEntry] = {}
    others: dict[str, tuple[str, ...]] = {}
    for item, hashes in zip(usable, entry_hashes([item.identity for item in usable]), strict=True):
        if not hashes.hash:
            skipped += 1
        elif hashes.hash not in entries:
            entries[hashes.hash] = limit_entry(replace(item.entry, hash=hashes.hash))
            if hashes.others:
                others[hashes.hash] = hashes.others
    reached = set()
    if any(True for _ in rest):
        reached.add(DocumentLimit.ENTRIES)
    if any(len(entry.content) > MAX_CHARS for entry in entries.values()):
        reached.add(DocumentLimit.TEXT)
    return BuiltEntries(tuple(entries.values()), others, skipped, frozenset(reached))


def unique_sorted(values: Iterable[str]) -> tuple[str, ...]:
    """Return the trimmed, distinct, non-empty values in code point order."""
    kept = {value.strip()[:MAX_NAME_CHARS] for value in values}
    kept.discard("")
    return tuple(sorted(kept)) if len(kept) > 1 else tuple(kept)
