"""The URLs at which a site may have its icon."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec

from tidings.content.cleaning import resolve_web_url
from tidings.content.discovery.page_links import PageLink, PageLinks
from tidings.content.icons.raster import SIDE

MAX_URL: Final = 2_000
_MAX_MANIFEST_ICONS: Final = 50

_RELATIONS: Final = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed"})
_SIZE: Final = re.compile(r"(\d{1,5})x(\d{1,5})")
# Pixels: usual sizes of icons that declare none.
_DEFAULT_SIDE_PX: Final = 32
_DEFAULT_TOUCH_SIDE_PX: Final = 180
_DATA: Final = re.compile(r"data:image/[\w.+-]+((?:;[\w.=+\"-]+)*),", re.IGNORECASE)


def declared_icons(page: PageLinks) -> list[str]:
    """Return the URLs of the icons that a page declares, the best first.

    The best icon is large enough and not larger than necessary.
    """
    icons = [link for link in page.links if link.rel & _RELATIONS]
    return list(dict.fromkeys(link.url for link in sorted(icons, key=_size_rank)))


def manifest_url(page: PageLinks) -> str:
    """Return the URL of the page's web app manifest, "" if it declares none."""
    return next((link.url for link in page.links if "manifest" in link.rel and not link.url.startswith("data:")), "")


def manifest_icons(body: bytes, url: str) -> list[str]:
    """Return the URLs of the icons in a web app manifest, the best first; [] for any other document.

    url: the manifest's URL, the base of relative ones. Source: W3C, Web Application Manifest.
    """
    try:
        manifest = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return []
    listed = manifest.get("icons") if isinstance(manifest, dict) else None
    icons = [
        PageLink(
            resolve_web_url(url, _text(icon, "src")),
            frozenset({"icon"}),
            _text(icon, "type").lower(),
            sizes=_text(icon, "sizes").lower(),
        )
        for icon in (listed[:_MAX_MANIFEST_ICONS] if isinstance(listed, list) else ())
        # A monochrome icon is a stencil.
        if isinstance(icon, dict) and _text(icon, "src") and _text(icon, "purpose") != "monochrome"
    ]
    return list(dict.fromkeys(icon.url for icon in sorted(icons, key=_size_rank) if usable_icon_url(icon.url)))


def _text(icon: dict[str, object], name: str) -> str:
    value = icon.get(name)
    return value.strip() if isinstance(value, str) else ""


def usable_icon_url(url: str) -> str:
    """Return the icon URL that a feed declares if it is an http(s) URL of acceptable length, else ""."""
    return url if url.startswith(("http://", "https://")) and len(url) <= MAX_URL else ""


def icon_pages(site_url: str, feed_url: str) -> list[str]:
    """Return the URLs of the pages that may declare an icon: the feed's site, and the root of that site."""
    site = "" if site_url == feed_url else site_url
    return [url for url in dict.fromkeys((site, _root(site_url or feed_url))) if url]


def root_icons(site_url: str) -> list[str]:
    """Return the URLs of icons that browsers look for at the root of a site; [] for a URL without a host."""
    root = _root(site_url)
    return [f"{root}favicon.ico", f"{root}apple-touch-icon.png"] if root else []


def decode_data_url(url: str) -> bytes:
    """Return the bytes of an image in a `data:` URL (RFC 2397), b"" if they cannot be decoded."""
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
    """Return the rank of the link's best size; smaller is better."""
    side = min(_declared_sides(link), key=_rank_side)
    return _rank_side(side)


def _rank_side(side: int) -> tuple[int, int]:
    """Return the rank of a size: sizes that are large enough first, the smallest of them best; then the small ones."""
    return (0, side) if side >= SIDE else (1, -side)


def _declared_sides(link: PageLink) -> Iterable[int]:
    if link.type == "image/svg+xml" or "any" in link.sizes.split():
        # SVG fits every size, but a PNG of the right size renders faster and everywhere.
        return [4 * SIDE]
    sizes = [max(int(width), int(height)) for width, height in _SIZE.findall(link.sizes)]
    return sizes or [_DEFAULT_SIDE_PX if "icon" in link.rel else _DEFAULT_TOUCH_SIDE_PX]
