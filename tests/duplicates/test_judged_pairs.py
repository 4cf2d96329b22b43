"""Pairs of entries of real feeds: which are the same article, and which of them are found.

The feeds are not part of the repository. `judged_pairs.tsv` has pairs of real entries that somebody read: those of
different feeds that share an address or a title, and the hardest ones of one feed, as if it were two. Few of them are
the same article; so entries are also spelled and republished as other feeds do it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from scoring.archives import members
from scoring.real import ARCHIVE
from support.corpora import needs
from tidings.base.times import DAY, Instant
from tidings.content import clean_with_text, parse_feed
from tidings.content.duplicates import MIN_TEXT, canonical_address
from tidings.duplicates.matching import Candidate, Finder

pytestmark = [pytest.mark.long, needs(ARCHIVE)]

# Characters that are kept of a text: as many as a long article.
MAX_TEXT = 20_000
PAIRS = 250
# Entries of one feed that were found and judged to be the same article: one page that was announced twice.
SAME_ARTICLE = {"https://dylanharris.org/goodies/foe/foe.shtml", "https://areweanticheatyet.com/"}


class Sample:
    """An entry of a real feed."""

    def __init__(self, feed: str, url: str, title: str, text: str, more: tuple[bytes, int, str]) -> None:
        self.feed, self.url, self.title, self.text = feed, url, title, text
        self.hash, self.published_at, self.language = more

    def candidate(self, number: int, feed_id: int, **changes: object) -> Candidate:
        values = {"url": self.url, "hash": self.hash, "title": self.title, "published_at": self.published_at}
        values |= changes
        return Candidate(
            id=number,
            feed_id=feed_id,
            status=0,
            language=self.language,
            starred=False,
            original_id=None,
            is_kept=False,
            **values,  # type: ignore[arg-type]
        )


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return list(_read())


def _read() -> Iterator[Sample]:
    for name, body in members(ARCHIVE):
        if name.endswith(("LICENSE", "README.md")):
            continue
        for entry in parse_feed(body, url="https://feeds.example.net/feed").entries:
            text = clean_with_text(entry.content, base_url=entry.base_url or "https://feeds.example.net/").text
            more = bytes.fromhex(entry.hash), int(entry.published_at or 0), entry.language
            yield Sample(name, entry.url, entry.title, text[:MAX_TEXT], more)


SPELLINGS: list[Callable[[str], str]] = [
    lambda url: url.replace("https://", "http://", 1),
    lambda url: url.replace("://www.", "://", 1) if "://www." in url else url.replace("://", "://www.", 1),
    lambda url: url.replace("://www.", "://m.", 1) if "://www." in url else url.replace("://", "://m.", 1),
    lambda url: with_pair(url, "utm_source=rss&utm_medium=feed&utm_campaign=a"),
    lambda url: with_pair(url, "fbclid=IwAR0abc"),
    lambda url: with_pair(url, "at_medium=RSS&at_campaign=KARANGA"),
    lambda url: with_pair(url, "amp=1"),
    lambda url: url if "#" in url else f"{url}#comments",
    lambda url: url if "#" in url or "?" in url else url.removesuffix("/") if url.endswith("/") else f"{url}/",
    lambda url: url if "#" in url or "?" in url else f"{url.removesuffix('/')}/amp/",
    lambda url: url.replace("-", "%2D").replace("%2D", "-", url.partition("//")[2].partition("/")[0].count("-")),
]


def with_pair(url: str, pair: str) -> str:
    page, mark, fragment = url.partition("#")
    return f"{page}{'&' if '?' in page else '?'}{pair}{mark}{fragment}"


def test_spellings_of_an_address_are_found(samples: list[Sample]) -> None:
    judged = [one for one in samples if canonical_address(one.url)]
    chosen = random.Random(1).sample(judged, PAIRS)
    found = 0
    for number, one in enumerate(chosen):
        spelled = SPELLINGS[number % len(SPELLINGS)](one.url)
        pair = one.candidate(1, 1), one.candidate(2, 2, url=spelled, hash=b"2", title="Another title")
        found += bool(Finder(pair).repeated_by(pair[1], {}))
    print(f"{found} of {PAIRS} addresses found")  # noqa: T201 - shown by pytest -s
    assert found >= 0.95 * PAIRS


def republished(number: int, text: str, rng: random.Random) -> str:
    """Return a text as another site has it."""
    words = text.split()
    match number % 6:
        case 0:
            return f"{text} The post appeared first on Weather notes."
        case 1:
            return f"By Ada Lovelace, staff writer. {text}"
        case 2:
            return text.replace("\u2019", "'").replace("\u201c", '"').replace("\u201d", '"').replace(" - ", " \u2013 ")
        case 3:
            return f"{' '.join(words[: len(words) * 2 // 3])} [\u2026]"
        case 4:
            # A word of two hundred is corrected.
            for place in rng.sample(range(len(words)), max(1, len(words) // 200)):
                words[place] = "corrected"
            return " ".join(words)
    return f"{text} Filed under: Weather. Comments (3). Share this article with your friends. Read more at example.org"


def test_republished_texts_are_found(samples: list[Sample]) -> None:
    rng = random.Random(2)
    judged = [one for one in samples if len(one.text) >= 2 * MIN_TEXT and one.title]
    chosen = rng.sample(judged, PAIRS)
    found: defaultdict[int, int] = defaultdict(int)
    for number, one in enumerate(chosen):
        other = one.candidate(
            2, 2, url=f"https://planet.example/{number}", hash=b"2", published_at=Instant(one.published_at + DAY)
        )
        pair = one.candidate(1, 1), other
        texts = {1: one.text, 2: republished(number, one.text, rng)}
        found[number % 6] += bool(Finder(pair).repeated_by(other, texts))
    print(f"{sum(found.values())} of {PAIRS} texts found: {dict(found)}")  # noqa: T201
    assert sum(found.values()) >= 0.8 * PAIRS


def test_different_articles_are_never_the_same(samples: list[Sample]) -> None:
    of_feed: defaultdict[str, list[Sample]] = defaultdict(list)
    for one in samples:
        of_feed[one.feed].append(one)
    pairs, found = 0, set()
    for ones in of_feed.values():
        entries = [one.candidate(number, number % 2) for number, one in enumerate(ones, 1)]
        texts = {number: one.text for number, one in enumerate(ones, 1)}
        finder = Finder(entries)
        for entry in entries:
            pairs += entry.id // 2
            found |= {(entry.url, entry.title) for _ in finder.repeated_by(entry, texts)}
    print(f"{len(found)} of {pairs} pairs of one feed found")  # noqa: T201
    assert {url for url, _ in found} <= SAME_ARTICLE
    assert pairs > 300_000


VERDICTS = Path(__file__).with_name("judged_pairs.tsv")
# Of the pairs with the same address, or the same text, so many are found at least.
LEAST_FOUND = {"address": 0.95, "text": 0.8}


class JudgedPair(NamedTuple):
    """Two entries by their feeds in the archive and the beginnings of their hashes, and what a reader said of them.

    verdict: "address" or "text" if they are one article with the same address, or the same text; "article" if they
    are one article, but have neither in common, or were published further apart; "different" otherwise.
    """

    verdict: str
    feed: str
    hash: str
    other_feed: str
    other_hash: str


def finds(one: Sample, other: Sample, of_feed: Mapping[str, Sequence[Sample]]) -> bool:
    """Return whether the later of two entries is found to repeat the earlier one, among the others of their feeds.

    If they are of one feed, they are treated as of two feeds, each of which has half of the others.
    """
    first, second = sorted((one, other), key=lambda one: one.published_at)
    others = [one for one in of_feed[first.feed] if one not in (first, second)]
    halves = (others[::2], others[1::2])
    if first.feed != second.feed:
        halves = (others, [one for one in of_feed[second.feed] if one is not second])
    ones = [*((one, 1) for one in (*halves[0], first)), *((one, 2) for one in (*halves[1], second))]
    candidates = [one.candidate(number, feed_id) for number, (one, feed_id) in enumerate(ones)]
    texts = {number: one.text for number, (one, _) in enumerate(ones) if one in (first, second)}
    return len(halves[0]) in {one.id for one in Finder(candidates).repeated_by(candidates[-1], texts)}


def test_pairs_are_found_as_they_were_judged(samples: list[Sample]) -> None:
    by_key: dict[tuple[str, str], Sample] = {}
    of_feed: defaultdict[str, list[Sample]] = defaultdict(list)
    for one in samples:
        by_key.setdefault((one.feed, one.hash.hex()[:16]), one)
        of_feed[one.feed].append(one)
    found: defaultdict[str, list[bool]] = defaultdict(list)
    false: list[JudgedPair] = []
    for line in VERDICTS.read_text().splitlines():
        pair = JudgedPair(*line.split("\t"))
        is_found = finds(by_key[pair.feed, pair.hash], by_key[pair.other_feed, pair.other_hash], of_feed)
        found[pair.verdict].append(is_found)
        if is_found and pair.verdict == "different":
            false.append(pair)
    print({verdict: f"{sum(of)} of {len(of)}" for verdict, of in found.items()})  # noqa: T201
    assert false == []
    for verdict, least in LEAST_FOUND.items():
        assert sum(found[verdict]) >= least * len(found[verdict])
