"""Bodies as they come over the wire, in pieces of any size."""

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

from tidings.domain.errors import BodyTooLarge, UndecodableBody
from tidings.net.bodies import BodyReader

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
def test_every_offered_encoding_is_undone(encoding: str, chunk: int) -> None:
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
def test_odd_but_honest_headers_are_understood(encoding: str, packed: bytes) -> None:
    assert unpack(packed, encoding) == FEED
    assert unpack(packed, encoding, chunk=1) == FEED


@pytest.mark.parametrize(
    "body",
    [FEED, b'{"version": "https://jsonfeed.org/version/1.1"}', b"[]", b"\n\n<rss/>", b"\xef\xbb\xbf<rss/>"],
)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip"])
def test_a_plain_body_under_a_packed_name_passes_through(encoding: str, body: bytes) -> None:
    assert unpack(body, encoding) == body
    assert unpack(body, encoding, chunk=1) == body


@pytest.mark.parametrize("encoding", PACKERS)
def test_an_empty_body_stays_empty_packed_or_not(encoding: str) -> None:
    assert unpack(PACKERS[encoding](b""), encoding) == b""
    assert unpack(b"", encoding) == b""


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_packed_body_cut_short_is_an_error(encoding: str) -> None:
    packed = PACKERS[encoding](bytes(range(256)) * 4000)

    with pytest.raises(UndecodableBody):
        unpack(packed[: len(packed) - 12], encoding, limit=2 * MIB)


def test_packed_bytes_that_break_half_way_are_an_error() -> None:
    packed = gzip.compress(bytes(range(256)) * 4000)
    broken = packed[: len(packed) // 2] + b"\xff" * 500

    with pytest.raises(UndecodableBody):
        unpack(broken, "gzip", limit=2 * MIB)


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_bomb_is_refused_without_being_unpacked(encoding: str) -> None:
    bomb = PACKERS[encoding](b" " * (64 * MIB))
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLarge, match="1 MiB"):
            unpack(bomb, encoding, limit=MIB, chunk=len(bomb))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 4 * MIB


def test_a_bomb_inside_a_bomb_is_refused() -> None:
    bomb = gzip.compress(gzip.compress(b" " * (64 * MIB)))

    with pytest.raises(BodyTooLarge):
        unpack(bomb, "gzip, gzip")


def test_packed_nothing_without_end_is_refused() -> None:
    # Empty blocks of a gzip stream: any number of bytes in, not one byte out.
    stream = gzip.compress(b"", mtime=0)[:10] + b"\0\0\0\xff\xff" * 100_000

    with pytest.raises(BodyTooLarge):
        unpack(stream, "gzip", limit=100_000)


def test_more_stages_than_anybody_needs_are_refused() -> None:
    with pytest.raises(UndecodableBody):
        BodyReader(", ".join(["gzip"] * 50), limit=MIB)


def test_the_limit_itself_is_still_allowed() -> None:
    assert unpack(b"x" * 1000, "", limit=1000) == b"x" * 1000
    with pytest.raises(BodyTooLarge):
        unpack(b"x" * 1001, "", limit=1000)


@given(st.binary(max_size=300), st.sampled_from([*PACKERS, "", "gzip, gzip"]), st.integers(1, 50))
def test_no_bytes_can_break_the_reader(data: bytes, encoding: str, chunk: int) -> None:
    with contextlib.suppress(UndecodableBody, BodyTooLarge):
        unpack(data, encoding, limit=10_000, chunk=chunk)


@given(st.binary(max_size=5000), st.sampled_from(list(PACKERS)), st.integers(1, 500))
def test_what_was_packed_comes_out_as_it_was(data: bytes, encoding: str, chunk: int) -> None:
    unpacked = unpack(PACKERS[encoding](data), encoding, chunk=chunk)

    assert unpacked == data or data.startswith(b"\x1f\x8b")
