"""Measures throughput on one core: from a publisher's bytes to entries ready to be stored, over `feeds-real`.

In processor time, because other people's work on the machine is not ours. It still makes caches colder and clocks
slower: only a quiet machine shows what can be reached.
"""

from __future__ import annotations

import time
from typing import Final

from msgspec import Struct

from scoring.archives import members
from tidings.base.times import Instant
from tidings.content import cleaning
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed
from tidings.content.model import ParsedEntry
from tidings.content.rules.pipeline import NO_RULES
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.entry_policy import EntryPolicy, fingerprint, prepare

ARCHIVE: Final = "feeds-real"
ADDRESS: Final = "https://example.org/feed"
NOW: Final = Instant(1_795_000_000_000_000)
FEED: Final = Feed(1, 1, 1, ADDRESS, "A feed", NOW, NOW, site_url="https://example.org/")
POLICY: Final = cleaning.CleaningPolicy(referring_hosts=frozenset({"example.org"}))
HOW: Final = EntryPolicy(NO_RULES, NO_RULES, POLICY, "", 265, 500, key=())


class Speed(Struct, frozen=True):
    """parse_s: bytes to entries with their hashes. clean_s: their bodies cleaned, and the fingerprints by which changes
    are noticed. prepare_s: clean_s with rules, tracking parameters and reading time, up to what is stored.
    """

    files: int
    entries: int
    megabytes: float
    parse_s: float
    clean_s: float
    prepare_s: float

    @property
    def megabytes_per_second(self) -> float:
        """The throughput of parsing, cleaning and identifying, which has a minimum."""
        return self.megabytes / (self.parse_s + self.clean_s)


def bodies() -> list[bytes]:
    return [body for name, body in members(ARCHIVE) if not name.endswith(("LICENSE", "README.md"))]


def measure(found: list[bytes], rounds: int = 3) -> Speed:
    """Return the fastest of several rounds."""
    return min((_once(found) for _ in range(rounds)), key=lambda speed: speed.parse_s + speed.clean_s)


def _once(found: list[bytes]) -> Speed:
    parse_s = clean_s = prepare_s = 0.0
    entries = 0
    for body in found:
        began = time.process_time()
        parsed = entries_of(body)
        parse_s += time.process_time() - began
        began = time.process_time()
        for entry in parsed:
            cleaning.clean(entry.content, base_url=entry.base_url, policy=POLICY)
            fingerprint(entry)
        clean_s += time.process_time() - began
        began = time.process_time()
        for entry in parsed:
            prepare(entry, HOW, feed=FEED, now=NOW)
        prepare_s += time.process_time() - began
        entries += len(parsed)
    return Speed(len(found), entries, sum(map(len, found)) / 1e6, parse_s, clean_s, prepare_s)


def entries_of(body: bytes) -> tuple[ParsedEntry, ...]:
    """Return the entries of a document, () if it is not a feed."""
    try:
        return parse_feed(body, url=ADDRESS, now=NOW).entries
    except FeedError:
        return ()
