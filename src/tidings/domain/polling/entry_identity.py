"""Telling a feed's entries apart by their addresses, for publishers whose ids are new in every document.

An entry is known by the hash of its id (`formats.identity`), or, where the user chose so, by that of its address. Both
are at hand for what a document says, of what is stored only the one it was stored under: so each entry comes with the
other hashes it may be stored under, from before the user chose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct

from tidings.domain.cleaning import strip_tracking
from tidings.domain.feeds.feeds import Feed, ParsedEntry, ParsedFeed
from tidings.domain.polling.ingestion import hosts_of
from tidings.domain.rules import pipeline

_WEB: Final = re.compile(r"https?://([^/?#]*)([^#]*)(#.*)?", re.DOTALL | re.IGNORECASE)
_USUAL_PORT: Final = re.compile(r":(?:80|443)?$")
# Behind the number sign; AT Internet's tracker, which newspapers put there.
_TRACKING_FRAGMENT: Final = re.compile(r"xtor=.*", re.DOTALL | re.IGNORECASE)


class Identified(Struct, frozen=True):
    """entry: with the hash its feed knows it by. others: raw hashes it may be stored under, the likeliest first."""

    entry: ParsedEntry
    others: tuple[bytes, ...] = ()

    @property
    def hash(self) -> bytes:
        return bytes.fromhex(self.entry.hash)


class Stored(Struct, frozen=True):
    """An entry as far as it is about its identity."""

    id: int
    hash: bytes
    url: str
    title: str


def identified(feed: Feed, document: ParsedFeed) -> list[Identified]:
    """The entries of the document, in its order."""
    entries = document.entries
    if not (feed.match_entries_by_url or feed.once_matched_by_url):
        return [Identified(entry) for entry in entries]
    addresses = [canonical(entry.url) for entry in entries]
    by_address = _hashes(entries, addresses)
    others = [
        (entry.hash, *guesses)
        for entry, *guesses in zip(
            entries,
            by_address,
            _hashes(entries, _as_stored(feed, entries)),
            _by_title(entries, addresses),
            _of_the_oldest(addresses),
            strict=True,
        )
    ]
    chosen = by_address if feed.match_entries_by_url else [entry.hash for entry in entries]
    return [
        Identified(msgspec.structs.replace(entry, hash=hash_), _raw(other for other in guesses if other != hash_))
        for entry, hash_, guesses in zip(entries, chosen, others, strict=True)
    ]


def renewed(stored: Iterable[Stored]) -> dict[int, bytes]:
    """New hashes by id for what a feed has stored, when its user chooses addresses.

    stored: the newest first. Of several copies of one entry the newest is the one that goes on.
    """
    known = [(one, canonical(one.url)) for one in stored]
    titles: dict[str, set[str]] = {}
    for one, address in known:
        titles.setdefault(address, set()).add(one.title)
    taken = {one.hash for one, _ in known}
    found: dict[int, bytes] = {}
    for one, address in known:
        if not address:
            continue
        hash_ = bytes.fromhex(_hash(address, one.title if len(titles[address]) > 1 else ""))
        if hash_ not in taken:
            taken.add(hash_)
            found[one.id] = hash_
    return found


def hash_of_address(url: str) -> bytes:
    return bytes.fromhex(_hash(canonical(url)))


def canonical(url: str) -> str:
    """What tells an address apart: "" when there is none.

    Without its scheme, tracking parameters, the port nobody has to write, and upper case in the host. The fragment
    stays unless it tracks: pages that list releases, or routes of an application, have nothing else to tell.
    """
    parts = _WEB.fullmatch(url)
    if parts is None:
        return url
    host, path, fragment = parts.groups()
    path = strip_tracking(path if path.startswith("/") else f"/{path}")
    kept = strip_tracking(f"?{fragment[1:]}")[1:] if fragment else ""
    if _TRACKING_FRAGMENT.fullmatch(kept):
        kept = ""
    return f"//{_USUAL_PORT.sub('', host).lower()}{path}{'#' if kept else ''}{kept}"


def _hashes(entries: Sequence[ParsedEntry], addresses: Sequence[str]) -> list[str]:
    """Of the address; of address and title where others have the same address; of the id where that says no more."""
    shared = Counter(addresses)
    says = Counter(zip(addresses, (entry.title for entry in entries), strict=True))
    found = []
    for entry, address in zip(entries, addresses, strict=True):
        if not address or says[address, entry.title] > 1:
            found.append(entry.hash)
        else:
            found.append(_hash(address, entry.title if shared[address] > 1 else ""))
    return found


def _by_title(entries: Sequence[ParsedEntry], addresses: Sequence[str]) -> list[str]:
    """As they are stored when others of the same address came in with them."""
    return [_hash(address, entry.title) if address else "" for entry, address in zip(entries, addresses, strict=True)]


def _of_the_oldest(addresses: Sequence[str]) -> list[str]:
    """Of several with one address, the oldest may have come when it had the address for itself."""
    last = {address: place for place, address in enumerate(addresses)}
    return [_hash(address) if address and last[address] == place else "" for place, address in enumerate(addresses)]


def _as_stored(feed: Feed, entries: Sequence[ParsedEntry]) -> list[str]:
    """The addresses that the feed's rules make of those of the publisher."""
    rules = pipeline.compile_rules(pipeline.RuleTexts(urlrewrite_rules=feed.urlrewrite_rules))
    hosts = hosts_of(feed)
    stripped = (msgspec.structs.replace(entry, url=strip_tracking(entry.url, hosts=hosts)) for entry in entries)
    return [canonical(pipeline.rewrite_url(entry, rules).entry.url) for entry in stripped]


def _hash(address: str, title: str = "") -> str:
    # An address without its scheme: no id looks like it.
    return sha256(f"{address}\n{title}".encode("utf-8", "replace")).hexdigest()


def _raw(hashes: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(one) for one in dict.fromkeys(hashes) if one)
