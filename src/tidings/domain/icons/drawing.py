"""Our own icon as a picture made of dots, for where a drawing of lines is not taken."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw

# As in `static/icon.svg`, on a grid of 64.
GRID: Final = 64
GROUND: Final = "#b4441f"
LINES: Final = "#fbfaf7"
_STROKE: Final = 6
# Drawn larger and made smaller: that smooths its edges.
_FINER: Final = 4


@lru_cache(maxsize=8)
def png(side: int, *, is_maskable: bool = False) -> bytes:
    """side: in dots. is_maskable: the ground fills the square, and what is drawn keeps away from its rim."""
    scale = side * _FINER / GRID
    shrunk = 0.72 if is_maskable else 1.0
    image = Image.new("RGBA", (side * _FINER, side * _FINER), GROUND if is_maskable else (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)

    def at(value: float) -> float:
        return (GRID / 2 + (value - GRID / 2) * shrunk) * scale

    def dot(x: float, y: float, radius: float) -> None:
        reach = radius * shrunk * scale
        draw.ellipse((at(x) - reach, at(y) - reach, at(x) + reach, at(y) + reach), fill=LINES)

    if not is_maskable:
        draw.rounded_rectangle((0, 0, image.width - 1, image.height - 1), radius=14 * scale, fill=GROUND)
    for begin, end in (((16.0, 19.0), (48.0, 19.0)), ((32.0, 19.0), (32.0, 48.0))):
        line = (at(begin[0]), at(begin[1]), at(end[0]), at(end[1]))
        draw.line(line, fill=LINES, width=round(_STROKE * shrunk * scale))
        dot(*begin, _STROKE / 2)
        dot(*end, _STROKE / 2)
    dot(47, 45, 4.5)
    out = BytesIO()
    image.resize((side, side), Image.Resampling.LANCZOS).save(out, "PNG", optimize=True)
    return out.getvalue()
