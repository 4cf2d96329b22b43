"""Foreign HTML and addresses made safe, readable and free of spies.

clean           HTML ─► HTML that can be shown in our own pages
clean_and_read  the same, and its text besides
text_of         clean HTML ─► its words
resolve         an address as written on a page ─► absolute
web_address     the same, http and https only
strip_tracking  an address ─► without the parameters that follow its reader
"""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.cleaning.links import Links
from tidings.domain.cleaning.nesting import MOST_TAGS, number_of_tags, tame, untangle, within_bounds
from tidings.domain.cleaning.page import Page
from tidings.domain.cleaning.policy import DEFAULT, CleaningPolicy
from tidings.domain.cleaning.text import text_of
from tidings.domain.cleaning.tracking import strip_tracking
from tidings.domain.cleaning.urls import resolve, web_address
from tidings.domain.cleaning.walk import walk

__all__ = [
    "DEFAULT", "Clean", "CleaningPolicy", "clean", "clean_and_read", "resolve", "strip_tracking", "text_of",
    "web_address",
]  # fmt: skip

# A link gains some attributes; what grows more was made to grow, by elements that open again and again.
MAX_GROWTH = 20
# The same for addresses that become absolute.
MAX_ADDRESSES = 8


class Clean(Struct, frozen=True):
    """text: of the HTML, without its tags but with character references and all blanks; see `text`."""

    html: str
    text: str


def clean(html: str, *, base_url: str, policy: CleaningPolicy = DEFAULT) -> str:
    """The part of a publisher's HTML that is safe and useful to show.

    Never raises; cleaning what is clean changes nothing; the time it takes grows with the length only.

    base_url: absolute; what relative addresses are relative to. Without one they are left out.
    What is kept: `elements`, `images`, `frames`, `formulas`; what of an address: `links`.
    """
    return clean_and_read(html, base_url=base_url, policy=policy).html


def clean_and_read(html: str, *, base_url: str, policy: CleaningPolicy = DEFAULT) -> Clean:
    """As `clean`. Whoever writes the HTML knows its text; to find that out again takes a while."""
    source = html.replace("\0", "") if "\0" in html else html
    try:
        encoded = source.encode()
    except UnicodeEncodeError:
        # A lone surrogate can come out of JSON; no encoding has room for it.
        encoded = source.encode(errors="replace")
        source = encoded.decode()
    if "<" not in source and "&" not in source:
        text = source.replace("\r\n", "\n").replace("\r", "\n").replace(">", "&gt;")
        return Clean(text, text)
    if len(source) > MOST_TAGS:  # a shorter text has fewer in any case
        source = within_bounds(source)
        encoded = source.encode()
    tamed = tame(source, tags=number_of_tags(encoded))
    cleaned = _walk(tamed, encoded if tamed is source else tamed.encode(), base_url, policy)
    if len(cleaned.html) > MAX_GROWTH * len(source) + 10_000:
        untangled = untangle(source)
        cleaned = _walk(untangled, untangled.encode(), base_url, policy)
    return cleaned


def _walk(source: str, encoded: bytes, base_url: str, policy: CleaningPolicy) -> Clean:
    """encoded: the same in UTF-8, which is what the parser takes."""
    page = _walk_once(source, encoded, base_url, policy)
    if page.has_fallen_walls:
        again = "".join(page.out)
        page = _walk_once(again, again.encode(), base_url, policy)
    return Clean("".join(page.out), "".join(page.words))


def _walk_once(source: str, encoded: bytes, base_url: str, policy: CleaningPolicy) -> Page:
    links = Links(base_url, policy.referring_hosts, most=MAX_ADDRESSES * len(source) + 10_000)
    return walk(encoded, links, policy)
