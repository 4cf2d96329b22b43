"""Emphasis that only a `style` attribute carries: struck, underlined, bold, italic, raised and lowered text.

Styles are not kept, so that without an element for it struck text would read as valid, which reverses its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from tidings.base.text import name_set

# Most styles have none of these; one search decides that.
_HINT: Final = re.compile(r"bold|[6-9]00|italic|oblique|line-through|underline|sub|super")
_DECLARATION: Final = re.compile(
    r"(?:^|;)\s*+(font-weight|font-style|font|text-decoration(?:-line)?|vertical-align)\s*+:\s*+([^;]*+)"
)
_BLOCK: Final = re.compile(r"(?:^|;)\s*+display\s*+:\s*+(?:block|flex|flow-root|grid|list-item|table)(?![\w-])")
_KEEPS_BLANKS: Final = re.compile(r"(?:^|;)\s*+white-space\s*+:\s*+pre(?![\w-])")
_NOT_SELECTABLE: Final = re.compile(r"user-select\s*+:\s*+none")
_NOT_BOLD: Final = re.compile(r"(?:^|;)\s*+font-weight\s*+:\s*+(?:normal|lighter|[1-5]00)\b")
_NOT_ITALIC: Final = re.compile(r"(?:^|;)\s*+font-style\s*+:\s*+normal\b")
_NOT_DECORATED: Final = re.compile(r"(?:^|;)\s*+text-decoration(?:-line)?\s*+:\s*+none\b")
_BOLD_WORDS: Final = frozenset({"bold", "bolder", "600", "700", "800", "900"})
_ITALIC_WORDS: Final = frozenset({"italic", "oblique"})
_NOTHING: Final = frozenset({"normal", "lighter", "100", "200", "300", "400", "500"})
_PROPERTY_MARKS: Final = {"font-weight": "b", "font-style": "i"}
_DECORATIONS: Final = {"line-through": "s", "underline": "u"}
_POSITIONS: Final = {"sub": "sub", "super": "sup"}

# A mark is not repeated inside an element that shows the same.
_SAME: Final = {
    "b": name_set("b strong h1 h2 h3 h4 h5 h6 th"),
    "i": name_set("i em cite dfn var"),
    "s": name_set("s del"),
    "u": name_set("u ins a"),
    "sub": name_set("sub sup"),
    "sup": name_set("sub sup"),
}
_CANCELED: Final = {
    "b": _NOT_BOLD,
    "strong": _NOT_BOLD,
    "i": _NOT_ITALIC,
    "em": _NOT_ITALIC,
    "s": _NOT_DECORATED,
    "strike": _NOT_DECORATED,
    "u": _NOT_DECORATED,
}
_MAX_CACHED_CHARS: Final = 3_000


class ShownStyle(Struct, frozen=True):
    """What a style says about an element that its name does not."""

    marks: tuple[str, ...] = ()
    """The names of the elements that show the same, the outermost first."""
    is_block: bool = False
    """Whether it makes a block of an inline element, as of the lines of some code samples."""
    keeps_blanks: bool = False
    """Whether line ends and indentation are shown as they are written."""
    is_not_selectable: bool = False
    """Whether its text cannot be selected, as the line numbers of some code samples."""


def read_style(style: str) -> ShownStyle | None:
    """Return what is worth keeping of a style; None for most."""
    return _cached_style(style) if len(style) <= _MAX_CACHED_CHARS else _read(style)


def missing_marks(marks: tuple[str, ...], open_elements: Sequence[str], *, is_block: bool) -> list[str]:
    """Return the marks that the elements around do not show already.

    open_elements: the elements around the marks, with the one that has the style. is_block: whether that is a block.
    """
    return [
        mark
        for mark in marks
        if not (is_block and mark in _POSITIONS.values()) and _SAME[mark].isdisjoint(open_elements)
    ]


def _read(style: str) -> ShownStyle | None:
    lowered = style.lower()
    marks = _marks(lowered) if _HINT.search(lowered) else ()
    facts = [pattern.search(lowered) is not None for pattern in (_BLOCK, _KEEPS_BLANKS, _NOT_SELECTABLE)]
    return ShownStyle(marks, *facts) if marks or any(facts) else None


_cached_style = lru_cache(maxsize=512)(_read)


def cancels(name: str, style: str) -> bool:
    """Return whether the style takes away what the element shows, as in `<b style="font-weight: normal">`."""
    pattern = _CANCELED.get(name)
    return pattern is not None and pattern.search(style.lower()) is not None


def _marks(style: str) -> tuple[str, ...]:
    marks: dict[str, None] = {}
    for key, value in _DECLARATION.findall(style):
        for word in value.replace("!", " ").split():
            if key.startswith("text-decoration"):
                mark = _DECORATIONS.get(word, "")
            elif key == "vertical-align":
                mark = _POSITIONS.get(word, "")
            else:
                mark = "b" if word in _BOLD_WORDS else "i" if word in _ITALIC_WORDS else ""
            if word in _NOTHING:
                marks.pop(_PROPERTY_MARKS.get(key, ""), None)
            elif mark:
                marks[mark] = None
    return tuple(marks)
