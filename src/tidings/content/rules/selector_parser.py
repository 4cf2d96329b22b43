"""Splits a selector list into compound selectors (`p.intro[lang]`) and combinators."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tidings.base.messages import msg
from tidings.content.errors import UnmatchableRule

_TOKEN: Final = re.compile(
    r"""
    (?P<comment>/\*.*?\*/)
    | (?P<space>[ \t\r\n\f]+)
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<combinator>[>+~])
    | (?P<comma>,)
    | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\\.|[^"'\\])
    """,
    re.VERBOSE | re.DOTALL,
)
_PAIRS: Final = {"(": ")", "[": "]"}
_HAS: Final = re.compile(r":has\(", re.IGNORECASE)
_COUNTS_SIBLINGS: Final = re.compile(r":(?:nth-[a-z-]+\(|(?:first|last|only)-of-type)", re.IGNORECASE)
_QUOTED: Final = re.compile(r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' """, re.VERBOSE | re.DOTALL)
_ATTRIBUTE: Final = re.compile(r"\[[^\]]*\]")
_SPACE_AROUND: Final = re.compile(r"\s*([,>+~()])\s*")


class CompoundSelector(Struct, frozen=True):
    """A compound of a CSS selector, and how it relates to the compound before it."""

    combinator: str
    """One of " ", ">", "+" or "~", relative to the compound before; "" for the first."""
    text: str

    @property
    def is_costly(self) -> bool:
        return self.ancestor_walks + self.sibling_walks > 0

    @property
    def ancestor_walks(self) -> int:
        """How often the engine may walk the whole depth of the page for one element."""
        bare = _SPACE_AROUND.sub(r"\1", self._bare())
        return len(_HAS.findall(bare)) + bare.count(" ")

    @property
    def sibling_walks(self) -> int:
        """How often the engine may walk all siblings of an element."""
        bare = self._bare()
        return len(_COUNTS_SIBLINGS.findall(bare)) + bare.count("~")

    def _bare(self) -> str:
        """Return the text without attributes and strings, in which signs and spaces have no meaning."""
        return _ATTRIBUTE.sub("", _QUOTED.sub("", self.text))


SelectorPaths = tuple[tuple[CompoundSelector, ...], ...]


def parse_selector_list(text: str) -> SelectorPaths:
    """Return the compounds of each member of the list.

    Raises UnmatchableRule if brackets do not match or a combinator or comma joins nothing. The engine, like browsers,
    closes
    open brackets itself; the author of the rule gets an error instead.
    """
    parser = _SelectorParser()
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise UnmatchableRule(
                msg("The selector has a string or escape without end at character {position}.", position=position + 1)
            )
        parser.take(token.lastgroup or "", " " if token.lastgroup == "space" else token.group())
        position = token.end()
    return parser.finish()


class _SelectorParser:
    def __init__(self) -> None:
        self._paths: list[tuple[CompoundSelector, ...]] = []
        self._path: list[CompoundSelector] = []
        self._text = ""
        self._combinator = ""
        self._expected_brackets: list[str] = []

    def take(self, kind: str, text: str) -> None:
        if kind == "comment":
            return
        if kind in ("open", "close"):
            self._check_bracket(text)
        if self._expected_brackets or kind in ("open", "close", "text"):
            self._text += text
        elif kind == "comma":
            self._end_path()
        else:
            self._join(text)

    def finish(self) -> SelectorPaths:
        if self._expected_brackets:
            raise UnmatchableRule(
                msg("The selector ends before a closing {bracket}.", bracket=self._expected_brackets[-1])
            )
        self._end_path()
        return tuple(self._paths)

    def _check_bracket(self, text: str) -> None:
        if text in _PAIRS:
            self._expected_brackets.append(_PAIRS[text])
        elif not self._expected_brackets or self._expected_brackets.pop() != text:
            raise UnmatchableRule(msg("The selector has a {text} that closes nothing.", text=text))

    def _join(self, combinator: str) -> None:
        """Handles a combinator: a space or one of > + ~."""
        self._end_compound()
        if combinator == " ":
            self._combinator = self._combinator or (" " if self._path else "")
        elif self._combinator.strip() or not self._path:
            raise UnmatchableRule(msg("The selector has a {combinator} with nothing to join.", combinator=combinator))
        else:
            self._combinator = combinator

    def _end_compound(self) -> None:
        if self._text:
            self._path.append(CompoundSelector(self._combinator, self._text))
            self._text = self._combinator = ""

    def _end_path(self) -> None:
        self._end_compound()
        if not self._path or self._combinator.strip():
            raise UnmatchableRule(msg("The selector has a comma or combinator with nothing on one side."))
        self._paths.append(tuple(self._path))
        self._path, self._combinator = [], ""
