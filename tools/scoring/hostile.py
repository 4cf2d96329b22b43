"""Searches cleaned HTML for anything forbidden, with hostile payloads and bodies of publishers as input.

python -m scoring hostile bodies      prints the table and what was not removed
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from typing import Final

from content.cleaning.trees import PAGE, cleaned, dangers, tree
from scoring.archives import FOLDER, members
from scoring.claims import Claim
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed

PAYLOADS: Final = FOLDER / "hostile.json.xz"
BODIES: Final = "feeds-real"
ENOUGH: Final = 2_000


def payloads() -> list[str]:
    return [case["payload"] for case in json.loads(lzma.decompress(PAYLOADS.read_bytes()))]


def bodies() -> list[str]:
    """Return bodies with markup, evenly from all feeds, and the longest ones."""
    found = [body for _, document in members(BODIES) for body in _bodies_in(document)]
    step = max(len(found) // ENOUGH, 1)
    return found[::step][:ENOUGH]


def claims(found: Iterable[str], what: str) -> Iterator[Claim]:
    """Yield what three parsers find, by a list independent of the cleaner's, and what a second cleaning changes."""
    for number, source in enumerate(found):
        page = cleaned(source)
        yield Claim(f"{what} {number}", "harmless", expected=[], found=dangers(page))
        yield Claim(f"{what} {number}", "cleaned twice", expected=True, found=tree(cleaned(page)) == tree(page))


def _bodies_in(document: bytes) -> list[str]:
    try:
        feed = parse_feed(document, url=PAGE)
    except FeedError:
        return []
    return [entry.content for entry in feed.entries if "<" in entry.content]
