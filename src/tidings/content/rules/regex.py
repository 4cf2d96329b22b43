"""Regular expressions of users: matched in linear time within a budget, with explanations of errors.

Syntax: https://github.com/google/re2/wiki/Syntax. Matching is case-sensitive and not anchored. Text is compared as
people type it on a keyboard: one blank, one hyphen, one apostrophe, no invisible marks. Publishers print other ones,
and a rule with a blank should match a title with a no-break space.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Protocol

import re2
from msgspec import Struct

from tidings.base.messages import Message, msg
from tidings.content.errors import InvalidRule
from tidings.content.rules.evaluation import RuleBudget, RuleBudgetExceeded

_BLANKS: Final = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_HYPHENS: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_APOSTROPHES: Final = "\u2018\u2019\u201b\u02bc\u02b9\uff07"
_QUOTES: Final = "\u201c\u201d\u201e\u201f\uff02"
# Soft hyphens, zero-width blanks and joiners, marks of direction.
_INVISIBLE: Final = (
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)
_TYPED: Final = str.maketrans(
    dict.fromkeys(_BLANKS, " ")
    | dict.fromkeys(_HYPHENS, "-")
    | dict.fromkeys(_APOSTROPHES, "'")
    | dict.fromkeys(_QUOTES, '"')
    | dict.fromkeys(_INVISIBLE, "")
)
_TYPED_REFERENCE: Final = re.compile(
    r"&(?:(nbsp|#160|#xa0)|(shy|#173|#xad)|(rsquo|lsquo|apos|#821[67]|#x201[89]|#0?39|#x27)"
    r"|(ndash|mdash|hyphen|#821[12]|#x201[0-4])|(quot|#34|#x22|[lr]dquo|#822[01]|#x201[cd]));",
    re.IGNORECASE,
)
_MEANT: Final = ("", " ", "", "'", "-", '"')


def as_typed(text: str, *, is_html: bool = False) -> str:
    """Return the text as people type it. is_html: character references of such signs are resolved as well."""
    if is_html and "&" in text:
        text = _TYPED_REFERENCE.sub(lambda match: _MEANT[match.lastindex or 0], text)
    return text if text.isascii() else text.translate(_TYPED)


MAX_EXPRESSION_CHARS: Final = 4_000
# A short expression can compile to a large program: (a?){1000} takes a thousand steps per letter.
MAX_PROGRAM_STEPS: Final = 10_000
MAX_MEMORY_BYTES: Final = 4 << 20
# Steps times bytes of text; about 5 ns each if the fast matcher runs out of memory.
MAX_WORK: Final = 200_000_000
MAX_RESULT_CHARS: Final = 4_000_000
MAX_REPLACE_S: Final = 1.0

# Prefix of RE2's message -> explanation for the user. The first match wins.
_EXPLANATIONS: Final[dict[str, Message]] = {
    "invalid perl operator: (?=": msg("look-ahead is not supported"),
    "invalid perl operator: (?!": msg("look-ahead is not supported"),
    "invalid perl operator: (?<": msg("look-behind is not supported"),
    "invalid perl operator": msg("this kind of group is not supported"),
    "invalid escape sequence": msg("this escape is unknown; back-references are not supported"),
    "missing )": msg("a parenthesis is opened and never closed"),
    "unexpected )": msg("a parenthesis is closed that was never opened"),
    "missing ]": msg("a character class is opened with [ and never closed"),
    "no argument for repetition operator": msg("there is nothing to repeat"),
    "bad repetition operator": msg("a repetition cannot be repeated"),
    "invalid repetition size": msg("the repetition count is too large"),
    "invalid character class range": msg("this range of characters is not valid"),
    "trailing \\": msg("it ends in a lone backslash"),
    "pattern too large": msg("it unfolds into too many steps"),
}


class _Match(Protocol):
    """The part of re2's untyped match object that is used here."""

    def start(self, group: int = 0) -> int: ...
    def end(self, group: int = 0) -> int: ...
    def group(self, group: int = 0) -> str | None: ...


class Regex:
    """A compiled expression. Two with the same source are equal."""

    __slots__ = ("_compiled", "_max_bytes", "source")

    def __init__(self, source: str, compiled: Any) -> None:
        self.source: Final = source
        self._compiled: Final = compiled
        self._max_bytes: Final[int] = MAX_WORK // max(compiled.programsize, 1)

    @property
    def program_steps(self) -> int:
        """The size of its program: the work of a search is in proportion to it and to the text."""
        return int(self._compiled.programsize)

    @property
    def groups(self) -> int:
        return int(self._compiled.groups)

    @property
    def named_groups(self) -> dict[str, int]:
        return dict(self._compiled.groupindex)

    @property
    def typed(self) -> Regex:
        """The expression as people type it on a keyboard; itself if nothing differs."""
        source = as_typed(self.source)
        if source == self.source or not source:
            return self
        try:
            return _compile(source)
        except InvalidRule:
            return self

    def is_found_in(self, text: str) -> bool:
        """Return whether the text matches. Text beyond the work budget is ignored."""
        return self._compiled.search(_encoded(text[: self._max_chars(text)])) is not None

    def first_match(self, text: str) -> list[str] | None:
        """Return the first match and its groups, "" for those that take no part. Text as of `is_found_in`."""
        match = self._compiled.search(replace_surrogates(text[: self._max_chars(text)]))
        return None if match is None else [match.group(number) or "" for number in range(self.groups + 1)]

    def matching_lines(self, text: str, budget: RuleBudget) -> Iterator[int]:
        """Yield the numbers of the lines that match on their own, counted from 0. Raises RuleBudgetExceeded.

        RE2 searches many lines in the time that a call for each of the lines takes. Many matches take 2 µs each.
        """
        by_line = _compile_by_line(self.source)
        first = 0
        for part in _line_groups(_encoded(text), self._max_bytes):
            budget.check()
            if by_line is None:
                yield from (first + at for at, line in enumerate(part.split(b"\n")) if self._compiled.search(line))
            else:
                yield from (first + at for at in _found_lines(by_line, part))
            first += part.count(b"\n") + 1

    def replace(
        self, text: str, template: ReplacementTemplate, budget: RuleBudget, *, max_chars: int = MAX_RESULT_CHARS
    ) -> str:
        """Return the text with every match replaced.

        max_chars: maximum length of the result. Raises RuleBudgetExceeded if the text or the result is too long or
        replacing takes too long. Text is never replaced partly.
        """
        if len(text) > self._max_chars(text):
            raise RuleBudgetExceeded(msg("the text is too long for this expression"))
        text = replace_surrogates(text)
        pieces: list[str] = []
        length, position = 0, 0
        # One match may read the whole rest of the text, so many matches take quadratic time even in a linear
        # engine. Their cost is unknown in advance, so the time is measured.
        deadline = min(time.thread_time() + MAX_REPLACE_S, budget.deadline)
        for match in self._compiled.finditer(text):
            # re2 reports some empty matches twice; one at the end of the previous match does not count, as in RE2.
            if pieces and match.end() == position:
                continue
            new = template.fill(match)
            length += len(new) + match.start() - position
            if length > max_chars or time.thread_time() > deadline:
                raise RuleBudgetExceeded(msg("replacing takes too long or makes the text too long"))
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


class ReplacementTemplate(Struct, frozen=True):
    """The replacement text of a regular expression, compiled."""

    parts: tuple[str | int, ...]
    """Literal text, and numbers of the groups to insert."""

    def fill(self, match: _Match) -> str:
        return "".join(part if isinstance(part, str) else match.group(part) or "" for part in self.parts)


def compile_regex(source: str) -> Regex:
    """Return the expression. Raises InvalidRule, without field and number, if it is unusable."""
    if not source:
        raise InvalidRule(msg("The expression is empty."))
    if len(source) > MAX_EXPRESSION_CHARS:
        raise InvalidRule(msg("The expression is longer than {max} characters.", max=MAX_EXPRESSION_CHARS))
    if replace_surrogates(source) != source:
        raise InvalidRule(msg("The expression contains half a character (a lone surrogate)."))
    return _compile(source)


@lru_cache(maxsize=256)
def _compile(source: str) -> Regex:
    try:
        compiled = re2.compile(source, _options())
    except re2.error as error:
        raise InvalidRule(
            msg(
                "The expression {expression} cannot be used: {reason}.",
                expression=_shortened(source),
                reason=_explained(error),
            )
        ) from error
    if compiled.programsize > MAX_PROGRAM_STEPS:
        raise InvalidRule(
            msg(
                "The expression {expression} cannot be used: it unfolds into too many steps.",
                expression=_shortened(source),
            )
        )
    return Regex(source, compiled)


# What means the text as a whole, or may read beyond a line.
_NOT_BY_LINE: Final = re.compile(r"\\[AzCQ]|\(\?[A-Za-z]*-")


@lru_cache(maxsize=64)
def _compile_by_line(source: str) -> Any | None:
    """Return an expression that matches in a line of a text where the source matches that line; None without one."""
    if _NOT_BY_LINE.search(source):
        return None
    options = _options()
    options.never_nl = True
    try:
        # With the rest of the line, so that the next match is on another one.
        return re2.compile(f"(?m)(?:{source}).*", options)
    except re2.error:
        # It became too large.
        return None


def _found_lines(by_line: Any, text: bytes) -> Iterator[int]:
    found, number, position = -1, 0, 0
    for match in by_line.finditer(text):
        start = match.start()
        number += text.count(b"\n", position, start)
        position = start
        # An empty match at the end of a line may follow another one in it.
        if number != found:
            yield number
        found = number


def _line_groups(text: bytes, size: int) -> Iterator[bytes]:
    """Yield the text in groups of whole lines, each of them little longer than a size."""
    start = 0
    while True:
        end = text.find(b"\n", start + size)
        if end < 0:
            yield text[start:]
            return
        yield text[start:end]
        start = end + 1


def parse_template(text: str, regex: Regex) -> ReplacementTemplate:
    """Return the replacement template.

    text: `$1`, `${1}` and `${name}` are groups, `$0` the match, `$$` a dollar sign; any other $ is literal.
    Raises InvalidRule for a group that the expression does not have.
    """
    parts: list[str | int] = []
    position = 0
    for match in _REFERENCE.finditer(replace_surrogates(text)):
        parts.append(text[position : match.start()])
        parts.append("$" if match.group() == "$$" else _group_number(match.group(1) or match.group(2), regex))
        position = match.end()
    parts.append(text[position:])
    return ReplacementTemplate(tuple(part for part in parts if part != ""))


def _group_number(name: str, regex: Regex) -> int:
    if name in regex.named_groups:
        return regex.named_groups[name]
    if not name.isdecimal() or int(name) > regex.groups:
        raise InvalidRule(msg("The replacement asks for group {name}, which the expression does not have.", name=name))
    return int(name)


def replace_surrogates(text: str) -> str:
    """Return the text with lone surrogates replaced by question marks: re2 and HTML parsers do not accept them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _encoded(text: str) -> bytes:
    """Return the text as `replace_surrogates` does, in bytes: in a string, re2 counts the characters up to a match."""
    return text.encode(errors="replace")


def _options() -> Any:
    options = re2.Options()
    options.max_mem = MAX_MEMORY_BYTES
    # Otherwise RE2 writes to stderr on its own.
    options.log_errors = False
    return options


_REFERENCE: Final = re2.compile(r"\$\$|\$([0-9]{1,4})|\$\{(\w{1,40})\}", _options())


def _explained(error: Exception) -> Message:
    said = error.args[0] if error.args else ""
    said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    for beginning in _EXPLANATIONS:
        if said.startswith(beginning):
            return _EXPLANATIONS[beginning]
    return msg("its syntax is not understood")


def _shortened(source: str) -> str:
    return f'"{source}"' if len(source) <= 60 else f'"{source[:59]}…"'
