"""Icons of feeds: where they are, and how images from outside become small and harmless.

read_icon       any bytes ─► a small PNG, a sanitized SVG, or None
declared_icons  the icons that a page declares, the best first
"""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.icons.icon_urls import declared_icons, decode_data_url, favicon_url, icon_pages, usable_icon_url
from tidings.domain.icons.raster import scale_to_png
from tidings.domain.icons.svg import sanitize_svg
from tidings.domain.times import DAY, Instant

__all__ = [
    "Icon",
    "IconImage",
    "declared_icons",
    "decode_data_url",
    "favicon_url",
    "icon_pages",
    "is_due",
    "read_icon",
    "usable_icon_url",
]

# A site with an icon may replace it; a site without one rarely gets one.
RECHECK_AFTER = 30 * DAY
RECHECK_AFTER_NONE_FOUND = 7 * DAY

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


def read_icon(body: bytes) -> IconImage | None:
    """Returns the icon; None if the bytes are not a usable image, whatever their media type."""
    if svg := sanitize_svg(body):
        return IconImage(SVG, svg)
    if png := scale_to_png(body):
        return IconImage(PNG, png)
    return None


def is_due(checked_at: Instant | None, *, has_icon: bool, now: Instant) -> bool:
    """Returns whether to look for an icon. checked_at: when that was last done, None for never."""
    if checked_at is None:
        return True
    return now - checked_at >= (RECHECK_AFTER if has_icon else RECHECK_AFTER_NONE_FOUND)
