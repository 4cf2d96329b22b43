"""Decompression of bodies that arrive in pieces of any size."""

from __future__ import annotations

import contextlib
import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from support.scaling import assert_constant
from tidings.net.errors import BodyTooLarge, UndecodableBody
from tidings.net.responses import MAX_STREAMS, BodyReader

FEED = b'<?xml version="1.0"?><rss><channel><title>Rain tomorrow</title></channel></rss>' * 40
MIB = 1024 * 1024


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "br": lambda data: bytes(brotli.compress(data, quality=3)),
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}


def unpack(data: bytes, encoding: str, *, limit: int = MIB, chunk: int = 1000) -> bytes:
    reader = BodyReader(encoding, limit=limit)
    for start in range(0, len(data), chunk):
        reader.feed(data[start : start + chunk])
    return reader.finish()


@pytest.mark.parametrize("chunk", [1, 7, 100_000])
@pytest.mark.parametrize("encoding", PACKERS)
def test_every_offered_encoding_is_decoded(encoding: str, chunk: int) -> None:
    assert unpack(PACKERS[encoding](FEED), encoding, chunk=chunk) == FEED


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("GZIP", gzip.compress(FEED)),
        (" Gzip ,", gzip.compress(FEED)),
        ("x-gzip", gzip.compress(FEED)),
        ("gzip, gzip", gzip.compress(gzip.compress(FEED))),
        ("gzip, br", brotli.compress(gzip.compress(FEED))),
        ("gzip, identity", gzip.compress(FEED)),
        ("identity", FEED),
        ("", FEED),
        ("", gzip.compress(FEED)),
        ("br", brotli.compress(gzip.compress(FEED))),
        ("utf-8", FEED),
        ("none", gzip.compress(FEED)),
        ("deflate", bare_deflate(FEED)),
        ("deflate", gzip.compress(FEED)),
        ("gzip", zstd.compress(FEED)),
        ("gzip", gzip.compress(FEED[:100]) + gzip.compress(FEED[100:])),
        ("gzip", gzip.compress(FEED) + b"\0" * 100),
        ("zstd", zstd.compress(FEED[:100]) + zstd.compress(FEED[100:])),
    ],
)
def test_unusual_content_encoding_headers_are_understood(encoding: str, packed: bytes) -> None:
    assert unpack(packed, encoding) == FEED
    assert unpack(packed, encoding, chunk=1) == FEED


@pytest.mark.parametrize(
    "body",
    [FEED, b'{"version": "https://jsonfeed.org/version/1.1"}', b"[]", b"\n\n<rss/>", b"\xef\xbb\xbf<rss/>"],
)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip"])
def test_a_plain_body_with_a_content_encoding_passes_through(encoding: str, body: bytes) -> None:
    assert unpack(body, encoding) == body
    assert unpack(body, encoding, chunk=1) == body


@pytest.mark.parametrize("encoding", PACKERS)
def test_an_empty_body_stays_empty_in_every_encoding(encoding: str) -> None:
    assert unpack(PACKERS[encoding](b""), encoding) == b""
    assert unpack(b"", encoding) == b""


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_truncated_compressed_body_is_an_error(encoding: str) -> None:
    packed = PACKERS[encoding](bytes(range(256)) * 4000)

    with pytest.raises(UndecodableBody):
        unpack(packed[: len(packed) - 12], encoding, limit=2 * MIB)


def test_compressed_data_that_becomes_invalid_is_an_error() -> None:
    packed = gzip.compress(bytes(range(256)) * 4000)
    broken = packed[: len(packed) // 2] + b"\xff" * 500

    with pytest.raises(UndecodableBody):
        unpack(broken, "gzip", limit=2 * MIB)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", PACKERS)
def test_a_decompression_bomb_is_refused_before_it_is_decompressed(encoding: str) -> None:
    bomb = PACKERS[encoding](b" " * (64 * MIB))
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLarge, match="1 MiB"):
            unpack(bomb, encoding, limit=MIB, chunk=len(bomb))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 4 * MIB


@pytest.mark.slow
def test_a_nested_decompression_bomb_is_refused() -> None:
    bomb = gzip.compress(gzip.compress(b" " * (64 * MIB)))

    with pytest.raises(BodyTooLarge):
        unpack(bomb, "gzip, gzip")


def test_endless_empty_compressed_blocks_are_refused() -> None:
    # Empty blocks of a gzip stream: any number of bytes in, not one byte out.
    stream = gzip.compress(b"", mtime=0)[:10] + b"\0\0\0\xff\xff" * 100_000

    with pytest.raises(BodyTooLarge):
        unpack(stream, "gzip", limit=100_000)


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "deflate"])
@pytest.mark.parametrize("behind", [b"\0" * 3_000, gzip.compress(b"") * 100])
def test_a_stream_of_many_steps_ends_although_more_bytes_came_with_its_end(encoding: str, behind: bytes) -> None:
    blanks = b" " * 500_000

    assert unpack(PACKERS[encoding](blanks) + behind, encoding, chunk=2**30) == blanks


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["gzip", "zstd", ""])
@pytest.mark.parametrize("chunk", [1_000, 2**30])
def test_empty_compressed_streams_are_refused_after_some_thousand(encoding: str, chunk: int) -> None:
    empty = PACKERS[encoding or "gzip"](b"")
    few = PACKERS[encoding or "gzip"](b"rain") + empty * (MAX_STREAMS - 1)

    assert unpack(few, encoding, chunk=chunk) == b"rain"
    with pytest.raises(UndecodableBody, match="10000 compressed pieces"):
        unpack(empty * (MAX_STREAMS + 2), encoding, chunk=chunk)


def test_streams_are_counted_over_all_content_encodings() -> None:
    # Each half is within the limit: empty streams around the outer encoding, and others within it.
    empty = gzip.compress(b"")
    many = empty * (MAX_STREAMS * 2 // 3)

    with pytest.raises(UndecodableBody, match="compressed pieces"):
        unpack(gzip.compress(many) + many, "gzip, gzip")


def test_what_follows_the_end_of_a_stream_is_not_copied_for_each_of_many_streams() -> None:
    many = gzip.compress(b"") * 4_000

    # Everything arrives as one piece.
    assert_constant(lambda size: unpack(many + b"\0" * size, "gzip", limit=16 * MIB, chunk=2**30), MIB)


def test_too_many_content_encodings_are_refused() -> None:
    with pytest.raises(UndecodableBody):
        BodyReader(", ".join(["gzip"] * 50), limit=MIB)


def test_a_body_of_exactly_the_limit_is_allowed() -> None:
    assert unpack(b"x" * 1000, "", limit=1000) == b"x" * 1000
    with pytest.raises(BodyTooLarge):
        unpack(b"x" * 1001, "", limit=1000)


@given(st.binary(max_size=300), st.sampled_from([*PACKERS, "", "gzip, gzip"]), st.integers(1, 50))
def test_any_bytes_are_decoded_or_refused(data: bytes, encoding: str, chunk: int) -> None:
    with contextlib.suppress(UndecodableBody, BodyTooLarge):
        unpack(data, encoding, limit=10_000, chunk=chunk)


@given(st.binary(max_size=5000), st.sampled_from(list(PACKERS)), st.integers(1, 500))
def test_compressed_data_is_decompressed_unchanged(data: bytes, encoding: str, chunk: int) -> None:
    unpacked = unpack(PACKERS[encoding](data), encoding, chunk=chunk)

    assert unpacked == data or data.startswith(b"\x1f\x8b")
