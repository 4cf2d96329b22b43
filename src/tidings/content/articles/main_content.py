"""Finds the article of a page without a scraper rule.

parse ─► number elements ─► readability ─► beginning as described? ─► restore lost media
                                              short result? most of the page instead
                                              an excerpt? the text for search engines instead
"""

from __future__ import annotations

import copy
import re
from typing import Final

from lxml import etree
from lxml.html import Element, HtmlElement, HTMLParser, document_fromstring

from tidings.content.articles import lost_media
from tidings.content.articles.beginning import is_article, with_beginning
from tidings.content.articles.page_hints import is_in, read_hints, text_as_paragraphs
from tidings.content.articles.surroundings import (
    class_and_id,
    main_text_length,
    paragraph_text_length,
    remove_surroundings,
    text_length,
)
from tidings.content.articles.tree_readability import run_readability, strip_page
from tidings.content.xml.elements import to_html

# A result that is shorter than this (characters) and a smaller share of its page is only a part of the article.
MIN_ARTICLE_CHARS: Final = 500
MIN_PAGE_SHARE: Final = 0.6
# The larger part replaces it if it has this many times the text, and no more than this share of it in links.
MIN_TEXT_RATIO: Final = 1.5
MAX_LINK_SHARE: Final = 0.5

# A result with less than this share of most of the page's text is no article, even if it begins like one.
MIN_RESULT_SHARE: Final = 0.1
# Share of the text in links up to which a part without the marked article may be the article.
MAX_PART_LINK_SHARE: Final = 0.2
# A result with less than this share of the text for search engines is only an excerpt of the article.
MAX_EXCERPT_SHARE: Final = 0.5
# Texts in `noscript` that are shorter (characters), or a smaller share of the page's paragraphs, ask for scripts.
MIN_NOSCRIPT_CHARS: Final = 250

_TITLE_CHARS: Final = 1000

# Names of the discussion below an article, which may be longer than the article.
_COMMENTS: Final = re.compile(r"(?<![a-z])comments?(?:-?(?:list|section|area|thread))?(?![\w-])", re.IGNORECASE)


def find_article(page: HtmlElement) -> str:
    """Return the HTML of the article with its URLs as written; "" if there is none. page: is changed."""
    hints = read_hints(page)
    for unseen in list(page.iter("script", "style", "template")):
        unseen.drop_tree()
    _show_noscript(page)
    lost_media.resolve_lazy_images(page)
    lost_media.number_elements(page)
    found = run_readability(page)
    # A beginning put in front of a part of the article does not make it the whole.
    chars = 0 if found is None else text_length(found)
    article = with_beginning(page, found, hints.beginnings, _extract_part)
    if article is not found:
        chars = 0 if article is None else text_length(article)
    if article is not None:
        lost_media.restore_media(article, page)
    part = _most_of_page(page, article, chars)
    if (
        part is not None
        and article is not None
        and (_is_lost(hints.beginnings, article, part) or _is_elsewhere(page, article, part))
    ):
        part = None
    article = article if part is None else part
    if len(hints.text) * MAX_EXCERPT_SHARE > (0 if article is None else text_length(article)):
        article = text_as_paragraphs(hints.text)
    if article is not None:
        lost_media.remove_numbers(article)
        _strip_urls(article)
    return "" if article is None else to_html(article)


def _show_noscript(page: HtmlElement) -> None:
    """Unwraps `noscript` with a main part of the text of the page, which is for readers without scripts."""
    hidden = [one for one in page.iter("noscript") if paragraph_text_length(one) >= MIN_NOSCRIPT_CHARS]
    if hidden:
        main_chars = main_text_length(page)
        for one in hidden:
            if paragraph_text_length(one) >= main_chars:
                one.drop_tag()


def _extract_part(part: HtmlElement) -> HtmlElement | None:
    """Return the article of a part of a page, as if the page had nothing else."""
    body = Element("body")
    copied = copy.deepcopy(part)
    copied.tail = None
    body.append(copied)
    page = Element("html")
    page.append(body)
    return run_readability(page)


def _strip_urls(article: HtmlElement) -> None:
    """Removes white space around URLs, which the serialiser would escape as a part of them."""
    for element in article.iter("a", "img", "iframe", "audio", "video", "source"):
        for name in ("href", "src"):
            url = element.get(name)
            if url is not None and url != (stripped := url.strip()):
                element.set(name, stripped)


def page_title(page: HtmlElement) -> str:
    """Return the title of a page: the one for sharing, which leaves out the site's name, else the window's title."""
    shared = page.xpath("//meta[@property='og:title']/@content")
    titles = [*(str(title) for title in shared[:1]), page.findtext(".//title") or ""]
    return next((title for title in (" ".join(title.split()) for title in titles) if title), "")[:_TITLE_CHARS]


def parse_page(html: str) -> HtmlElement | None:
    """Return the tree of a page; None if it has no element."""
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return document_fromstring(html.encode(errors="replace"), parser=parser)
    except etree.ParserError:
        return None


def _is_lost(beginnings: tuple[str, ...], article: HtmlElement, part: HtmlElement) -> bool:
    """Return whether the article has a beginning that a larger part of the page lacks, and is no mere excerpt."""
    if text_length(article) < MIN_RESULT_SHARE * text_length(part):
        return False
    return any(is_in(article, (one,)) and not is_in(part, (one,)) for one in beginnings)


def _is_elsewhere(page: HtmlElement, article: HtmlElement, part: HtmlElement) -> bool:
    """Return whether a page marks its article, and a larger part without it lists other articles or discusses it.

    A part with many times the text and few links is an article all the same: only its introduction is marked.
    """
    lines = lost_media.article_lines(article, page)
    numbers = {lost_media.element_number(element) for element in part.iter("*")}
    if not lines or any(lost_media.element_number(line) in numbers for line in lines):
        return False
    chars = text_length(part)
    in_links = sum(text_length(link) for link in part.iter("a"))
    if text_length(article) < MIN_RESULT_SHARE * chars and in_links <= MAX_PART_LINK_SHARE * chars:
        return False
    return any(is_article(one) for one in lines[0].iterancestors())


def _most_of_page(page: HtmlElement, article: HtmlElement | None, chars: int) -> HtmlElement | None:
    """Return the smallest element with most of the page's text if the article is only a part of that text, else None.

    Readability scores paragraphs; text in table cells or separated by line breaks has none. What looks like no article
    does not count, unless nothing else is left.
    """
    body = page.find("body")
    if article is not None and article.tag == "body" and chars >= MIN_ARTICLE_CHARS:
        # Readability found nothing and returned all of the page. With less text, the page is about its pictures.
        chars = 0
    if body is None or chars >= MIN_ARTICLE_CHARS:
        return None
    stripped = copy.deepcopy(body)
    strip_page(stripped)
    part = _largest_part(stripped, chars)
    if part is None:
        part = _largest_part(copy.deepcopy(body), chars)
    if part is None:
        return None
    remove_surroundings(part, page_title(page))
    # A standfirst and a title around a short article do not make it a part of a longer one.
    in_headings = sum(text_length(heading) for heading in part.iter("h1", "h2", "h3", "h4", "h5", "h6"))
    return part if text_length(part) - in_headings > MIN_TEXT_RATIO * chars else None


def _largest_part(part: HtmlElement, chars: int) -> HtmlElement | None:
    """Return the smallest element with most of the text of another one if it has much more than `chars`, else None."""
    most = MIN_PAGE_SHARE * text_length(part)
    if chars >= most:
        return None
    while (
        inner := next((child for child in part if isinstance(child.tag, str) and text_length(child) >= most), None)
    ) is not None:
        part = inner
    if any(_COMMENTS.search(class_and_id(one)) for one in (part, *part.iterancestors())):
        return None
    in_links = sum(text_length(link) for link in part.iter("a"))
    is_text = text_length(part) > MIN_TEXT_RATIO * chars and in_links <= MAX_LINK_SHARE * text_length(part)
    return part if is_text else None
