"""Makes sure that an article has the beginning that its page describes.

beginning in the article? ─► done
else: where on the page? ─► just before the article: put in front
                         └► inside another article, or among more text: that one is the article
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Final

from lxml.html import HtmlElement

from tidings.base.text import name_set
from tidings.content.articles.lost_media import article_lines, element_number
from tidings.content.articles.page_hints import elements_with, is_in
from tidings.content.articles.surroundings import class_and_id, text_length

# What begins inside one of these is no article: it leads to one, or stands next to it.
_SIDE_ELEMENTS: Final = name_set("a nav aside footer form button dialog figcaption head noscript select option label")
_HIDDEN: Final = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_HEADINGS: Final = name_set("h1 h2 h3 h4 h5 h6 header hgroup")
_INLINE: Final = name_set("a abbr b cite code em font i mark q s small span strong sub sup time u")
_ARTICLE_NAME: Final = re.compile(r"(?<![\w-])(?:h-?entry|articleBody)(?![\w-])", re.IGNORECASE)
# Characters of a beginning, which may have more paragraphs than the description.
_MAX_LEAD_CHARS: Final = 1_500

Extract = Callable[[HtmlElement], HtmlElement | None]


def with_beginning(
    page: HtmlElement, article: HtmlElement | None, beginnings: tuple[str, ...], extract: Extract
) -> HtmlElement | None:
    """Return the article with one of the beginnings, or as it is if the page has none of them elsewhere.

    page: numbered. extract: returns the article of an element of the page.
    """
    body = page.find("body")
    if body is None or not beginnings or (article is not None and is_in(article, beginnings)):
        return article
    found = [element for element in elements_with(body, beginnings) if _may_begin_article(element)]
    if not found:
        return article
    lines = [] if article is None else article_lines(article, page)
    if article is None or not lines:
        return article
    around = _common_line(lines)
    is_marked = any(is_article(one) for one in around)
    for element in found:
        branch = _branch(element, around)
        if branch is None:
            continue
        is_before = element_number(element) < element_number(lines[0])
        is_other = _is_other_article(element, branch)
        if (is_other and (is_before or not is_marked)) or (
            is_before and not is_marked and _own_chars(branch) >= _own_chars(article)
        ):
            other = extract(branch)
            if other is not None and is_in(other, beginnings):
                return other
        lead = _lead(element, around)
        if lead is not None and is_before:
            addition = copy.deepcopy(lead)
            addition.tail = None
            article.insert(0, addition)
            return article
    return article


def is_article(element: HtmlElement) -> bool:
    """Return whether an element is marked as an article by its name."""
    names = f"{class_and_id(element)} {element.get('itemprop', '')}"
    return element.tag == "article" or _ARTICLE_NAME.search(names) is not None


def _may_begin_article(element: HtmlElement) -> bool:
    return not any(
        one.tag in _SIDE_ELEMENTS or one.get("hidden") is not None or _HIDDEN.search(one.get("style", ""))
        for one in (element, *element.iterancestors())
    )


def _common_line(elements: list[HtmlElement]) -> set[HtmlElement]:
    """Return the elements that hold all of these."""
    common = {*elements[0].iterancestors()}
    for element in elements[1:]:
        common &= {*element.iterancestors()}
    return common


def _branch(element: HtmlElement, around: set[HtmlElement]) -> HtmlElement | None:
    """Return the outermost element with the beginning that does not hold the article, too."""
    branch = None
    for one in (element, *element.iterancestors()):
        if one in around:
            break
        branch = one
    return branch


def _is_other_article(element: HtmlElement, branch: HtmlElement) -> bool:
    for one in (element, *element.iterancestors()):
        if is_article(one):
            return True
        if one is branch:
            break
    return False


def _own_chars(element: HtmlElement) -> int:
    """Return the number of characters that are not in links."""
    return text_length(element) - sum(text_length(link) for link in element.iter("a"))


def _lead(element: HtmlElement, around: set[HtmlElement]) -> HtmlElement | None:
    """Return the block with the beginning; None if it is too long for one."""
    while element.tag in _INLINE and (outer := element.getparent()) is not None and outer not in around:
        element = outer
    # A heading is a second title, which most readers do not count as a part of the text.
    if element.tag in _HEADINGS or text_length(element) > _MAX_LEAD_CHARS:
        return None
    return element
