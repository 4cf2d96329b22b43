"""Tidings' own icon as PNG, for systems that do not accept SVG."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from typing import Final

# As in `static/icon.svg`, on a grid of 64.
GRID: Final = 64
BACKGROUND_COLOR: Final = "#b4441f"
LINE_COLOR: Final = "#fbfaf7"
_STROKE: Final = 6
# The icon is drawn larger by this factor and scaled down, for smooth edges.
_OVERSAMPLING: Final = 4


@lru_cache(maxsize=8)
def render_app_icon(side: int, *, is_maskable: bool = False) -> bytes:
    """Return the icon as PNG. side: pixels.

    is_maskable: the background fills the square, and the drawing keeps away from its edges.
    """
    from PIL import Image, ImageDraw  # only when it is drawn, for the sake of memory

    scale = side * _OVERSAMPLING / GRID
    shrunk = 0.72 if is_maskable else 1.0
    image = Image.new(
        "RGBA", (side * _OVERSAMPLING, side * _OVERSAMPLING), BACKGROUND_COLOR if is_maskable else (0, 0, 0, 0)
    )
    draw = ImageDraw.Draw(image)

    def at(value: float) -> float:
        return (GRID / 2 + (value - GRID / 2) * shrunk) * scale

    def dot(x: float, y: float, radius: float) -> None:
        reach = radius * shrunk * scale
        draw.ellipse((at(x) - reach, at(y) - reach, at(x) + reach, at(y) + reach), fill=LINE_COLOR)

    if not is_maskable:
        draw.rounded_rectangle((0, 0, image.width - 1, image.height - 1), radius=14 * scale, fill=BACKGROUND_COLOR)
    for begin, end in (((16.0, 19.0), (48.0, 19.0)), ((32.0, 19.0), (32.0, 48.0))):
        line = (at(begin[0]), at(begin[1]), at(end[0]), at(end[1]))
        draw.line(line, fill=LINE_COLOR, width=round(_STROKE * shrunk * scale))
        dot(*begin, _STROKE / 2)
        dot(*end, _STROKE / 2)
    dot(47, 45, 4.5)
    out = BytesIO()
    image.resize((side, side), Image.Resampling.LANCZOS).save(out, "PNG", optimize=True)
    return out.getvalue()
