"""What a process that decodes pictures is asked, and what it answers."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

from tidings.content.icons import scale_to_png
from tidings.content.pictures.formats import Picture
from tidings.content.pictures.scaling import PictureSize, scale_down


class Purpose(IntEnum):
    """What a picture is decoded for: a feed's icon, or a size of the media proxy."""

    ICON = 1
    ARTICLE = PictureSize.ARTICLE
    ROW = PictureSize.ROW


class DecodingRequest(Struct, frozen=True, array_like=True):
    """A raster picture from outside."""

    purpose: Purpose
    content: bytes


class DecodingResult(Struct, frozen=True, array_like=True):
    """What decoding a picture returns."""

    content: bytes | None
    """The new picture, PNG for an icon and WebP otherwise; None if there is none, or the old one is better."""


def decode(request: DecodingRequest) -> DecodingResult:
    """Decode a picture and scale it. Called in a process of its own: the bytes may be made to exhaust it."""
    if request.purpose is Purpose.ICON:
        return DecodingResult(scale_to_png(request.content))
    picture = Picture("", request.content)
    scaled = scale_down(picture, PictureSize(request.purpose))
    return DecodingResult(None if scaled is picture else scaled.content)
