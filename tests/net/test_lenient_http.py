"""Responses that browsers read although they are not valid HTTP."""

from __future__ import annotations

import asyncio

import pytest

from net.fetching import fetch, with_fetcher
from support.publisher import Answer, Publisher, Raw
from tidings.net.connections import mend_head
from tidings.net.errors import NetworkError
from tidings.net.fetch import Fetcher, FetchRequest

FEED = b"<rss><channel><title>Rain tomorrow</title></channel></rss>"
LENGTH = b"Content-Length: %d\r\n" % len(FEED)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n" % len(FEED) + FEED + b"\r\n0\r\n\r\n"


def response(fields: bytes, body: bytes = FEED, *, status: bytes = b"HTTP/1.1 200 OK\r\n") -> bytes:
    return status + b"Content-Type: text/xml\r\n" + fields + b"\r\n" + body


SLOPPY = {
    "a line without a colon": response(b"X-XSS-Protection 0\r\n" + LENGTH),
    "a name in quotes": response(b'"X-XSS-Protection: 0"\r\n' + LENGTH),
    "a name with a blank": response(b"X Powered By: cms\r\n" + LENGTH),
    "a name in Cyrillic": response("Заголовок: 1\r\n".encode() + LENGTH),
    "an empty name": response(b": 1\r\n" + LENGTH),
    "a blank before the colon": response(b"Content-Length : %d\r\n" % len(FEED)),
    "a tab before the colon": response(b"Content-Length\t: %d\r\n" % len(FEED)),
    "a mended line after an interim response": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    + response(b"X\r\n" + LENGTH),
    "a continued line that is dropped": response(b"No colon\r\n and more: of it\r\n" + LENGTH),
    "a continued line that is kept": response(b"No colon\r\nX-Long: one\r\n two\r\n" + LENGTH),
    "single line feeds": response(b"No colon\r\n" + LENGTH).replace(b"\r\n", b"\n"),
    "equal lengths": response(LENGTH + LENGTH),
    "equal lengths in one line": response(b"Content-Length: %d, %d\r\n" % (len(FEED), len(FEED))),
    "chunks and a length": response(CHUNKED + LENGTH, CHUNKS),
    "chunks and a wrong length": response(b"Content-Length: 3\r\n" + CHUNKED, CHUNKS),
    "chunked twice": response(CHUNKED + CHUNKED, CHUNKS),
    "bytes after the body": response(LENGTH, FEED + b"\r\n\r\n<!-- end -->"),
    "bytes after the body, closing": response(b"Connection: close\r\n" + LENGTH, FEED + b"\r\n\r\n<!-- end -->"),
    "bytes after the last chunk": response(b"Connection: close\r\n" + CHUNKED, CHUNKS + b"<!-- end -->"),
    "empty lines at the start": b"\r\n\r\n" + response(b"No colon\r\n" + LENGTH),
    "no reason": response(LENGTH, status=b"HTTP/1.1 200\r\n"),
    "until the connection closes": response(b"No colon\r\n", status=b"HTTP/1.0 200 OK\r\n"),
}


@pytest.mark.parametrize("data", SLOPPY.values(), ids=SLOPPY)
def test_a_careless_response_is_read(site: Publisher, data: bytes) -> None:
    site.script("/feed.xml", Raw(data))

    response = fetch(site.url("/feed.xml"))

    assert response.body == FEED
    assert response.content_type == "text/xml"


def test_a_head_that_arrives_byte_by_byte_is_mended(site: Publisher) -> None:
    pieces = response(b"No colon\r\n" + LENGTH)

    class Slowly(Raw):
        async def send(self, wire: object, seen: object) -> bool:  # noqa: ARG002
            for number in range(len(self.data)):
                await wire.send(self.data[number : number + 1])  # type: ignore[attr-defined]
                await asyncio.sleep(0)
            return False

    site.script("/", Slowly(pieces))

    assert fetch(site.url("/")).body == FEED


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 5\r\n" + LENGTH,
        b"Content-Length: 5, %d\r\n" % len(FEED),
        b"No colon\r\nContent-Length: -1\r\n",
    ],
)
def test_a_body_without_a_clear_end_is_refused(site: Publisher, fields: bytes) -> None:
    site.script("/", Raw(response(fields)))

    with pytest.raises(NetworkError, match="not valid HTTP"):
        fetch(site.url("/"))


def test_a_connection_is_kept_after_valid_responses_only(site: Publisher) -> None:
    site.script(
        "/",
        Answer(FEED),
        Answer(FEED),
        Answer(FEED, headers=[("Content-Length", str(len(FEED)))] * 2),
        Answer(FEED),
    )

    async def four(fetcher: Fetcher) -> None:
        for _ in range(4):
            assert (await fetcher.get(FetchRequest(url=site.url("/")))).body == FEED

    with_fetcher(four)

    assert [seen.connection for seen in site.requests] == [1, 1, 1, 2]


def test_a_valid_head_stays_as_it_is() -> None:
    head = b"HTTP/1.1 200 OK\r\nServer: x\r\nX-Editor: Andr\xe9\r\nContent-Length: 5\r\n\r\n"

    assert mend_head(head) is head


def test_mending_keeps_the_order_of_repeated_fields() -> None:
    head = b"HTTP/1.1 302 Found\r\nbad line\r\nSet-Cookie: a=1\r\nLocation: /x\r\nSet-Cookie : b=2\r\n\r\n"

    assert mend_head(head) == b"HTTP/1.1 302 Found\r\nSet-Cookie: a=1\r\nLocation: /x\r\nSet-Cookie: b=2\r\n\r\n"
