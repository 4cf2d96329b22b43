"""What a parsed document changes in a feed, by comparison with the feed's stored entries. Everything here is pure.

document ─► identify_entries ─► (look up what is known) ─► diff_entries ─► FeedUpdate of parsed entries

An entry is identified by the hash of its id (`formats.entry_builder`) or, if the user chose so for a feed whose
publisher puts new ids into every document, by the hash of its URL. An entry of a document has both hashes; a stored
entry only has the one under which it was stored. An identified entry therefore comes with other hashes, under which it
may have been stored before the user changed the setting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Generic, TypeVar
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.times import SECOND, Instant
from tidings.content.model import ParsedEntry, ParsedFeed
from tidings.content.rules import pipeline
from tidings.content.rules.evaluation import MAX_CHECK_S, RuleBudget
from tidings.content.urls import strip_tracking
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import OLD_ENTRY_AGE
from tidings.domain.feeds.feeds import WORSE_PAGES, Feed
from tidings.domain.polling.entry_policy import feed_hosts, fingerprint
from tidings.domain.polling.shared_sources import SourceLease

_WEB: Final = re.compile(r"https?://([^/?#]*)([^#]*)(#.*)?", re.DOTALL | re.IGNORECASE)
_DEFAULT_PORT: Final = re.compile(r":(?:80|443)?$")
# A fragment that AT Internet's tracker adds; many newspapers use it.
_TRACKING_FRAGMENT: Final = re.compile(r"xtor=.*", re.DOTALL | re.IGNORECASE)

# Parameters that number a visit, and the one that Java servers write into the path.
_SESSION: Final = re.compile(
    r"(?:phpsessid|jsessionid|aspsessionid\w*|oscsid|zenid|cfid|cftoken|sid|sess|session_?(?:id)?)=", re.IGNORECASE
)
_PATH_SESSION: Final = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?;]*", re.IGNORECASE)

EntryT = TypeVar("EntryT")


class KnownEntries(Struct, frozen=True):
    """What a feed has of the hashes that were looked up."""

    ids: Mapping[bytes, int]
    """Ids of stored entries by hash."""
    fingerprints: Mapping[bytes, bytes | None]
    """The same entries' fingerprints, as published when they were last written."""
    deleted: frozenset[bytes]
    """Hashes of deleted entries, which must not be stored again."""
    same_date: Sequence[StoredEntry] = ()
    """Stored entries with the dates of entries of the document that are not known by a hash."""

    def __bool__(self) -> bool:
        """Whether the feed has any of the hashes."""
        return bool(self.ids or self.deleted)

    def __contains__(self, hash_: bytes) -> bool:
        return hash_ in self.ids or hash_ in self.deleted

    def __or__(self, other: KnownEntries) -> KnownEntries:
        """Return the result of both look-ups."""
        return KnownEntries(
            {**self.ids, **other.ids},
            {**self.fingerprints, **other.fingerprints},
            self.deleted | other.deleted,
            (*self.same_date, *other.same_date),
        )


class FeedUpdate(Struct, Generic[EntryT], frozen=True, kw_only=True):
    """The update of one feed by a document: decided with parsed entries, then prepared with entries ready to be stored.

    It is written in one transaction. Entries come oldest first.
    """

    user: User
    feed: Feed
    """The feed as it was at the look-up."""
    now: Instant
    """When the document was parsed."""
    lease: SourceLease | None = None
    """The check's lease; None for a push and for a new feed, which have no check."""
    columns: Mapping[str, Any] = {}
    """New values of the feed's columns."""
    undated_at: Instant | None = None
    """The date of new entries that come without one; None for `now`."""
    new: Mapping[bytes, EntryT] = {}
    """New entries by hash."""
    changed: Mapping[int, EntryT] = {}
    """Changed entries by the id of the stored one."""
    deleted: frozenset[bytes] = frozenset()
    """Hashes of deleted entries that the document still holds."""
    renamed: Mapping[int, bytes] = {}
    """New hashes, by id, of entries stored under another hash."""
    renamed_deleted: Sequence[tuple[bytes, bytes]] = ()
    """Old and new hashes of deleted entries."""
    rule_errors: Sequence[str] = ()
    """Rules that could not be applied, each with the reason."""
    skipped: int = 0
    """Number of items that could not be parsed."""
    worse_pages: int | None = None
    """Number of new entries whose pages have far less text than the feed; None if no page was fetched."""

    def with_page_note(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return columns of the feed in which `limits_reached` says whether pages have far less text than the feed.

        A noted value stays until pages are fetched again.
        """
        noted = dict(columns)
        words = set(str(noted.get("limits_reached", "")).split())
        if self.worse_pages:
            noted["limits_reached"] = " ".join(sorted(words | {WORSE_PAGES}))
        elif self.worse_pages is None and self.feed.crawler and not words:
            noted.pop("limits_reached", None)
        return noted


class StoredEntry(Struct, frozen=True):
    """The columns of a stored entry by which it is recognised under a new id."""

    id: int
    feed_id: int
    hash: bytes
    fingerprint: bytes | None
    url: str
    title: str
    published_at: Instant


class StoredIdentity(Struct, frozen=True):
    """The columns of a stored entry that identify it."""

    id: int
    hash: bytes
    url: str
    title: str


def other_hashes(document: ParsedFeed, entry: ParsedEntry) -> list[bytes]:
    """Return the raw hashes under which an entry of the document may be stored besides its own, likeliest first."""
    return [bytes.fromhex(hash_) for hash_ in document.other_hashes.get(entry.hash, ())]


def identify_entries(feed: Feed, document: ParsedFeed) -> ParsedFeed:
    """Return the document with its entries, in its order, under the hashes by which the feed identifies them."""
    if not (feed.match_entries_by_url or feed.once_matched_by_url):
        return document
    entries = document.entries
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
    return replace(
        document,
        entries=tuple(replace(entry, hash=hash_) for entry, hash_ in zip(entries, chosen, strict=True)),
        other_hashes={
            hash_: tuple(dict.fromkeys(other for other in hashes if other not in ("", hash_)))
            for hash_, hashes in zip(chosen, candidates, strict=True)
        },
    )


def diff_entries(
    user: User, feed: Feed, document: ParsedFeed, known: KnownEntries, *, now: Instant
) -> FeedUpdate[ParsedEntry]:
    """Return which entries of a document are new or changed in a feed of the user.

    document: as `identify_entries` returns it; its oldest entry comes last. known: looked up by all of its hashes.
    """
    renamed, renamed_deleted = _find_renamed(document, known) if document.other_hashes and known else ({}, {})
    if known.same_date:
        moved = find_moved(document, known, renamed)
        renamed = {**renamed, **{hash_: stored.hash for hash_, stored in moved.items()}}
        known |= KnownEntries(
            {stored.hash: stored.id for stored in moved.values()},
            {stored.hash: stored.fingerprint for stored in moved.values()},
            frozenset(),
        )
    new: dict[bytes, ParsedEntry] = {}
    changed: dict[int, ParsedEntry] = {}
    deleted = set()
    is_updated = not (feed.ignore_entry_updates or feed.crawler)
    for hash_, entry in reversed(document.hashed_entries):
        stored_as = renamed.get(hash_, hash_)
        if (id_ := known.ids.get(stored_as)) is not None:
            if is_updated and known.fingerprints[stored_as] != fingerprint(entry):
                changed[id_] = entry
        elif renamed_deleted.get(hash_, hash_) in known.deleted:
            deleted.add(hash_)
        else:
            new[hash_] = entry
    is_first = feed.news_at is None and not known.ids
    return FeedUpdate(
        user=user,
        feed=feed,
        now=now,
        undated_at=first_date(document.entries, now) if is_first else None,
        new=new,
        changed=changed,
        deleted=frozenset(deleted),
        renamed={known.ids[old]: hash_ for hash_, old in renamed.items()},
        renamed_deleted=[(old, hash_) for hash_, old in renamed_deleted.items()],
    )


def first_date(entries: Iterable[ParsedEntry], now: Instant) -> Instant:
    """Return the date of entries without one when their feed is read for the first time.

    Nobody knows how old they are, but few are new: they come after the feed's other entries, and are old for pages that
    offer to mark old entries read. Otherwise they would come before all that feeds of an import have published today.
    """
    dates = [entry.published_at for entry in entries if entry.published_at is not None]
    oldest = min((*dates, Instant(now - OLD_ENTRY_AGE)))
    # Whole seconds before now: see `is_undated`.
    return Instant(now - ((now - oldest) // SECOND + 1) * SECOND)


def is_undated(published_at: Instant, created_at: Instant) -> bool:
    """Return whether an entry that was stored from a document came without a date.

    It has the time at which it was read, or `first_date`, which has the same microseconds. Dates of publishers are
    whole seconds.
    """
    return (created_at - published_at) % SECOND == 0


def dates_of_unknown(document: ParsedFeed, known: KnownEntries) -> set[Instant]:
    """Return the dates of the entries of a document that are not known by any of their hashes."""
    return {
        entry.published_at
        for hash_, entry in document.hashed_entries
        if entry.published_at is not None
        and hash_ not in known
        and not any(other in known for other in other_hashes(document, entry))
    }


def find_moved(document: ParsedFeed, known: KnownEntries, renamed: Mapping[bytes, bytes]) -> dict[bytes, StoredEntry]:
    """Return the stored entries that are in the document under ids that nothing connects with them, by the new hash.

    This happens when a site moves to another system. Such an entry has the title, the date and the link of a stored one
    that has left the document. renamed: old hashes by new, of entries that are known otherwise.
    """
    present = {hash_ for hash_, _ in document.hashed_entries} | set(renamed.values())
    gone: dict[tuple[str, str, Instant], list[StoredEntry]] = {}
    for stored in sorted(known.same_date, key=lambda stored: stored.id, reverse=True):
        if stored.hash not in present and stored.url:
            key = (loose_url(stored.url), stored.title.strip(), stored.published_at)
            gone.setdefault(key, []).append(stored)
    moved: dict[bytes, StoredEntry] = {}
    for hash_, entry in reversed(document.hashed_entries) if gone else ():
        if entry.published_at is None or hash_ in known or hash_ in renamed or hash_ in moved:
            continue
        # Several entries that share everything keep their order: the oldest was stored first.
        if stored_ones := gone.get((loose_url(entry.url), entry.title.strip(), entry.published_at)):
            moved[hash_] = stored_ones.pop()
    return moved


def _find_renamed(document: ParsedFeed, known: KnownEntries) -> tuple[Mapping[bytes, bytes], Mapping[bytes, bytes]]:
    """Return, for stored and for deleted entries that the feed has under another hash, that old hash by the new."""
    # The hash of another entry of the document belongs to that entry.
    taken = {hash_ for hash_, _ in document.hashed_entries}
    renamed: dict[bytes, bytes] = {}
    renamed_deleted: dict[bytes, bytes] = {}
    unknown = [
        (entry, hash_, others)
        for hash_, entry in reversed(document.hashed_entries)
        if hash_ not in known and (others := other_hashes(document, entry))
    ]
    # Of several entries that may be the stored one, it is the unchanged one, else the oldest.
    for _, hash_, others in sorted(unknown, key=lambda one: not _is_unchanged(one[0], one[2], known)):
        free = [other for other in others if other not in taken]
        if (old := next((other for other in free if other in known.ids), None)) is not None:
            renamed[hash_] = old
        elif (old := next((other for other in free if other in known.deleted), None)) is not None:
            renamed_deleted[hash_] = old
        else:
            continue
        taken.add(old)
    return renamed, renamed_deleted


def _is_unchanged(entry: ParsedEntry, others: Sequence[bytes], known: KnownEntries) -> bool:
    stored = [known.fingerprints[other] for other in others if other in known.ids]
    return bool(stored) and fingerprint(entry) in stored


def rehash_by_url(stored: Iterable[StoredIdentity]) -> dict[int, bytes]:
    """Return the new hashes, by id, of a feed's stored entries, when its user chooses to identify them by URL.

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
    """Return the raw hash of an entry that is identified by this URL alone."""
    return bytes.fromhex(_hash(canonical_url(url)))


def canonical_url(url: str) -> str:
    """Return the part of the URL by which entries are compared; "" if the URL is empty.

    Without the scheme, tracking parameters and a default port, and with the host in lower case. The fragment stays
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


def loose_url(url: str) -> str:
    """Return the part of the URL that a site keeps when it moves to another system.

    Besides what `canonical_url` leaves out, that is the URL without `www.`, percent-encoding, session parameters,
    fragment and a slash at the end. It only compares entries whose title and date are equal.
    """
    address = canonical_url(url).partition("#")[0]
    host, slash, path = address.removeprefix("//").removeprefix("www.").partition("/")
    path, mark, query = _PATH_SESSION.sub("", path).partition("?")
    query = "&".join(each for each in query.split("&") if each and not _SESSION.match(each)) if mark else ""
    return f"{host}{slash and '/'}{unquote(path).rstrip('/')}{query and '?'}{unquote(query)}"


def _url_hashes(entries: Sequence[ParsedEntry], urls: Sequence[str]) -> list[str]:
    """Return one hash for each entry, the first that tells it apart from the others of the document.

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
    """Return the hashes of entries that were stored when their document had other entries of the same URL."""
    return [_hash(url, entry.title) if url else "" for entry, url in zip(entries, urls, strict=True)]


def _sole_url_hashes(urls: Sequence[str]) -> list[str]:
    """Returns, for the oldest entry of each URL, its hash if it was stored when no other entry had this URL."""
    last = {url: position for position, url in enumerate(urls)}
    return [_hash(url) if url and last[url] == position else "" for position, url in enumerate(urls)]


def _rewritten_urls(feed: Feed, entries: Sequence[ParsedEntry]) -> list[str]:
    """Return the canonical URLs of the entries after the feed's URL rewrite rules, as they are stored."""
    rules = pipeline.compile_rules(pipeline.RuleTexts(urlrewrite_rules=feed.urlrewrite_rules))
    hosts = feed_hosts(feed)
    stripped = (replace(entry, url=strip_tracking(entry.url, hosts=hosts)) for entry in entries)
    budget = RuleBudget(MAX_CHECK_S)
    return [canonical_url(pipeline.rewrite_url(entry, rules, budget.for_entry()).entry.url) for entry in stripped]


def _hash(url: str, title: str = "") -> str:
    # A canonical URL has no scheme, so that it differs from every id that is a URL.
    return sha256(f"{url}\n{title}".encode("utf-8", "replace")).hexdigest()
