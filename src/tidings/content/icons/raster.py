"""Raster images: decoded within limits, scaled, and encoded again, so that nothing of the original file is kept.

Called in a process of its own only (`services.pictures`): an image can be made to exhaust time and memory. Pillow is
imported with the first one.
"""

from __future__ import annotations

from io import BytesIO
from typing import Final

from tidings.content.pictures.headers import read_header

SIDE: Final = 64
MAX_SIDE: Final = 4096
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "ICO", "BMP", "AVIF")


def scale_to_png(body: bytes) -> bytes | None:
    """Return a PNG that fits into 64 by 64 pixels, aspect ratio kept; of an animation, the first frame.

    None if the bytes are not an image, or one with a side of more than 4,096 pixels or too costly to decode.
    """
    header = read_header(body)
    if header is not None and (max(header.width, header.height) > MAX_SIDE or not header.is_cheap):
        return None

    from PIL import Image

    # Also limits images inside others (ICO), whose size is only known when they are decoded.
    Image.MAX_IMAGE_PIXELS = MAX_SIDE * MAX_SIDE
    try:
        with Image.open(BytesIO(body), formats=_FORMATS) as image:
            if max(image.size) > MAX_SIDE:
                return None
            # A JPEG can be decoded at a fraction of its size.
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
