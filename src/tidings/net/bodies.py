"""Response bodies: decompressed while they are received, and aborted as soon as they exceed the size limit.

    wire ── one stage for each Content-Encoding, last named first ── gzip that no header declares ── body

The header may be wrong, so a stage looks at the bytes first: data that is not in the declared encoding passes through
unchanged.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

import brotli

from tidings.base.messages import msg
from tidings.net.errors import BodyTooLarge, UndecodableBody

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING = "br, gzip, deflate, zstd"

# Bytes that one step of decompression may yield; it bounds the memory that a decompression bomb takes before the limit
# is checked.
_STEP = 64 * 1024
# Real responses have one or two encodings; many would be another kind of decompression bomb.
_MAX_STAGES = 4
# Compressed streams (members of gzip, frames of zstd) in one body. Twenty bytes can be a stream that holds nothing, and
# each needs a decompressor. Servers that compress each piece of a page alone send several thousand.
MAX_STREAMS = 10_000

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# First bytes of plain JSON. A raw deflate stream may begin with them too, but not a usual document's.
_PLAIN_STARTS = (b"{", b"[", b"\n")
# RFC 9659: windows above 8 MB are not allowed on the web.
_ZSTD_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}


class _CorruptError(Exception):
    """The compressed data is invalid."""


class _TooManyStreamsError(Exception):
    """The body has more than MAX_STREAMS compressed streams."""


class Decompressor(Protocol):
    """One compressed stream. is_done: its end was reached. rest: the bytes after the end."""

    @property
    def is_done(self) -> bool: ...
    @property
    def rest(self) -> bytes: ...
    def decompress(self, data: bytes) -> Iterator[bytes]:
        """Yield pieces of at most _STEP bytes. Raises _CorruptError for invalid data."""


# Takes data. Returns a piece of at most _STEP bytes, the data that is left, and whether the stream ended or needs more.
Step: TypeAlias = Callable[[bytes], tuple[bytes, bytes, bool]]


def _pieces(step: Step, data: bytes, damage: type[Exception]) -> Iterator[bytes]:
    """Yield what a stream makes of the data, in pieces of at most _STEP bytes.

    damage: what `step` raises for invalid data. Raises _CorruptError for that.
    """
    try:
        is_done = False
        while not is_done:
            piece, data, is_done = step(data)
            if piece:
                yield piece
    except damage as error:
        raise _CorruptError from error


class _Zlib:
    """Decompresses a body with zlib.

    window: the `wbits` of zlib, which selects the format: 31 gzip, 15 zlib, -15 raw deflate.
    """

    def __init__(self, window: int) -> None:
        self._stream = zlib.decompressobj(window)

    @property
    def is_done(self) -> bool:
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes) -> Iterator[bytes]:
        return _pieces(self._step, data, zlib.error)

    def _step(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.decompress(data, _STEP)
        # At the end, it repeats what `unused_data` has.
        left = self._stream.unconsumed_tail
        return piece, left, self._stream.eof or (not left and len(piece) < _STEP)


class _Brotli:
    rest = b""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def is_done(self) -> bool:
        return bool(self._stream.is_finished())

    def decompress(self, data: bytes) -> Iterator[bytes]:
        return _pieces(self._step, data, brotli.error)

    def _step(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.process(data, output_buffer_limit=_STEP)
        return piece, b"", self.is_done or (not piece and self._stream.can_accept_more_data())


class _Zstd:
    def __init__(self) -> None:
        self._stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)

    @property
    def is_done(self) -> bool:
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes) -> Iterator[bytes]:
        return _pieces(self._step, data, zstd.ZstdError)

    def _step(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.decompress(data, _STEP)
        return piece, b"", self._stream.eof or self._stream.needs_input


class _StreamBudget:
    """Counts the compressed streams of a body, in all its stages."""

    def __init__(self) -> None:
        self._left = MAX_STREAMS

    def spend(self) -> None:
        """Count one more stream. Raises _TooManyStreamsError beyond the limit."""
        self._left -= 1
        if self._left < 0:
            raise _TooManyStreamsError


class _Stage:
    """Decodes one Content-Encoding.

    The input is kept until the first decompressed byte, so that the stage can still pass all of it through unchanged.
    """

    def __init__(self, name: str, streams: _StreamBudget) -> None:
        self._name = name
        self._streams = streams
        self._decompressor: Decompressor | None = None
        self._is_plain = False
        self._kept: bytes | None = b""
        # The bytes after the end of a stream, until they are enough to recognize another stream.
        self._after = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._is_plain:
            yield data
            return
        if self._kept is not None:
            self._kept += data
        if self._decompressor is None:
            if self._kept is None or len(self._kept) < len(_ZSTD_MAGIC):
                return
            data = self._kept
            self._decompressor = _decompressor_for(self._name, data)
        yield from self._decompress(data)

    def finish(self) -> Iterator[bytes]:
        """Yield the remaining bytes. Raises _CorruptError if the compressed stream is truncated."""
        if self._decompressor is None and self._kept and not self._is_plain:
            self._decompressor = _decompressor_for(self._name, self._kept)
            yield from self._decompress(self._kept)
        if self._is_plain or (self._decompressor is not None and self._decompressor.is_done):
            return
        if self._kept is None:
            raise _CorruptError
        yield self._kept

    def _decompress(self, data: bytes) -> Iterator[bytes]:
        try:
            for piece in self._decompress_streams(data):
                self._kept = None
                yield piece
        except _CorruptError:
            if self._kept is None:
                raise
            self._is_plain = True
            yield self._kept
        if self._kept is not None and len(self._kept) > _STEP:
            self._kept = None

    def _decompress_streams(self, data: bytes) -> Iterator[bytes]:
        """Yield the data of consecutive compressed streams; other bytes after the end are padding and dropped."""
        while data:
            if self._decompressor is None:
                raise _CorruptError
            if self._decompressor.is_done:
                data = self._after = self._after + data
                following = _decompressor_for("", data)
                if following is None:
                    self._after = data[: len(_ZSTD_MAGIC)]
                    return
                self._streams.spend()
                self._decompressor, self._after = following, b""
            yield from self._decompressor.decompress(data)
            data = self._decompressor.rest if self._decompressor.is_done else b""


def _decompressor_for(name: str, start: bytes) -> Decompressor | None:
    """Return the decompressor for data that begins with `start`; None if it is not in the encoding `name`."""
    if start.startswith(_GZIP_MAGIC):
        return _Zlib(31)
    if start.startswith(_ZSTD_MAGIC):
        return _Zstd()
    if name == "br":
        return _Brotli()
    if name == "deflate":
        # It should have the zlib format, but some servers send raw deflate. RFC 9110, section 8.4.1.2.
        if start[0] & 0x0F == 8 and int.from_bytes(start[:2]) % 31 == 0:
            return _Zlib(15)
        if not start.startswith(_PLAIN_STARTS):
            return _Zlib(-15)
    return None


class BodyReader:
    """Takes the received bytes and returns the decompressed body.

    content_encoding: the header. limit: bytes, before, between and after the stages.
    """

    def __init__(self, content_encoding: str, *, limit: int, url: str = "") -> None:
        names = [name.strip().lower() for name in content_encoding.split(",")]
        encodings = [name.removeprefix("x-") for name in reversed(names) if name and name != "identity"]
        self._url = url
        if len(encodings) > _MAX_STAGES:
            raise self._undecodable()
        # Unknown names, such as "utf-8" or "none", are errors of the server and ignored.
        known = [name for name in encodings if name in {"gzip", "deflate", "br", "zstd"}]
        streams = _StreamBudget()
        self._stages = [_Stage(name, streams) for name in [*known, "gzip"]]
        self._counts = [0] * (len(self._stages) + 1)
        self._limit = limit
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Add received bytes. Raises BodyTooLarge beyond the limit, and UndecodableBody for invalid data."""
        try:
            # A decompressor copies what follows the end of its stream: in small steps, so that this stays cheap.
            for start in range(0, len(data), _STEP):
                self._feed_stage(0, data[start : start + _STEP])
        except _CorruptError as error:
            raise self._undecodable() from error
        except _TooManyStreamsError as error:
            raise self._too_many_streams() from error

    def finish(self) -> bytes:
        """Return the whole body. Raises UndecodableBody if a compressed stream is truncated."""
        try:
            for number, stage in enumerate(self._stages):
                for piece in stage.finish():
                    self._feed_stage(number + 1, piece)
        except _CorruptError as error:
            raise self._undecodable() from error
        except _TooManyStreamsError as error:
            raise self._too_many_streams() from error
        return b"".join(self._pieces)

    def check_announced(self, size: int) -> None:
        """Raise BodyTooLarge if the announced size exceeds the limit. size: bytes, 0 if not announced."""
        if size > self._limit:
            raise self._too_large()

    def _feed_stage(self, number: int, data: bytes) -> None:
        """Feeds data to a stage; behind the last stage it is part of the body."""
        self._counts[number] += len(data)
        if self._counts[number] > self._limit:
            raise self._too_large()
        if number == len(self._stages):
            self._pieces.append(data)
            return
        for piece in self._stages[number].feed(data):
            self._feed_stage(number + 1, piece)

    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(
            msg(
                "The response is larger than the limit of {size}. The operator can raise that limit.",
                size=_format_size(self._limit),
            ),
            url=self._url,
        )

    def _undecodable(self) -> UndecodableBody:
        return UndecodableBody(
            msg(
                "The response of the publisher cannot be decompressed. The publisher has to fix this; try again later."
            ),
            url=self._url,
        )

    def _too_many_streams(self) -> UndecodableBody:
        return UndecodableBody(
            msg(
                "The response consists of more than {limit} compressed pieces. The publisher has to fix this.",
                limit=MAX_STREAMS,
            ),
            url=self._url,
        )


def _format_size(size: int) -> str:
    if size >= 1024 * 1024:
        return f"{size / (1024 * 1024):g} MiB"
    return f"{size / 1024:g} KiB" if size >= 1024 else f"{size} bytes"
