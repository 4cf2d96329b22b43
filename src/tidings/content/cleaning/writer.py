"""Collects the clean HTML: the output, the open elements, and where lines end."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final
from urllib.parse import unquote

from msgspec import Struct
from selectolax.lexbor import LexborNode

from tidings.content.cleaning import elements, style_marks
from tidings.content.cleaning.attribute_checks import (
    Attributes,
    LinkCleaner,
    escape_text,
    escape_value,
    is_hidden,
    prefix_id,
)

# What the writer is told


class CleaningPolicy(Struct, frozen=True, kw_only=True):
    """What the operator and the user want of cleaned HTML."""

    new_tab: bool = True
    """Whether links open in a new tab."""
    referring_hosts: frozenset[str] = frozenset()
    """The hosts of the feed and its site; a `ref` parameter with one of them is tracking."""
    embed_hosts: frozenset[str] = frozenset()
    """Hosts whose frames are allowed in addition to the known players, in lower case, without `www.`."""
    youtube_embed: str = "https://www.youtube-nocookie.com/embed/"
    """Prefix of the URLs of YouTube players; its host is in embed_hosts or a known player."""
    own_host: str = ""
    """The host of Tidings; frames of it are removed, because they could script our pages."""


DEFAULT_POLICY = CleaningPolicy()


# Jumps within an article: footnotes, tables of contents, and the way back

_TAG_NAME: Final = re.compile(r"<[a-z0-9]+")


class JumpTargets:
    """The links within one document and what they lead to: each id that a link names is kept, on any element.

    Positions are indexes of the output, which is patched at the end, because a link may come before its target or
    after it.
    """

    __slots__ = ("_kept", "_links", "_named", "_offered")

    def __init__(self) -> None:
        self._kept: set[str] = set()
        self._named: set[str] = set()
        self._offered: list[tuple[int, str]] = []
        self._links: list[tuple[int, str, str]] = []

    def add_kept(self, id_: str) -> None:
        """Records an id that is in the output in any case."""
        self._kept.add(prefix_id(id_))

    def add(self, index: int, id_: str) -> None:
        """Records an id that is kept if a link names it. index: of the start tag, or of an empty text for an anchor."""
        self._offered.append((index, prefix_id(id_)))

    def add_link(self, index: int, name: str, tag: str | None) -> None:
        """Records a link to an id with its prefix. tag: replaces the link's start tag if the document has that id."""
        if tag is None:
            self._named |= {name, unquote(name)}
        else:
            self._links.append((index, name, tag))

    def write_to(self, out: list[str]) -> None:
        """Add the ids to the output, and make jumps of the links to them."""
        if not self._named and not self._links:
            return
        known = self._kept.union(id_ for _, id_ in self._offered)
        for index, name, tag in self._links:
            if name in known or unquote(name) in known:
                out[index] = tag
                self._named |= {name, unquote(name)}
        written, indexes = set(self._kept), {index for index, _ in self._offered}
        for index, id_ in self._offered:
            if id_ not in self._named or id_ in written:
                continue
            written.add(id_)
            attribute = f' id="{escape_value(id_)}"'
            if out[index]:
                tag_name = _TAG_NAME.match(out[index])
                end = tag_name.end() if tag_name else 0
                out[index] = out[index][:end] + attribute + out[index][end:]
                continue
            anchor = f"<span{attribute}></span>"
            if out[index + 1 : index + 2] == ["<br>"] and index + 1 not in indexes:
                out[index : index + 2] = ["<br>", anchor]
            else:
                out[index] = anchor


# Writing

# Nested elements; browsers stop at 512. Deeper content is kept as text.
MAX_DEPTH: Final = 200

# In place of an end tag: nothing to write, but a line ends here.
LINE_END: Final = "\n"

# State of the current line: empty; with content; ended, so that what follows needs a new line. Plain integers, because
# no other values here are read as often.
_LINE_EMPTY, _LINE_HAS_CONTENT, _LINE_ENDED = range(3)

# If the source has none of these, only elements with attributes of their own need their attributes checked.
_COMMON_ATTRIBUTE_MARKERS = (b"hidden", b"dir=", b"lang=")
_HIDING_MARKER = re.compile(rb"display\s*:\s*none")


class CleanHtmlWriter:
    """Writes the clean HTML of one document: keeps the output, the open elements and the current line.

    handler: writes the current element. Returns the end tag to write after the content, "" to write none, or None to
    skip the content. deep_handler: the handler beyond `MAX_DEPTH`.
    needs_second_pass: whether an element was left out that had its own parsing scope (`elements.SCOPE_ELEMENTS`).
    open_pres: how many `pre` elements are open, in which line feeds count.
    out: the output, tags and texts. text_parts: the texts, and a blank for each tag that ends a word.
    """

    def __init__(
        self,
        source: bytes,
        links: LinkCleaner,
        policy: CleaningPolicy,
        *,
        handler: ElementHandler,
        deep_handler: ElementHandler,
    ) -> None:
        self._source = source
        self.links = links
        self.policy = policy
        self.handler = handler
        self._deep_handler = deep_handler
        self.needs_second_pass = False
        self.out: list[str] = []
        self.text_parts: list[str] = []
        self.open_elements: list[str] = []
        self._line_state = _LINE_EMPTY
        self._joined_ends: dict[str, tuple[str, ...]] = {}
        self._jumps = JumpTargets()
        self.open_pres = 0
        self._last_image: Attributes | None = None
        self._last_image_index = -1

    @cached_property
    def has_common_attributes(self) -> bool:
        """Whether any element may have a common attribute. Computed on demand: most documents do not need it."""
        lowered = self._source.lower()
        return any(sign in lowered for sign in _COMMON_ATTRIBUTE_MARKERS) or _HIDING_MARKER.search(lowered) is not None

    def hides(self, attributes: Attributes) -> bool:
        return is_hidden(attributes) and self.has_common_attributes

    def text(self, text: str) -> None:
        # Inlined: half of all nodes are text, and most of it needs no escaping.
        if "&" in text or "<" in text or ">" in text or "\r" in text:
            text = escape_text(text)
        if self._line_state != _LINE_HAS_CONTENT:
            text = self._start_text(text)
        elif self.open_pres and text.endswith("\n"):
            self._line_state = _LINE_EMPTY
        self.out.append(text)
        self.text_parts.append(text)

    def _start_text(self, text: str) -> str:
        # The parser drops a line feed directly after <pre>.
        if text.startswith("\n") and self._is_after_pre():
            text = "\n" + text
        if self.open_pres:
            if text:
                self._continue_code(text)
        elif text and not text.isspace():
            self.continue_line()
        return text

    def _continue_code(self, text: str) -> None:
        """Continues the line of code; a line feed at the start of the text is the one after a line that has ended."""
        if self._line_state == _LINE_ENDED and not text.startswith("\n"):
            self._end_line_of_code()
        self._line_state = _LINE_EMPTY if text.endswith("\n") else _LINE_HAS_CONTENT

    def _end_line_of_code(self) -> None:
        self.out.append("\n")
        self.text_parts.append("\n")

    def start_block(self, name: str, tag: str) -> str:
        """Starts an element that begins and ends a line. Returns its end tag."""
        self._line_state = _LINE_EMPTY
        self.void(tag)
        self._push(name)
        return f"</{name}>"

    def start_inline(self, name: str, tag: str) -> str:
        """Starts an element within a line. Returns its end tag."""
        if self._line_state != _LINE_HAS_CONTENT:
            self.continue_line()
        self.out.append(tag)
        if name not in elements.WITHIN_WORDS:
            self.text_parts.append(" ")
        self._push(name)
        return f"</{name}>"

    def add_id(self, id_: str, *, is_kept: bool) -> None:
        """Records the id of the element whose tag was just written. is_kept: whether the tag has it already."""
        if is_kept:
            self._jumps.add_kept(id_)
        else:
            self._jumps.add(len(self.out) - 1, id_)

    def add_id_of_left_out(self, id_: str | None) -> None:
        """Records the id of an element whose tags are left out; an empty element will have it if a link names it."""
        above = self.open_elements
        # Between the rows of a table no element is allowed, and after <pre> one would change what a line feed means.
        if id_ and not (above and above[-1] in elements.TABLE_STRUCTURE) and not self._is_after_pre():
            self.out.append("")
            self._jumps.add(len(self.out) - 1, id_)

    def add_jump(self, url: str, tag: str | None = None) -> None:
        """Records a link within the article, the element just written.

        url: `#` and a name. tag: for a link with the article's own address, the start tag that makes a jump of it.
        """
        self._jumps.add_link(len(self.out) - 1, url[1:], tag)

    def finish(self) -> None:
        """Writes what depends on all links and ids of the document."""
        self._jumps.write_to(self.out)

    def _is_after_pre(self) -> bool:
        return bool(self.out) and self.out[-1].startswith("<pre")

    def start_style(self, node: LexborNode, style: str, close: str) -> str:
        """Starts the elements that show what a style says. close: the end tag of its element. Returns all end tags."""
        shown = style_marks.read_style(style)
        return self.start_marks(node, shown.marks, close) if shown is not None and shown.marks else close

    def start_marks(self, node: LexborNode, marks: tuple[str, ...], close: str) -> str:
        """Starts the elements for the marks of a style that are not shown already. Returns all end tags."""
        above = self.open_elements
        if node.first_child is None or (above and above[-1] in elements.TABLE_STRUCTURE):
            return close
        missing = style_marks.missing_marks(marks, above, is_block=close is LINE_END or close in elements.BLOCK_ENDS)
        return self._start_elements(missing, close) if missing else close

    def _start_elements(self, names: Sequence[str], close: str) -> str:
        """Starts elements without attributes, the outermost first, in an element that has just been started.

        close: its end tag. Returns the end tags of all.
        """
        ends = [close] if close else []
        for name in names:
            ends.insert(0, self.start_inline(name, f"<{name}>"))
        joined = "".join(ends)
        if len(ends) > 1:
            self._joined_ends[joined] = tuple(ends)
        return joined

    def void_inline(self, tag: str) -> None:
        """Writes a whole element within a line."""
        self.continue_line()
        self.void(tag)
        self._line_state = _LINE_HAS_CONTENT

    def inline_link(self, tag: str, text: str) -> None:
        """Writes a whole link. tag: its start tag."""
        self.continue_line()
        self.out.append(tag)
        self.text(text)
        self.out.append("</a>")

    def inline_code(self, text: str) -> None:
        """Writes a whole `code` element within a line."""
        if self._is_nearly_too_deep():
            self.text(text)
            return
        self.continue_line()
        self.out.append("<code>")
        self.text(text)
        self.out.append("</code>")

    def block_of_code(self, tag: str, text: str) -> None:
        """Writes a whole `pre` element with code in it. tag: the start tag of the `code`."""
        if self._is_nearly_too_deep():
            self.text(text)
            return
        self._line_state = _LINE_EMPTY
        self.void("<pre>")
        self.out.append(tag)
        self.open_pres += 1
        self.text(text)
        self.open_pres -= 1
        self.out.append("</code>")
        self.void("</pre>")
        self._line_state = _LINE_EMPTY

    def _is_nearly_too_deep(self) -> bool:
        return len(self.open_elements) >= MAX_DEPTH - 2

    def void(self, tag: str) -> None:
        """Writes a whole element where lines do not matter."""
        self.out.append(tag)
        self.text_parts.append(" ")

    def plain(self, element: elements.AllowedElement, tag: str) -> str:
        """Starts an allowed element. Returns its end tag, "" if it has none."""
        if element.is_block:
            self._line_state = _LINE_EMPTY
            if element.name == "pre":
                self.open_pres += 1
        elif self._line_state != _LINE_HAS_CONTENT:
            self.continue_line()
        self.out.append(tag)
        if element.ends_word:
            self.text_parts.append(" ")
        close = element.end_tag
        if close:
            # `_push`, inlined: half of all elements pass here.
            self.open_elements.append(element.name)
            if len(self.open_elements) >= MAX_DEPTH:
                self._switch_to_deep_handler(element.name)
        return close

    def _push(self, name: str) -> None:
        self.open_elements.append(name)
        if len(self.open_elements) >= MAX_DEPTH:
            self._switch_to_deep_handler(name)

    def _switch_to_deep_handler(self, name: str) -> None:
        if name not in elements.TABLE_STRUCTURE:
            self.handler = self._deep_handler

    def end(self, close: str) -> None:
        """Ends an element. close: what its handler returned."""
        if close is LINE_END:
            self.end_line()
            return
        if self._joined_ends and close in self._joined_ends:
            for each in self._joined_ends[close]:
                self.end(each)
            return
        self.out.append(close)
        self.open_elements.pop()
        if close not in elements.ENDS_WITHIN_WORDS:
            self.text_parts.append(" ")
            if close in elements.BLOCK_ENDS:
                self._line_state = _LINE_EMPTY
                if close == "</pre>":
                    self.open_pres -= 1

    def continue_line(self) -> None:
        """Continues the line; if an element that ended it was left out, writes `<br>`."""
        if self.open_pres:
            # Only text begins a line of code: the element may begin with the line's own line feed.
            if self._line_state == _LINE_ENDED:
                self._end_line_of_code()
                self._line_state = _LINE_EMPTY
            return
        if self._line_state == _LINE_ENDED:
            self.void("<br>")
        self._line_state = _LINE_HAS_CONTENT

    def start_line(self) -> None:
        """Starts a line of its own, for an element that is left out. An empty line of code stays one."""
        self.end_line()
        if self.open_pres and self._line_state == _LINE_ENDED:
            self._end_line_of_code()
            self._line_state = _LINE_EMPTY

    def end_line(self) -> None:
        if self._line_state == _LINE_HAS_CONTENT:
            self._line_state = _LINE_ENDED

    def image(self, tag: str, attributes: Attributes) -> None:
        """Writes an image. tag: the whole element. attributes: those it was written from."""
        if self._line_state != _LINE_HAS_CONTENT:
            self.continue_line()
        self._last_image, self._last_image_index = attributes, len(self.out)
        self.void(tag)
        self._line_state = _LINE_HAS_CONTENT

    def image_before(self) -> tuple[str, Attributes] | None:
        """Return the tag and the attributes of the last image, if only blanks and end tags have followed it."""
        if self._last_image is None or not self._follows_last_image():
            return None
        return self.out[self._last_image_index], self._last_image

    def replace_last_image(self, tag: str, attributes: Attributes) -> None:
        """Writes an image in place of the last one."""
        self._last_image = attributes
        self.out[self._last_image_index] = tag

    def _follows_last_image(self) -> bool:
        since = self.out[self._last_image_index + 1 : self._last_image_index + 5]
        return len(since) < 4 and all(piece.isspace() or piece.startswith("</") for piece in since)

    def would_split(self, name: str) -> bool:
        """Return whether a parser would close an outer element instead of nesting this one in it.

        Code inside of code is left out, too.
        """
        if name == "pre":
            return self.open_pres > 0
        outer = elements.SPLITS_PARENT.get(name)
        if outer is not None:
            return self.open_elements[-1] in outer
        outer = elements.SPLITS_ANCESTOR.get(name)
        if outer is None:
            return False
        place = next((above for above in reversed(self.open_elements) if above in elements.SPLIT_BARRIERS), "")
        return place in outer


ElementHandler = Callable[[CleanHtmlWriter, LexborNode], str | None]
