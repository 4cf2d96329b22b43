"""Rewrite rules about words: content and title."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.domain.rules.draft import Action, Draft
from tidings.domain.rules.markup import on_tree
from tidings.domain.rules.regex import compile_regex, parse_template
from tidings.domain.rules.selectors import Selector, nearest, parse_selector, select

# Shorter texts are words more often than code: "This" is base64, too.
_MIN_ENCODED_CHARS: Final = 8
_TABLE_PARTS: Final = "table, thead, tbody, tfoot, tr, td, th, caption, colgroup, col"
_WORD: Final = re.compile(r"\S+")


def nl2br(draft: Draft) -> Draft:
    return replace(draft, content=draft.content.replace("\r\n", "\n").replace("\n", "<br>"))


def remove_clickbait(draft: Draft) -> Draft:
    """EVERY WORD IN CAPITALS becomes Every Word In Capitals."""
    return replace(draft, title=_WORD.sub(lambda word: _capitalized(word[0]), draft.title))


def replace_content(arguments: tuple[str, ...]) -> Action:
    pattern = compile_regex(arguments[0])
    template = parse_template(arguments[1], pattern)
    return lambda draft: replace(draft, content=pattern.replace(draft.content, template))


def replace_title(arguments: tuple[str, ...]) -> Action:
    pattern = compile_regex(arguments[0])
    template = parse_template(arguments[1], pattern)
    return lambda draft: replace(draft, title=pattern.replace(draft.title, template))


def remove(arguments: tuple[str, ...]) -> Action:
    selector = parse_selector(arguments[0])

    @on_tree
    def act(tree: LexborHTMLParser) -> None:
        # Inner ones first: a node must not be touched after its parent went.
        for node in reversed(select(tree, selector)):
            node.decompose()

    return act


def base64_decode(arguments: tuple[str, ...]) -> Action:
    """Without an argument all text is tried."""
    selector = parse_selector(arguments[0]) if arguments else None

    @on_tree
    def act(tree: LexborHTMLParser) -> None:
        for node in _texts(tree, selector):
            if decoded := _decoded(node.text_content or ""):
                node.replace_with(decoded)

    return act


@on_tree
def remove_tables(tree: LexborHTMLParser) -> None:
    """The cells' content stays; a space keeps the words of two cells apart."""
    for cell in tree.css("td, th, caption"):
        cell.insert_after(" ")
    # Inner ones first: each step costs what is below it, and of tables in tables little is left by then.
    for part in reversed(tree.css(_TABLE_PARTS)):
        # Otherwise an empty one stays.
        part.unwrap(delete_empty=True)


def _texts(tree: LexborHTMLParser, selector: Selector | None) -> list[LexborNode]:
    """The text nodes below what the selector matches; all without one."""
    nodes = tree.root.traverse(include_text=True) if tree.root else ()
    texts = [node for node in nodes if node.is_text_node]
    if selector is None:
        return texts
    within = nearest(texts, select(tree, selector))
    return [node for node in texts if node.mem_id in within]


def _capitalized(word: str) -> str:
    """The first letter in upper case, the others in lower; marks before it do not count."""
    for position, letter in enumerate(word):
        if letter.isalnum():
            return word[:position] + letter.title() + word[position + 1 :].lower()
    return word


def _decoded(text: str) -> str:
    """text as base64 of readable UTF-8, else ""."""
    encoded = "".join(text.split())
    if len(encoded) < _MIN_ENCODED_CHARS:
        return ""
    try:
        return base64.b64decode(encoded, validate=True).decode().strip("\0")
    except (binascii.Error, ValueError):
        return ""
