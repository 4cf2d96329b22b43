"""Writes a tree as the query that `parser.parse` turns into the same tree again."""

from __future__ import annotations

import re

from tidings.query.intervals import format_times
from tidings.query.model import (
    And,
    Everything,
    Has,
    Id,
    Is,
    Leaf,
    Not,
    Number,
    Or,
    Pattern,
    Text,
    TextField,
    Times,
    Tree,
    View,
)
from tidings.query.parser import QUOTES

# Words that need no quotes anywhere. Others get them, even where they could do without.
_BARE = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")
_OPERATORS = frozenset({"or", "and", "not"})
_TO_ESCAPE = re.compile(rf"([{QUOTES}\\])")


def normal_form(tree: Tree) -> str:
    """Return the query of a tree, in its shortest usual spelling."""
    match tree:
        case Everything():
            return ""
        case And(terms):
            return " ".join(f"({normal_form(term)})" if isinstance(term, Or) else normal_form(term) for term in terms)
        case Or(terms):
            return " OR ".join(map(normal_form, terms))
        case Not(term):
            inner = normal_form(term)
            return f"-({inner})" if isinstance(term, And | Or) else f"-{inner}"
        case _:
            return _leaf(tree)


def _leaf(leaf: Leaf) -> str:
    match leaf:
        case Text(words, field, is_prefix):
            return _field(field) + quoted(words) + ("*" if is_prefix else "")
        case Id(field, number):
            return f"{field}:{number}"
        case Pattern(field, source, ignores_case):
            return f"{field}:/{escaped_slashes(source)}/{'i' if ignores_case else ''}"
        case Has(attachment):
            return f"has:{attachment}"
        case Is(state):
            return f"is:{state}"
        case Number(field, comparison, number):
            return f"{field}{comparison}{number}"
        case Times(field):
            return f"{field}:{format_times(leaf)}"
        case View(name):
            return f"S:{quoted(name)}"


def _field(field: TextField) -> str:
    return f"{field}:" if field else ""


def quoted(words: str) -> str:
    """Return words as they are written behind a field: in quotes where they need them."""
    if not words or (_BARE.fullmatch(words) and words.casefold() not in _OPERATORS):
        return words
    return '"' + _TO_ESCAPE.sub(r"\\\1", words) + '"'


def escaped_slashes(source: str) -> str:
    """Return an expression with a backslash before each slash that has none."""
    return re.sub(r"\\(.)|/", lambda found: found[0] if found[1] else r"\/", source, flags=re.DOTALL)
