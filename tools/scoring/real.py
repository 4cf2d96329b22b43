"""Score against `feeds-real`: published feeds, whole, truncated and damaged.

python -m scoring.real  prints the table, the misses and the throughput
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from msgspec import Struct

from scoring.archives import members
from scoring.claims import Claim, misses, table
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed
from tidings.content.model import ParsedEntry

ARCHIVE = "feeds-real"
ADDRESS = "https://feeds.example.net/feed"

_ITEM_END = re.compile(rb"</(?:\w+:)?(?:item|entry)\s*>")
_CLOSE_TAG = re.compile(rb"</[\w:]+>")


class Document(Struct, frozen=True):
    """entries: fingerprints of the entries of the undamaged body. shared_urls: those of several entries."""

    name: str
    body: bytes
    entries: list[str]
    shared_urls: frozenset[str]

    def whole_items(self, end: int) -> int:
        """Return how many items end before a position; 0 if the closing tags alone do not show it."""
        ends = [match.end() for match in _ITEM_END.finditer(self.body)]
        return sum(place <= end for place in ends) if len(ends) == len(self.entries) else 0


def documents() -> Iterator[Document]:
    for name, body in members(ARCHIVE):
        if not name.endswith(("LICENSE", "README.md")):
            urls = Counter(entry.url for entry in _entries(body))
            shared = frozenset(url for url, count in urls.items() if count > 1)
            yield Document(name, body, _fingerprints(body, shared), shared)


def whole(found: Iterable[Document]) -> Iterator[Claim]:
    for document in found:
        yield Claim(document.name, "has entries", expected=True, found=bool(document.entries))


def cut_off(found: Iterable[Document], times: int = 10) -> Iterator[Claim]:
    """Claim that exactly the complete items are read from a truncated document."""
    for document in found:
        rng = random.Random(document.name)
        for _ in range(times):
            end = rng.randrange(1, len(document.body))
            yield _kept(document, "cut off", document.body[:end], end)


def damaged(found: Iterable[Document]) -> Iterator[Claim]:
    """Claim that the items before a flipped byte or a missing closing tag are kept."""
    for document in found:
        rng = random.Random(document.name)
        place = rng.randrange(len(document.body))
        flipped = bytearray(document.body)
        flipped[place] ^= rng.randrange(1, 256)
        yield _kept(document, "byte flipped", bytes(flipped), place)
        tags = list(_CLOSE_TAG.finditer(document.body))
        if tags:
            tag = rng.choice(tags)
            dropped = document.body[: tag.start()] + document.body[tag.end() :]
            yield _kept(document, "tag dropped", dropped, tag.start())


def megabytes_per_second(found: Iterable[Document]) -> float:
    """Return the throughput of the parser alone, in processor time."""
    bodies = [document.body for document in found]
    start = time.process_time()
    for body in bodies:
        _entries(body)
    return sum(map(len, bodies)) / 1e6 / (time.process_time() - start)


def _kept(document: Document, field: str, body: bytes, place: int) -> Claim:
    count = document.whole_items(place)
    found = _fingerprints(body, document.shared_urls)
    return Claim(f"{document.name} at {place}", field, document.entries[:count], found[:count])


def _fingerprints(body: bytes, shared_urls: frozenset[str]) -> list[str]:
    """Return a fingerprint of each entry: what it shows, and the hash by which it is stored.

    Without the hash for entries that share their link: theirs depends on the items after them.
    """
    return [_fingerprint(entry, "" if entry.url in shared_urls else entry.hash) for entry in _entries(body)]


def _fingerprint(entry: ParsedEntry, hash_: str) -> str:
    return sha256("\0".join((entry.url, entry.title, entry.content, hash_)).encode()).hexdigest()


def _entries(body: bytes) -> Sequence[ParsedEntry]:
    try:
        return parse_feed(body, url=ADDRESS).entries
    except FeedError:
        return ()


def main() -> None:
    found = list(documents())
    claims = [*whole(found), *cut_off(found), *damaged(found)]
    sys.stdout.write(f"{table(claims)}\n\n{misses(claims)}\n{megabytes_per_second(found):.1f} MB/s\n")


if __name__ == "__main__":
    main()
