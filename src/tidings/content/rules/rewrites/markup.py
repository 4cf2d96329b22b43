"""Operations on HTML trees that rewrite rules share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from typing import Final

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.base.messages import msg
from tidings.content.rules.evaluation import RewriteAction, RuleBudgetExceeded, RuleEntry
from tidings.content.rules.regex import replace_surrogates

MAX_CHARS: Final = 4_000_000
# Browsers stop at 512. At every block the parser searches all open ones, so the cost is quadratic in the depth.
MAX_DEPTH: Final = 5_000
# Open formatting is reopened in every following block: 100 <b> and 100,000 <p> make ten million elements.
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

TreeEdit = Callable[[LexborHTMLParser], None]


def parse(html: str, *, is_page: bool = False) -> LexborHTMLParser:
    """Return the tree. html: the content of an entry, or a whole page.

    Raises RuleBudgetExceeded for a document that would exhaust the parser.
    """
    if len(html) > MAX_CHARS:
        raise RuleBudgetExceeded(msg("the HTML is too long"))
    if html.count("<") > _FEW_TAGS:
        _check_nesting(html)
    return LexborHTMLParser(replace_surrogates(html), is_fragment=not is_page)


def on_tree(edit: TreeEdit) -> RewriteAction:
    """Return a rewrite action that applies `edit` to the content."""
    return partial(edit_tree, edit=edit)


def edit_tree(entry: RuleEntry, edit: TreeEdit) -> RuleEntry:
    """Return the entry with its content parsed, changed by `edit`, and written back."""
    tree = parse(entry.content)
    edit(tree)
    return replace(entry, content=tree.html or "")


def replace_with_html(node: LexborNode, html: str) -> None:
    for piece in _pieces(html):
        node.insert_before(piece)
    node.decompose()


def insert_html_after(node: LexborNode, html: str) -> None:
    for piece in reversed(list(_pieces(html))):
        node.insert_after(piece)


def attribute(node: LexborNode, name: str) -> str:
    """Return the attribute, trimmed; "" if it is absent or empty."""
    return (node.attributes.get(name) or "").strip()


def link(url: str, label: str) -> str:
    """Return the HTML of a link."""
    return f'<a href="{escape(url)}">{escape(label)}</a>'


def _pieces(html: str) -> Iterator[LexborNode]:
    piece = LexborHTMLParser(replace_surrogates(html), is_fragment=True).root
    while piece is not None:
        following = piece.next
        yield piece
        piece = following


def _check_nesting(html: str) -> None:
    """Estimates nesting and reopened elements before parsing. Raises RuleBudgetExceeded beyond the limits."""
    depth = formatting = reopened = 0
    for match in _TAG.finditer(html):
        step = -1 if match["end"] else 1
        if match["formatting"]:
            formatting = max(0, formatting + step)
        else:
            reopened += formatting
        if match["nesting"]:
            depth = max(0, depth + step)
        if depth > MAX_DEPTH or reopened > MAX_REOPENED:
            raise RuleBudgetExceeded(msg("the HTML is nested too deeply"))
