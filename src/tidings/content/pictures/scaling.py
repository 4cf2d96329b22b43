"""Scales pictures down to what a page shows.

Called in a process of its own only (`services.pictures`): a picture can be made to exhaust time and memory. Pillow is
imported with the first one.
"""

from __future__ import annotations

import warnings
from enum import IntEnum
from io import BytesIO
from typing import Final

from tidings.content.pictures.formats import Picture
from tidings.content.pictures.headers import read_header

_FORMATS: Final = ("JPEG", "PNG", "WEBP", "AVIF", "GIF", "BMP")
# Others have more colours than eight bits hold, or are meant for print.
_MODES: Final = frozenset({"RGB", "RGBA", "L", "LA", "P", "1"})
_QUALITY: Final = 82
SCALED_TYPE: Final = "image/webp"
# Decoded, with four bytes each: 64 MiB, twice that with transparency.
MAX_DECODED_PIXELS: Final = 4096 * 4096


class PictureSize(IntEnum):
    """The maximum length of a picture's longer side, in pixels.

    ARTICLE: fills the column of an article, or a screen when enlarged. ROW: the small picture next to a title.
    Both are sharp on screens with several pixels for each one of a style sheet.
    """

    ARTICLE = 2048
    ROW = 336


def scale_down(picture: Picture, size: PictureSize) -> Picture:
    """Return the picture as WebP within a size, upright, with its colour profile.

    Returns the same picture if it is small enough already, or if it would lose its animation, and if it cannot be
    decoded within the limit: browsers may show what Pillow does not read.
    """
    return _scaled(picture.content, size) or picture


def _scaled(content: bytes, size: PictureSize) -> Picture | None:
    header = read_header(content)
    if header is not None and not header.is_cheap:
        return None

    from PIL import Image, ImageOps

    # Ours is the limit that counts. Beyond its own, Pillow warns, and raises an error at twice as many pixels.
    warnings.simplefilter("ignore", Image.DecompressionBombWarning)
    try:
        with Image.open(BytesIO(content), formats=_FORMATS) as image:
            is_animated = getattr(image, "is_animated", False) and size is PictureSize.ARTICLE
            if max(image.size) <= size or is_animated or image.mode not in _MODES:
                return None
            # A JPEG can be decoded at a fraction of its size.
            reduced = size / max(image.size)
            image.draft("RGB", (int(image.width * reduced), int(image.height * reduced)))
            if image.width * image.height > MAX_DECODED_PIXELS:
                return None
            profile = image.info.get("icc_profile")
            pixels = image.convert("RGBA") if image.mode in ("P", "1") else image
            pixels.thumbnail((size, size), Image.Resampling.LANCZOS)
            pixels = ImageOps.exif_transpose(pixels).convert("RGBA" if pixels.has_transparency_data else "RGB")
        out = BytesIO()
        pixels.save(out, "WEBP", quality=_QUALITY, icc_profile=profile)
    except Exception:  # noqa: BLE001 - damaged pictures make decoders raise almost anything
        return None
    scaled = out.getvalue()
    return Picture(SCALED_TYPE, scaled) if len(scaled) < len(content) else None
