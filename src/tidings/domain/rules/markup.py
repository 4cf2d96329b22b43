"""Small operations on HTML trees, shared by the rewrite rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Final

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.domain.rules.draft import Action, Draft
from tidings.domain.rules.regex import GaveUp, well_formed

MAX_CHARS: Final = 4_000_000
# Browsers stop at 512. At every block the parser looks up all open ones, so depth costs its square.
MAX_DEPTH: Final = 5_000
# Formatting left open is opened again in every block that follows: 100 <b> and 100,000 <p> make ten million.
MAX_REOPENED: Final = 300_000
_FEW_TAGS: Final = 500
_TAG: Final = re.compile(
    r"""<(?P<end>/?)(?:
        (?P<formatting>b|big|code|em|font|i|s|small|strike|strong|tt|u)
        | (?P<closed_by_the_next>p|li|dd|dt|tr|td|th)
        | (?P<nesting>address|article|aside|blockquote|center|details|div|dl|fieldset|figure|footer|form
            |header|main|menu|nav|ol|pre|section|table|ul)
    )\b""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)

Change = Callable[[LexborHTMLParser], None]


def parse(html: str, *, is_page: bool = False) -> LexborHTMLParser:
    """html: the inside of an entry, or a whole page. GaveUp for a document made to exhaust the parser."""
    if len(html) > MAX_CHARS:
        raise GaveUp("the HTML is too long")
    if html.count("<") > _FEW_TAGS:
        _check_nesting(html)
    return LexborHTMLParser(well_formed(html), is_fragment=not is_page)


def on_tree(change: Change) -> Action:
    """A rule that edits the content's tree in place, made into one that takes and gives a draft."""

    def act(draft: Draft) -> Draft:
        tree = parse(draft.content)
        change(tree)
        return replace(draft, content=tree.html or "")

    return act


def replace_with_html(node: LexborNode, html: str) -> None:
    for piece in _pieces(html):
        node.insert_before(piece)
    node.decompose()


def insert_html_after(node: LexborNode, html: str) -> None:
    for piece in reversed(list(_pieces(html))):
        node.insert_after(piece)


def attribute(node: LexborNode, name: str) -> str:
    """Trimmed; "" when it is absent or empty."""
    return (node.attributes.get(name) or "").strip()


def link(url: str, label: str) -> str:
    return f'<a href="{escape(url)}">{escape(label)}</a>'


def _pieces(html: str) -> Iterator[LexborNode]:
    piece = LexborHTMLParser(well_formed(html), is_fragment=True).root
    while piece is not None:
        following = piece.next
        yield piece
        piece = following


def _check_nesting(html: str) -> None:
    """A rough count of what stays open, before any memory is spent on it."""
    depth = formatting = reopened = 0
    for found in _TAG.finditer(html):
        change = -1 if found["end"] else 1
        if found["formatting"]:
            formatting = max(0, formatting + change)
        else:
            reopened += formatting
        if found["nesting"]:
            depth = max(0, depth + change)
        if depth > MAX_DEPTH or reopened > MAX_REOPENED:
            raise GaveUp("the HTML is nested too deeply")
