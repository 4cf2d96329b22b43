"""The clean text while it is being written: its pieces, the elements still open, and where its lines end."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final

from selectolax.lexbor import LexborNode

from tidings.domain.cleaning import elements
from tidings.domain.cleaning.attributes import Attributes, escape_text, is_hidden
from tidings.domain.cleaning.images import stands_in
from tidings.domain.cleaning.links import Links
from tidings.domain.cleaning.policy import CleaningPolicy

# Elements inside of elements; browsers give up at 512. What lies deeper is kept as text.
MAX_DEPTH: Final = 200

# In the place of a closing tag: nothing to write, but a line ends here.
LINE_END: Final = "\n"

# A line: nothing is on it; something is; the same, and what follows belongs on another. Plain numbers, because
# nothing in here is asked for as often.
_NEW, _BEGUN, _ENDED = range(3)

# Without one of these in the source, the attributes that matter everywhere matter to elements with some of their own.
_SIGNS_OF_COMMON_ATTRIBUTES = (b"hidden", b"dir=", b"lang=")
_SIGN_OF_HIDING = re.compile(rb"display\s*:\s*none")


class Page:
    """mode: how the element at hand is read. Gives the closing tag to write after its content, "" when there
    is none to write, and None to skip the content as well. mode_of_the_deep: the one beyond `MAX_DEPTH`.
    has_fallen_walls: whether something was left out that kept its content apart (`elements.WALLS`).
    out: what is written, tags and texts. words: the texts, and a blank for each tag that ends a word.
    """

    def __init__(
        self, source: bytes, links: Links, policy: CleaningPolicy, *, mode: Mode, mode_of_the_deep: Mode
    ) -> None:
        self._source = source
        self.links = links
        self.policy = policy
        self.mode = mode
        self._mode_of_the_deep = mode_of_the_deep
        self.has_fallen_walls = False
        self.out: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self._line = _NEW
        self._picture: Attributes | None = None
        self._picture_at = -1

    @cached_property
    def has_common_attributes(self) -> bool:
        """Whether any element may carry one that matters everywhere. Asked late: most documents never have to tell."""
        lowered = self._source.lower()
        return (
            any(sign in lowered for sign in _SIGNS_OF_COMMON_ATTRIBUTES) or _SIGN_OF_HIDING.search(lowered) is not None
        )

    def hides(self, attributes: Attributes) -> bool:
        return is_hidden(attributes) and self.has_common_attributes

    def text(self, text: str) -> None:
        # Spelled out: half of all nodes are text, and most of it has nothing to escape.
        if "&" in text or "<" in text or ">" in text or "\r" in text:
            text = escape_text(text)
        if self._line != _BEGUN:
            text = self._begin(text)
        self.out.append(text)
        self.words.append(text)

    def _begin(self, text: str) -> str:
        # The parser takes the line feed after <pre> for a courtesy of the author and drops it.
        if text.startswith("\n") and self.out and self.out[-1].startswith("<pre"):
            text = "\n" + text
        if text and not text.isspace():
            self.continue_line()
        return text

    def start_block(self, name: str, tag: str) -> str:
        """An element that begins and ends a line. Gives its closing tag."""
        self._line = _NEW
        self.void(tag)
        self._push(name)
        return f"</{name}>"

    def start_inline(self, name: str, tag: str) -> str:
        """An element within a line. Gives its closing tag."""
        if self._line != _BEGUN:
            self.continue_line()
        self.out.append(tag)
        if name not in elements.WITHIN_WORDS:
            self.words.append(" ")
        self._push(name)
        return f"</{name}>"

    def void_inline(self, tag: str) -> None:
        """An element without content, or one written whole, within a line."""
        self.continue_line()
        self.void(tag)

    def void(self, tag: str) -> None:
        """The same where there are no lines."""
        self.out.append(tag)
        self.words.append(" ")

    def plain(self, element: elements.Element, tag: str) -> str:
        """An element of the tables. Gives its closing tag, "" when it has none."""
        if element.is_block:
            self._line = _NEW
        elif self._line != _BEGUN:
            self.continue_line()
        self.out.append(tag)
        if element.ends_word:
            self.words.append(" ")
        close = element.close
        if close:
            # As in `_push`, spelled out: half of all elements come here.
            self.open.append(element.name)
            if len(self.open) >= MAX_DEPTH:
                self._go_flat(element.name)
        return close

    def _push(self, name: str) -> None:
        self.open.append(name)
        if len(self.open) >= MAX_DEPTH:
            self._go_flat(name)

    def _go_flat(self, name: str) -> None:
        if name not in elements.TABLE_FRAMES:
            self.mode = self._mode_of_the_deep

    def end(self, close: str) -> None:
        if close is LINE_END:
            self.end_line()
            return
        self.out.append(close)
        self.open.pop()
        if close not in elements.ENDS_WITHIN_WORDS:
            self.words.append(" ")
            if close in elements.BLOCK_ENDS:
                self._line = _NEW

    def continue_line(self) -> None:
        """Something follows on the line; where an element that ended it was left out, a break does so."""
        if self._line == _ENDED:
            self.void("<br>")
        self._line = _BEGUN

    def end_line(self) -> None:
        if self._line == _BEGUN:
            self._line = _ENDED

    def picture(self, tag: str, attributes: Attributes) -> None:
        """tag: the whole element. attributes: what it was made of."""
        if self._line != _BEGUN:
            self.continue_line()
        self._picture, self._picture_at = attributes, len(self.out)
        self.void(tag)

    def fallback_picture(self, tag: str, attributes: Attributes) -> None:
        """A picture for readers without scripts: the one just written again, unless that needs scripts."""
        if self._picture is None or not self._follows_picture():
            self.picture(tag, attributes)
        elif stands_in(self.out[self._picture_at], self._picture):
            self._picture = attributes
            self.out[self._picture_at] = tag

    def _follows_picture(self) -> bool:
        since = self.out[self._picture_at + 1 : self._picture_at + 5]
        return len(since) < 4 and all(piece.isspace() or piece.startswith("</") for piece in since)

    def would_split(self, name: str) -> bool:
        """Whether a parser would close an element around this one instead of putting this one into it."""
        outer = elements.SPLITS.get(name)
        if outer is not None:
            return self.open[-1] in outer
        outer = elements.SPLITS_FROM_AFAR.get(name)
        if outer is None:
            return False
        place = next((above for above in reversed(self.open) if above in elements.PLACES), "")
        return place in outer


Mode = Callable[[Page, LexborNode], str | None]
