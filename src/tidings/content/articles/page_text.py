"""The text of a web page, and the base of its relative URLs."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from tidings.base.text import unescape_html
from tidings.content.articles import WebPage
from tidings.content.formats.charset import decode
from tidings.content.urls import resolve_web_url

# Browsers read the first 1024 bytes (HTML Standard, section 13.2.3.2); some publishers write more before the charset.
_PRESCAN_BYTES: Final = 4096
_META_CHARSET: Final = re.compile(
    rb"""<meta\s[^>]{0,300}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE
)
_BASE: Final = re.compile(
    r"""<base\s(?:[^>]{0,300}?\s)?href\s*=\s*(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s"'>]{1,2000}))""", re.IGNORECASE
)
_HEAD_CHARS: Final = 100_000
# Characters of a page of plain text that are read: the limit on the text of an entry.
_TEXT_CHARS: Final = 4_000_000
_TITLE_CHARS: Final = 500
_BLANK_LINES: Final = re.compile(r"\n[ \t\r]*\n\s*")
# Control characters, which only other kinds of files have.
_NOT_TEXT: Final = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f]")


def decode_page(page: WebPage) -> str:
    """Return the page as text. The encoding comes from the Content-Type or a `meta` element, or is guessed."""
    match = _META_CHARSET.search(page.body[:_PRESCAN_BYTES])
    return decode(page.body, page.charset, match[1].decode() if match else None)


def text_as_html(text: str) -> str:
    """Return a page of plain text or Markdown as paragraphs that keep their line ends; "" if it is not text."""
    if _NOT_TEXT.search(text):
        return ""
    paragraphs = (escape(part.strip("\n")) for part in _BLANK_LINES.split(text[:_TEXT_CHARS]) if part.strip())
    return "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs).replace("\n", "<br>")


def text_title(text: str) -> str:
    """Return the heading with which a page of Markdown begins, "" without one."""
    first = text.lstrip()[:_TITLE_CHARS].partition("\n")[0]
    return first.lstrip("#").strip() if first.startswith("#") else ""


def page_base_url(html: str, url: str) -> str:
    """Return the URL of the `base` element if it is usable, else `url`."""
    match = _BASE.search(html[:_HEAD_CHARS])
    if match is None:
        return url
    return resolve_web_url(url, unescape_html(match[1] or match[2] or match[3] or "")) or url
