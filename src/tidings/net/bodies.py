"""Response bodies: unpacked while they come in, counted after unpacking, left as soon as they are too large.

    wire ── one stage for each Content-Encoding, last named first ── gzip that nobody announced ── body

Headers lie, so a stage looks at the bytes first: what is not packed the way its name says passes through as
it is, and the parser will know what to make of it.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import Protocol

import brotli

from tidings.domain.errors import BodyTooLarge, UndecodableBody
from tidings.domain.messages import msg

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING = "br, gzip, deflate, zstd"

# How much one step of unpacking may yield: what a bomb can take of our memory before it is counted.
_STEP = 64 * 1024
# As far as a publisher may be expected to go; more stages are a bomb of another kind.
_MOST_STAGES = 4

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# A bare deflate stream could, but only of text that begins as no document does. JSON would unpack to noise.
_HARDLY_DEFLATE = (b"{", b"[", b"\n")
# RFC 9659: windows above 8 MB are not for the web.
_ZSTD_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}


class _CorruptError(Exception):
    """The packed bytes make no sense."""


class Unpacker(Protocol):
    """One packed stream. is_done: its own end was reached; rest: what came after that."""

    @property
    def is_done(self) -> bool: ...
    @property
    def rest(self) -> bytes: ...
    def unpack(self, data: bytes) -> Iterator[bytes]:
        """In pieces of bounded size. _CorruptError when the bytes make no sense."""


class _Zlib:
    """window: as zlib names its three wrappers: 31 gzip, 15 zlib, -15 none."""

    def __init__(self, window: int) -> None:
        self._stream = zlib.decompressobj(window)

    @property
    def is_done(self) -> bool:
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data

    def unpack(self, data: bytes) -> Iterator[bytes]:
        try:
            while True:
                piece = self._stream.decompress(data, _STEP)
                data = self._stream.unconsumed_tail
                if piece:
                    yield piece
                if not data and len(piece) < _STEP:
                    return
        except zlib.error as error:
            raise _CorruptError from error


class _Brotli:
    rest = b""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def is_done(self) -> bool:
        return bool(self._stream.is_finished())

    def unpack(self, data: bytes) -> Iterator[bytes]:
        try:
            while True:
                piece = self._stream.process(data, output_buffer_limit=_STEP)
                data = b""
                if piece:
                    yield piece
                if self._stream.is_finished() or (not piece and self._stream.can_accept_more_data()):
                    return
        except brotli.error as error:
            raise _CorruptError from error


class _Zstd:
    def __init__(self) -> None:
        self._stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)

    @property
    def is_done(self) -> bool:
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data

    def unpack(self, data: bytes) -> Iterator[bytes]:
        try:
            while True:
                piece = self._stream.decompress(data, _STEP)
                data = b""
                if piece:
                    yield piece
                if self._stream.eof or self._stream.needs_input:
                    return
        except zstd.ZstdError as error:
            raise _CorruptError from error


class _Stage:
    """One Content-Encoding taken off.

    What came in is kept until the first unpacked byte, so that the stage can still change its mind and pass
    all of it through.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._unpacker: Unpacker | None = None
        self._is_plain = False
        self._kept: bytes | None = b""
        self._after = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._is_plain:
            yield data
            return
        if self._kept is not None:
            self._kept += data
        if self._unpacker is None:
            if self._kept is None or len(self._kept) < len(_ZSTD_MAGIC):
                return
            data = self._kept
            self._unpacker = _unpacker_for(self._name, data)
        yield from self._unpack(data)

    def finish(self) -> Iterator[bytes]:
        """What was held back. _CorruptError when the packed stream has no end."""
        if self._unpacker is None and self._kept and not self._is_plain:
            self._unpacker = _unpacker_for(self._name, self._kept)
            yield from self._unpack(self._kept)
        if self._is_plain or (self._unpacker is not None and self._unpacker.is_done):
            return
        if self._kept is None:
            raise _CorruptError
        yield self._kept

    def _unpack(self, data: bytes) -> Iterator[bytes]:
        try:
            for piece in self._through_all(data):
                self._kept = None
                yield piece
        except _CorruptError:
            if self._kept is None:
                raise
            self._is_plain = True
            yield self._kept
        if self._kept is not None and len(self._kept) > _STEP:
            self._kept = None

    def _through_all(self, data: bytes) -> Iterator[bytes]:
        """Several packed streams in a row are one; other bytes after the end are padding and dropped."""
        while data:
            if self._unpacker is None:
                raise _CorruptError
            if self._unpacker.is_done:
                data = self._after = self._after + data
                following = _unpacker_for("", data)
                if following is None:
                    self._after = data[: len(_ZSTD_MAGIC)]
                    return
                self._unpacker, self._after = following, b""
            yield from self._unpacker.unpack(data)
            data = self._unpacker.rest if self._unpacker.is_done else b""


def _unpacker_for(name: str, start: bytes) -> Unpacker | None:
    """None when bytes that begin like this are not packed that way."""
    if start.startswith(_GZIP_MAGIC):
        return _Zlib(31)
    if start.startswith(_ZSTD_MAGIC):
        return _Zstd()
    if name == "br":
        return _Brotli()
    if name == "deflate":
        # Meant to be wrapped as zlib, but some servers send it bare. RFC 9110, section 8.4.1.2.
        if start[0] & 0x0F == 8 and int.from_bytes(start[:2]) % 31 == 0:
            return _Zlib(15)
        if not start.startswith(_HARDLY_DEFLATE):
            return _Zlib(-15)
    return None


class BodyReader:
    """Fed with the bytes of the wire, gives the unpacked body.

    content_encoding: the header; limit: bytes, for what comes in, what goes out and everything between.
    """

    def __init__(self, content_encoding: str, *, limit: int, url: str = "") -> None:
        names = [name.strip().lower() for name in content_encoding.split(",")]
        packed = [name.removeprefix("x-") for name in reversed(names) if name and name != "identity"]
        self._url = url
        if len(packed) > _MOST_STAGES:
            raise self._undecodable()
        # Names nobody knows, such as "utf-8" or "none", are mistakes of whoever set up the server.
        known = [name for name in packed if name in {"gzip", "deflate", "br", "zstd"}]
        self._stages = [_Stage(name) for name in [*known, "gzip"]]
        self._counts = [0] * (len(self._stages) + 1)
        self._limit = limit
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """BodyTooLarge as soon as the limit is passed; UndecodableBody when unpacking fails half-way."""
        try:
            self._through(0, data)
        except _CorruptError as error:
            raise self._undecodable() from error

    def finish(self) -> bytes:
        """The whole body. UndecodableBody when a packed stream stops before its end."""
        try:
            for number, stage in enumerate(self._stages):
                for piece in stage.finish():
                    self._through(number + 1, piece)
        except _CorruptError as error:
            raise self._undecodable() from error
        return b"".join(self._pieces)

    def expect(self, size: int) -> None:
        """size: as announced, 0 when it was not. BodyTooLarge when there is no use in beginning."""
        if size > self._limit:
            raise self._too_large()

    def _through(self, number: int, data: bytes) -> None:
        self._counts[number] += len(data)
        if self._counts[number] > self._limit:
            raise self._too_large()
        if number == len(self._stages):
            self._pieces.append(data)
            return
        for piece in self._stages[number].feed(data):
            self._through(number + 1, piece)

    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(
            msg(
                "What is published here is larger than the limit of {size}. The operator can raise that limit.",
                size=_readable(self._limit),
            ),
            url=self._url,
        )

    def _undecodable(self) -> UndecodableBody:
        return UndecodableBody(
            msg(
                "The publisher compressed its answer in a way that cannot be undone. This is for the publisher "
                "to mend; we can only try again later."
            ),
            url=self._url,
        )


def _readable(size: int) -> str:
    if size >= 1024 * 1024:
        return f"{size / (1024 * 1024):g} MiB"
    return f"{size / 1024:g} KiB" if size >= 1024 else f"{size} bytes"
