"""Bodies of requests with Content-Encoding (RFC 9110, section 8.4)."""

from __future__ import annotations

import gzip
import json
import re
import zlib

import pytest
import zstandard

from support.people import HttpResponse, Person, basic, call
from tidings.api.openapi import operations_of
from tidings.base.errors import InvalidInput
from tidings.http.content_coding import UnpackedTooLarge, UnsupportedCoding, unpack
from tidings.wiring.routes import API_ROUTES

pytestmark = pytest.mark.one_engine

LIMIT = 32 * 2**20


def send(person: Person, body: bytes, coding: str, path: str = "/v1/categories", method: str = "POST") -> HttpResponse:
    headers = {"X-Auth-Token": person.token, "Content-Encoding": coding}
    return call(person.service.url, method, path, body, headers)


def zstd(body: bytes, *, is_sized: bool = True) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=is_sized).compress(body)


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("zstd", zstd),
        ("identity", bytes),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_compressed_body_is_read_as_if_it_were_not(coding: str, pack: type[bytes], alice: Person) -> None:
    answer = send(alice, pack(json.dumps({"title": coding}).encode()), coding)

    assert (answer.status, answer.json()["title"]) == (201, coding)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_large_body_may_be_compressed_too(pack: type[bytes], alice: Person) -> None:
    """Ids that do not compress well: the packed body is larger than what is received in advance."""
    ids = [number * 7_919 % 2_147_483_647 for number in range(1, 60_000)]
    packed = pack(json.dumps({"entry_ids": ids, "status": "read"}).encode())
    assert len(packed) > 100_000

    coding = "gzip" if pack is gzip.compress else "zstd"
    assert send(alice, packed, coding, "/v1/entries", "PUT").status == 204


def test_opml_may_be_compressed(alice: Person) -> None:
    opml = b'<opml version="2.0"><body><outline text="A" xmlUrl="http://a.example/feed"/></body></opml>'

    assert send(alice, gzip.compress(opml), "gzip", "/v1/import").status == 201
    assert [feed["feed_url"] for feed in alice.get("/v1/feeds")] == ["http://a.example/feed"]


def test_an_empty_body_is_not_unpacked(alice: Person) -> None:
    assert send(alice, b"", "gzip", "/v1/flush-history", "PUT").status == 202
    assert send(alice, b"", "br", "/v1/flush-history", "PUT").status == 202


@pytest.mark.slow
def test_every_endpoint_refuses_bombs_and_unknown_codings(charlie: Person) -> None:
    bomb = zstd(b" " * (LIMIT + 1), is_sized=False)
    for name, route in operations_of(API_ROUTES).items():
        if route.method == "GET":
            continue
        path = re.sub(r"\{\w+\}", "1", route.path)
        unknown = send(charlie, b"{}", "br", path, route.method)
        assert (unknown.status, unknown.headers["x-error-code"]) == (415, "unsupported-coding"), name
        assert unknown.headers["accept-encoding"] == "gzip, zstd", name
        if not route.accepts_upload:
            large = send(charlie, bomb, "zstd", path, route.method)
            assert (large.status, large.headers["x-error-code"]) == (413, "unpacked-too-large"), name


def test_a_bomb_in_gzip_is_413(alice: Person) -> None:
    answer = send(alice, gzip.compress(b" " * (LIMIT + 1)), "gzip")

    assert (answer.status, answer.headers["x-error-code"]) == (413, "unpacked-too-large")


def test_credentials_come_before_the_body(alice: Person) -> None:
    headers = {**basic(alice.user.username, "wrong"), "Content-Encoding": "br"}

    assert call(alice.service.url, "POST", "/v1/categories", b"{}", headers).status == 401


# A window that decompressors on the web do not have to provide (RFC 9659).
WIDE = zstandard.ZstdCompressionParameters(window_log=27)
BODY = b'{"title": "' + b"rain " * 1_000 + b'"}'


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (BODY, "gzip"), (gzip.compress(BODY)[:-9], "gzip"), (gzip.compress(BODY) + b"more", "gzip"),
        (gzip.compress(BODY) * 2, "gzip"), (zlib.compress(BODY), "gzip"), (BODY, "zstd"), (zstd(BODY)[:-3], "zstd"),
        (zstd(BODY) + b"more", "zstd"), (zstd(BODY) * 2, "zstd"),
        (zstandard.ZstdCompressor(compression_params=WIDE).compress(BODY * 2_000), "zstd"),
    ],
)  # fmt: skip
def test_a_damaged_body_is_refused(body: bytes, coding: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be unpacked"):
        unpack(body, coding, LIMIT)


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, zstd", "gzip;q=1", "none"])
def test_other_codings_are_refused(coding: str) -> None:
    with pytest.raises(UnsupportedCoding):
        unpack(BODY, coding, LIMIT)


def test_the_limit_holds_for_the_unpacked_body() -> None:
    for packed, coding in ((gzip.compress(BODY), "gzip"), (zstd(BODY), "zstd"), (zstd(BODY, is_sized=False), "zstd")):
        assert unpack(packed, coding, len(BODY)) == BODY
        with pytest.raises(UnpackedTooLarge):
            unpack(packed, coding, len(BODY) - 1)
