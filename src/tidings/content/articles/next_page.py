"""The link from one page of an article to the next, and absolute URLs for the content of later pages."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urldefrag, urlsplit

from lxml import etree
from lxml.html import HtmlElement, fragments_fromstring

from tidings.content.cleaning.media import LAZY_SRC, LAZY_SRCSET, clean_srcset
from tidings.content.urls import resolve_url, resolve_web_url
from tidings.content.xml.elements import to_html

# The number of a page in its URL: `?page=2`, `/page/2`, `/2/`, `-2.html`, `_2.html`. Not `/comment-page-2`.
_PAGE_NUMBER: Final = re.compile(
    r"(?<=[?&])(?:p|pg|page|pagina|seite)=([0-9]{1,2})(?=&|$)|(?<=/)(?:page|p|seite)[/-]?([0-9]{1,2})(?=/?(?:\?|$))"
    r"|(?<=/)([0-9]{1,2})(?=/?(?:\?|$))|[-_,]([0-9]{1,2})(?=\.[a-z]{3,5}(?:\?|$))",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile("[0-9]")
_NEXT_TEXT: Final = re.compile(
    r"(?:next(?: page)?|continue(?: reading)?|weiter|nächste(?: seite)?|(?:page )?suivante?|siguiente|pagina successiva"
    r"|volgende|下一页|次(?:の|へ|ページ)?)?\s*[›»→>]*",
    re.IGNORECASE,
)
_URL_ATTRIBUTES: Final = ("href", "src", "poster", "cite", *LAZY_SRC)
_SRCSET_ATTRIBUTES: Final = ("srcset", *LAZY_SRCSET)


def find_next_page(page: HtmlElement, url: str, base_url: str) -> str:
    """Return the URL of the next page of the article; "" if there is none.

    Only a link to the URL of this page with the next page number counts: on many sites, `rel="next"` alone is the link
    to the next article.
    """
    stem, number = _split_page_number(url)
    if not urlsplit(stem).path.strip("/"):
        return ""  # a home page: its second page holds older articles
    for link in page.iter("a", "link"):
        href = link.get("href", "")
        if not _DIGIT.search(href) or not _leads_on(link, number + 1):
            continue
        next_url = urldefrag(resolve_web_url(base_url, href)).url
        if _split_page_number(next_url) == (stem, number + 1):
            return next_url
    return ""


def _leads_on(link: HtmlElement, number: int) -> bool:
    if "next" in link.get("rel", "").lower().split():
        return True
    text = " ".join((link.text_content() or link.get("aria-label") or link.get("title") or "").split())
    if link.tag != "a" or not text:
        return False
    return text in (str(number), f"Page {number}") or _NEXT_TEXT.fullmatch(text) is not None


def _split_page_number(url: str) -> tuple[str, int]:
    """Return the URL without scheme and page number, and the number, 1 if there is none."""
    without_scheme = urldefrag(url).url.partition(":")[2]
    match = _PAGE_NUMBER.search(without_scheme, without_scheme.find("/", 2))
    number = next((int(group) for group in match.groups() if group), 1) if match else 1
    stem = without_scheme[: match.start()] + without_scheme[match.end() :] if match else without_scheme
    return stem.rstrip("/?&").replace("/?", "?").replace("?&", "?"), number


def with_absolute_urls(content: str, base_url: str) -> str:
    """Return the HTML with absolute URLs, for content that is joined to another page's."""
    root = etree.Element("div")
    for part in fragments_fromstring(content) if content.strip() else ():
        if isinstance(part, str):
            root.text = part
        else:
            root.append(part)
    for element in root.iter(etree.Element):
        for name in element.attrib:
            value = str(element.attrib[name])
            if name in _URL_ATTRIBUTES:
                element.set(name, resolve_url(base_url, value) or value)
            elif name in _SRCSET_ATTRIBUTES:
                element.set(name, clean_srcset(value, lambda url: resolve_web_url(base_url, url)))
    return to_html(root)
