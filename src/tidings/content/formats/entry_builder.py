"""Turns the parsed items of a document into the entries of a feed: recognizable, dated, within limits.

An entry is recognized at the next poll by its hash: SHA-256 of the publisher's id, else of the link, else of the
entry's text, as in Miniflux, so that a moved database keeps its state. Where Miniflux's hash would differ, or where the
entry may have been stored under another one, that hash is among the entry's other hashes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import islice
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.times import Instant
from tidings.content.cleaning.sanitize import MAX_CHARS
from tidings.content.dates import DateOrder, find_order, is_numeric
from tidings.content.model import DocumentLimit, FeedFormat, ParsedEntry
from tidings.content.urls import strip_tracking
from tidings.content.xml.elements import TagNames

# Hashes

_WEB: Final = ("http://", "https://")


class EntryIdentity(Struct, frozen=True):
    """What distinguishes an entry from the others of its feed.

    id, link and date are as the publisher wrote them.
    """

    id: str = ""
    link: str = ""
    url: str = ""
    """The resolved link, which distinguishes entries that share an id."""
    texts: tuple[str, ...] = ()
    """Title and content."""
    date: str = ""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def is_empty(self) -> bool:
        """True if nothing distinguishes the entry."""
        return not (self.id or self.link or any(self.texts) or self.date)


class EntryHashes(Struct, frozen=True):
    """The hashes that identify an entry."""

    hash: str
    """The preferred hash; "" for an entry without identity."""
    others: tuple[str, ...] = ()
    """Other hashes under which it may be stored, the likeliest first."""


def entry_hashes(identities: Sequence[EntryIdentity]) -> list[EntryHashes]:
    """Return the hashes of each entry, in order. Equal hashes mean a repeated entry.

    An id, and the link of an entry without one, counts without surrounding blanks and tracking parameters; with `http`
    and with `https` it is the same. If entries share an id, the hash of each includes its URL; its text as well if
    they share that too. If entries without an id share a link (often the home page), each hash includes the entry's
    text. If entries have neither id nor link and the same text, the hashes of the later ones include their date.
    """
    ids = [_without_tracking(each.id) for each in identities]
    links = ["" if id_ else _without_tracking(each.link) for id_, each in zip(ids, identities, strict=True)]
    counts = Counter(ids)
    repeated = zip(ids, identities, strict=True) if len(counts) < len(ids) else ()
    different = {(id_, each.url, each.text) for id_, each in repeated if id_ and counts[id_] > 1}
    shared = _Shared(
        ids=Counter(id_ for id_, _, _ in different),
        urls=Counter((id_, url) for id_, url, _ in different),
        links=Counter(links),
    )
    seen: set[str] = set()
    return [
        _hashes_by_id(id_, each, shared)
        if id_
        else _hashes_by_link(link, each, shared)
        if link
        else EntryHashes(_hash(_key_by_text(each, seen)))
        for id_, link, each in zip(ids, links, identities, strict=True)
    ]


def id_hashes(id_: str, link: str) -> list[bytes]:
    """Return the raw hashes under which a feed may have the entry with this id or, without one, this link.

    The first is the one for a new entry.
    """
    (hashes,) = entry_hashes([EntryIdentity(id=id_, link=link, url=link)])
    return [bytes.fromhex(hash_) for hash_ in (hashes.hash, *hashes.others)]


class _Shared(Struct, frozen=True):
    """Numbers of distinct entries with the same id, with the same id and URL, and without an id with the same link."""

    ids: Counter[str]
    urls: Counter[tuple[str, str]]
    links: Counter[str]


def _without_tracking(address: str) -> str:
    address = address.strip()
    has_parameters = address.startswith(_WEB) and ("?" in address or "#" in address)
    return strip_tracking(address) if has_parameters else address


def _hashes_by_id(id_: str, identity: EntryIdentity, shared: _Shared) -> EntryHashes:
    url = identity.url
    keys = [
        [id_, identity.id, identity.id.strip(), _other_scheme(id_)],
        [f"{id_}|{url}", f"{identity.id}|{url}"],
    ]
    if shared.ids[id_] <= 1:
        # Hashing the text of every entry too takes nearly as long as parsing the document.
        return _hashes(keys, 0)
    keys.append([f"{id_}|{url}|{identity.text}"])
    return _hashes(keys, 1 if shared.urls[id_, url] <= 1 else 2)


def _hashes_by_link(link: str, identity: EntryIdentity, shared: _Shared) -> EntryHashes:
    text = identity.text
    keys = [
        [link, identity.link, _other_scheme(link)],
        [f"{link}|{text}", f"{identity.link}|{text}"],
    ]
    return _hashes(keys, 0 if shared.links[link] <= 1 else 1)


def _hashes(keys: Sequence[Sequence[str]], level: int) -> EntryHashes:
    """Return the hash of the first key of a level, and the hashes of all others.

    keys: what identifies the entry, the shortest first. It is stored under a key of another level if it shared less or
    more with other entries of the document then.
    """
    nearest = (keys[level], *reversed(keys[:level]), *keys[level + 1 :])
    key, *others = dict.fromkeys(key for same_length in nearest for key in same_length if key)
    return EntryHashes(_hash(key), tuple(map(_hash, others)))


def _other_scheme(address: str) -> str:
    """Return the address with `http` instead of `https` or the reverse, "" if it has neither."""
    if not address.startswith(_WEB):
        return ""
    scheme, _, rest = address.partition(":")
    return f"{'http' if scheme == 'https' else 'https'}:{rest}"


def _key_by_text(identity: EntryIdentity, seen: set[str]) -> str:
    """Return the text to hash. seen: the texts of the entries before it."""
    key = identity.text or identity.date or identity.url
    if key not in seen:
        seen.add(key)
        return key
    return f"{key}|{identity.date}"


def _hash(key: str) -> str:
    return sha256(key.encode("utf-8", "replace")).hexdigest() if key else ""


# Entries

MAX_ENTRIES: Final = 10_000
MAX_TAGS: Final = 1_000
# Tags of the feed are copied to each of its entries.
MAX_INHERITED_TAGS: Final = 50
MAX_ENCLOSURES: Final = 1_000
# Characters.
MAX_TITLE_CHARS: Final = 5_000
MAX_NAME_CHARS: Final = 500

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


def limit_entry(entry: ParsedEntry) -> ParsedEntry:
    """Return the entry with title, author and tags cut to their limits."""
    if len(entry.title) <= MAX_TITLE_CHARS and len(entry.author) <= MAX_NAME_CHARS and len(entry.tags) <= MAX_TAGS:
        return entry
    return replace(
        entry, title=entry.title[:MAX_TITLE_CHARS], author=entry.author[:MAX_NAME_CHARS], tags=entry.tags[:MAX_TAGS]
    )
