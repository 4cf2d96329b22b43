r"""The text of rewrite rules, read into calls.

    nl2br, replace("one (\w+)"|"$1 one") remove(".ad, .banner")

Names stand anywhere; what is between them does not matter. Strings belong to the name before them.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tidings.domain.errors import InvalidRule
from tidings.domain.rules.problems import Problems, is_too_long, placed

_TOKEN: Final = re.compile(r'(?P<name>[^\W\d]\w*)|(?P<string>"(?:[^"\\\n]|\\[^\n])*")|(?P<open>")')
# Only these: an expression keeps its other backslashes, so that "\d" means what it says.
_ESCAPE: Final = re.compile(r'\\(["\\nrt])')
_MEANINGS: Final = {"n": "\n", "r": "\r", "t": "\t"}


class Call(Struct, frozen=True):
    """number: counted from 1."""

    number: int
    name: str
    arguments: tuple[str, ...] = ()


def read_calls(text: str, *, field: str, problems: Problems) -> tuple[Call, ...]:
    """The calls up to the first fault; the fault is added to problems."""
    calls: list[Call] = []
    if is_too_long(text, field=field, problems=problems):
        return ()
    for token in _TOKEN.finditer(text):
        try:
            _take(token, calls)
        except InvalidRule as error:
            problems.append(placed(error, field=field, number=max(len(calls), 1)))
            break
    return tuple(calls)


def unquoted(literal: str) -> str:
    """literal: with its quotation marks."""
    return _ESCAPE.sub(lambda found: _MEANINGS.get(found[1], found[1]), literal[1:-1])


def _take(token: re.Match[str], calls: list[Call]) -> None:
    """Add what the token says to the calls read so far."""
    if token["name"] is not None:
        calls.append(Call(len(calls) + 1, token["name"]))
        return
    place = token.start() + 1
    if token["open"] is not None:
        raise InvalidRule(f'The string at character {place} has no closing " on its line.')
    if not calls:
        raise InvalidRule(f"The string at character {place} has no rule name before it.")
    last = calls[-1]
    calls[-1] = Call(last.number, last.name, (*last.arguments, unquoted(token["string"])))
