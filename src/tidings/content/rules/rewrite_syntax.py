r"""Parses the text of rewrite rules into calls.

    nl2br, replace("one (\w+)"|"$1 one") remove(".ad, .banner")

Strings are arguments of the name before them. Everything between names and strings is ignored.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tidings.base.messages import msg
from tidings.content.errors import InvalidRule
from tidings.content.rules.rule_errors import RuleErrors, is_too_long, with_location

_TOKEN: Final = re.compile(r'(?P<name>[^\W\d]\w*)|(?P<string>"(?:[^"\\\n]|\\[^\n])*")|(?P<open>")')
# Only these are escapes: other backslashes belong to the expression, such as "\d".
_ESCAPE: Final = re.compile(r'\\(["\\nrt])')
_ESCAPED_CHARACTERS: Final = {"n": "\n", "r": "\r", "t": "\t"}


class RuleCall(Struct, frozen=True):
    """A rewrite rule as written: a name and its arguments."""

    number: int
    """Position in the text, counted from 1."""
    name: str
    arguments: tuple[str, ...] = ()


def read_calls(text: str, *, field: str, errors: RuleErrors) -> tuple[RuleCall, ...]:
    """Return the calls up to the first error, which is added to `errors`."""
    # The names with their arguments.
    calls: list[tuple[str, list[str]]] = []
    if is_too_long(text, field=field, errors=errors):
        return ()
    for token in _TOKEN.finditer(text):
        try:
            _add_token(token, calls)
        except InvalidRule as error:
            errors.append(with_location(error, field=field, number=max(len(calls), 1)))
            break
    return tuple(RuleCall(number, name, tuple(arguments)) for number, (name, arguments) in enumerate(calls, 1))


def unquote_string(literal: str) -> str:
    """Return the value of a string literal. literal: includes its quotation marks."""
    return _ESCAPE.sub(lambda match: _ESCAPED_CHARACTERS.get(match[1], match[1]), literal[1:-1])


def _add_token(token: re.Match[str], calls: list[tuple[str, list[str]]]) -> None:
    """Add a name or a string to the calls."""
    if token["name"] is not None:
        calls.append((token["name"], []))
        return
    place = token.start() + 1
    if token["open"] is not None:
        raise InvalidRule(msg('The string at character {place} has no closing " on its line.', place=place))
    if not calls:
        raise InvalidRule(msg("The string at character {place} has no rule name before it.", place=place))
    calls[-1][1].append(unquote_string(token["string"]))
