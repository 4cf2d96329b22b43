"""Fetching from well-behaved and from hostile publishers."""

from __future__ import annotations

import asyncio
import gzip
import socket
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from net.fetching import USER_AGENT, Only, fetch, names, with_fetcher
from support.publisher import Answer, Cut, Drip, Drop, Endless, Hang, Publisher, Raw, gzip_bomb
from tidings.base.errors import InvalidInput
from tidings.net.errors import (
    BodyTooLarge,
    EmptyBody,
    FeedGone,
    FetchError,
    FetchTimeout,
    HttpError,
    NetworkError,
    TooManyRedirects,
    UndecodableBody,
)
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.net.responses import Link

MIB = 1024 * 1024
FEED = "<rss><channel><title>Rain tomorrow</title></channel></rss>"
YESTERDAY = "Sat, 28 Feb 2026 12:00:00 GMT"


def basic(username: str, password: str) -> str:
    return "Basic " + b64encode(f"{username}:{password}".encode()).decode()


# The request


def test_a_request_has_user_agent_and_accept_headers(site: Publisher) -> None:
    fetch(site.serve("/feed.xml?tag=rain", FEED))

    seen = site.last
    assert (seen.method, seen.path) == ("GET", "/feed.xml?tag=rain")
    assert seen.headers["user-agent"] == USER_AGENT
    assert "application/feed+json" in seen.headers["accept"]
    assert {"br", "gzip", "deflate", "zstd"} == set(seen.headers["accept-encoding"].split(", "))
    assert {"cookie", "authorization", "if-none-match", "if-modified-since"}.isdisjoint(seen.headers)


def test_a_feed_may_have_its_own_user_agent_cookie_and_accept(site: Publisher) -> None:
    fetch(site.serve("/", FEED), user_agent="Browser/1", cookie='a=1; b="zwei"; c=ü', accept="image/*")

    assert site.last.headers["user-agent"] == "Browser/1"
    assert site.last.headers["cookie"].encode("latin-1").decode() == 'a=1; b="zwei"; c=ü'
    assert site.last.headers["accept"] == "image/*"


def test_validators_are_sent_unchanged(site: Publisher) -> None:
    url = site.serve("/", FEED)

    fetch(url, etag='W/"a,b"', last_modified="some time ago")
    assert site.last.headers["if-none-match"] == 'W/"a,b"'
    assert site.last.headers["if-modified-since"] == "some time ago"

    fetch(url, etag='"1"', last_modified=YESTERDAY, ignore_cache=True)
    assert {"if-none-match", "if-modified-since"}.isdisjoint(site.last.headers)


def test_credentials_are_sent_when_both_are_there(site: Publisher) -> None:
    url = site.serve("/", FEED)

    fetch(url, username="älice", password="pass:word")
    assert site.last.headers["authorization"] == basic("älice", "pass:word")

    fetch(url, username="alice")
    assert "authorization" not in site.last.headers
    fetch(url, password="secret")
    assert "authorization" not in site.last.headers


def test_credentials_in_the_url_are_used_and_not_shown(site: Publisher) -> None:
    url = site.serve("/", FEED).replace("//", "//alice:s%3Acret@")

    response = fetch(url)

    assert site.last.headers["authorization"] == basic("alice", "s:cret")
    assert response.url == site.url("/")
    assert "cret" not in repr(FetchRequest(url=url, password="secret", cookie="secret"))

    site.serve("/", status=500)
    with pytest.raises(HttpError) as caught:
        fetch(url)
    assert caught.value.url == site.url("/")
    assert "cret" not in caught.value.message


def test_separate_credentials_win_over_those_in_the_url(site: Publisher) -> None:
    fetch(site.serve("/", FEED).replace("//", "//old:old@"), username="alice", password="new")

    assert site.last.headers["authorization"] == basic("alice", "new")


@pytest.mark.parametrize("field", ["user_agent", "cookie", "accept", "etag", "last_modified"])
@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0", "\udce9"])
def test_no_field_can_inject_another_header(site: Publisher, field: str, value: str) -> None:
    fields: dict[str, Any] = {field: value}

    with pytest.raises(InvalidInput) as caught:
        fetch(site.serve("/", FEED), **fields)

    assert caught.value.field == field
    assert not site.requests


def test_connections_are_reused(site: Publisher) -> None:
    site.serve("/feed.xml", FEED, etag='"1"')
    slowly: dict[str, Any] = {"body": "a few words", "every_s": 0.005}
    site.script("/old.xml", Drip(**slowly, status=302, headers={"Location": "/feed.xml"}))
    site.script("/gone.xml", Drip(**slowly, status=410))
    site.script("/same.xml", Drip(**slowly, headers={"ETag": '"1"'}))

    async def ask(fetcher: Fetcher) -> None:
        await fetcher.get(FetchRequest(url=site.url("/feed.xml")))
        await fetcher.get(FetchRequest(url=site.url("/feed.xml"), etag='"1"'))
        await fetcher.get(FetchRequest(url=site.url("/old.xml")))
        with pytest.raises(FeedGone):
            await fetcher.get(FetchRequest(url=site.url("/gone.xml")))
        await fetcher.get(FetchRequest(url=site.url("/same.xml"), etag='"1"'))
        await fetcher.get(FetchRequest(url=site.url("/feed.xml")))

    with_fetcher(ask)

    assert len(site.requests) == 7
    assert {seen.connection for seen in site.requests} == {1}


def test_a_reused_connection_that_was_closed_is_replaced(site: Publisher) -> None:
    site.script("/", Answer(FEED), Raw(b""), Answer(FEED))

    async def ask_twice(fetcher: Fetcher) -> FetchResponse:
        await fetcher.get(FetchRequest(url=site.url("/")))
        return await fetcher.get(FetchRequest(url=site.url("/")))

    assert with_fetcher(ask_twice).body == FEED.encode()


@pytest.mark.slow
def test_concurrent_requests_do_not_wait_for_each_other(site: Publisher) -> None:
    site.serve("/", FEED, after_s=0.3)

    async def ask(fetcher: Fetcher) -> list[FetchResponse]:
        return await asyncio.gather(*(fetcher.get(FetchRequest(url=site.url("/"))) for _ in range(150)))

    assert len(with_fetcher(ask)) == 150
    # One after the other would go over one connection that is kept open.
    assert site.connections > 100


def test_cookies_of_a_response_are_not_sent_with_the_next_request(site: Publisher) -> None:
    site.serve("/", FEED, headers={"Set-Cookie": "track=1; Path=/"})
    url = site.url("/", host="feeds.example")

    async def ask_twice(fetcher: Fetcher) -> None:
        for _ in range(2):
            await fetcher.get(FetchRequest(url=url))

    with_fetcher(ask_twice, lookup=names(feeds_example="127.0.0.1"))

    assert "cookie" not in site.last.headers


# The answer


def test_a_response_has_all_headers_that_scheduling_needs(site: Publisher) -> None:
    url = site.serve(
        "/blog/feed.xml",
        FEED,
        etag='"1"',
        last_modified=YESTERDAY,
        headers=[
            ("Content-Type", "Application/RSS+xml; Charset=ISO-8859-1"),
            ("Cache-Control", "public"),
            ("Cache-Control", "max-age=60"),
            ("Expires", YESTERDAY),
            ("Age", "5"),
            ("Date", YESTERDAY),
            ("Retry-After", "120"),
            ("Link", "<https://hub.example/>; rel=hub"),
            ("Link", "</blog/feed.xml>; rel=self"),
        ],
    )

    response = fetch(url)

    assert response.took_ms >= 0
    assert response == FetchResponse(
        status=200,
        url=url,
        body=FEED.encode(),
        etag='"1"',
        last_modified=YESTERDAY,
        content_type="application/rss+xml",
        charset="iso-8859-1",
        cache_control="public, max-age=60",
        expires=YESTERDAY,
        age="5",
        date=YESTERDAY,
        retry_after="120",
        links=(Link("https://hub.example/", "hub"), Link(url, "self")),
        took_ms=response.took_ms,
    )


def test_a_response_without_headers_is_accepted(site: Publisher) -> None:
    response = fetch(site.script("/", Raw(b"HTTP/1.0 200 OK\r\n\r\n<rss/>")))

    assert response.body == b"<rss/>"
    assert (response.etag, response.content_type, response.charset, response.links) == ("", "", "", ())


def test_header_bytes_that_are_not_utf8_become_text(site: Publisher) -> None:
    response = fetch(site.script("/", Raw(b'HTTP/1.0 200 OK\r\nETag: "caf\xe9"\r\n\r\n<rss/>')))

    assert response.etag == '"café"'
    assert fetch(site.serve("/", FEED), etag=response.etag).body == FEED.encode()


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_compressed_responses_are_decompressed(site: Publisher, encoding: str) -> None:
    url = site.serve("/", gzip.compress(FEED.encode()), headers={"Content-Encoding": encoding})

    assert fetch(url).body == FEED.encode()


def test_several_encoding_headers_are_one_list(site: Publisher) -> None:
    twice = gzip.compress(gzip.compress(FEED.encode()))
    url = site.serve("/", twice, headers=[("Content-Encoding", "gzip"), ("Content-Encoding", "gzip")])

    assert fetch(url).body == FEED.encode()


def test_a_truncated_compressed_response_is_undecodable(site: Publisher) -> None:
    packed = gzip.compress(bytes(range(256)) * 50)[:-20]

    with pytest.raises(UndecodableBody):
        fetch(site.serve("/", packed, headers={"Content-Encoding": "gzip"}))


@pytest.mark.parametrize("status", [200, 203, 204, 300])
def test_a_response_without_a_body_is_an_error(site: Publisher, status: int) -> None:
    with pytest.raises(EmptyBody):
        fetch(site.serve("/", status=status))


def test_a_response_of_blanks_is_empty(site: Publisher) -> None:
    with pytest.raises(EmptyBody):
        fetch(site.serve("/", " \r\n\t\n"))


def test_a_response_with_status_300_is_returned(site: Publisher) -> None:
    response = fetch(site.serve("/", "<html>Choose</html>", status=300))

    assert (response.status, response.body) == (300, b"<html>Choose</html>")


# Conditional requests


def test_a_304_is_reported_as_not_modified(site: Publisher) -> None:
    url = site.serve("/", FEED, etag='"1"', last_modified=YESTERDAY, headers={"Cache-Control": "max-age=60"})

    response = fetch(url, etag='"1"')

    assert response.not_modified
    assert (response.status, response.body) == (304, b"")
    assert (response.etag, response.last_modified) == ('"1"', YESTERDAY)
    assert response.cache_control == "max-age=60"


@pytest.mark.parametrize(
    ("answer", "known"),
    [
        ({"etag": '"1"'}, True),
        ({"etag": '"1"', "last_modified": "Tue, 03 Mar 2026 12:00:00 GMT"}, True),
        ({"etag": '"2"', "last_modified": YESTERDAY}, False),
        ({"last_modified": YESTERDAY}, True),
        ({"last_modified": "Tue, 03 Mar 2026 12:00:00 GMT"}, False),
        ({}, False),
    ],
)
def test_an_unchanged_validator_on_a_full_response_means_not_modified(
    site: Publisher, answer: dict[str, str], known: bool
) -> None:
    header = {"etag": "ETag", "last_modified": "Last-Modified"}
    url = site.serve("/", FEED, headers={header[name]: value for name, value in answer.items()})

    response = fetch(url, etag='"1"', last_modified=YESTERDAY)

    assert response.not_modified is known
    assert response.body == (b"" if known else FEED.encode())
    assert (response.etag, response.last_modified) == (
        answer.get("etag", ""),
        answer.get("last_modified", ""),
    )


def test_a_request_that_ignores_the_cache_gets_the_body(site: Publisher) -> None:
    url = site.serve("/", FEED, etag='"1"', last_modified=YESTERDAY)

    response = fetch(url, etag='"1"', last_modified=YESTERDAY, ignore_cache=True)

    assert not response.not_modified
    assert response.body == FEED.encode()


def test_a_304_to_an_unconditional_request_is_an_empty_response(site: Publisher) -> None:
    site.serve("/", status=304)

    with pytest.raises(EmptyBody):
        fetch(site.url("/"))
    with pytest.raises(EmptyBody):
        fetch(site.url("/"), etag='"1"', ignore_cache=True)


def test_expires_zero_discards_the_validators(site: Publisher) -> None:
    response = fetch(site.serve("/", FEED, etag='"1"', last_modified=YESTERDAY, headers={"Expires": "0"}))

    assert (response.etag, response.last_modified) == ("", "")


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_kind_of_redirect_is_followed(site: Publisher, status: int) -> None:
    site.serve("/blog/feed.xml", FEED)
    site.redirect("/blog/old.xml", to="feed.xml", status=status)

    response = fetch(site.url("/blog/old.xml"), etag='"1"')

    assert response.body == FEED.encode()
    assert response.url == site.url("/blog/feed.xml")
    assert response.permanent_url == (response.url if status in {301, 308} else None)
    assert [seen.headers["if-none-match"] for seen in site.requests] == ['"1"', '"1"']


@pytest.mark.parametrize(("chain", "is_permanent"), [((301, 308), True), ((301, 302), False), ((307, 301), False)])
def test_a_chain_is_permanent_when_every_step_is(site: Publisher, chain: tuple[int, int], is_permanent: bool) -> None:
    site.redirect("/a", to="/b", status=chain[0])
    site.redirect("/b", to="/c", status=chain[1])
    site.serve("/c", FEED, etag='"1"')

    for etag in ("", '"1"'):
        response = fetch(site.url("/a"), etag=etag)
        assert response.permanent_url == (site.url("/c") if is_permanent else None)


def test_without_a_redirect_there_is_no_permanent_url(site: Publisher) -> None:
    assert fetch(site.serve("/", FEED)).permanent_url is None


def test_ten_redirects_are_followed_and_no_more(site: Publisher) -> None:
    for step in range(11):
        site.redirect(f"/{step}", to=f"/{step + 1}")
    site.serve("/11", FEED)

    assert fetch(site.url("/1")).url == site.url("/11")
    with pytest.raises(TooManyRedirects, match="10"):
        fetch(site.url("/0"))


def test_a_redirect_loop_is_detected_at_once(site: Publisher) -> None:
    site.redirect("/a", to="/b")
    site.redirect("/b", to="/a#again")

    with pytest.raises(TooManyRedirects, match="in a loop"):
        fetch(site.url("/a"))

    assert len(site.requests) == 2


@pytest.mark.parametrize("to", ["ftp://example.org/", "javascript:alert(1)", "file:///etc/passwd", "https://", ""])
def test_redirects_out_of_the_web_are_refused(site: Publisher, to: str) -> None:
    with pytest.raises(NetworkError, match=r"redirects to an address|redirect without an address"):
        fetch(site.redirect("/", to=to))


def test_secrets_are_sent_to_their_host_only(site: Publisher, other_site: Publisher) -> None:
    site.redirect("/feed.xml", to=other_site.url("/feed.xml"))
    other_site.redirect("/feed.xml", to=site.url("/real.xml"))
    site.serve("/real.xml", FEED)

    fetch(site.url("/feed.xml"), cookie="id=1", username="alice", password="secret", user_agent="Browser/1")

    stranger = other_site.last
    assert "cookie" not in stranger.headers
    assert "authorization" not in stranger.headers
    assert stranger.headers["user-agent"] == USER_AGENT
    for seen in site.requests_for("/feed.xml") + site.requests_for("/real.xml"):
        assert seen.headers["cookie"] == "id=1"
        assert seen.headers["authorization"] == basic("alice", "secret")
        assert seen.headers["user-agent"] == "Browser/1"


def test_another_port_of_the_host_gets_no_secrets(site: Publisher) -> None:
    with Publisher() as neighbour:
        site.redirect("/", to=neighbour.serve("/", FEED))

        fetch(site.url("/").replace("//", "//alice:secret@"), cookie="id=1")

        assert {"cookie", "authorization"}.isdisjoint(neighbour.last.headers)


def test_credentials_in_a_location_are_sent_to_that_target_only(site: Publisher, other_site: Publisher) -> None:
    site.redirect("/", to=other_site.serve("/", FEED).replace("//", "//bob:b@"))

    response = fetch(site.url("/"), username="alice", password="a")

    assert other_site.last.headers["authorization"] == basic("bob", "b")
    assert response.url == other_site.url("/")


# Errors by status


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 429, 451, 500, 502, 503, 504, 599, 999])
def test_an_error_status_has_a_message(site: Publisher, status: int) -> None:
    with pytest.raises(HttpError) as caught:
        fetch(site.serve("/feed.xml", "<html>error page</html>", status=status))

    error = caught.value
    assert error.status == status
    assert error.url == site.url("/feed.xml")
    assert error.message.startswith("127.0.0.1 ")
    assert str(status) in error.message or status == 401
    assert isinstance(error, FeedGone) is (status == 410)
    assert error.is_retryable is (status != 410)


@pytest.mark.parametrize(
    ("status", "name", "value"),
    [
        (403, "CF-Mitigated", "challenge"),
        (503, "CF-Mitigated", "challenge"),
        (202, "x-amzn-waf-action", "challenge"),
        (405, "x-amzn-waf-action", "captcha"),
    ],
)
def test_a_browser_challenge_has_its_own_message(site: Publisher, status: int, name: str, value: str) -> None:
    challenge = fetch_error(HttpError, site.serve("/", "<html></html>", status=status, headers={name: value}))
    assert "human" in challenge.message


def test_a_refusal_without_a_challenge_is_not_called_one(site: Publisher) -> None:
    assert "human" not in fetch_error(HttpError, site.serve("/", "no", status=403)).message


def fetch_error(kind: type[FetchError], url: str, **options: Any) -> FetchError:
    with pytest.raises(kind) as caught:
        fetch(url, **options)
    return caught.value


@pytest.mark.parametrize("status", [429, 503, 500])
@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7200", 7200),
        (lambda: f"{datetime.now(UTC) + timedelta(hours=2):%a, %d %b %Y %H:%M:%S GMT}", 7200),
        (YESTERDAY, 0),
        ("soon", None),
    ],
)
def test_errors_hold_retry_after_and_freshness(
    site: Publisher, status: int, said: str | Callable[[], str], seconds: int | None
) -> None:
    said = said if isinstance(said, str) else said()

    error = fetch_error(HttpError, site.serve("/", status=status, headers={"Retry-After": said}))

    assert isinstance(error, HttpError)
    assert error.retry_after_s == (pytest.approx(seconds, abs=60) if seconds else seconds)


def test_an_error_after_a_redirect_names_the_url_that_failed(site: Publisher) -> None:
    site.redirect("/", to="/new.xml")

    assert fetch_error(HttpError, site.url("/")).url == site.url("/new.xml")


# Limits


def test_a_body_announced_above_the_limit_is_not_read(site: Publisher) -> None:
    site.script("/", Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99000000\r\n\r\n", stay_s=60))

    with pytest.raises(BodyTooLarge, match="1 MiB"):
        fetch(site.url("/"), max_body_size=MIB, timeout_s=30)


@pytest.mark.parametrize("reply", [Endless(), Endless(total=50 * MIB)])
def test_reading_a_large_body_stops_at_the_limit(site: Publisher, reply: Endless) -> None:
    site.script("/", reply)

    with pytest.raises(BodyTooLarge, match="2 MiB"):
        fetch(site.url("/"), settings={"max_body_size": 2 * MIB})

    # The limit, and what fits into the buffers of the network.
    assert site.bytes_sent("/") < 15 * MIB


def test_a_chunked_body_is_counted_as_well(site: Publisher) -> None:
    with pytest.raises(BodyTooLarge):
        fetch(site.serve("/", b"x" * 3000, chunked=True), max_body_size=2999)
    assert len(fetch(site.url("/"), max_body_size=3000).body) == 3000


def test_a_small_decompression_bomb_is_refused(site: Publisher) -> None:
    site.script("/", gzip_bomb(3 * MIB))

    with pytest.raises(BodyTooLarge):
        fetch(site.url("/"), max_body_size=MIB)
    assert site.bytes_sent("/") < 10_000
    assert len(fetch(site.url("/"), max_body_size=3 * MIB).body) == 3 * MIB


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [Hang(), Hang(after_head=True), Drip(FEED, every_s=0.05), Answer(FEED, after_s=5)],
    ids=["silent", "silent after head", "dripping", "late"],
)
def test_a_slow_response_ends_with_a_timeout(site: Publisher, reply: Any) -> None:
    site.script("/", reply)
    error = fetch_error(FetchTimeout, site.url("/"), timeout_s=0.4)

    assert "0.4 seconds" in error.message
    assert error.url == site.url("/")


@pytest.mark.slow
def test_the_timeout_includes_all_redirects(site: Publisher) -> None:
    for step in range(9):
        site.serve(f"/{step}", status=302, headers={"Location": f"/{step + 1}"}, after_s=0.15)
    site.serve("/9", FEED)

    # Each step alone has time enough.
    fetch_error(FetchTimeout, site.url("/0"), settings={"timeout_s": 0.4})


@pytest.mark.slow
def test_the_slow_body_of_a_redirect_is_not_waited_for(site: Publisher) -> None:
    head = f"HTTP/1.1 302 Found\r\nLocation: {site.serve('/', FEED)}\r\nContent-Length: 9000\r\n\r\n"
    site.script("/old", Raw(head.encode(), stay_s=30))

    # Waiting for the rest of that body would take all the time there is.
    assert fetch(site.url("/old")).body == FEED.encode()


@pytest.mark.slow
def test_connecting_has_its_own_timeout() -> None:
    # Nobody answers the handshake.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"

        # Nothing but the limit for connecting ends this: the test does not wait for an hour.
        fetch_error(FetchTimeout, url, settings={"connect_timeout_s": 0.3, "timeout_s": 3600})


@pytest.mark.parametrize(
    "head",
    [
        b"X-Long: " + b"x" * 100_000 + b"\r\n",
        b"".join(b"X-%d: x\r\n" % number for number in range(500)),
    ],
)
def test_endless_headers_are_refused(site: Publisher, head: bytes) -> None:
    site.script("/", Raw(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + FEED.encode()))

    fetch_error(NetworkError, site.url("/"))


def test_a_header_of_twenty_kilobytes_is_accepted(site: Publisher) -> None:
    url = site.serve("/", FEED, headers={"Content-Security-Policy": "x" * 20_000})

    assert fetch(url).body == FEED.encode()


# Faults of the network


@pytest.mark.parametrize(
    "reply",
    [
        Drop(),
        Cut(FEED, after=20),
        Cut(FEED, after=20, chunked=True),
        Cut(gzip.compress(FEED.encode()), after=30, headers={"Content-Encoding": "gzip"}),
        Raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
        Raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n" + FEED.encode()),
        Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + FEED.encode()),
        Raw(b"HTTP/1.1 301 Moved Permanently\r\n\r\n"),
    ],
    ids=["dropped", "cut", "cut chunk", "cut gzip", "not HTTP", "bad length", "bad chunk", "no location"],
)
def test_invalid_responses_are_network_errors(site: Publisher, reply: Any) -> None:
    site.script("/feed.xml", reply)

    error = fetch_error(NetworkError, site.url("/feed.xml"))

    assert error.message.startswith("127.0.0.1 ")
    assert error.url == site.url("/feed.xml")
    assert error.is_retryable


def test_a_refused_connection_is_a_network_error() -> None:
    with Publisher() as site:
        url = site.url("/")

    assert "refuses the connection" in fetch_error(NetworkError, url).message


def test_a_cancelled_fetch_leaves_no_connection(site: Publisher) -> None:
    site.script("/", Hang(), Answer(FEED))

    async def call_off(fetcher: Fetcher) -> FetchResponse:
        task = asyncio.create_task(fetcher.get(FetchRequest(url=site.url("/"))))
        await asyncio.to_thread(site.wait_for, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await fetcher.get(FetchRequest(url=site.url("/")))

    assert with_fetcher(call_off).body == FEED.encode()


def test_environment_proxies_and_netrc_are_ignored(site: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")

    assert fetch(site.serve("/", FEED), guard=Only("127.0.0.1")).body == FEED.encode()
