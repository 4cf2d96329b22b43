"""A selector list, cut into compounds (`p.intro[lang]`) and what joins them."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tidings.domain.errors import InvalidRule

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


class Compound(Struct, frozen=True):
    """combinator: how it hangs on the one before: " ", ">", "+" or "~"; "" for the first."""

    combinator: str
    text: str

    @property
    def is_costly(self) -> bool:
        return self.climbs + self.scans > 0

    @property
    def climbs(self) -> int:
        """How often the engine may walk the whole depth of the page for one element."""
        bare = _SPACE_AROUND.sub(r"\1", self._bare())
        return len(_HAS.findall(bare)) + bare.count(" ")

    @property
    def scans(self) -> int:
        """How often the engine may walk all siblings of an element."""
        bare = self._bare()
        return len(_COUNTS_SIBLINGS.findall(bare)) + bare.count("~")

    def _bare(self) -> str:
        """Without attributes and strings, whose signs and spaces mean nothing here."""
        return _ATTRIBUTE.sub("", _QUOTED.sub("", self.text))


Paths = tuple[tuple[Compound, ...], ...]


def read_paths(text: str) -> Paths:
    """InvalidRule where brackets do not match or a combinator or comma joins nothing.

    The engine closes what is left open by itself, as browsers do; a person would rather be told.
    """
    reader = _Reader()
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise InvalidRule(f"The selector has a string or escape without end at character {position + 1}.")
        reader.take(token.lastgroup or "", " " if token.lastgroup == "space" else token.group())
        position = token.end()
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self._paths: list[tuple[Compound, ...]] = []
        self._path: list[Compound] = []
        self._text = ""
        self._combinator = ""
        self._awaited: list[str] = []

    def take(self, kind: str, text: str) -> None:
        if kind == "comment":
            return
        if kind in ("open", "close"):
            self._bracket(text)
        if self._awaited or kind in ("open", "close", "text"):
            self._text += text
        elif kind == "comma":
            self._end_path()
        else:
            self._join(text)

    def finish(self) -> Paths:
        if self._awaited:
            raise InvalidRule(f"The selector ends before a closing {self._awaited[-1]}.")
        self._end_path()
        return tuple(self._paths)

    def _bracket(self, text: str) -> None:
        if text in _PAIRS:
            self._awaited.append(_PAIRS[text])
        elif not self._awaited or self._awaited.pop() != text:
            raise InvalidRule(f"The selector has a {text} that closes nothing.")

    def _join(self, combinator: str) -> None:
        """A space, or one of > + ~, was read between two compounds."""
        self._end_compound()
        if combinator == " ":
            self._combinator = self._combinator or (" " if self._path else "")
        elif self._combinator.strip() or not self._path:
            raise InvalidRule(f"The selector has a {combinator} with nothing to join.")
        else:
            self._combinator = combinator

    def _end_compound(self) -> None:
        if self._text:
            self._path.append(Compound(self._combinator, self._text))
            self._text = self._combinator = ""

    def _end_path(self) -> None:
        self._end_compound()
        if not self._path or self._combinator.strip():
            raise InvalidRule("The selector has a comma or combinator with nothing on one side.")
        self._paths.append(tuple(self._path))
        self._path, self._combinator = [], ""
