"""Finds the article of a page without a scraper rule.

parse ─► number elements ─► readability ─► restore lost media ─► short result? most of the page instead
"""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from tidings.content.articles import lost_media
from tidings.content.articles.surroundings import class_and_id, text_length
from tidings.content.articles.tree_readability import run_readability
from tidings.content.xml.serialization import to_html

# A result that is shorter than this (characters) and a smaller share of its page is only a part of the article.
MIN_ARTICLE_CHARS: Final = 500
MIN_PAGE_SHARE: Final = 0.6
# The larger part replaces it if it has this many times the text, and no more than this share of it in links.
MIN_TEXT_RATIO: Final = 1.5
MAX_LINK_SHARE: Final = 0.5

_TITLE_CHARS: Final = 1000

# Names of the discussion below an article, which may be longer than the article.
_COMMENTS: Final = re.compile(r"(?<![a-z])comments?(?:-?(?:list|section|area|thread))?(?![\w-])", re.IGNORECASE)


def find_article(page: HtmlElement) -> str:
    """Returns the HTML of the article with its URLs as written; "" if there is none. page: is changed."""
    for unseen in list(page.iter("script", "style", "template")):
        unseen.drop_tree()
    lost_media.resolve_lazy_images(page)
    lost_media.number_elements(page)
    article = run_readability(page)
    if article is not None:
        lost_media.restore_media(article, page)
    part = _most_of_page(page, article)
    article = article if part is None else part
    if article is not None:
        lost_media.remove_numbers(article)
        _strip_urls(article)
    return "" if article is None else to_html(article)


def _strip_urls(article: HtmlElement) -> None:
    """Removes white space around URLs, which the serialiser would escape as a part of them."""
    for element in article.iter("a", "img", "iframe", "audio", "video", "source"):
        for name in ("href", "src"):
            url = element.get(name)
            if url is not None and url != (stripped := url.strip()):
                element.set(name, stripped)


def page_title(page: HtmlElement) -> str:
    """Returns the title of a page: the one for sharing, which leaves out the site's name, else the window's title."""
    shared = page.xpath("//meta[@property='og:title']/@content")
    titles = [*(str(title) for title in shared[:1]), page.findtext(".//title") or ""]
    return next((title for title in (" ".join(title.split()) for title in titles) if title), "")[:_TITLE_CHARS]


def parse_page(html: str) -> HtmlElement | None:
    """Returns the tree of a page; None if it has no element."""
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return document_fromstring(html.encode(errors="replace"), parser=parser)
    except etree.ParserError:
        return None


def _most_of_page(page: HtmlElement, article: HtmlElement | None) -> HtmlElement | None:
    """Returns the smallest element with most of the page's text if the article is only a part of that text, else None.

    Readability scores paragraphs; text in table cells or separated by line breaks has none.
    """
    part: HtmlElement | None = page.find("body")
    chars = 0 if article is None else text_length(article)
    if part is None or chars >= MIN_ARTICLE_CHARS:
        return None
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
