"""Plain text from the titles and names that publishers write, and HTML that was escaped twice."""

from __future__ import annotations

import html
import re
from typing import Final

from tidings.base.text import unescape_html
from tidings.content.xml.elements import unwrap_cdata

# Characters of the title that is generated for an entry without one.
_EXCERPT_CHARS: Final = 100
# An entry may begin with a long style sheet or an inlined picture.
_EXCERPT_SOURCE_CHARS: Final = 200_000

# A branch that finds no end takes the rest of the text, so that a thousand open comments take linear time.
_INVISIBLE: Final = re.compile(r"<!--(?:.*?-->|.*)|<(script|style)\b(?:.*?</\1\s*>|.*)", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>|<!\[CDATA\[|\]\]>|<![A-Za-z][^<>]*>")
_BREAKING_TAG: Final = re.compile(
    r"</?(?:br|p|div|li|ul|ol|tr|td|th|table|h[1-6]|blockquote|pre|hr|dd|dt|section|article|figure|figcaption)"
    r"\b[^<>]*>",
    re.IGNORECASE,
)
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_WHITESPACE: Final = re.compile(r"[ \t\r\n\f]+")
_NAMED_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)\b[^<>]*>")
# Tags that publishers use to format titles. Others, such as `<T>` in a title about C++, are part of the text.
_FORMATTING_TAGS: Final = frozenset(
    {"a", "abbr", "acronym", "b", "big", "blockquote", "cite", "code", "del", "dfn", "div", "em",
     "font", "h1", "h2", "h3", "h4", "h5", "h6", "i", "ins", "kbd", "li", "mark", "nobr", "ol", "p",
     "pre", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "ul",
     "var"}
)  # fmt: skip
# Of those, the ones that format a title only if they enclose all of it; in "Use <p> and </p>" they are its subject.
_BLOCK_TAGS: Final = frozenset({"blockquote", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "p", "pre", "ul"})
# Longer titles are not searched for tags that are named in them, which takes more than linear time.
_MAX_TITLE_CHARS: Final = 2_000
_CLOSED_INVISIBLE: Final = re.compile(r"<!--.*?-->|<(script|style)\b[^<>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_MENTIONED_TAG: Final = re.compile(r"(?<![^\s(\"'“‘`/,])<(/?)([A-Za-z][A-Za-z0-9]*)>(?=[\s)\"'”’`/,.:;?!]|$)")
_BREAKS: Final = frozenset({"br", "wbr", "hr"})


def remove_unstorable(text: str) -> str:
    """Return the text without NUL and lone surrogates, which JSON and base64 can contain."""
    return _UNSTORABLE.sub("", text) if _UNSTORABLE.search(text) else text


def collapse_whitespace(text: str) -> str:
    """Return the text on one line, with single blanks between words."""
    if "\n" not in text and "  " not in text and "\t" not in text and "\r" not in text:
        return text.strip()
    return _WHITESPACE.sub(" ", text).strip()


def html_to_text(markup: str) -> str:
    """Return the text of an HTML fragment on one line: tags removed, entities resolved."""
    if "<" in markup:
        markup = _TAG.sub("", _BREAKING_TAG.sub(" ", _INVISIBLE.sub("", markup)))
    return collapse_whitespace(unescape_html(markup))


def title_to_text(title: str) -> str:
    """Return the text of an RSS or JSON title, which may be plain, escaped or escaped twice.

    Known formatting tags that are opened and closed are removed. A lone `<b>` stays.
    """
    if "&" in title:
        title = unescape_html(unescape_html(title))
    if "<" in title:
        title = _strip_formatting(unwrap_cdata(title))
    return collapse_whitespace(title)


def html_title_to_text(markup: str) -> str:
    """Return the text of a title that is declared as HTML: tags that format it are removed.

    A tag that is named in it, as in "How to use <p>", stays: it stands alone, without attributes, between blanks or at
    the end. So do both tags of a block that does not enclose the whole title.
    """
    if "<" in markup and len(markup) <= _MAX_TITLE_CHARS:
        markup = _CLOSED_INVISIBLE.sub("", markup)
        named = {tag[2].lower() for tag in _MENTIONED_TAG.finditer(markup)}
        closed = {tag[2].lower() for tag in _NAMED_TAG.finditer(markup) if tag[1]}
        if named & closed & _BLOCK_TAGS and not _is_enclosed(markup):
            closed -= _BLOCK_TAGS
        mentioned = named - closed - _BREAKS
        markup = _MENTIONED_TAG.sub(lambda tag: _escaped_if(tag, mentioned), markup)
    return html_to_text(markup)


def _escaped_if(tag: re.Match[str], mentioned: set[str]) -> str:
    return escape_html(tag[0]) if tag[2].lower() in mentioned else tag[0]


def excerpt(markup: str) -> str:
    """Return a title for an entry without one: the first 100 characters of its text, "" if it has no text."""
    text = html_to_text(markup[:_EXCERPT_SOURCE_CHARS])
    return text if len(text) <= _EXCERPT_CHARS else text[:_EXCERPT_CHARS].rstrip() + "…"


def escape_html(text: str) -> str:
    """Return plain text as HTML."""
    if "&" in text or "<" in text or ">" in text:
        return html.escape(text, quote=False)
    return text


def _strip_formatting(title: str) -> str:
    opened: set[str] = set()
    closed: set[str] = set()
    # A tag with attributes is never the subject of a title.
    with_attributes: set[str] = set()
    for tag in _NAMED_TAG.finditer(title):
        name = tag[2].lower()
        (closed if tag[1] else opened).add(name)
        if "=" in tag[0]:
            with_attributes.add(name)
    removable = (opened & closed & _FORMATTING_TAGS) | _BREAKS
    if not removable.isdisjoint(_BLOCK_TAGS - with_attributes) and not _is_enclosed(title):
        removable -= _BLOCK_TAGS - with_attributes
    return _NAMED_TAG.sub(lambda tag: "" if tag[2].lower() in removable or _is_picture(tag) else tag[0], title)


def _is_enclosed(title: str) -> bool:
    """Return whether all text of a title is inside of block elements, which then format it."""
    depth = position = 0
    for tag in _NAMED_TAG.finditer(title):
        if tag[2].lower() in _BLOCK_TAGS:
            if depth <= 0 and _NAMED_TAG.sub("", title[position : tag.start()]).strip():
                return False
            depth += -1 if tag[1] else 1
            position = tag.end()
    return not _NAMED_TAG.sub("", title[position:]).strip()


def _is_picture(tag: re.Match[str]) -> bool:
    """Return whether the tag is an image, rather than the name of the tag in a text about HTML."""
    return tag[2].lower() == "img" and "=" in tag[0]


# HTML that a publisher escaped twice, so that readers would show its tags as text

_ESCAPED_START: Final = re.compile(r"\s*+(?:<(?i:p|div)(?:\s[^<>]*+)?>\s*+)?&(?:lt|LT|#0*+60|#[xX]0*+3[cC]);[A-Za-z]")
_WRAPPER: Final = re.compile(r"\s*+<(p|div)(?:\s[^<>]*+)?>([^<>]*+)</\1\s*+>\s*+", re.IGNORECASE)
_UNESCAPED_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)((?:[\s/][^<>]*+)?)>")
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
    # The start is looked at first: most texts begin otherwise, and have not to be searched for the end of a paragraph.
    if "&" not in markup or not _ESCAPED_START.match(markup):
        return markup
    wrapper = _WRAPPER.fullmatch(markup)
    inner = wrapper[2] if wrapper else markup
    if "<" in inner:
        return markup
    unescaped = unescape_html(inner)
    return unescaped if _is_balanced(unescaped) else markup


def _is_balanced(html: str) -> bool:
    """Return whether the HTML consists of block elements and pictures that are all closed, in order."""
    opened: list[str] = []
    position = 0
    for tag in _UNESCAPED_TAG.finditer(html):
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
