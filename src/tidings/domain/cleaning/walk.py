"""The walk over the parsed tree that writes the clean HTML.

    text ─► parse (lexbor) ─► walk, one element at a time ─► new text

Nothing of the tree is copied: each tag is written from our own tables. What is written is chosen so that the
next parser builds the same tree from it. Where the first one built something that cannot be written down,
such as a link inside a link, the inner tag is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from tidings.domain.cleaning import attributes as check
from tidings.domain.cleaning import elements, formulas
from tidings.domain.cleaning.attributes import HIDING, Attributes, start_tag
from tidings.domain.cleaning.embedded import EMBEDDED
from tidings.domain.cleaning.links import Links
from tidings.domain.cleaning.page import LINE_END, Mode, Page
from tidings.domain.cleaning.policy import CleaningPolicy

_OPTIONS = LexborDocumentOptions.WO_EVENTS.value
_TEXT = 2
_COMMENT = 4

_DROPPED = frozenset(elements.numbers(elements.DROPPED)) | {_COMMENT}
_DROPPED_IN_DRAWINGS = _DROPPED | frozenset(elements.numbers(elements.DROPPED_IN_DRAWINGS))
_WALLS = frozenset(elements.numbers(elements.WALLS))
_LINES = frozenset(elements.numbers(elements.LINES))
_BLOCKS = _LINES | frozenset(number for number, element in elements.PLAIN.items() if element.is_block)
_NOTED_OF_UNKNOWN = HIDING | {"dir"}
_FORM, _MATH, _SPAN, _SVG = elements.numbers(["form", "math", "span", "svg"])


def walk(source: bytes, links: Links, policy: CleaningPolicy) -> Page:
    """The page written from the source (UTF-8). Without recursion: documents nest as deep as they like."""
    page = Page(source, links, policy, mode=_flow, mode_of_the_deep=_flat)
    # The parser owns the nodes, so it has to outlive the loop.
    parser = LexborHTMLParser(source, is_fragment=True, options=_OPTIONS)
    node = parser.root
    above: list[tuple[LexborNode, str, Mode]] = []
    while node is not None:
        number = node.tag_id
        if number == _TEXT:
            page.text(node.text_content or "")
        else:
            mode = page.mode
            # The usual mode is looked up right here: everything in this loop is done for each element.
            close = _FLOW.get(number, _unknown)(page, node) if mode is _flow else mode(page, node)
            if close is not None:
                child = node.first_child
                if child is not None:
                    above.append((node, close, mode))
                    node = child
                    continue
                if close:
                    page.end(close)
                page.mode = mode
        following = node.next
        while following is None and above:
            node, close, page.mode = above.pop()
            if close:
                page.end(close)
            following = node.next
        node = following
    return page


def _flow(page: Page, node: LexborNode) -> str | None:
    """Ordinary HTML."""
    return _FLOW.get(node.tag_id, _unknown)(page, node)


def _plain(element: elements.Element) -> Mode:
    """For one of the tables."""
    noted = HIDING.union(element.checks)
    name, has_own, can_split = element.name, element.has_own, element.can_split

    def write(page: Page, node: LexborNode) -> str | None:
        tag = element.bare
        attributes = node.attributes
        # Most attributes mean nothing to us: one look tells, and nothing else has to be asked.
        if attributes and not noted.isdisjoint(attributes):
            if page.hides(attributes):
                return None
            if has_own or (("dir" in attributes or "lang" in attributes) and page.has_common_attributes):
                tag = start_tag(name, attributes, element.checks, page.links)
        if can_split and page.open and page.would_split(name):
            return LINE_END if element.is_block else ""
        return page.plain(element, tag)

    return write


def _drop(_: Page, __: LexborNode) -> None:
    """With everything in it."""


def _unknown(page: Page, node: LexborNode) -> str | None:
    number = node.tag_id
    if number in _WALLS:
        page.has_fallen_walls |= "p" in page.open
    attributes = node.attributes
    if attributes and not _NOTED_OF_UNKNOWN.isdisjoint(attributes):
        if page.hides(attributes):
            return None
        if "dir" in attributes and page.has_common_attributes and check.direction(attributes["dir"] or "", page.links):
            return _direction(page, number, attributes)
    return _end_line(page, number)


def _direction(page: Page, number: int, attributes: Attributes) -> str:
    """The direction of writing is worth keeping an element that is worth nothing otherwise."""
    if number == _SPAN:
        return page.start_inline("span", start_tag("span", attributes, elements.EVERYWHERE, page.links))
    # A form can stand where no other element can: between the rows of a table.
    if number in _LINES and number != _FORM:
        return page.start_block("div", start_tag("div", attributes, elements.EVERYWHERE, page.links))
    return _end_line(page, number)


def _end_line(page: Page, number: int) -> str:
    if number not in _BLOCKS:
        return ""
    page.end_line()
    return LINE_END


def _flat(page: Page, node: LexborNode) -> str | None:
    """Text only: of drawings, and of what is nested too deep."""
    number = node.tag_id
    return None if number in _DROPPED_IN_DRAWINGS else _end_line(page, number)


def _formula(page: Page, node: LexborNode) -> str | None:
    """MathML, see `formulas`."""
    name = node.tag or ""
    if name in formulas.DROPPED:
        return None
    if name not in formulas.ELEMENTS:
        return ""
    return page.start_inline(name, formulas.part(name, node.attributes, page.links))


def _start_formula(page: Page, node: LexborNode) -> str | None:
    attributes = node.attributes
    if page.hides(attributes):
        return None
    page.mode = _formula
    return page.start_inline("math", formulas.formula(attributes, page.links))


def _start_drawing(page: Page, node: LexborNode) -> str | None:
    if page.hides(node.attributes):
        return None
    page.mode = _flat
    return ""


# Plain elements, dropped ones, those with rules of their own, and the borders of another language.
_FLOW: Mapping[int, Mode] = {
    **{number: _plain(element) for number, element in elements.PLAIN.items()},
    **dict.fromkeys(_DROPPED, _drop),
    **EMBEDDED,
    _MATH: _start_formula,
    _SVG: _start_drawing,
}
