"""HTML that a publisher escaped twice, so that readers would show its tags as text."""

from __future__ import annotations

import re
from typing import Final

from tidings.base.text import unescape_html

_ESCAPED_START: Final = re.compile(r"\s*+&(?:lt|LT|#0*+60|#[xX]0*+3[cC]);[A-Za-z]")
_WRAPPER: Final = re.compile(r"\s*+<(p|div)(?:\s[^<>]*+)?>([^<>]*+)</\1\s*+>\s*+", re.IGNORECASE)
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)((?:[\s/][^<>]*+)?)>")
_VOID: Final = frozenset({"br", "hr", "img", "wbr", "source", "input", "embed"})
# A text of one of these is meant to be shown; one of others, such as <marquee>, may be a sample of code.
_OUTER: Final = frozenset(
    {"p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote", "figure", "section",
     "article", "pre", "hr", "br", "img"}
)  # fmt: skip


def unescape_again(markup: str) -> str:
    """Return the HTML without its second escaping, if all of it is escaped markup that balances; else the HTML.

    A paragraph or `div` around all of it may be unescaped already. Text outside of the escaped elements, a tag of its
    own or an element that is not closed mean that the tags are the subject of the text.
    """
    if "&" not in markup:
        return markup
    wrapper = _WRAPPER.fullmatch(markup)
    inner = wrapper[2] if wrapper else markup
    if "<" in inner or not _ESCAPED_START.match(inner):
        return markup
    unescaped = unescape_html(inner)
    return unescaped if _is_balanced(unescaped) else markup


def _is_balanced(html: str) -> bool:
    """Return whether the HTML consists of block elements and pictures that are all closed, in order."""
    opened: list[str] = []
    position = 0
    for tag in _TAG.finditer(html):
        between = html[position : tag.start()]
        position = tag.end()
        if "<" in between or (not opened and between.strip()):
            return False
        name = tag[2].lower()
        if tag[1]:
            if not opened or opened.pop() != name:
                return False
        elif not opened and name not in _OUTER:
            return False
        elif name not in _VOID and not tag[3].endswith("/"):
            opened.append(name)
    return position > 0 and not opened and not html[position:].strip()
