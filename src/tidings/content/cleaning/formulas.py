"""Formulas: the MathML elements and attributes that are kept, and the copies that are not.

HTML parsers disagree about formulas, and sanitized text inside them has become active in other software: in some
elements, depending on attributes, the parser switches back to HTML. So only MathML elements and text are written in
a formula, and no attribute that affects this switch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborNode

from tidings.base.text import name_set
from tidings.content.cleaning import attribute_checks
from tidings.content.cleaning.attribute_checks import AttributeCheck, Attributes, LinkCleaner

ELEMENTS: Final = name_set("""
    mi mn mo mrow mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable
    mtr mtd mtext mspace ms mstyle mpadded mphantom merror maction semantics annotation annotation-xml
""")

DROPPED: Final = frozenset(
    {"script", "style", "template", "title", "desc", "metadata", "iframe", "noembed", "noframes"}
)

_LAYOUT_VALUE = attribute_checks.matching(re.compile(r"[a-zA-Z0-9#%.+ -]{1,60}"))
_LAYOUT_ATTRIBUTES = name_set("""
    accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form
    frame height largeop linethickness lspace mathcolor mathsize mathvariant maxsize minsize movablelimits
    notation rowalign rowlines rowspacing rowspan rspace scriptlevel separator stretchy symmetric voffset
    width
""")
_CHECKS: dict[str, AttributeCheck] = {
    **dict.fromkeys(_LAYOUT_ATTRIBUTES, _LAYOUT_VALUE),
    "dir": attribute_checks.direction,
    "alttext": attribute_checks.text,
}

SCRIPT_TYPES: Final = ("math/tex", "math/latex", "math/asciimath")
_RENDERED_CLASS: Final = re.compile(r"(?:^|\s)(?:MathJax|mjx-|MJXc-)")
_ASSISTIVE: Final = frozenset({"MJX_Assistive_MathML", "katex-mathml"})
# Jekyll wraps the source in a section, commented out for TeX.
_SECTION_MARK: Final = re.compile(r"(?:%\s*+)?(?:<!\[CDATA\[|\]\]>)")
# Between the copies of one formula there are at most blanks.
_MAX_DISTANCE: Final = 5


def is_copy(node: LexborNode, attributes: Attributes) -> bool:
    """Return whether an element shows a formula whose MathML or source is next to it.

    MathJax 2 writes a preview and a rendered copy before the script with the source; MathJax 3 and KaTeX write a copy
    for the eye, hidden from screen readers, and MathML for those.
    """
    name = node.tag or ""
    if "aria-hidden" in attributes or name == "svg" or name.startswith("mjx-"):
        return not _is_assistive(node) and _has_neighbor(node, _is_assistive)
    return has_meaning(attributes.get("class") or "") and not _is_assistive(node) and _has_neighbor(node, _is_source)


def has_meaning(classes: str) -> bool:
    """Return whether one of the classes is of a rendered formula."""
    return _RENDERED_CLASS.search(classes) is not None


def source_in_script(text: str) -> str:
    """Return the source of a formula in a script of MathJax."""
    return _SECTION_MARK.sub("", text).strip()


def _has_neighbor(node: LexborNode, is_wanted: Callable[[LexborNode], bool]) -> bool:
    before, after = node.prev, node.next
    for _ in range(_MAX_DISTANCE):
        for each in (before, after):
            if each is not None and each.is_element_node and is_wanted(each):
                return True
        before, after = before and before.prev, after and after.next
    return False


def _is_assistive(node: LexborNode) -> bool:
    return node.tag == "mjx-assistive-mml" or not _ASSISTIVE.isdisjoint((node.attributes.get("class") or "").split())


def _is_source(node: LexborNode) -> bool:
    return node.tag == "script" and (node.attributes.get("type") or "").lower().startswith(SCRIPT_TYPES)


def math_start_tag(attributes: Attributes, links: LinkCleaner) -> str:
    """Return the start tag of a `math` element."""
    return (
        attribute_checks.open_tag("math", attributes, _CHECKS, links) + ' xmlns="http://www.w3.org/1998/Math/MathML">'
    )


def element_start_tag(name: str, attributes: Attributes, links: LinkCleaner) -> str:
    """Return the start tag of an element inside a formula."""
    return attribute_checks.start_tag(name, attributes, _CHECKS, links)
