"""Clean HTML as Markdown, for programs that read articles as text.

Written in one pass over the tags: clean HTML nests them correctly, so that no parser is needed. The result is for
reading, not for conversion back: text is not escaped, and pictures are named, not linked.
Source: https://spec.commonmark.org/0.31.2/; tables as GitHub writes them.
"""

from __future__ import annotations

import re
from typing import Final

from tidings.base.url_schemes import safe_href
from tidings.content.cleaning.text import unescape_text

# Attributes of clean HTML have no angle brackets: what is not closed is not searched to the end of the text.
_TOKEN: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*+)([^<>]*+)>|([^<]+|<)")
# Deeper quotations and lists have no further prefix, which each of their lines would have.
_MAX_PREFIXES: Final = 40
_ATTRIBUTE: Final = re.compile(r'([a-z-]+)="([^"]*)"')
_BLANKS: Final = re.compile(r"[ \t\r\n\f]+")
_BACKTICKS: Final = re.compile(r"`+")
_HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}
# A blank line before and after.
_BLOCKS: Final = frozenset({
    "p", "figure", "details", "table", "dl", "aside", "section", "article", "header", "footer", "div", "address",
})  # fmt: skip
# A line of their own.
_LINES: Final = frozenset({"figcaption", "summary", "dt", "dd", "caption"})
_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "code": "`", "kbd": "`"}
_MEDIA: Final = {"video": "Video", "audio": "Audio", "iframe": "Embedded page"}
_LEFT_OUT: Final = frozenset({"script", "style", "template"})


def to_markdown(html: str) -> str:
    """Return an article as Markdown. html: as `cleaning.clean` writes it."""
    writer = _Writer()
    left_out = ""
    for found in _TOKEN.finditer(html):
        closing, name, attributes, text = found.groups()
        if left_out:
            left_out = "" if closing and name.lower() == left_out else left_out
        elif text is not None:
            writer.text(unescape_text(text))
        elif closing:
            writer.end(name.lower())
        elif name.lower() in _LEFT_OUT:
            left_out = name.lower()
        else:
            writer.start(name.lower(), attributes)
    return writer.finish()


class _Writer:
    """Writes lines. What surrounds a block, such as a quotation, is a prefix of each of its lines."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        # Of open quotations and items.
        self._prefixes: list[str] = []
        # In front of the next line instead of its last prefix: the mark of an item.
        self._mark = ""
        # Of open lists: the number of the next item, None where they are not numbered.
        self._lists: list[int | None] = []
        # Of open links: the address, and how many pieces the line had.
        self._links: list[tuple[str, int]] = []
        self._preformatted: list[str] | None = None
        # Of the innermost table: how many cells its last row has, and whether it has had a row.
        self._cells = 0
        self._has_row = False
        self._is_in_cell = False

    def text(self, text: str) -> None:
        if self._preformatted is not None:
            self._preformatted.append(text)
            return
        text = _BLANKS.sub(" ", text)
        if text == " " and not self._line:
            return
        self._line.append(text.lstrip() if not self._line else text)

    def start(self, name: str, attributes: str) -> None:
        if self._preformatted is not None:
            if name == "br":
                self._preformatted.append("\n")
            return
        if name in _HEADINGS:
            self._new_block()
            self._line.append(_HEADINGS[name])
        elif name in _BLOCKS:
            self._new_block()
            if name == "table":
                self._has_row = False
        elif name in _LINES:
            self._new_line()
            if name == "dd":
                self._line.append(": ")
        elif name in _MARKS:
            self._line.append(_MARKS[name])
        elif name in _MEDIA:
            self._medium(name, attributes)
        else:
            self._start_other(name, attributes)

    def _start_other(self, name: str, attributes: str) -> None:
        match name:
            case "br":
                self._new_line()
            case "hr":
                self._new_block()
                self._line.append("---")
                self._new_block()
            case "a":
                self._start_link(attributes)
            case "img":
                alt = _BLANKS.sub(" ", _attributes(attributes).get("alt", "")).strip()
                self._line.append(f"(Image: {alt})" if alt else "(Image)")
            case "blockquote":
                self._new_block()
                self._add_prefix("> ")
            case "ul" | "ol":
                self._start_list(_attributes(attributes).get("start", "1") if name == "ol" else "")
            case "li":
                self._start_item()
            case "pre":
                self._new_block()
                self._preformatted = []
            case "tr" | "td" | "th":
                self._start_in_row(name)

    def _start_in_row(self, name: str) -> None:
        if name == "tr":
            self._new_line()
            self._cells = 0
            return
        self._line.append(" | " if self._cells else "| ")
        self._cells += 1
        self._is_in_cell = True

    def _start_link(self, attributes: str) -> None:
        # Links are not in each other.
        if not self._links:
            self._links.append((_link(attributes), len(self._line)))
            self._line.append("[")

    def _start_list(self, first: str) -> None:
        """first: the number of its first item; "" if it is not numbered."""
        self._new_line() if self._lists else self._new_block()
        is_usable = first.isdecimal() and len(first) < 9
        self._lists.append((int(first) if is_usable else 1) if first else None)

    def end(self, name: str) -> None:
        if name == "pre":
            self._end_preformatted()
        elif self._preformatted is not None:
            return
        elif name in _HEADINGS or name in _BLOCKS:
            self._new_block()
        elif name in _LINES:
            self._new_line()
        elif name in _MARKS:
            self._line.append(_MARKS[name])
        elif name in ("td", "th"):
            self._is_in_cell = False
        elif end := _ENDS.get(name):
            end(self)

    def end_quotation(self) -> None:
        self.end_item()
        self._new_block()

    def end_item(self) -> None:
        self._new_line()
        self._mark = ""
        if self._prefixes:
            self._prefixes.pop()

    def end_list(self) -> None:
        if self._lists:
            self._lists.pop()
        self._new_line() if self._lists else self._new_block()

    def finish(self) -> str:
        self._end_preformatted()
        self._is_in_cell = False
        self._new_line()
        return "\n".join(self._lines).strip("\n")

    def _start_item(self) -> None:
        self._new_line()
        number = self._lists[-1] if self._lists else None
        if number is None:
            self._mark = "- "
        else:
            self._mark = f"{number}. "
            self._lists[-1] = number + 1
        self._add_prefix(" " * len(self._mark))

    def _add_prefix(self, prefix: str) -> None:
        self._prefixes.append(prefix if len(self._prefixes) < _MAX_PREFIXES else "")

    def _medium(self, name: str, attributes: str) -> None:
        address = _attributes(attributes).get("src", "")
        self._line.append(f"({_MEDIA[name]}{f': {address}' if safe_href(address) else ''})")

    def end_link(self) -> None:
        if not self._links:
            return
        address, place = self._links.pop()
        has_begun = place < len(self._line) and self._line[place] == "["
        text = "".join(self._line[place + 1 :]) if has_begun else ""
        if not has_begun:
            # A block within the link has ended the line.
            self._line.append(f" ({address})" if address else "")
        elif not text.strip() or not address:
            self._line[place] = ""
            self._line.append(address if not text.strip() else "")
        elif text.strip() == address:
            self._line[place] = ""
        else:
            self._line.append(f"]({address})")

    def end_row(self) -> None:
        self._is_in_cell = False
        if not self._cells:
            return
        self._line.append(" |")
        self._new_line()
        if not self._has_row:
            self._line.append("|" + " --- |" * self._cells)
            self._new_line()
        self._has_row = True
        self._cells = 0

    def _end_preformatted(self) -> None:
        if self._preformatted is None:
            return
        text = "".join(self._preformatted).strip("\n")
        self._preformatted = None
        longest = max((len(found) for found in _BACKTICKS.findall(text)), default=0)
        fence = "`" * max(3, longest + 1)
        for line in (fence, *text.split("\n"), fence):
            self._write(line)
        self._new_block()

    def _new_line(self) -> None:
        if self._is_in_cell:
            if self._line and self._line[-1] != " ":
                self._line.append(" ")
            return
        for _, place in self._links:
            # A block within a link: its address follows where the link ends.
            if place < len(self._line) and self._line[place] == "[":
                self._line[place] = ""
        line = "".join(self._line).strip()
        self._line = []
        if line:
            self._write(line)

    def _new_block(self) -> None:
        self._new_line()
        if self._is_in_cell or not self._lines or self._mark:
            return
        blank, last = "".join(self._prefixes).rstrip(), self._lines[-1]
        if last.strip("> "):
            self._lines.append(blank)
        elif len(blank) < len(last):
            self._lines[-1] = blank

    def _write(self, line: str) -> None:
        prefixes = self._prefixes
        if self._mark and prefixes:
            prefixes = [*prefixes[:-1], self._mark]
            self._mark = ""
        self._lines.append("".join(prefixes) + line)


_ENDS: Final = {
    "a": _Writer.end_link,
    "blockquote": _Writer.end_quotation,
    "li": _Writer.end_item,
    "ol": _Writer.end_list,
    "tr": _Writer.end_row,
    "ul": _Writer.end_list,
}


def _attributes(text: str) -> dict[str, str]:
    return {name: unescape_text(value) for name, value in _ATTRIBUTE.findall(text)}


def _link(attributes: str) -> str:
    """Return the address of a link; "" for one that leads nowhere a reader could follow."""
    return safe_href(_attributes(attributes).get("href", ""))
