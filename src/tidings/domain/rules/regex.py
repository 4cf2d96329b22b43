"""Expressions of users: matched in linear time, within a budget, and explained when they cannot be used.

Syntax: https://github.com/google/re2/wiki/Syntax. Matching is case-sensitive and not anchored.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any, Final, Protocol

import re2
from msgspec import Struct

from tidings.domain.errors import InvalidRule
from tidings.domain.wording import Words

MAX_EXPRESSION_CHARS: Final = 4_000
# An expression may unfold into far more than was written: (a?){1000} is a thousand steps per letter.
MAX_PROGRAM_STEPS: Final = 10_000
MAX_MEMORY_BYTES: Final = 4 << 20
# Steps times bytes of text; about 5 ns for each where the fast matcher runs out of memory.
MAX_WORK: Final = 200_000_000
MAX_RESULT_CHARS: Final = 4_000_000
MAX_REPLACE_S: Final = 1.0

# What RE2 says, by its beginning, and what we say to a person. The first that fits wins.
_EXPLANATIONS: Final[dict[str, Words]] = {
    "invalid perl operator: (?=": "look-ahead is not supported",
    "invalid perl operator: (?!": "look-ahead is not supported",
    "invalid perl operator: (?<": "look-behind is not supported",
    "invalid perl operator": "this kind of group is not supported",
    "invalid escape sequence": "this escape is unknown; back-references are not supported",
    "missing )": "a parenthesis is opened and never closed",
    "unexpected )": "a parenthesis is closed that was never opened",
    "missing ]": "a character class is opened with [ and never closed",
    "no argument for repetition operator": "there is nothing to repeat",
    "bad repetition operator": "a repetition cannot be repeated",
    "invalid repetition size": "the repetition count is too large",
    "invalid character class range": "this range of characters is not valid",
    "trailing \\": "it ends in a lone backslash",
    "pattern too large": "it unfolds into too many steps",
}


class GaveUp(Exception):
    """A rule ran over its budget; whoever applies it leaves the text as it was and says so."""

    def __init__(self, reason: Words) -> None:
        super().__init__(reason)


class _Match(Protocol):
    """The part of re2's untyped match object that is used here."""

    def start(self, group: int = 0) -> int: ...
    def end(self, group: int = 0) -> int: ...
    def group(self, group: int = 0) -> str | None: ...


class Regex:
    """A usable expression. Two with the same source are equal."""

    __slots__ = ("_compiled", "_max_bytes", "source")

    def __init__(self, source: str, compiled: Any) -> None:
        self.source: Final = source
        self._compiled: Final = compiled
        self._max_bytes: Final[int] = MAX_WORK // max(compiled.programsize, 1)

    @property
    def groups(self) -> int:
        return int(self._compiled.groups)

    @property
    def named_groups(self) -> dict[str, int]:
        return dict(self._compiled.groupindex)

    def is_found_in(self, text: str) -> bool:
        """Only the beginning of a text beyond the work budget is looked at."""
        return self._compiled.search(well_formed(text[: self._max_chars(text)])) is not None

    def replace(self, text: str, template: Template) -> str:
        """text with every match replaced. GaveUp when text or result are too long or it takes too long.

        All or nothing: a text that is half replaced would be a riddle to its reader.
        """
        if len(text) > self._max_chars(text):
            raise GaveUp("the text is too long for this expression")
        text = well_formed(text)
        pieces: list[str] = []
        length, position = 0, 0
        # One match may read the whole rest of the text, so many matches are quadratic even in a linear
        # engine. The matches are many and cheap or few and dear; only the clock tells which.
        deadline = time.thread_time() + MAX_REPLACE_S
        for match in self._compiled.finditer(text):
            # re2 reports some empty matches twice; as in RE2 itself, none counts at the end of the match before.
            if pieces and match.end() == position:
                continue
            new = template.fill(match)
            length += len(new) + match.start() - position
            if length > MAX_RESULT_CHARS or time.thread_time() > deadline:
                raise GaveUp("replacing takes too long or makes the text too long")
            pieces += (text[position : match.start()], new)
            position = match.end()
        return "".join((*pieces, text[position:]))

    def _max_chars(self, text: str) -> int:
        # Outside ASCII a character takes up to four bytes.
        return self._max_bytes if text.isascii() else self._max_bytes // 4

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Regex) and other.source == self.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __repr__(self) -> str:
        return f"Regex({self.source!r})"


class Template(Struct, frozen=True):
    """A replacement: literal text, and group numbers or names to be filled in."""

    parts: tuple[str | int, ...]

    def fill(self, match: _Match) -> str:
        return "".join(part if isinstance(part, str) else match.group(part) or "" for part in self.parts)


def compile_regex(source: str) -> Regex:
    """InvalidRule, without field and number, when the expression cannot be used."""
    if not source:
        raise InvalidRule("The expression is empty.")
    if len(source) > MAX_EXPRESSION_CHARS:
        raise InvalidRule(f"The expression is longer than {MAX_EXPRESSION_CHARS} characters.")
    if well_formed(source) != source:
        raise InvalidRule("The expression contains half a character (a lone surrogate).")
    return _compile(source)


@lru_cache(maxsize=256)
def _compile(source: str) -> Regex:
    try:
        compiled = re2.compile(source, _options())
    except re2.error as error:
        raise InvalidRule(f"The expression {_shortened(source)} cannot be used: {_explained(error)}.") from error
    if compiled.programsize > MAX_PROGRAM_STEPS:
        raise InvalidRule(f"The expression {_shortened(source)} cannot be used: it unfolds into too many steps.")
    return Regex(source, compiled)


def parse_template(text: str, regex: Regex) -> Template:
    """text: `$1`, `${1}` and `${name}` are groups, `$0` the match, `$$` a dollar sign; any other $ is itself.

    InvalidRule for a group that the expression does not have.
    """
    parts: list[str | int] = []
    position = 0
    for match in _REFERENCE.finditer(well_formed(text)):
        parts.append(text[position : match.start()])
        parts.append("$" if match.group() == "$$" else _group_number(match.group(1) or match.group(2), regex))
        position = match.end()
    parts.append(text[position:])
    return Template(tuple(part for part in parts if part != ""))


def _group_number(name: str, regex: Regex) -> int:
    if name in regex.named_groups:
        return regex.named_groups[name]
    if not name.isdecimal() or int(name) > regex.groups:
        raise InvalidRule(f"The replacement asks for group {name}, which the expression does not have.")
    return int(name)


def well_formed(text: str) -> str:
    """text, with lone surrogates turned into question marks: neither re2 nor an HTML parser takes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _options() -> Any:
    options = re2.Options()
    options.max_mem = MAX_MEMORY_BYTES
    # Otherwise RE2 writes to stderr on its own.
    options.log_errors = False
    return options


_REFERENCE: Final = re2.compile(r"\$\$|\$([0-9]{1,4})|\$\{(\w{1,40})\}", _options())


def _explained(error: Exception) -> Words:
    said = error.args[0] if error.args else ""
    said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    for beginning in _EXPLANATIONS:
        if said.startswith(beginning):
            return _EXPLANATIONS[beginning]
    return "its syntax is not understood"


def _shortened(source: str) -> str:
    return f'"{source}"' if len(source) <= 60 else f'"{source[:59]}…"'
