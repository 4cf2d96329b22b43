"""Where a site keeps its icon."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from tidings.domain.icons.raster import SIDE
from tidings.domain.page_links import Link, PageLinks

LONGEST_URL: Final = 2_000

_RELATIONS: Final = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed"})
_SIZE: Final = re.compile(r"(\d{1,5})x(\d{1,5})")
# What icons without a size mostly are.
_USUAL_SIDE: Final = 32
_USUAL_TOUCH_SIDE: Final = 180
_DATA: Final = re.compile(r"data:image/[\w.+-]+((?:;[\w.=+\"-]+)*),", re.IGNORECASE)


def ranked(page: PageLinks) -> list[str]:
    """Addresses of the icons that a page declares, the best first: large enough, and no larger than need be."""
    icons = [link for link in page.links if link.rel & _RELATIONS]
    return list(dict.fromkeys(link.url for link in sorted(icons, key=_distance)))


def named(url: str) -> str:
    """The icon that a feed names, if it is a web address of a sensible length."""
    return url if url.startswith(("http://", "https://")) and len(url) <= LONGEST_URL else ""


def pages(site_url: str, feed_url: str) -> list[str]:
    """That may declare an icon: the site of the feed, and the root of that site."""
    site = "" if site_url == feed_url else site_url
    return [url for url in dict.fromkeys((site, _root(site_url or feed_url))) if url]


def favicon(site_url: str) -> str:
    """Where icons were before pages declared them; "" for an address without a host."""
    root = _root(site_url)
    return f"{root}favicon.ico" if root else ""


def from_data(address: str) -> bytes:
    """The bytes inside of a data: address of a picture (RFC 2397), b"" when they cannot be read."""
    head = _DATA.match(address)
    if head is None:
        return b""
    content = unquote_to_bytes(address[head.end() :])
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


def _distance(link: Link) -> tuple[int, int]:
    """From the size that we show: first those that are large enough, then the small ones."""
    side = min(_sides(link), key=_rank)
    return _rank(side)


def _rank(side: int) -> tuple[int, int]:
    return (0, side) if side >= SIDE else (1, -side)


def _sides(link: Link) -> Iterable[int]:
    if link.type == "image/svg+xml" or "any" in link.sizes.split():
        # Drawings have every size; dots are still drawn faster, and by everything.
        return [4 * SIDE]
    sizes = [max(int(width), int(height)) for width, height in _SIZE.findall(link.sizes)]
    return sizes or [_USUAL_SIDE if "icon" in link.rel else _USUAL_TOUCH_SIDE]
