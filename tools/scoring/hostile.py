"""What must never be in cleaned HTML, looked for in hostile payloads and in bodies as publishers write them.

python -m scoring hostile bodies      prints the table and what got through
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from typing import Final

from domain.cleaning.trees import PAGE, cleaned, dangers, tree
from scoring.archives import FOLDER, members
from scoring.claims import Claim
from tidings.domain.errors import FeedError
from tidings.domain.formats import parse_feed

PAYLOADS: Final = FOLDER / "hostile.json.xz"
BODIES: Final = "feeds-real"
ENOUGH: Final = 2_000


def payloads() -> list[str]:
    return [case["payload"] for case in json.loads(lzma.decompress(PAYLOADS.read_bytes()))]


def bodies() -> list[str]:
    """With markup, evenly from all feeds; the longest ones as well."""
    found = [body for _, document in members(BODIES) for body in _bodies_in(document)]
    step = max(len(found) // ENOUGH, 1)
    return found[::step][:ENOUGH]


def claims(found: Iterable[str], what: str) -> Iterator[Claim]:
    """As three parsers see it, by a list that is not the cleaner's own; and the tree of what is cleaned twice."""
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
