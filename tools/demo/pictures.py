"""Pictures drawn by code: landscapes in layers, and icons of a letter on a colour."""

from __future__ import annotations

import io
import math
import random
from functools import cache
from typing import Final

from PIL import Image, ImageDraw, ImageFont

SIZE: Final = (1200, 750)
# Sky above, sky below, and the hills from far to near.
_MOODS: Final = {
    "harbour": ("#f3d9b8", "#e8a87c", ("#c38d9e", "#85739b", "#41537a", "#22324f")),
    "fog": ("#e9ecec", "#cfd8da", ("#bcc8cb", "#9fb0b5", "#7d9299", "#5c747c")),
    "loaf": ("#f6e7d2", "#eac9a0", ("#d8a26b", "#b97b45", "#8d552b", "#5d3518")),
    "pot": ("#fbe3cf", "#f2b48c", ("#df8a63", "#b65f48", "#833f38", "#4d2528")),
    "antenna": ("#d7ead9", "#a9d3b5", ("#7fb894", "#559a76", "#2f7357", "#174a3a")),
    "saturn": ("#10172e", "#27335c", ("#313d69", "#27325a", "#1b2447", "#101733")),
    "river": ("#dcecf2", "#a9cfdd", ("#86b6c8", "#5a95ad", "#336f8a", "#184a63")),
    "market": ("#fde2d0", "#f5a98f", ("#d97a7a", "#a65674", "#6b3d68", "#3a2850")),
    "letter": ("#efe6da", "#dccbb4", ("#c4aa88", "#a08462", "#775d42", "#4a3827")),
}
NAMES: Final = tuple(_MOODS)


@cache
def picture(name: str) -> bytes:
    """A landscape as JPEG, the same each time."""
    rng = random.Random(name)
    above, below, hills = _MOODS[name]
    width, height = SIZE
    image = Image.linear_gradient("L").resize(SIZE)
    image = Image.composite(Image.new("RGB", SIZE, below), Image.new("RGB", SIZE, above), image)
    draw = ImageDraw.Draw(image)
    x, y, r = rng.randint(200, width - 300), rng.randint(120, 240), rng.randint(45, 85)
    draw.ellipse((x - r, y - r, x + r, y + r), fill="#fff7e6")
    if name == "saturn":
        draw.ellipse((x - r * 2, y - 8, x + r * 2, y + 8), outline="#fff7e6", width=4)
    for depth, colour in enumerate(hills):
        base = height * (0.45 + 0.14 * depth)
        waves = [(rng.uniform(20, 70) / (depth + 1), rng.uniform(0.6, 3.2), rng.uniform(0, 6)) for _ in range(4)]
        ridge = [
            (px, base + sum(size * math.sin(px / width * pace * 6 + shift) for size, pace, shift in waves))
            for px in range(0, width + 8, 8)
        ]
        draw.polygon([*ridge, (width, height), (0, height)], fill=colour)
    created = io.BytesIO()
    image.save(created, "JPEG", quality=82)
    return created.getvalue()


@cache
def icon(letter: str, colour: str) -> bytes:
    image = Image.new("RGB", (64, 64), colour)
    font = ImageFont.load_default(44)
    ImageDraw.Draw(image).text((32, 32), letter, fill="#fff", font=font, anchor="mm")
    created = io.BytesIO()
    image.save(created, "PNG")
    return created.getvalue()


def sound(minutes: int) -> bytes:
    """Silence: frames of MPEG that hold nothing. Longer for a longer episode, though by far not as long as it says."""
    frame = b"\xff\xe3\x18\xc4" + bytes(44)
    return frame * 8 * minutes
