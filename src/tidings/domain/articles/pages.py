"""Web pages as they come: their encoding and the address that they give as their base."""

from __future__ import annotations

import re
from html import unescape
from typing import Final

from tidings.domain.articles import Page
from tidings.domain.cleaning import web_address
from tidings.domain.formats.charset import codec_for, decode

# Browsers look into the first 1024 bytes (HTML Standard, section 13.2.3.2); publishers write more before it.
_PRESCAN: Final = 4096
_META_CHARSET: Final = re.compile(
    rb"""<meta\s[^>]{0,300}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE
)
_BASE: Final = re.compile(
    r"""<base\s(?:[^>]{0,300}?\s)?href\s*=\s*(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s"'>]{1,2000}))""", re.IGNORECASE
)
_HEAD: Final = 100_000


def text_of_page(page: Page) -> str:
    found = None if codec_for(page.charset) else _META_CHARSET.search(page.body[:_PRESCAN])
    return decode(page.body, found[1].decode() if found else page.charset)


def base_of(html: str, url: str) -> str:
    """The page's own base, if it has a usable one, else its address."""
    found = _BASE.search(html[:_HEAD])
    if found is None:
        return url
    return web_address(url, unescape(found[1] or found[2] or found[3] or "")) or url
