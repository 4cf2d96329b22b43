"""The two older lists of a feed, one expression each for several fields, as rows of conditions.

    (?i)advert|sponsored     has sponsored, or has advert
    ^Ad:                     matches ^Ad:

The alternatives of an expression are its rows. `conditions_of` returns rows for every text; `text_of` writes an
expression of the same meaning from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tidings.base.conditions import Condition
from tidings.content.rules.filter_conditions import EXPRESSIONS, condition_of, expression_of
from tidings.content.rules.regex import compile_regex

ANY: Final = "list"
"""The field of all rows: address, title, author or a tag."""
HOWS: Final[dict[str, tuple[str, ...]]] = {ANY: EXPRESSIONS}

_NO_CASE: Final = "(?i)"
# Groups that a whole text may be, and whether they ignore case.
_GROUPS: Final = (("(?i:", True), ("(?:", False), ("(", False))
_SIGNS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|[()|]", re.DOTALL)


def conditions_of(text: str) -> list[Condition]:
    """Return a row for each alternative; one for the whole expression if its alternatives cannot be told apart."""
    text = text.strip()
    if not text:
        return []
    flag = _NO_CASE if text.startswith(_NO_CASE) else ""
    flag, inner = _without_group(flag, text.removeprefix(flag))
    parts = [_without_group(flag, part) for part in _alternatives(inner)]
    # Other flags of one alternative would hold for those after it.
    if len(parts) > 1 and (r"\Q" in text or any(not part or "(?" in part for _, part in parts)):
        return [condition_of(ANY, text)]
    return [condition_of(ANY, own + part) for own, part in parts]


def text_of(conditions: Sequence[Condition]) -> str:
    """Return the expression of rows, which matches where one of them does."""
    texts = [expression(one) for one in conditions]
    return texts[0] if len(texts) == 1 else "|".join(map(_grouped, texts))


def expression(condition: Condition) -> str:
    """Return the expression of one row. Line breaks in its value are blanks."""
    return expression_of(condition.how, condition.value)


def check(condition: Condition) -> None:
    """Raise InvalidRule for a row that is not an expression."""
    compile_regex(expression(condition))


def _grouped(text: str) -> str:
    if text.startswith(_NO_CASE):
        return f"(?i:{text.removeprefix(_NO_CASE)})"
    has_groups = any(sign[0][0] != "\\" for sign in _SIGNS.finditer(text))
    return f"(?:{text})" if has_groups else text


def _without_group(flag: str, text: str) -> tuple[str, str]:
    """Return the flag and what is in the group that the whole text is; otherwise the text itself."""
    for start, ignores_case in _GROUPS:
        if text.startswith(start) and (start != "(" or not text.startswith("(?")):
            end = next((place for place, depth in _depths(text) if depth == 0), -1)
            if end == len(text) - 1:
                return _NO_CASE if ignores_case else flag, text[len(start) : end]
    return flag, text


def _alternatives(text: str) -> Iterator[str]:
    start, depth = 0, 0
    for sign in _SIGNS.finditer(text):
        depth += {"(": 1, ")": -1}.get(sign[0], 0)
        if sign[0] == "|" and depth == 0:
            yield text[start : sign.start()]
            start = sign.end()
    yield text[start:]


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each parenthesis, and how many are open after it."""
    depth = 0
    for sign in _SIGNS.finditer(text):
        if sign[0] in ("(", ")"):
            depth += 1 if sign[0] == "(" else -1
            yield sign.start(), depth
