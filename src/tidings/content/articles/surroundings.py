"""Removes from an article what stands around its text: links to other articles, share buttons, bylines, the title.

Only parts of the article are removed here, after it was chosen: they count when candidates are compared.
"""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from tidings.base.text import name_set
from tidings.content.articles.boilerplate import remove_boilerplate

# Inside these an element belongs to a sentence, a quotation or a table, whatever its name.
_TEXTS: Final = name_set("p pre code blockquote q h1 h2 h3 h4 h5 h6 figcaption dd dt td th math")
_NEVER_UNLIKELY: Final = frozenset({"html", "body", "a", "blockquote", "q"})

_NAMED: Final = etree.XPath("descendant::*[@class or @id]")
_TEXT: Final = etree.XPath("normalize-space()", smart_strings=False)
_CONTENT_INSIDE: Final = etree.XPath("boolean(descendant-or-self::*[self::main or self::article or self::math])")

# Links to other articles, share buttons, labels for screen readers. The word has to end the name: the name of a
# part of the article may begin with it ("sharing-with-others").
_ASIDE: Final = re.compile(
    r"(?<![a-z])(?:related|recommended|read-?(?:next|more)|most-(?:popular|read)|trending|outbrain|taboola|cta|sign-?up"
    r"|share|sharing|social|breadcrumbs?|(?:left|right)-?rail)"
    r"(?:daddy|-?(?:posts?|articles?|stories|story|content|links?|news|this|bar|buttons?|tools?|icons?|media|items?"
    r"|list|box))*(?![\w-])",
    re.IGNORECASE,
)
# Labels that only screen readers show.
_UNSEEN: Final = re.compile(
    r"(?<![a-z])(?:screen-?reader(?:-text|-only)?|visually-?hidden|sr-only|off-?screen)(?![a-z-])", re.IGNORECASE
)
# What publishing systems put around a text: who wrote it, its tags, its discussion. They never name parts of a text.
_META: Final = re.compile(
    r"(?<![a-z])(?:(?:about-?(?:the-?)?|(?:entry|post|article|single|page)[-_]{0,2})author"
    r"|author[-_]{0,2}(?:info|box|bio|about|description|card|profile|details|content|vcard|wrap(?:per)?)"
    r"|(?:entry|post|article)[-_]{0,2}(?:meta(?:data|info)?|footer|tags?|utility|nav(?:igation|links)?|actions|categories"
    r"|info)"
    r"|tags?-?(?:links?|list|cloud)|cat-links|comment-?(?:s|list|form|respond)|recent-?comments|respond"
    r"|rec-?posts|more-?(?:posts|articles|stories|news)|post-?views|wp-polls|copyright)"
    r"(?:[-_]{0,2}(?:info|box|wrap(?:per)?|container|section|area|block|inner|list))*(?![\w-])",
    re.IGNORECASE,
)
# An element with at least this share of the text of all paragraphs is the article itself, whatever its name.
_MIN_MAIN_SHARE: Final = 0.3

_BYLINE: Final = re.compile(
    r"(?<![a-z])(?:byline|dateline|timestamp|publish(?:ed)?-?(?:date|time|on)|post(?:ed)?-?(?:date|on)|p-author)(?![a-z])",
    re.IGNORECASE,
)
_MAX_BYLINE_CHARS: Final = 120
# Shorter captions, such as the name of a photographer, repeat by chance.
_MIN_CAPTION_CHARS: Final = 40
# Share of a heading's words that are in the title it repeats. Titles have more words, such as the name of the site.
_MIN_TITLE_SHARE: Final = 0.75
_SITE_WORDS: Final = 4
_TITLE_CHARS: Final = 300
_MIN_PARAGRAPH_CHARS: Final = 60


def remove_surroundings(article: HtmlElement, page_title: str) -> None:
    """Removes what stands around the text of an article."""
    main_chars = main_text_length(article)
    # Many elements have the same names.
    known: dict[str, bool] = {}
    for element in named_elements(article):
        names = class_and_id(element)
        if names not in known:
            known[names] = any(kind.search(names) is not None for kind in (_ASIDE, _UNSEEN, _META, _BYLINE))
        if known[names] and _is_surrounding(element, names, main_chars):
            element.drop_tree()
    for button in list(article.iter("button")):
        if not _has_image(button):
            button.drop_tree()
    for time in list(article.iter("time")):
        if not is_in_text(time) and text_length(time) < _MAX_BYLINE_CHARS and not _has_image(time):
            time.drop_tree()
    _remove_repeated_captions(article)
    _remove_title(article, _words(page_title))
    remove_boilerplate(article)


def _is_surrounding(element: HtmlElement, names: str, main_chars: float) -> bool:
    is_unseen = _UNSEEN.search(names) is not None
    if is_in_text(element) and not _is_whole_line(element) and not (is_unseen and _is_in_caption(element)):
        return False
    if (is_unseen or _ASIDE.search(names) or _META.search(names)) and paragraph_text_length(element) < main_chars:
        return True
    return _is_byline(element, names)


def named_elements(element: HtmlElement) -> list[HtmlElement]:
    """Return the elements inside another one that have a class or an id, in document order."""
    elements: list[HtmlElement] = _NAMED(element)
    return elements


def class_and_id(element: HtmlElement) -> str:
    """Return the names of an element, separated by blanks."""
    return f"{element.get('class', '')} {element.get('id', '')}"


def is_shielded(element: HtmlElement) -> bool:
    """Return whether an element belongs to a text or holds the article, so that its name says nothing."""
    return is_in_text(element) or bool(_CONTENT_INSIDE(element))


def is_in_text(element: HtmlElement) -> bool:
    """Return whether an element belongs to a text, so that its name says nothing."""
    return element.tag in _NEVER_UNLIKELY or any(ancestor.tag in _TEXTS for ancestor in element.iterancestors())


def text_length(element: HtmlElement) -> int:
    """Return the number of characters of text; several blanks count as one."""
    return len(_TEXT(element))


def paragraph_text_length(element: HtmlElement) -> int:
    """Return the number of characters in the paragraphs of an element."""
    return sum(text_length(paragraph) for paragraph in element.iter("p"))


def main_text_length(element: HtmlElement) -> float:
    """Return the number of characters in paragraphs from which on a part of an element is its main text."""
    return _MIN_MAIN_SHARE * paragraph_text_length(element)


def _is_byline(element: HtmlElement, names: str) -> bool:
    """Return whether an element only names the author or the date, which entries have apart from the text."""
    return bool(_BYLINE.search(names)) and text_length(element) < _MAX_BYLINE_CHARS and not _has_image(element)


def _is_whole_line(element: HtmlElement) -> bool:
    """Return whether a part of a paragraph is all of its text, so that it is not part of a sentence."""
    line = element.getparent()
    return element.tag == "span" and line is not None and line.tag == "p" and _TEXT(line) == _TEXT(element)


def _is_in_caption(element: HtmlElement) -> bool:
    around = element.getparent()
    return around is not None and around.tag == "figcaption"


def _remove_repeated_captions(article: HtmlElement) -> None:
    """Removes captions that repeat an earlier one: galleries have them for each form of their display."""
    first: dict[str, HtmlElement] = {}
    for element in list(article.iter("figcaption", "p", "div", "span")):
        if not _is_caption(element):
            continue
        text = _TEXT(element)
        if len(text) < _MIN_CAPTION_CHARS or first.setdefault(text, element) in (element, *element.iterancestors()):
            continue
        if not _has_image(element):
            element.drop_tree()


def _remove_title(article: HtmlElement, page_title: tuple[str, ...]) -> None:
    """Removes lines that repeat the title of the page, which is shown above the article.

    Before the text, a heading may differ a little. Galleries repeat the whole title further below.
    """
    for line in list(article.iter("p", "div")):
        words = _words(_TEXT(line)) if text_length(line) <= _TITLE_CHARS else ()
        is_whole = len(words) >= _SITE_WORDS and len(page_title) - _SITE_WORDS <= len(words)
        if is_whole and words == page_title[: len(words)] and not _has_image(line):
            line.drop_tree()
    for element in list(article.iter("h1", "h2", "p")):
        words = _words(_TEXT(element))
        is_title = _is_title(words, page_title)
        if element.tag == "p" and not (is_title and len(words) >= _SITE_WORDS):
            if text_length(element) >= _MIN_PARAGRAPH_CHARS and not _is_caption(element):
                return
        elif is_title and not _has_image(element):
            element.drop_tree()


def _is_title(words: tuple[str, ...], page_title: tuple[str, ...]) -> bool:
    known = sum(word in page_title for word in words)
    return known > 0 and known >= _MIN_TITLE_SHARE * len(words) and 2 * len(words) >= len(page_title) - _SITE_WORDS


def _is_caption(element: HtmlElement) -> bool:
    return element.tag == "figcaption" or "caption" in element.get("class", "").lower()


def _has_image(element: HtmlElement) -> bool:
    return element.find(".//img") is not None


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.lower()))
