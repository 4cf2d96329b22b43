"""MathML: the part of it that shows formulas.

Formulas are where HTML parsers disagree and where cleaned text has come to life again elsewhere: inside of
some elements the parser is back in HTML, depending on attributes. So nothing but MathML and text is written
in a formula, and no attribute that moves this border.
"""

from __future__ import annotations

import re
from typing import Final

from tidings.domain.cleaning import attributes as check
from tidings.domain.cleaning.attributes import Attributes, Check
from tidings.domain.cleaning.links import Links
from tidings.domain.cleaning.words import words

ELEMENTS: Final = words("""
    mi mn mo mrow mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable
    mtr mtd mtext mspace ms mstyle mpadded mphantom merror maction semantics annotation annotation-xml
""")

DROPPED: Final = frozenset(
    {"script", "style", "template", "title", "desc", "metadata", "iframe", "noembed", "noframes"}
)

_WORD = check.matching(re.compile(r"[a-zA-Z0-9#%.+ -]{1,60}"))
_LAYOUT = words("""
    accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form
    frame height largeop linethickness lspace mathcolor mathsize mathvariant maxsize minsize movablelimits
    notation rowalign rowlines rowspacing rowspan rspace scriptlevel separator stretchy symmetric voffset
    width
""")
_CHECKS: dict[str, Check] = {**dict.fromkeys(_LAYOUT, _WORD), "dir": check.direction, "alttext": check.text}


def formula(attributes: Attributes, links: Links) -> str:
    """The start tag of a formula."""
    return check.open_tag("math", attributes, _CHECKS, links) + ' xmlns="http://www.w3.org/1998/Math/MathML">'


def part(name: str, attributes: Attributes, links: Links) -> str:
    """The start tag of an element inside of a formula."""
    return check.start_tag(name, attributes, _CHECKS, links)
