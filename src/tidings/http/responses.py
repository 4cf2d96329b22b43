"""Makes, compresses and sends responses, which are Starlette's, in the same way for all surfaces.

Content-Encoding is zstd, br, gzip or deflate, as the client prefers; Starlette's middleware has gzip only.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import brotli
import msgspec
import zstandard
from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tidings.base.errors import ImportRunning, InsufficientStorage, LocalShortage, StoreUnavailable, TidingsError
from tidings.http.event_stream import TooManyStreams
from tidings.http.requests import RequestTooSlow

JSON = "application/json"
_ENTITY_TAG: Final = re.compile(r'(?:W/)?"[^"]*"')

# Sent with every 503: a restart of the database takes about this long.
RETRY_AFTER_S = 10

# The status of errors that mean the same on every surface; a surface puts its own before them. The first match wins.
COMMON_STATUSES: tuple[tuple[type[TidingsError], int], ...] = (
    (RequestTooSlow, 408),
    (ImportRunning, 409),
    (TooManyStreams, 429),
    (InsufficientStorage, 507),
    (StoreUnavailable, 503),
    (LocalShortage, 503),
    (TidingsError, 400),
)

RawHeaders = Sequence[tuple[bytes, bytes]]


def json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(msgspec.json.encode(value), status, headers, JSON)


class ChunkedJson(StreamingResponse):
    """A JSON response that is made and sent in chunks, for what is too large to be in memory as a whole.

    chunks: made in a thread, one after the other. What they raise ends the connection: the status was sent before.
    """

    def __init__(self, chunks: Iterator[bytes], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(chunks, headers=headers, media_type=JSON)
        self.chunks = chunks

    def encode_with(self, chunks: Iterator[bytes], coding: str) -> None:
        """Replace the chunks by encoded ones. coding: the value of Content-Encoding."""
        self.chunks = chunks
        self.body_iterator = iterate_in_threadpool(chunks)
        self.headers["content-encoding"] = coding


class Download(StreamingResponse):
    """A file that is made and sent in pieces. filename: ASCII, without quotes. pieces: made in a thread.

    The first piece is made before the response begins, so that an error until then has its own status.
    """

    def __init__(
        self, pieces: Iterator[bytes], filename: str, media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        first = next(pieces, b"")
        own = {"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"}
        super().__init__(chain((first,), pieces), headers={**(headers or {}), **own}, media_type=media_type)


def empty(status: int, headers: dict[str, str] | None = None) -> Response:
    """Return a response without a body. 204 and 304 have no Content-Type (RFC 9110, section 8.3)."""
    return Response(b"", status, headers, None if status in (204, 304) else JSON)


# A client may keep it for itself, and asks each time whether it is still what it would get.
CONDITIONAL = {"Cache-Control": "private, no-cache"}


def not_modified(tag: str) -> Response:
    """Return the answer that what the client has is still right (RFC 9110, section 15.4.5)."""
    return empty(304, {"ETag": tag, **CONDITIONAL, "Vary": "Accept-Encoding"})


def is_known(tag: str, header: str) -> bool:
    """Return whether a header If-None-Match has a tag, in weak comparison (RFC 9110, section 13.1.2)."""
    known = {one.removeprefix("W/") for one in _ENTITY_TAG.findall(header)}
    return tag.removeprefix("W/") in known


def raw(headers: dict[str, str]) -> RawHeaders:
    """Return headers in the form of ASGI, for headers that every response of a surface has."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


async def send_response(
    response: Response, scope: Scope, receive: Receive, send: Send, headers: RawHeaders = ()
) -> None:
    """Send a response. headers: added to its own, which win. HEAD gets the headers of GET and no body."""
    own = {name for name, _ in response.raw_headers}
    response.raw_headers[:0] = [header for header in headers if header[0] not in own]
    if response.status_code == 503:
        response.headers.setdefault("retry-after", str(RETRY_AFTER_S))
    if not isinstance(response, StreamingResponse):
        if response.body:
            response.raw_headers.append((b"vary", b"Accept-Encoding"))
        if scope["method"] == "HEAD":
            response.body = b""
    elif scope["method"] == "HEAD":
        response.body_iterator = iterate_in_threadpool(())
    await response(scope, receive, send)


# Levels at which compressing takes less time than sending the saved bytes over a common connection. Of codings that a
# client likes equally, it gets the first: zstd takes half of the time of br for as many bytes.
_CODERS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstandard.ZstdCompressor(level=3).compress(body),
    "br": lambda body: bytes(brotli.compress(body, quality=3)),
    "gzip": lambda body: gzip.compress(body, 3, mtime=0),
    "deflate": lambda body: zlib.compress(body, 3),
}
# For what is compressed once and sent often: a fifth smaller.
SMALLEST: Mapping[str, Callable[[bytes], bytes]] = {
    "br": lambda body: bytes(brotli.compress(body, quality=11)),
    "gzip": lambda body: gzip.compress(body, 9, mtime=0),
}
# Bytes; compressing a smaller body saves no packet.
MIN_SIZE = 1024


def compress(response: Response, accepted: str, media_types: str = "") -> None:
    """Compress a response in place.

    accepted: the Accept-Encoding header (RFC 9110, section 12.5.3). media_types: prefix of the types to compress.
    """
    if isinstance(response, ChunkedJson):
        coding = coding_for(accepted) if accepted else None
        if coding is not None:
            response.encode_with(_encoded_chunks(response.chunks, coding), coding)
        response.raw_headers.append((b"vary", b"Accept-Encoding"))
        return
    if not accepted or isinstance(response, StreamingResponse) or len(response.body) <= MIN_SIZE:
        return
    coding = coding_for(accepted)
    if coding is not None and response.headers.get("content-type", "").startswith(media_types):
        response.body = _CODERS[coding](bytes(response.body))
        response.headers["content-length"] = str(len(response.body))
        response.headers["content-encoding"] = coding


def _encoded_chunks(chunks: Iterator[bytes], coding: str) -> Iterator[bytes]:
    """Yield the chunks compressed, as one body."""
    compress_chunk: Callable[[bytes], bytes]
    finish: Callable[[], bytes]
    if coding == "zstd":
        zstd_compressor = zstandard.ZstdCompressor(level=3).compressobj()
        compress_chunk, finish = zstd_compressor.compress, zstd_compressor.flush
    elif coding == "br":
        brotli_compressor = brotli.Compressor(quality=3)
        compress_chunk, finish = brotli_compressor.process, brotli_compressor.finish
    else:
        # 31: with the header of gzip and the largest window. "deflate" is the zlib format (RFC 9110, section 8.4.1.2).
        compressor = zlib.compressobj(3, wbits=31 if coding == "gzip" else 15)
        compress_chunk, finish = compressor.compress, compressor.flush
    for chunk in chunks:
        if encoded_chunk := compress_chunk(chunk):
            yield encoded_chunk
    yield finish()


def coding_for(accepted: str, offered: Collection[str] = tuple(_CODERS)) -> str | None:
    """Return which of the offered codings the client prefers, the first of several; None if it accepts none."""
    weights = weights_of(accepted)
    weighted = [(weights.get(coding, weights.get("*", 0.0)), coding) for coding in offered]
    best, coding = max(weighted, key=lambda offer: offer[0])
    return coding if best > 0 else None


def weights_of(header: str) -> dict[str, float]:
    """Return the weights of what a header such as Accept names, by name in lower case (RFC 9110, section 12.4.2)."""
    parts = (part.split(";") for part in header.lower().split(","))
    return {name.strip(): _weight(parameters) for name, *parameters in parts}


def _weight(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
