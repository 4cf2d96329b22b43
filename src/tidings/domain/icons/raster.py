"""Pictures made of dots: decoded with care, scaled, and written anew, so that nothing of the original comes along."""

from __future__ import annotations

from io import BytesIO
from typing import Final

from PIL import Image

# Of bytes in memory; no file is opened.
from PIL.Image import open as decoder

SIDE: Final = 64
LARGEST_SIDE: Final = 4096
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "ICO", "BMP", "AVIF")

# Also for pictures inside of others, whose size only shows when they are decoded.
Image.MAX_IMAGE_PIXELS = LARGEST_SIDE * LARGEST_SIDE


def scaled(body: bytes) -> bytes | None:
    """A PNG that fits into 64 by 64 dots in the ratio of the original; the first picture of a moving one.

    None when it is no picture, or larger than 4,096 dots a side.
    """
    try:
        with decoder(BytesIO(body), formats=_FORMATS) as image:
            if max(image.size) > LARGEST_SIDE:
                return None
            # JPEG can be decoded at a fraction of its size.
            image.draft("RGB", (2 * SIDE, 2 * SIDE))
            picture = image.convert("RGBA")
        picture.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
        if picture.getchannel("A").getextrema() == (255, 255):
            picture = picture.convert("RGB")
        out = BytesIO()
        picture.save(out, "PNG", optimize=True)
    except Exception:  # noqa: BLE001 - damaged pictures make decoders raise almost anything
        return None
    return out.getvalue()
