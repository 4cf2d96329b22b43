"""Icons of feeds: where they are, and how images from outside become small and harmless.

svg, raster     any bytes ─► a sanitized SVG, a small PNG, or None
icon_urls       the icons that a page declares, the best first
"""

from __future__ import annotations

from msgspec import Struct

from tidings.base.times import DAY, Instant
from tidings.content.icons.icon_urls import (
    declared_icons,
    decode_data_url,
    icon_pages,
    manifest_icons,
    manifest_url,
    root_icons,
    usable_icon_url,
)

__all__ = [
    "Icon",
    "IconImage",
    "declared_icons",
    "decode_data_url",
    "icon_pages",
    "is_due",
    "manifest_icons",
    "manifest_url",
    "root_icons",
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


def is_due(checked_at: Instant | None, *, has_icon: bool, now: Instant) -> bool:
    """Return whether to look for an icon. checked_at: when that was last done, None for never."""
    if checked_at is None:
        return True
    return now - checked_at >= (RECHECK_AFTER if has_icon else RECHECK_AFTER_NONE_FOUND)
