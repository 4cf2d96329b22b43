"""The article of a page nobody made rules for.

parse ─► number ─► readability ─► put lost pictures back ─► poor? then trafilatura
"""

from __future__ import annotations

from typing import Any, Final

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring
from readability import Document
from readability.readability import Unparseable

from tidings.domain.articles import pictures

# What is shorter than this (characters), and less than that part of its page, is not an article but a piece of one.
SHORT: Final = 500
SMALL_PART: Final = 0.6
# A second opinion counts when it found so many times more.
MUCH_MORE: Final = 1.5


def find(html: str) -> str:
    """HTML of the article, addresses as they are on the page; "" when there is none."""
    page = parse(html)
    if page is None:
        return ""
    for unseen in list(page.iter("script", "style", "template")):
        unseen.drop_tree()
    pictures.show_what_scripts_would(page)
    pictures.number(page)
    article = _readable(page)
    if article is not None:
        pictures.put_back(article, page)
        pictures.forget_numbers(article)
    found = "" if article is None else etree.tostring(article, encoding="unicode", method="html")
    return _second_opinion(html, page, article) or found


def parse(html: str) -> HtmlElement | None:
    """None for what has no element at all."""
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return document_fromstring(html.encode(errors="replace"), parser=parser)
    except etree.ParserError:
        return None


def _readable(page: HtmlElement) -> HtmlElement | None:
    reader = _Reader(page)
    try:
        reader.summary(html_partial=True)
    except Unparseable as error:
        if isinstance(error.__context__, MemoryError):
            raise MemoryError from error  # noqa: TRY004 - not a matter of types
        return None
    return reader.article


class _Reader(Document):  # type: ignore[misc]
    """Hands out the tree. What it would do to the text of it is the cleaner's work, which does it faster."""

    article: HtmlElement | None = None

    def get_clean_html(self) -> Any:
        self.article = self.html
        return etree.tostring(self.html, encoding="unicode", method="html")


def _second_opinion(html: str, page: HtmlElement, article: HtmlElement | None) -> str:
    """ "" when it is not needed or finds no more."""
    found = 0 if article is None else _length(article)
    if found >= SHORT or found >= SMALL_PART * _length(page):
        return ""
    # Only now: it takes half a second to import.
    from trafilatura import extract

    other: str | None = extract(
        html, output_format="html", include_images=True, include_links=True, include_comments=False
    )
    tree = parse(other) if other else None
    return other if other and tree is not None and _length(tree) > MUCH_MORE * found else ""


def _length(tree: HtmlElement) -> int:
    """Characters of text, blanks between words counted once."""
    return len(" ".join(tree.text_content().split()))
