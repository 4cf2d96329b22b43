"""Icons of feeds: where they may be, and how foreign pictures become small and harmless ones.

read     bytes of anything ─► a small PNG, a disarmed SVG, or nothing
ranked   the icons a page declares, the best first
"""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.icons.places import favicon, from_data, named, pages, ranked
from tidings.domain.icons.raster import scaled
from tidings.domain.icons.svg import disarmed
from tidings.domain.times import DAY, Instant

__all__ = ["Icon", "Picture", "favicon", "from_data", "is_due", "named", "pages", "ranked", "read"]

# A site that has an icon may get a new one; a site that has none rarely gets any.
LOOK_AGAIN = 30 * DAY
LOOK_AGAIN_IN_VAIN = 7 * DAY

PNG = "image/png"
SVG = "image/svg+xml"


class Picture(Struct, frozen=True):
    """Safe to hand to browsers under its media type."""

    mime_type: str
    content: bytes


class Icon(Struct, frozen=True):
    """As stored: shared by all feeds that show it."""

    id: int
    mime_type: str
    content: bytes


def read(body: bytes) -> Picture | None:
    """None for whatever is not a picture: an HTML page never is one, whatever its media type says."""
    if svg := disarmed(body):
        return Picture(SVG, svg)
    if png := scaled(body):
        return Picture(PNG, png)
    return None


def is_due(checked_at: Instant | None, *, has_icon: bool, now: Instant) -> bool:
    """Whether an icon should be looked for. checked_at: when that was last done, None for never."""
    if checked_at is None:
        return True
    return now - checked_at >= (LOOK_AGAIN if has_icon else LOOK_AGAIN_IN_VAIN)
