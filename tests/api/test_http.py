"""Rules of all endpoints: bodies, queries, errors, methods and paths (docs/api.md)."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from contextlib import closing
from typing import Any

import brotli
import pytest
import zstandard

from support.connections import connected, request, rest_of
from support.people import Person, call
from support.publisher import Publisher

pytestmark = pytest.mark.one_engine


def test_every_response_below_v1_allows_other_origins(alice: Person) -> None:
    for answer in (
        alice.call("GET", "/v1/me"),
        alice.call("GET", "/v1/nothing"),
        call(alice.service.url, "GET", "/v1/me"),
    ):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["access-control-allow-methods"] == "GET, POST, PUT, DELETE, OPTIONS"
        allowed = "X-Auth-Token, Authorization, Content-Type, Content-Encoding, Accept, If-None-Match, Last-Event-ID"
        assert answer.headers["access-control-allow-headers"] == allowed
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/v1/me", "/v1/nothing/here", "/integrations/status"])
def test_a_preflight_needs_no_credentials_anywhere(alice: Person, path: str) -> None:
    answer = call(alice.service.url, "OPTIONS", path)

    assert answer.status == 204
    assert answer.headers["access-control-max-age"] == "3600"


def test_json_has_no_charset_and_an_empty_response_no_content_type(alice: Person) -> None:
    assert alice.call("GET", "/v1/me").headers["content-type"] == "application/json"
    empty = alice.call("PUT", "/v1/feeds/refresh")
    assert (empty.status, empty.body) == (204, b"")
    assert "content-type" not in empty.headers


@pytest.mark.parametrize(
    ("accepted", "coding", "decode"),
    [
        ("x, zstd", "zstd", zstandard.decompress),
        ("x, br", "br", brotli.decompress),
        ("x, gzip", "gzip", gzip.decompress),
        ("x, deflate", "deflate", zlib.decompress),
        ("gzip, deflate, br, zstd", "zstd", zstandard.decompress),
        ("gzip, deflate, br", "br", brotli.decompress),
        ("gzip, br;q=0.5, zstd;q=0", "gzip", gzip.decompress),
    ],
)
def test_long_responses_are_compressed_as_the_client_prefers(
    alice: Person, site: Publisher, accepted: str, coding: str, decode: Any
) -> None:
    alice.has_feed(site, [f"Item {number}" for number in range(20)])
    plain = alice.call("GET", "/v1/entries")

    packed = call(
        alice.service.url,
        "GET",
        "/v1/entries",
        headers={"X-Auth-Token": alice.token, "Accept-Encoding": accepted},
    )

    assert packed.headers["content-encoding"] == coding
    assert packed.headers["vary"] == "Accept-Encoding"
    assert json.loads(decode(packed.body)) == plain.json()


def test_head_has_the_length_of_get_and_no_body(alice: Person) -> None:
    head, get = alice.call("HEAD", "/v1/version"), alice.call("GET", "/v1/version")

    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/me/", "/v1/feeds/", "/v1/", "/v1/feeds/1/entries/2/3"])
def test_an_unknown_path_is_404_with_a_json_error(alice: Person, path: str) -> None:
    answer = alice.call("GET", path)

    assert answer.status == 404
    assert answer.error


def test_another_method_is_405_with_the_allowed_ones(alice: Person) -> None:
    answer = alice.call("DELETE", "/v1/feeds")

    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD, POST"
    assert answer.error


@pytest.mark.parametrize(("path", "clean"), [("/v1//me", "/v1/me"), ("/v1/x/../me", "/v1/me"), ("/v1", "/v1/")])
def test_an_unnormalized_path_is_redirected(alice: Person, path: str, clean: str) -> None:
    answer = alice.call("GET", path)

    assert (answer.status, answer.headers["location"]) == (307, clean)


@pytest.mark.parametrize("path", ["//v1/users/%E2%82%AC", "//v1/%0d%0aX", "//v1/a%23b%3Fc"])
def test_a_redirected_path_stays_escaped(alice: Person, path: str) -> None:
    answer = alice.call("GET", path)

    assert (answer.status, answer.headers["location"].lower()) == (307, path[1:].lower())


def test_a_redirect_keeps_the_query(alice: Person) -> None:
    answer = alice.call("GET", "//v1/entries?order=id&direction=desc")

    assert answer.headers["location"] == "/v1/entries?order=id&direction=desc"


def test_paths_are_case_sensitive(alice: Person) -> None:
    assert alice.call("GET", "/V1/me").status == 404


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/feeds/refresh"), ("PUT", "/v1/entries/ids")])
def test_a_fixed_name_with_a_method_it_lacks_is_read_as_an_id(alice: Person, method: str, path: str) -> None:
    assert alice.call(method, path, {}).status == 400


@pytest.mark.parametrize("invalid_id", ["0", "-1", "abc", "1.5", "9223372036854775808", "+7", "007", "1e3", "٣"])
def test_a_path_id_is_a_plain_whole_number_above_zero(alice: Person, invalid_id: str) -> None:
    from urllib.parse import quote

    answer = alice.call("GET", f"/v1/feeds/{quote(invalid_id)}")

    assert answer.status == 400
    assert "feed id" in answer.error


def test_the_largest_ids_are_404(alice: Person) -> None:
    for path in ("/v1/feeds/2147483648", "/v1/entries/9223372036854775807"):
        assert alice.call("GET", path).status == 404


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b'\xef\xbb\xbf{"title": "x"}',
        '{"title": "x"}'.encode("utf-16-le"),
        b'{"title": NaN}',
        b'{"title": "x", "other": NaN}',
        b'{"title": "x", "other": -Infinity}',
        b'{"title": "x"} more',
        b"title=x",
        b'{"title": "\xff"}',
        b"[" * 20_000 + b"]" * 20_000,
        b'{"other": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b'{"title": "a\\u0000b"}',
    ],
)
def test_a_body_that_is_not_a_json_object_is_400(alice: Person, raw: bytes) -> None:
    answer = alice.call("POST", "/v1/categories", raw=raw)

    assert answer.status == 400
    assert answer.error


def test_null_is_an_empty_object_and_a_null_member_is_absent(alice: Person) -> None:
    category = alice.has_category("Mine")

    assert json.loads(alice.call("PUT", f"/v1/categories/{category['id']}", raw=b" null ").body) == category
    assert alice.put(f"/v1/categories/{category['id']}", {"title": None}, status=201) == category


def test_unknown_members_are_ignored_and_the_last_of_a_repeated_one_wins(alice: Person) -> None:
    answer = alice.call("POST", "/v1/categories", raw=b'{"id": 7, "x": {}, "title": "first", "title": "last"}')

    assert answer.status == 201
    assert answer.json()["title"] == "last"


def test_an_unpaired_surrogate_becomes_a_replacement_character(alice: Person) -> None:
    answer = alice.call("POST", "/v1/categories", raw=b'{"title": "cut \\ud83d"}')

    assert answer.json()["title"] == "cut \N{REPLACEMENT CHARACTER}"


def test_a_wrong_type_names_the_field(alice: Person) -> None:
    assert "category_id" in alice.call("POST", "/v1/feeds", {"feed_url": "http://x", "category_id": "5"}).error
    assert alice.call("POST", "/v1/feeds", {"feed_url": "http://x", "category_id": 1.5}).status == 400
    assert alice.call("POST", "/v1/feeds", {"feed_url": "http://x", "category_id": 2**63}).status == 400
    assert alice.call("POST", "/v1/feeds", {"feed_url": "http://x", "crawler": "true"}).status == 400


def test_the_content_type_is_ignored(alice: Person) -> None:
    headers = {"X-Auth-Token": alice.token, "Content-Type": "application/x-www-form-urlencoded"}

    answer = call(alice.service.url, "POST", "/v1/categories", b'{"title": "form"}', headers)

    assert answer.status == 201


def test_a_body_where_none_is_needed_is_ignored(alice: Person) -> None:
    assert alice.call("PUT", "/v1/feeds/refresh", raw=b'""').status == 204


def test_a_body_of_a_get_that_arrives_late_does_not_cost_the_connection(alice: Person) -> None:
    """Otherwise the connection was reset, sometimes before the client had read the response."""
    token = {"X_Auth_Token": alice.token}
    with closing(connected(alice.service.url, request("/v1/me", Content_Length="2", **token))) as client:
        time.sleep(0.3)
        client.sendall(b"{}" + request("/v1/version", Connection="close", **token))
        received = rest_of(client)

    assert received.count(b"HTTP/1.1 200") == 2


def test_a_body_beyond_32_mib_is_refused_in_json(alice: Person) -> None:
    answer = alice.call("POST", "/v1/categories", raw=b'{"title": "' + b"x" * (33 * 2**20) + b'"}')

    assert answer.status == 400
    assert "32 MiB" in answer.error


def test_a_query_that_is_not_utf8_is_400(alice: Person) -> None:
    assert alice.call("GET", "/v1/entries?search=%ff").status == 400
    assert alice.call("GET", "/v1/entries?search=%00").status == 400


def test_the_permission_is_checked_before_the_body(bob: Person) -> None:
    assert bob.call("POST", "/v1/users", raw=b"{broken").status == 403
