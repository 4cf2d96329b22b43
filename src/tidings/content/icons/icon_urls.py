"""The URLs at which a site may have its icon."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from tidings.content.discovery.page_links import PageLink, PageLinks
from tidings.content.icons.raster import SIDE

MAX_URL: Final = 2_000

_RELATIONS: Final = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed"})
_SIZE: Final = re.compile(r"(\d{1,5})x(\d{1,5})")
# Pixels: usual sizes of icons that declare none.
_DEFAULT_SIDE_PX: Final = 32
_DEFAULT_TOUCH_SIDE_PX: Final = 180
_DATA: Final = re.compile(r"data:image/[\w.+-]+((?:;[\w.=+\"-]+)*),", re.IGNORECASE)


def declared_icons(page: PageLinks) -> list[str]:
    """Returns the URLs of the icons that a page declares, the best first.

    The best icon is large enough and not larger than necessary.
    """
    icons = [link for link in page.links if link.rel & _RELATIONS]
    return list(dict.fromkeys(link.url for link in sorted(icons, key=_size_rank)))


def usable_icon_url(url: str) -> str:
    """Returns the icon URL that a feed declares if it is an http(s) URL of acceptable length, else ""."""
    return url if url.startswith(("http://", "https://")) and len(url) <= MAX_URL else ""


def icon_pages(site_url: str, feed_url: str) -> list[str]:
    """Returns the URLs of the pages that may declare an icon: the feed's site, and the root of that site."""
    site = "" if site_url == feed_url else site_url
    return [url for url in dict.fromkeys((site, _root(site_url or feed_url))) if url]


def favicon_url(site_url: str) -> str:
    """Returns the URL of `favicon.ico` at the root of the site; "" for a URL without a host."""
    root = _root(site_url)
    return f"{root}favicon.ico" if root else ""


def decode_data_url(url: str) -> bytes:
    """Returns the bytes of an image in a `data:` URL (RFC 2397), b"" if they cannot be decoded."""
    head = _DATA.match(url)
    if head is None:
        return b""
    content = unquote_to_bytes(url[head.end() :])
    if ";base64" not in head[1].lower():
        return content
    try:
        return base64.b64decode(bytes(content.translate(None, b" \t\r\n")) + b"==")
    except binascii.Error:
        return b""


def _root(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/" if parts.scheme in ("http", "https") else ""


def _size_rank(link: PageLink) -> tuple[int, int]:
    """Returns the rank of the link's best size; smaller is better."""
    side = min(_declared_sides(link), key=_rank_side)
    return _rank_side(side)


def _rank_side(side: int) -> tuple[int, int]:
    """Returns the rank of a size: sizes that are large enough first, the smallest of them best; then the small ones."""
    return (0, side) if side >= SIDE else (1, -side)


def _declared_sides(link: PageLink) -> Iterable[int]:
    if link.type == "image/svg+xml" or "any" in link.sizes.split():
        # SVG fits every size, but a PNG of the right size renders faster and everywhere.
        return [4 * SIDE]
    sizes = [max(int(width), int(height)) for width, height in _SIZE.findall(link.sizes)]
    return sizes or [_DEFAULT_SIDE_PX if "icon" in link.rel else _DEFAULT_TOUCH_SIDE_PX]
