"""Writes trees of lxml as HTML, in time that is linear in their size."""

from __future__ import annotations

from typing import Final

from lxml import etree
from lxml.etree import _Element

_MARK: Final = "<!--"
# More beginnings of comments in one attribute are not text that anybody wrote.
_MAX_MARKS: Final = 3
_VALUES_OF_MARKS: Final = etree.XPath(
    "descendant-or-self::*/@*[contains(substring-after(substring-after(., '<!--'), '<!--'), '<!--')]"
)


def to_html(element: _Element, *, with_tail: bool = True) -> str:
    """Return the element as HTML. Attributes with many beginnings of comments lose them: the tree is changed.

    libxml2 searches the rest of the value for the end of the comment at each of them, in case it is an instruction to
    a web server, which it must not escape. That takes quadratic time.
    """
    for value in _VALUES_OF_MARKS(element):
        if value.count(_MARK) > _MAX_MARKS:
            value.getparent().set(value.attrname, value.replace(_MARK, ""))
    return etree.tostring(element, encoding="unicode", method="html", with_tail=with_tail)
