"""Icons of feeds: where they are, and how images from outside become small and harmless.

svg, raster     any bytes ─► a sanitized SVG, a small PNG, or None
icon_urls       the icons that a page declares, the best first, and when to look
"""

from __future__ import annotations

from msgspec import Struct

from tidings.content.icons.icon_urls import (
    declared_icons,
    decode_data_url,
    favicon_url,
    icon_pages,
    is_due,
    usable_icon_url,
)

__all__ = [
    "Icon",
    "IconImage",
    "declared_icons",
    "decode_data_url",
    "favicon_url",
    "icon_pages",
    "is_due",
    "usable_icon_url",
]


PNG = "image/png"
SVG = "image/svg+xml"


class IconImage(Struct, frozen=True):
    """An image that is safe to serve under its media type."""

    mime_type: str
    content: bytes


class Icon(Struct, frozen=True):
    """An icon as stored, shared by all feeds that show it."""

    id: int
    mime_type: str
    content: bytes
