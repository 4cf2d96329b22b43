"""Writes a page for picking: its text and structure, without anything that runs, is sent or is loaded.

    page ─► elements, numbered ─► the same structure in a few harmless elements, each piece of text a link to its number

Nothing of the page but its text is copied. Tags are ours, and so are the two attributes: the number of the element
that stands here, as an id, and links to such numbers (`<a href="#e17">`). Following a link loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.base.text import name_set
from tidings.content.cleaning.sanitize import limit_nesting
from tidings.content.formats.text import collapse_whitespace, escape_html

MAX_ELEMENTS: Final = 50_000
# Characters of what is written. The rest of a page is left out.
MAX_CHARS: Final = 1_000_000
_MAX_DESCRIPTION: Final = 60

_LEFT_OUT: Final = name_set("""
    audio base canvas embed frame frameset head iframe input link math meta noembed noframes object param
    script select source style svg template textarea title track video datalist map area
""")
_KEPT: Final = name_set("""
    blockquote dd dl dt figure figcaption h1 h2 h3 h4 h5 h6 li ol p pre table tbody td tfoot th thead tr ul
""")
_INLINE: Final = name_set("""
    a abbr acronym b bdi bdo big button cite code data del dfn em font i ins kbd label mark meter nobr output picture
    progress q rp rt ruby s samp small span strike strong sub summary sup time tt u var
""")
# Within these texts they are a part of the text, and not picked alone. Elsewhere they may be a date next to a name.
_TEXTS: Final = name_set("a blockquote figcaption h1 h2 h3 h4 h5 h6 p pre")
_OF_TEXT: Final = name_set("""
    abbr acronym b bdi bdo big cite code del dfn em i ins kbd mark nobr q s samp small strike strong sub sup tt u
    var wbr
""")


class NumberedPage:
    """A page whose elements have numbers, which are the same each time that the same page is read.

    number_attribute: name of an attribute that has the numbers already; an element without one has its parent's.
    """

    def __init__(self, source: str, *, number_attribute: str = "") -> None:
        self.tree = LexborHTMLParser(limit_nesting(source))
        self.tree.strip_tags(["script", "style"])
        nodes = list(islice(self.tree.css("*"), MAX_ELEMENTS))
        self.elements = dict(enumerate(nodes))
        self.numbers = {node.mem_id: number for number, node in self.elements.items()}
        if number_attribute:
            self._take_numbers(nodes, number_attribute)

    def _take_numbers(self, nodes: list[LexborNode], attribute: str) -> None:
        self.elements, self.numbers = {}, {}
        for node in nodes:
            written = node.attributes.get(attribute)
            parent = node.parent
            if written is not None and written.isdecimal():
                self.numbers[node.mem_id] = int(written)
                self.elements[int(written)] = node
            elif parent is not None and parent.mem_id in self.numbers:
                self.numbers[node.mem_id] = self.numbers[parent.mem_id]

    def number(self, node: LexborNode) -> int | None:
        """Return the number of an element; None if it is beyond the limit."""
        return self.numbers.get(node.mem_id)


def children(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the nodes directly inside an element, texts as well."""
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def outline(source: str | NumberedPage) -> str:
    """Return the page as HTML for a body, "" if it has no text and no pictures."""
    page = NumberedPage(source) if isinstance(source, str) else source
    body = page.tree.body
    if body is None:
        return ""
    writer = _Writer(page)
    writer.write(body)
    return "".join(writer.parts) if writer.has_links else ""


class _Writer:
    def __init__(self, page: NumberedPage) -> None:
        self._page = page
        self._chars = 0
        self.parts: list[str] = []
        self.has_links = False

    def _add(self, text: str) -> None:
        self.parts.append(text)
        self._chars += len(text)

    def write(self, node: LexborNode) -> None:
        """Write what is inside an element. `limit_nesting` has bounded how deep that is."""
        run: list[LexborNode] = []
        joins = node.tag in _TEXTS
        for child in children(node):
            if child.is_text_node or (joins and child.tag in _OF_TEXT and _is_plain(child)):
                run.append(child)
                continue
            self._write_run(node, run)
            run = []
            self._write_element(child)
        self._write_run(node, run)

    def _write_element(self, node: LexborNode) -> None:
        tag, number = node.tag or "", self._page.number(node)
        if not node.is_element_node or tag in _LEFT_OUT or number is None or self._chars > MAX_CHARS:
            return
        if tag in ("br", "hr"):
            self._add(f"<{tag}>")
        elif tag == "img":
            self._add(_link(number, f"▣ {escape_html(_description(node))}", has_id=True))
            self.has_links = True
        else:
            ours = tag if tag in _KEPT else "span" if tag in _INLINE else "div"
            self._add(f'<{ours} id="e{number}">')
            self.write(node)
            self._add(f"</{ours}>")

    def _write_run(self, parent: LexborNode, run: list[LexborNode]) -> None:
        """Write texts that follow each other: one link if the parent has text of its own, else one for each element."""
        number = self._page.number(parent)
        if not run or number is None:
            return
        if any(node.is_text_node and (node.text_content or "").strip() for node in run):
            text = "".join(map(_text, run))
            before, after = (" " if end.isspace() else "" for end in (text[:1], text[-1:]))
            self._add(f"{before}{_link(number, escape_html(collapse_whitespace(text)))}{after}")
            self.has_links = True
            return
        for node in run:
            if node.is_text_node:
                self._add(" ")
            else:
                self._write_element(node)


def _is_plain(node: LexborNode) -> bool:
    return node.css_first("a, img, time, span") is None


def _text(node: LexborNode) -> str:
    return (node.text_content if node.is_text_node else node.text()) or ""


def _link(number: int, text: str, *, has_id: bool = False) -> str:
    own_id = f' id="e{number}"' if has_id else ""
    return f'<a{own_id} href="#e{number}">{text}</a>'


def _description(node: LexborNode) -> str:
    """Return what a picture shows, or the name of its file."""
    attributes = node.attributes
    described = collapse_whitespace(attributes.get("alt") or attributes.get("title") or "")
    if not described:
        source = attributes.get("src") or attributes.get("data-src") or ""
        described = "" if source.startswith("data:") else source.partition("?")[0].rpartition("/")[2]
    return described[:_MAX_DESCRIPTION]
