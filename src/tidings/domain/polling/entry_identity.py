"""Identifies a feed's entries by their URLs, for publishers whose ids are new in every document.

An entry is identified by the hash of its id (`formats.identity`) or, if the user chose so for the feed, by the hash of
its URL. An entry of a document has both; a stored entry has only the one under which it was stored. Each parsed entry
therefore comes with the other hashes under which it may have been stored before the user changed the setting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct

from tidings.content.cleaning import strip_tracking
from tidings.content.model import ParsedEntry, ParsedFeed
from tidings.content.rules import pipeline
from tidings.content.rules.budget import MAX_CHECK_S, RuleBudget
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.ingestion import feed_hosts

_WEB: Final = re.compile(r"https?://([^/?#]*)([^#]*)(#.*)?", re.DOTALL | re.IGNORECASE)
_DEFAULT_PORT: Final = re.compile(r":(?:80|443)?$")
# A fragment that AT Internet's tracker adds; many newspapers use it.
_TRACKING_FRAGMENT: Final = re.compile(r"xtor=.*", re.DOTALL | re.IGNORECASE)


class IdentifiedEntry(Struct, frozen=True):
    """entry: its `hash` is the one the feed uses. other_hashes: raw hashes it may be stored under, likeliest first."""

    entry: ParsedEntry
    other_hashes: tuple[bytes, ...] = ()

    @property
    def hash(self) -> bytes:
        return bytes.fromhex(self.entry.hash)


class StoredIdentity(Struct, frozen=True):
    """The columns of a stored entry that identify it."""

    id: int
    hash: bytes
    url: str
    title: str


def identify_entries(feed: Feed, document: ParsedFeed) -> list[IdentifiedEntry]:
    """Returns the entries of the document, in its order, each with its hashes."""
    entries = document.entries
    if not (feed.match_entries_by_url or feed.once_matched_by_url):
        return [IdentifiedEntry(entry, _to_bytes(document.other_hashes.get(entry.hash, ()))) for entry in entries]
    urls = [canonical_url(entry.url) for entry in entries]
    by_url = _url_hashes(entries, urls)
    candidates = [
        (entry.hash, *hashes, *document.other_hashes.get(entry.hash, ()))
        for entry, *hashes in zip(
            entries,
            by_url,
            _url_hashes(entries, _rewritten_urls(feed, entries)),
            _url_and_title_hashes(entries, urls),
            _sole_url_hashes(urls),
            strict=True,
        )
    ]
    chosen = by_url if feed.match_entries_by_url else [entry.hash for entry in entries]
    return [
        IdentifiedEntry(
            msgspec.structs.replace(entry, hash=hash_), _to_bytes(other for other in hashes if other != hash_)
        )
        for entry, hash_, hashes in zip(entries, chosen, candidates, strict=True)
    ]


def rehash_by_url(stored: Iterable[StoredIdentity]) -> dict[int, bytes]:
    """Returns the new hashes, by id, of a feed's stored entries, when its user chooses to identify them by URL.

    stored: the newest first. Of several copies of one entry only the newest gets the new hash.
    """
    known = [(entry, canonical_url(entry.url)) for entry in stored]
    titles: dict[str, set[str]] = {}
    for entry, url in known:
        titles.setdefault(url, set()).add(entry.title)
    taken = {entry.hash for entry, _ in known}
    hashes: dict[int, bytes] = {}
    for entry, url in known:
        if not url:
            continue
        hash_ = bytes.fromhex(_hash(url, entry.title if len(titles[url]) > 1 else ""))
        if hash_ not in taken:
            taken.add(hash_)
            hashes[entry.id] = hash_
    return hashes


def url_hash(url: str) -> bytes:
    """Returns the raw hash of an entry that is identified by this URL alone."""
    return bytes.fromhex(_hash(canonical_url(url)))


def canonical_url(url: str) -> str:
    """Returns the part of the URL by which entries are compared; "" if the URL is empty.

    Removed are the scheme, tracking parameters and a default port; the host is in lower case. The fragment stays
    unless it holds tracking parameters: pages that list releases, and routes of an application, differ only in it.
    """
    parts = _WEB.fullmatch(url)
    if parts is None:
        return url
    host, path, fragment = parts.groups()
    path = strip_tracking(path if path.startswith("/") else f"/{path}")
    kept = strip_tracking(f"?{fragment[1:]}")[1:] if fragment else ""
    if _TRACKING_FRAGMENT.fullmatch(kept):
        kept = ""
    return f"//{_DEFAULT_PORT.sub('', host).lower()}{path}{'#' if kept else ''}{kept}"


def _url_hashes(entries: Sequence[ParsedEntry], urls: Sequence[str]) -> list[str]:
    """Returns one hash for each entry, the first that tells it apart from the others of the document.

    It is the hash of the URL; of URL and title if several entries share the URL; of the id if they share both.
    """
    url_counts = Counter(urls)
    counts = Counter(zip(urls, (entry.title for entry in entries), strict=True))
    hashes = []
    for entry, url in zip(entries, urls, strict=True):
        if not url or counts[url, entry.title] > 1:
            hashes.append(entry.hash)
        else:
            hashes.append(_hash(url, entry.title if url_counts[url] > 1 else ""))
    return hashes


def _url_and_title_hashes(entries: Sequence[ParsedEntry], urls: Sequence[str]) -> list[str]:
    """Returns the hashes of entries that were stored when their document had other entries of the same URL."""
    return [_hash(url, entry.title) if url else "" for entry, url in zip(entries, urls, strict=True)]


def _sole_url_hashes(urls: Sequence[str]) -> list[str]:
    """Returns, for the oldest entry of each URL, its hash if it was stored when no other entry had this URL."""
    last = {url: position for position, url in enumerate(urls)}
    return [_hash(url) if url and last[url] == position else "" for position, url in enumerate(urls)]


def _rewritten_urls(feed: Feed, entries: Sequence[ParsedEntry]) -> list[str]:
    """Returns the canonical URLs of the entries after the feed's URL rewrite rules, as they are stored."""
    rules = pipeline.compile_rules(pipeline.RuleTexts(urlrewrite_rules=feed.urlrewrite_rules))
    hosts = feed_hosts(feed)
    stripped = (msgspec.structs.replace(entry, url=strip_tracking(entry.url, hosts=hosts)) for entry in entries)
    budget = RuleBudget(MAX_CHECK_S)
    return [canonical_url(pipeline.rewrite_url(entry, rules, budget.for_entry()).entry.url) for entry in stripped]


def _hash(url: str, title: str = "") -> str:
    # A canonical URL has no scheme, so that it differs from every id that is a URL.
    return sha256(f"{url}\n{title}".encode("utf-8", "replace")).hexdigest()


def _to_bytes(hashes: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(hash_) for hash_ in dict.fromkeys(hashes) if hash_)
