"""Decides which entry of another feed an entry repeats.

entry ─► same address, same id on the same host, or same title and text ─► the earliest such entry ─► its original
      └► its page names the address of another entry                    ─► that entry ─► its original

A page may name any address, even another site's. So what it names can fold its own entry only, under the entry that has
that address in its feed; it never folds another one, and its entry never takes the other's place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct

from tidings.base.times import DAY, Instant
from tidings.content.duplicates import (
    canonical_address,
    digest,
    host_of_article,
    is_same_text,
    place_on_page,
    title_key,
)

# How far apart the same text may be published.
MAX_AGE = 7 * DAY
# So many entries with the same title are compared by their texts.
MAX_TEXTS = 5


class Keys(Struct, frozen=True):
    """What an entry is looked up by. None matches nothing."""

    address: int | None
    identity: int | None
    title: int | None
    page: int | None = None
    """What the entry's page says its address is, where that is another one."""


class Candidate(Struct, frozen=True):
    """An entry that may repeat another one, or be repeated."""

    id: int
    feed_id: int
    status: int
    url: str
    hash: bytes
    title: str
    language: str
    published_at: Instant
    starred: bool
    original_id: int | None
    """The entry that this one repeats."""
    is_kept: bool
    """Whether it is starred, shared or labelled: then it stays where it is."""
    page: int | None = None
    """Digest of the address of its page, if that was fetched and is not the entry's."""
    is_by_page: bool = False
    """Whether only its page says that it repeats the other one."""


def keys_of(entry: Candidate) -> Keys:
    """Return the keys of an entry."""
    address, host, title = canonical_address(entry.url), host_of_article(entry.url), title_key(entry.title)
    return Keys(
        digest(address) if address else None,
        digest(f"{host}\n{entry.hash.hex()}") if host else None,
        digest(title) if title else None,
        entry.page,
    )


class Finder:
    """Finds what entries repeat, among candidates with one of their keys.

    candidates: with the entries themselves. known: keys by entry id, of those that have been computed.
    """

    def __init__(self, candidates: Iterable[Candidate], known: Mapping[int, Keys] = MappingProxyType({})) -> None:
        self._keys: dict[int, Keys] = {}
        self._by_address: dict[int, list[Candidate]] = {}
        self._by_identity: dict[int, list[Candidate]] = {}
        self._by_title: dict[int, list[Candidate]] = {}
        self._by_page: dict[int, list[Candidate]] = {}
        for one in sorted(candidates, key=lambda one: one.id):
            keys = self._keys[one.id] = known.get(one.id) or keys_of(one)
            for key, table in (
                (keys.address, self._by_address),
                (keys.identity, self._by_identity),
                (keys.title, self._by_title),
                (keys.page, self._by_page),
            ):
                if key is not None:
                    table.setdefault(key, []).append(one)

    def texts_to_compare(self, entry: Candidate) -> list[int]:
        """Return the entries whose texts decide, with the entry itself; [] if none do."""
        found = [one.id for one in self._same_title(entry)]
        return [entry.id, *found] if found else []

    def repeated_by(self, entry: Candidate, texts: Mapping[int, str]) -> list[Candidate]:
        """Return the earlier entries that an entry repeats, the earliest first. texts: plain, by entry id."""
        found = {one.id: one for one in (*self._same_link(entry), *self._same_identity(entry))}
        text = texts.get(entry.id, "")
        for one in self._same_title(entry):
            if one.id not in found and is_same_text(text, texts.get(one.id, "")):
                found[one.id] = one
        return [found[id_] for id_ in sorted(found)]

    def named_by(self, entry: Candidate) -> list[Candidate]:
        """Return the earlier entries whose address an entry's page names as its own, the earliest first."""
        others = _earlier(entry, self._by_address.get(self._keys[entry.id].page or 0, ()))
        return [one for one in others if self._names(entry, one)]

    def naming(self, entry: Candidate) -> list[Candidate]:
        """Return the earlier entries whose pages name an entry's address as their own, the earliest first."""
        others = _earlier(entry, self._by_page.get(self._keys[entry.id].address or 0, ()))
        return [one for one in others if self._names(one, entry)]

    def _names(self, entry: Candidate, other: Candidate) -> bool:
        """Return whether it is an article's address that a page names, and not what several entries lead to."""
        alike = (
            (entry.feed_id, self._by_page.get(self._keys[entry.id].page or 0, ())),
            (other.feed_id, self._by_address.get(self._keys[other.id].address or 0, ())),
        )
        is_one_each = all(sum(one.feed_id == feed_id for one in ones) == 1 for feed_id, ones in alike)
        return is_one_each and not place_on_page(other.url)

    def _same_link(self, entry: Candidate) -> list[Candidate]:
        found = [
            one for one in self._by_address.get(self._keys[entry.id].address or 0, ()) if self._leads_to(entry, one)
        ]
        # An address that a feed gives to several entries is not the address of one article.
        counts = Counter(one.feed_id for one in found)
        return [
            one
            for one in _earlier(entry, found)
            if counts[entry.feed_id] == counts[one.feed_id] == 1
            or (self._has_same_title(entry, one) and one.published_at == entry.published_at)
        ]

    def _leads_to(self, entry: Candidate, other: Candidate) -> bool:
        """Return whether two entries with the same address lead to the same place: not an article and its comment."""
        places = place_on_page(entry.url), place_on_page(other.url)
        return places[0] == places[1] or ("" in places and self._has_same_title(entry, other))

    def _same_identity(self, entry: Candidate) -> list[Candidate]:
        """An id may be a number, which another feed of the host has as well: title or date is the same, too."""
        return [
            one
            for one in _earlier(entry, self._by_identity.get(self._keys[entry.id].identity or 0, ()))
            if self._has_same_title(entry, one) or one.published_at == entry.published_at
        ]

    def _same_title(self, entry: Candidate) -> list[Candidate]:
        found = [
            one
            for one in _earlier(entry, self._by_title.get(self._keys[entry.id].title or 0, ()))
            if abs(one.published_at - entry.published_at) <= MAX_AGE and _is_same_language(entry, one)
        ]
        return found[-MAX_TEXTS:]

    def _has_same_title(self, first: Candidate, second: Candidate) -> bool:
        title = self._keys[first.id].title
        return title is not None and title == self._keys[second.id].title


def _earlier(entry: Candidate, others: Iterable[Candidate]) -> list[Candidate]:
    return [one for one in others if one.id < entry.id and one.feed_id != entry.feed_id]


def _is_same_language(first: Candidate, second: Candidate) -> bool:
    """Return whether two entries are in the same language, as far as it is known."""
    codes = {one.language.partition("-")[0].casefold() for one in (first, second) if one.language}
    return len(codes) < 2
