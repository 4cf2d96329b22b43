"""Compares articles extracted from published pages with those of another reader: their words and images.

Scored is what a reader would get to see: cut out and cleaned.  python -m scoring.articles
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from statistics import mean

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from scoring.archives import members
from tidings.content.articles import WebPage
from tidings.content.articles.extract import extract_article
from tidings.content.cleaning import clean

ARCHIVE = "articles"
# The URL of the pages in the corpus.
ADDRESS = "http://fakehost/test/page.html"
# The share of a page's images that must be kept.
MIN_KEPT_SHARE = 0.5

_WORD = re.compile(r"\w+")


class Score(Struct, frozen=True):
    """f1: of word trigrams. pictures: the share of expected images that were found; None if none is expected.

    took_ms: of processor time, to cut it out.
    """

    page: str
    f1: float
    pictures: float | None
    took_ms: float


def scores() -> Iterator[Score]:
    files = dict(members(ARCHIVE))
    for path, file in files.items():
        folder, _, name = path.rpartition("/")
        if name == "source.html":
            yield score(folder, file, files[f"{folder}/expected.html"].decode())


def score(name: str, source: bytes, expected: str) -> Score:
    began = time.process_time()
    article = extract_article(WebPage(source, "utf-8", ADDRESS))
    took_ms = (time.process_time() - began) * 1000
    found = clean(article.content, base_url=article.base_url)
    # Cleaned as well, because word boundaries depend on the elements around them.
    wanted = clean(expected, base_url=ADDRESS)
    files, there = pictures(wanted), pictures(found)
    kept = len(files & there) / len(files) if files else None
    return Score(name, f1(trigrams(wanted), trigrams(found)), kept, took_ms)


def trigrams(html: str) -> Counter[tuple[str, ...]]:
    """Return the trigrams of the visible words. A shorter text counts as one."""
    body = LexborHTMLParser(html or "<p></p>").body
    words = _WORD.findall(body.text(separator=" ").lower()) if body else []
    return Counter(zip(words, words[1:], words[2:], strict=False)) if len(words) > 2 else Counter([tuple(words)])


def f1(expected: Counter[tuple[str, ...]], found: Counter[tuple[str, ...]]) -> float:
    return 2 * (expected & found).total() / (expected.total() + found.total())


def pictures(html: str) -> set[str]:
    """Return the file names of images, because one image has many URLs, and pages offer several."""
    found = set()
    for node in LexborHTMLParser(html or "<p></p>").css("img"):
        address = node.attributes.get("src") or (node.attributes.get("srcset") or "").partition(" ")[0]
        if address and not address.startswith("data:"):
            found.add(re.split("[?#]", address)[0].rstrip("/").rpartition("/")[2])
    return found


def overall(found: list[Score]) -> tuple[float, float]:
    """Return the mean F1 of all pages, and the share of pages with images that keep most of them."""
    kept = [score.pictures >= MIN_KEPT_SHARE for score in found if score.pictures is not None]
    return mean(score.f1 for score in found), sum(kept) / len(kept)


def main() -> None:
    found = list(scores())
    f1_of_all, kept = overall(found)
    with_pictures = sum(score.pictures is not None for score in found)
    sys.stdout.write(
        f"pages {len(found)}, word-trigram F1 {f1_of_all:.4f}; with pictures {with_pictures}, "
        f"most of them kept on {kept:.1%}; {mean(score.took_ms for score in found):.0f} ms a page\n\n"
    )
    for score in sorted(found, key=lambda score: score.f1):
        pictures_kept = "" if score.pictures is None else f"{score.pictures:6.0%}"
        if score.f1 < 0.97 or (score.pictures is not None and score.pictures < 1):
            sys.stdout.write(f"{score.page:40} {score.f1:.3f} {pictures_kept:>6} {score.took_ms:6.0f} ms\n")


if __name__ == "__main__":
    main()
