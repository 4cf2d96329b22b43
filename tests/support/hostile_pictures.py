"""Pictures that cost far more to decode than they weigh."""

from __future__ import annotations

from io import BytesIO

from PIL import Image


def progressive_jpeg(width: int, height: int, *, scans: int = 0) -> bytes:
    """Return a JPEG of one colour. scans: how often its last scan is repeated."""
    out = BytesIO()
    Image.new("RGB", (width, height), (40, 90, 160)).save(out, "JPEG", progressive=True, quality=50, subsampling=0)
    content = out.getvalue()
    last = content.rindex(b"\xff\xda")
    return content[:last] + content[last:-2] * (1 + scans) + b"\xff\xd9"


def picture(kind: str, width: int, height: int, **how: object) -> bytes:
    """Return a picture of one colour."""
    out = BytesIO()
    Image.new("RGB", (width, height), (40, 90, 160)).save(out, kind, **how)
    return out.getvalue()
