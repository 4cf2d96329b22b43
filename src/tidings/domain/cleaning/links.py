"""The addresses of one document: absolute, of a welcome kind, without tracking; each examined once."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from tidings.domain.cleaning.tracking import strip_tracking
from tidings.domain.cleaning.urls import LINK_SCHEMES, host_of, resolve, scheme_of

# Buttons to share, ads and counters: host (its subdomains too) and how the rest of the address begins.
_UNWANTED: dict[str, tuple[str, ...]] = {
    "api.flattr.com": ("",),
    "facebook.com": ("/sharer.php", "/sharer/sharer.php"),
    "feeds.feedburner.com": ("",),
    "feedsportal.com": ("",),
    "linkedin.com": ("/shareArticle",),
    "pinterest.com": ("/pin/create/button/",),
    "stats.wordpress.com": ("",),
    "pixel.wp.com": ("",),
    "twitter.com": ("/intent/tweet", "/share"),
    "x.com": ("/intent/tweet", "/share"),
}

_WEB = ("https://", "http://")
_PATH = re.compile(r"https?://[^/?#]*([^?#]*)")

# What an <img> may hold inside its address. SVG is safe there, and only there: no script runs in a picture.
_PICTURE_TYPES = ("avif", "apng", "png", "svg", "svg+xml", "jpg", "jpeg", "gif", "webp")
_PICTURE_DATA = tuple(f"data:image/{kind}{end}" for kind in _PICTURE_TYPES for end in (";", ","))
# A GIF of one by one pixel: its header and size always come out like this.
_PIXEL_DATA = "data:image/gif;base64,R0lGODlhAQABA"


class Links:
    """base_url: what relative addresses are relative to. hosts: as `strip_tracking` takes them.

    most: characters of addresses that one document may get. A few letters of a relative one stand for a long one, and
    a small document of nothing else would become a huge one.
    """

    __slots__ = ("_base_url", "_hosts", "_left", "_seen")

    def __init__(self, base_url: str, hosts: Collection[str] = (), *, most: int) -> None:
        self._base_url = base_url
        self._hosts = hosts
        self._left = most
        self._seen: dict[str, str] = {}

    def link(self, value: str) -> str:
        """For `href` and `cite`: any scheme that is welcome; "" for the rest. Fragments stay as they are."""
        if value.startswith("#"):
            return value
        address = self._address(value)
        return address if address.startswith(_WEB) or scheme_of(address) in LINK_SCHEMES else ""

    def media(self, value: str) -> str:
        """For what the page loads by itself: http and https only."""
        address = self._address(value)
        return address if address.startswith(_WEB) else ""

    def picture(self, value: str) -> str:
        """For `src` of an image, which may also hold the picture itself."""
        if ":" in value and value[:5].lower() == "data:":
            return picture_data(value)
        return self.media(value)

    def _address(self, value: str) -> str:
        address = self._seen.get(value)
        if address is None:
            address = resolve(self._base_url, value)
            # All of the unwanted ones are below `.com`.
            if ".com" in address and _is_unwanted(address):
                address = ""
            elif "?" in address and address.startswith(_WEB):
                address = strip_tracking(address, hosts=self._hosts)
            self._seen[value] = address
        self._left -= len(address)
        return address if self._left >= 0 else ""


def picture_data(value: str) -> str:
    """A `data:` address that holds a picture, without blanks; "" for any other, and for the invisible one."""
    kind, comma, content = value.partition(",")
    kind = "".join(kind.split()).lower()
    if not (kind + comma).startswith(_PICTURE_DATA):
        return ""
    address = kind + comma + "".join(content.split("\n")).replace("\r", "").replace("\t", "").strip()
    return "" if address.startswith(_PIXEL_DATA) else address


def _is_unwanted(address: str) -> bool:
    begins = _unwanted_at(host_of(address))
    if not begins:
        return False
    path = _PATH.match(address)
    return path is not None and any(_is_below(path[1], begin) for begin in begins)


@lru_cache(maxsize=1_024)
def _unwanted_at(host: str) -> tuple[str, ...]:
    """How unwanted addresses of a host begin. Few hosts have most of the links."""
    labels = host.split(".")
    return _UNWANTED.get(".".join(labels[-2:])) or _UNWANTED.get(".".join(labels[-3:])) or ()


def _is_below(path: str, begin: str) -> bool:
    """Not just the same letters: someone called "shareholders" may be linked to."""
    return path.startswith(begin) and (begin[-1:] in {"", "/"} or path[len(begin) :][:1] in {"", "/"})
