"""Documents without what their feed has already: texts of entries that are as they were are not read again.

cut ─► what was each text read as, the last time? ─► does the feed have it so? ─► read what is left ─► remember
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tidings.domain.errors import FeedError
from tidings.domain.feeds import Feed, ParsedFeed
from tidings.domain.formats.pieces import Cut, Known, cut, packed, remembered
from tidings.domain.times import Instant
from tidings.net.fetch import FetchResponse
from tidings.services import intake
from tidings.services.timing import habit_of
from tidings.storage import intake as entry_intake
from tidings.storage import pieces
from tidings.storage.database import Database
from tidings.storage.intake import Met


class Shortened(Struct, frozen=True):
    """A document, and what need not be read of it. known: by digest of the text. buried: hashes among those."""

    document: Cut
    known: Mapping[bytes, Known] = {}
    buried: frozenset[bytes] = frozenset()

    def read(self, response: FetchResponse, now: Instant) -> ParsedFeed | None:
        """The feed, with those entries only that are not known. None when the document has to be read whole."""
        rest = self.document.without(self.known)
        if rest is None:
            return None
        try:
            found = intake.parse(replace(response, body=rest), now)
        except FeedError:
            return None
        own = {one.hash for one in self.known.values()}
        return found if self._is_all_of(found) and own.isdisjoint(_hashes(found)) else None

    def to_remember(self, read: ParsedFeed, prints: Mapping[bytes, bytes]) -> bytes | None:
        """Packed, for the next document. prints: of entries that the feed has from now on, by hash."""
        if not self._is_all_of(read):
            return None
        left = [piece.digest for piece in self.document.pieces if piece.digest not in self.known]
        found = zip(left, _hashes(read), strict=True)
        new = {digest: Known.of(hash_, prints[hash_]) for digest, hash_ in found if hash_ in prints}
        return packed(self.document, {**self.known, **new})

    def _is_all_of(self, read: ParsedFeed) -> bool:
        """Whether each text that was not left out was read as one entry, whatever the others are."""
        left = len(self.document.pieces) - len(self.known)
        return read.is_plain and not read.skipped and len(read.entries) == left


def shortened(database: Database, asked: Sequence[tuple[int, Feed, FetchResponse] | None]) -> list[Shortened | None]:
    """For each of them, in the same order. asked: the source's id, the only feed that shows it, what was answered."""
    found = {place: (*one, document) for place, one in enumerate(asked) if one and (document := _cut(*one[1:]))}
    if not found:
        return [None] * len(asked)
    with database.reading() as db:
        kept = pieces.some(db, {source_id for source_id, *_ in found.values()})
        known = {place: _still_there(document, kept.get(id_)) for place, (id_, _, _, document) in found.items()}
        hashes: defaultdict[int, set[bytes]] = defaultdict(set)
        for place, (_, feed, _, _) in found.items():
            hashes[feed.id].update(one.hash for one in known[place].values())
        met = entry_intake.met(db, hashes)
    made = {
        place: _leaving_out(document, known[place], feed, met[feed.id])
        for place, (_, feed, _, document) in found.items()
    }
    return [made.get(place) for place in range(len(asked))]


def _cut(feed: Feed, response: FetchResponse) -> Cut | None:
    """Not for a feed that sees to entries whether or not they have changed, or tells them apart in a way of its own."""
    if feed.crawler or feed.ignore_entry_updates or feed.match_entries_by_url or feed.once_matched_by_url:
        return None
    return cut(response.body, url=response.url, charset=response.charset)


def _still_there(document: Cut, kept: bytes | None) -> dict[bytes, Known]:
    before = remembered(kept, document)
    return {piece.digest: before[piece.digest] for piece in document.pieces if piece.digest in before}


def _leaving_out(document: Cut, known: Mapping[bytes, Known], feed: Feed, met: Met) -> Shortened:
    """What the feed has just so, or may not have again. A feed whose habits are not known has to be read whole."""
    if not habit_of(feed).is_known:
        return Shortened(document)
    same = {digest: one for digest, one in known.items() if one.hash in met.buried or _has(met, one)}
    return Shortened(document, same, frozenset(one.hash for one in same.values() if one.hash in met.buried))


def _has(met: Met, one: Known) -> bool:
    present = met.known.get(one.hash)
    return present is not None and one.is_that_of(present.fingerprint)


def _hashes(feed: ParsedFeed) -> Sequence[bytes]:
    return [bytes.fromhex(entry.hash) for entry in feed.entries]
