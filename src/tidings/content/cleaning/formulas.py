"""MathML elements and attributes that are kept.

HTML parsers disagree about formulas, and sanitized text inside them has become active in other software: in some
elements, depending on attributes, the parser switches back to HTML. So only MathML elements and text are written in
a formula, and no attribute that affects this switch.
"""

from __future__ import annotations

import re
from typing import Final

from tidings.content.cleaning import attribute_checks
from tidings.content.cleaning.attribute_checks import AttributeCheck, Attributes
from tidings.content.cleaning.links import LinkCleaner
from tidings.content.cleaning.name_sets import name_set

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


def math_start_tag(attributes: Attributes, links: LinkCleaner) -> str:
    """Returns the start tag of a `math` element."""
    return (
        attribute_checks.open_tag("math", attributes, _CHECKS, links) + ' xmlns="http://www.w3.org/1998/Math/MathML">'
    )


def element_start_tag(name: str, attributes: Attributes, links: LinkCleaner) -> str:
    """Returns the start tag of an element inside a formula."""
    return attribute_checks.start_tag(name, attributes, _CHECKS, links)
