"""Reads from the first bytes of a picture how large it is, and of a JPEG what decoding it would take.

Only markers and lengths are looked at: nothing is decoded, and the time depends on the size of the file alone.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

# Encoders write at most about 20 scans. Each passes over the whole picture, however few bytes it has.
MAX_SCANS: Final = 100
# A JPEG with several scans is held as coefficients, of two bytes each, until the last one is read.
MAX_COEFFICIENT_BYTES: Final = 256 * 2**20
# Segments between the scans of a JPEG: cameras and editors write some dozen.
_MAX_SEGMENTS: Final = 10_000

# Within a scan, FF is followed by 00, or by the number of a restart. ITU-T T.81, B.1.1. Without repetition: linear.
_MARKER: Final = re.compile(rb"\xff([^\x00\xff\xd0-\xd7])")
_START_OF_SCAN: Final = 0xDA
_END: Final = 0xD9
# Start of a frame, by the way of coding; C4, C8 and CC mean something else. ITU-T T.81, table B.1.
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class PictureHeader(Struct, frozen=True):
    """The size of a picture in pixels."""

    width: int
    height: int
    is_cheap: bool = True
    """False for a JPEG that takes far more to decode than its size suggests."""


def read_header(content: bytes) -> PictureHeader | None:
    """Return the header of a JPEG, PNG, GIF or WebP; None for other bytes, and where it is damaged."""
    if content.startswith(b"\xff\xd8\xff"):
        return _read_jpeg(content)
    if content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) >= 24:
        return PictureHeader(int.from_bytes(content[16:20]), int.from_bytes(content[20:24]))
    if content.startswith((b"GIF87a", b"GIF89a")) and len(content) >= 10:
        return PictureHeader(_little(content[6:8]), _little(content[8:10]))
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP" and len(content) >= 30:
        return _read_webp(content)
    return None


def _read_jpeg(content: bytes) -> PictureHeader | None:
    at, scans, frame = 2, 0, b""
    for _segment in range(_MAX_SEGMENTS):
        marker = _MARKER.search(content, at)
        if marker is None or marker[1][0] == _END:
            return _jpeg_header(frame, scans)
        at, kind = marker.end(), marker[1][0]
        if kind == _START_OF_SCAN:
            scans += 1
        elif kind in _FRAMES and not frame:
            frame = content[at : at + int.from_bytes(content[at : at + 2])]
        # 01 and D8 have no length.
        at += int.from_bytes(content[at : at + 2]) if kind not in {0x01, 0xD8} else 0
    return _jpeg_header(frame, MAX_SCANS + 1)


def _jpeg_header(frame: bytes, scans: int) -> PictureHeader | None:
    """Return the header of a JPEG picture. frame: the segment that begins it. ITU-T T.81, B.2.2."""
    components = [frame[at + 1] for at in range(8, len(frame) - 2, 3)]
    if not components:
        return None
    height, width = int.from_bytes(frame[3:5]), int.from_bytes(frame[5:7])
    # The samples of a component across and down, compared with the finest component's.
    across = max(1, *(sampling >> 4 for sampling in components))
    down = max(1, *(sampling & 15 for sampling in components))
    samples = sum((sampling >> 4) * (sampling & 15) for sampling in components)
    coefficient_bytes = 2 * width * height * samples // (across * down) if scans > 1 else 0
    is_cheap = scans <= MAX_SCANS and coefficient_bytes <= MAX_COEFFICIENT_BYTES
    return PictureHeader(width, height, is_cheap)


def _read_webp(content: bytes) -> PictureHeader | None:
    """Read the first chunk. Source: RFC 9649, sections 2.5 to 2.7."""
    match content[12:16]:
        case b"VP8X":
            return PictureHeader(_little(content[24:27]) + 1, _little(content[27:30]) + 1)
        case b"VP8L":
            bits = _little(content[21:25])
            return PictureHeader((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 ":
            return PictureHeader(_little(content[26:28]) & 0x3FFF, _little(content[28:30]) & 0x3FFF)
    return None


def _little(number: bytes) -> int:
    return int.from_bytes(number, "little")
