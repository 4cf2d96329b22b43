"""Plain text out of what publishers put into titles and names."""

from __future__ import annotations

import html
import re
from typing import Final

# Length of the title made for an entry that has none, in characters.
_EXCERPT: Final = 100
# An entry may begin with a long style sheet or an inlined picture.
_EXCERPT_SOURCE: Final = 200_000

# Every branch that may not find its end takes the rest instead: a thousand open comments stay linear.
_INVISIBLE: Final = re.compile(r"<!--(?:.*?-->|.*)|<(script|style)\b(?:.*?</\1\s*>|.*)", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>|<!\[CDATA\[|\]\]>|<![A-Za-z][^<>]*>")
_BREAKING_TAG: Final = re.compile(
    r"</?(?:br|p|div|li|ul|ol|tr|td|th|table|h[1-6]|blockquote|pre|hr|dd|dt|section|article|figure|figcaption)"
    r"\b[^<>]*>",
    re.IGNORECASE,
)
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_BLANKS: Final = re.compile(r"[ \t\r\n\f]+")
_NAMED_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)\b[^<>]*>")
# Tags with which people dress titles. Others, say a lone `<T>` in a title about C++, are part of the text.
_DRESSING: Final = frozenset(
    {"a", "abbr", "acronym", "b", "big", "blockquote", "cite", "code", "del", "dfn", "div", "em",
     "font", "h1", "h2", "h3", "h4", "h5", "h6", "i", "ins", "kbd", "li", "mark", "nobr", "ol", "p",
     "pre", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "ul",
     "var"}
)  # fmt: skip
_VOID: Final = frozenset({"br", "img", "wbr", "hr"})


def storable(text: str) -> str:
    """Without NUL and halves of characters, which XML forbids but JSON and base64 can smuggle in."""
    return _UNSTORABLE.sub("", text) if _UNSTORABLE.search(text) else text


def one_line(text: str) -> str:
    """Blanks and line ends collapsed, none at the ends."""
    if "\n" not in text and "  " not in text and "\t" not in text and "\r" not in text:
        return text.strip()
    return _BLANKS.sub(" ", text).strip()


def from_html(markup: str) -> str:
    """The text of an HTML fragment in one line: tags dropped, entities resolved."""
    if "<" in markup:
        markup = _TAG.sub("", _BREAKING_TAG.sub(" ", _INVISIBLE.sub("", markup)))
    return one_line(html.unescape(markup) if "&" in markup else markup)


def from_title(title: str) -> str:
    """The text of a title in RSS or JSON: plain, escaped or escaped twice, the document does not say.

    Tags go when they look like dressing: well-known names, opened and closed. A lone `<b>` stays.
    """
    if "&" in title:
        title = html.unescape(html.unescape(title))
    if "<" in title:
        title = _undress(title)
    return one_line(title)


def excerpt(markup: str) -> str:
    """A title for an entry without one: the first 100 characters of its text, "" when it has no text."""
    text = from_html(markup[:_EXCERPT_SOURCE])
    return text if len(text) <= _EXCERPT else text[:_EXCERPT].rstrip() + "…"


def escaped(text: str) -> str:
    """Plain text as HTML."""
    if "&" in text or "<" in text or ">" in text:
        return html.escape(text, quote=False)
    return text


def _undress(title: str) -> str:
    opened: set[str] = set()
    closed: set[str] = set()
    for tag in _NAMED_TAG.finditer(title):
        (closed if tag[1] else opened).add(tag[2].lower())
    dressing = (opened & closed & _DRESSING) | _VOID
    return _NAMED_TAG.sub(lambda tag: "" if tag[2].lower() in dressing else tag[0], title)
