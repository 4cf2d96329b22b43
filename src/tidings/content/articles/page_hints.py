"""Reads what a page says about its article: how it begins, its text for search engines, and its address.

A description that its article repeats shows where the article is, whatever the names of the elements around it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final

import msgspec
from lxml import etree
from lxml.html import Element, HtmlElement
from msgspec import Struct

from tidings.base.text import unescape_html
from tidings.content.duplicates import canonical_address
from tidings.content.urls import resolve_web_url

# Characters (letters and digits) of a description that are looked for, and from which on they say something.
_PROBE_CHARS: Final = 60
_MIN_PROBE_CHARS: Final = 28
_MAX_DESCRIPTION_CHARS: Final = 2_000
_MAX_JSON_CHARS: Final = 1_000_000
# Maximum number of scripts with structured data, of descriptions, and of places where a beginning is found.
_MAX_DATA: Final = 20
# Levels of structured data.
_MAX_DEPTH: Final = 8
_MAX_TEXT_CHARS: Final = 400_000

_META: Final = etree.XPath(
    "//meta[@property='og:description' or @name='og:description' or @name='description' or @name='twitter:description'"
    " or @name='Description']/@content",
    smart_strings=False,
)
_DATA: Final = etree.XPath("//script[@type='application/ld+json']", smart_strings=False)
_TAG: Final = re.compile(r"<[^<>]{0,1000}>")
_NOT_A_WORD: Final = re.compile(r"[\W_]+")
_LINES: Final = re.compile(r"\s*\n\s*")


class PageHints(Struct, frozen=True):
    """What a page says about its article.

    beginnings: how its text may begin, as letters and digits only. text: all of it, "" if the page does not say.
    """

    beginnings: tuple[str, ...] = ()
    text: str = ""


def read_hints(page: HtmlElement) -> PageHints:
    """Return what a page says about its article in `meta` elements and in structured data (schema.org)."""
    # A description that is the title stands in every list of articles.
    title = letters(page.findtext(".//title") or "")
    data = [found for script in _DATA(page)[:_MAX_DATA] for found in _articles(script.text or "")]
    text = next((text for one in data if isinstance(text := one.get("articleBody"), str) and text.strip()), "")
    descriptions = [*(str(one) for one in _META(page)), *(one.get("description") for one in data), text]
    beginnings = {}
    for description in descriptions[:_MAX_DATA]:
        if isinstance(description, str):
            start = letters(_plain(description[:_MAX_DESCRIPTION_CHARS]))[:_PROBE_CHARS]
            if len(start) >= _MIN_PROBE_CHARS and start not in title:
                beginnings[start] = True
    return PageHints(tuple(beginnings), _plain(text[:_MAX_TEXT_CHARS]))


def canonical_link(page: HtmlElement, base_url: str) -> str:
    """Return the address that the head of a page gives as its own; "" if it gives none or several, or a site's front
    page.

    Source: RFC 6596, section 3.
    """
    links = [link for link in page.iterfind("head/link") if "canonical" in link.get("rel", "").lower().split()]
    found = {resolve_web_url(base_url, link.get("href", "")) for link in links[:_MAX_DATA]}
    url = found.pop() if len(found) == 1 else ""
    return url if canonical_address(url) else ""


def letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, to compare texts with different punctuation."""
    return _NOT_A_WORD.sub("", text).lower()


def is_in(element: HtmlElement, beginnings: tuple[str, ...]) -> bool:
    """Return whether an element has one of the beginnings in its text."""
    text = letters("".join(element.itertext()))
    return any(beginning in text for beginning in beginnings)


def elements_with(page: HtmlElement, beginnings: tuple[str, ...]) -> list[HtmlElement]:
    """Return the smallest elements that have one of the beginnings in their text."""
    pieces, owners = [], []
    for element, text in _texts(page):
        if piece := letters(text):
            pieces.append(piece)
            owners.append(element)
    text = "".join(pieces)
    ends = list(accumulate(len(piece) for piece in pieces))
    found: dict[HtmlElement, bool] = {}
    for beginning in beginnings:
        at = text.find(beginning)
        while at >= 0 and len(found) < _MAX_DATA:
            first, last = _piece_at(ends, at), _piece_at(ends, at + len(beginning) - 1)
            found[_common_ancestor(owners[first], owners[last])] = True
            at = text.find(beginning, at + len(beginning))
    return list(found)


def text_as_paragraphs(text: str) -> HtmlElement:
    """Return an element with a plain text: each line is a paragraph."""
    box = Element("div")
    for line in _LINES.split(text.strip()):
        paragraph = Element("p")
        paragraph.text = line
        box.append(paragraph)
    return box


def _piece_at(ends: list[int], position: int) -> int:
    return bisect_right(ends, position)


def _texts(page: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    """Yield every piece of text of a page, in order, with the element that it stands in."""
    for event, element in etree.iterwalk(page, events=("start", "end")):
        if event == "start":
            if element.text:
                yield element, element.text
        elif element.tail and (parent := element.getparent()) is not None and element is not page:
            yield parent, element.tail


def _common_ancestor(first: HtmlElement, last: HtmlElement) -> HtmlElement:
    around = {first, *first.iterancestors()}
    return next(one for one in (last, *last.iterancestors()) if one in around)


def _plain(text: str) -> str:
    """Return a text without tags and references, which some publishers write even into plain text."""
    return _TAG.sub(" ", unescape_html(unescape_html(text)))


def _articles(json: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of structured data that describe a text."""
    try:
        value = msgspec.json.decode(json[:_MAX_JSON_CHARS].strip())
    except (msgspec.DecodeError, RecursionError):
        return
    yield from _objects(value, 0)


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for one in value:
            yield from _objects(one, depth + 1)
    elif isinstance(value, dict):
        if "articleBody" in value or "headline" in value:
            yield value
        for one in value.get("@graph", ()), value.get("mainEntity"):
            yield from _objects(one, depth + 1)
