"""Rewrite rules for the text of content and title."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.content.rules.evaluation import RewriteAction, RuleBudget, RuleEntry
from tidings.content.rules.regex import compile_regex, parse_template
from tidings.content.rules.rewrites.markup import edit_tree, on_tree
from tidings.content.rules.selectors import Selector, nearest_ancestors, parse_selector, select

# Shorter texts are usually words, not base64: "This" is valid base64, too.
_MIN_ENCODED_CHARS: Final = 8
# The longest title of a document.
MAX_TITLE_CHARS: Final = 5_000
_TABLE_PARTS: Final = "table, thead, tbody, tfoot, tr, td, th, caption, colgroup, col"
_WORD: Final = re.compile(r"\S+")


def nl2br(entry: RuleEntry) -> RuleEntry:
    return replace(entry, content=entry.content.replace("\r\n", "\n").replace("\n", "<br>"))


def remove_clickbait(entry: RuleEntry) -> RuleEntry:
    """Changes EVERY WORD IN CAPITALS to Every Word In Capitals."""
    return replace(entry, title=_WORD.sub(lambda word: _capitalized(word[0]), entry.title))


def replace_content(arguments: tuple[str, ...]) -> RewriteAction:
    pattern = compile_regex(arguments[0])
    template = parse_template(arguments[1], pattern)
    return lambda entry: replace(entry, content=pattern.replace(entry.content, template, entry.budget))


def replace_title(arguments: tuple[str, ...]) -> RewriteAction:
    pattern = compile_regex(arguments[0])
    template = parse_template(arguments[1], pattern)
    return lambda entry: replace(
        entry, title=pattern.replace(entry.title, template, entry.budget, max_chars=MAX_TITLE_CHARS)
    )


def remove(arguments: tuple[str, ...]) -> RewriteAction:
    selector = parse_selector(arguments[0])

    def action(entry: RuleEntry) -> RuleEntry:
        def edit(tree: LexborHTMLParser) -> None:
            # Inner ones first: a node must not be touched after its parent went.
            for node in reversed(select(tree, selector, entry.budget)):
                node.decompose()

        return edit_tree(entry, edit)

    return action


def base64_decode(arguments: tuple[str, ...]) -> RewriteAction:
    """Decodes base64 in the text below the selector; without one, in all text."""
    selector = parse_selector(arguments[0]) if arguments else None

    def action(entry: RuleEntry) -> RuleEntry:
        def edit(tree: LexborHTMLParser) -> None:
            for node in _texts(tree, selector, entry.budget):
                if decoded := _decoded(node.text_content or ""):
                    node.replace_with(decoded)

        return edit_tree(entry, edit)

    return action


@on_tree
def remove_tables(tree: LexborHTMLParser) -> None:
    """Removes the markup of tables. The content of cells stays, separated by a space, also from the text before."""
    for table in tree.css("table"):
        if table.prev is not None:
            table.insert_before(" ")
    for cell in tree.css("td, th, caption"):
        cell.insert_after(" ")
    # Inner elements first: the cost of a step is the size of its subtree, and of nested tables little is left by then.
    for part in reversed(tree.css(_TABLE_PARTS)):
        # Without this argument an empty element stays.
        part.unwrap(delete_empty=True)


def _texts(tree: LexborHTMLParser, selector: Selector | None, budget: RuleBudget) -> list[LexborNode]:
    """Return the text nodes below the matches of the selector; all text nodes without one."""
    nodes = tree.root.traverse(include_text=True) if tree.root else ()
    texts = [node for node in nodes if node.is_text_node]
    if selector is None:
        return texts
    within = nearest_ancestors(texts, select(tree, selector, budget))
    return [node for node in texts if node.mem_id in within]


def _capitalized(word: str) -> str:
    """Return the word with its first letter in upper case and the others in lower case; marks before it stay."""
    for position, letter in enumerate(word):
        if letter.isalnum():
            return word[:position] + letter.title() + word[position + 1 :].lower()
    return word


def _decoded(text: str) -> str:
    """Return the text decoded from base64 if the result is UTF-8, else ""."""
    encoded = "".join(text.split())
    if len(encoded) < _MIN_ENCODED_CHARS:
        return ""
    try:
        return base64.b64decode(encoded, validate=True).decode().strip("\0")
    except (binascii.Error, ValueError):
        return ""
