"""Recognises pictures by their first bytes, whatever media type a publisher declares."""

from __future__ import annotations

from msgspec import Struct

from tidings.content.icons import sanitize_svg

SVG = "image/svg+xml"
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\0\0\1\0", "image/x-icon"),
)
# Brands of ISO base media files (ISO 14496-12) that browsers show as pictures.
_BRANDS = {b"avif": "image/avif", b"avis": "image/avif", b"heic": "image/heic", b"mif1": "image/heif"}


class Picture(Struct, frozen=True):
    mime_type: str
    content: bytes


def read_picture(body: bytes) -> Picture | None:
    """Return the picture, a drawing (SVG) without active content; None if the bytes are none."""
    if mime_type := _raster_type(body):
        return Picture(mime_type, body)
    drawing = sanitize_svg(body)
    return Picture(SVG, drawing) if drawing else None


def _raster_type(body: bytes) -> str:
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    if body[4:8] == b"ftyp":
        return _BRANDS.get(body[8:12], "")
    return next((mime_type for start, mime_type in _STARTS if body.startswith(start)), "")
