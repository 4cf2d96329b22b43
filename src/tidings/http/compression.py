"""Content-Encoding of responses: zstd, br, gzip or deflate, as the client prefers. Starlette's middleware has gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping

import brotli
import zstandard
from starlette.responses import Response, StreamingResponse

from tidings.http.responses import ChunkedJson

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
    """Yields the chunks compressed, as one body."""
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
    """Returns which of the offered codings the client prefers, the first of several; None if it accepts none."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        coding, _, parameters = part.partition(";")
        weights[coding.strip()] = _weight(parameters)
    weighted = [(weights.get(coding, weights.get("*", 0.0)), coding) for coding in offered]
    best, coding = max(weighted, key=lambda offer: offer[0])
    return coding if best > 0 else None


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
