"""Unpacks bodies of requests that are compressed (RFC 9110, section 8.4)."""

from __future__ import annotations

import sys
import zlib
from typing import Final

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import msg

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# For the header Accept-Encoding of a response that refuses another coding (RFC 9110, section 12.5.3).
ACCEPTED: Final = "gzip, zstd"
# RFC 9659: windows above 8 MB are not allowed on the web.
_ZSTD_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
# `wbits` of zlib for gzip.
_GZIP: Final = 31
# Bytes.
_STEP: Final = 2**20


class UnsupportedCoding(TidingsError):
    """The body has a coding that is not accepted here."""

    code = "unsupported-coding"


class UnpackedTooLarge(TidingsError):
    """The body is larger than the limit once it is unpacked."""

    code = "unpacked-too-large"


def is_coded(content_encoding: str) -> bool:
    """Return whether a header Content-Encoding names a coding."""
    return content_encoding.strip().lower() not in ("", "identity")


def unpack(body: bytes, content_encoding: str, limit: int) -> bytes:
    """Return the body as it was before it was compressed.

    limit: bytes; no more than one step beyond it is unpacked. Raises UnpackedTooLarge, UnsupportedCoding, and
    InvalidInput for a body that is damaged, incomplete or followed by other bytes.
    """
    unpack_whole = {"gzip": _gunzip, "x-gzip": _gunzip, "zstd": _unzstd}.get(content_encoding.strip().lower())
    if unpack_whole is None:
        raise UnsupportedCoding(
            msg("This Content-Encoding is not accepted: send the body with gzip, with zstd, or as it is.")
        )
    try:
        unpacked, is_complete = unpack_whole(body, limit)
    except (zlib.error, zstd.ZstdError) as error:
        raise _damaged() from error
    if len(unpacked) > limit:
        raise UnpackedTooLarge(
            msg("This request is too large: {limit} kB at most, once it is unpacked.", limit=limit // 1000)
        )
    if not is_complete:
        raise _damaged()
    return unpacked


def _damaged() -> InvalidInput:
    return InvalidInput(msg("The body of this request cannot be unpacked: it is not what its Content-Encoding says."))


def _gunzip(body: bytes, limit: int) -> tuple[bytes, bool]:
    """Return the beginning of the unpacked body, and whether the packed one is complete and nothing follows."""
    stream = zlib.decompressobj(_GZIP)
    unpacked = stream.decompress(body, limit + 1)
    return unpacked, stream.eof and not stream.unused_data


def _unzstd(body: bytes, limit: int) -> tuple[bytes, bool]:
    stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)
    pieces: list[bytes] = []
    size = 0
    data = body
    while not stream.eof and size <= limit:
        piece = stream.decompress(data, _STEP)
        data = b""
        pieces.append(piece)
        size += len(piece)
        if not piece and stream.needs_input:
            break
    return b"".join(pieces), stream.eof and not stream.unused_data
