"""The publisher of the tests behaves as documented, seen by the standard library's client."""

from __future__ import annotations

import gzip
import http.client
import ssl
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

from support.publisher import CERTIFICATE, Answer, Cut, Drip, Drop, Endless, Publisher, Raw, gzip_bomb


def ask(url: str, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_a_path_answers_what_was_served_and_others_404() -> None:
    with Publisher() as site:
        site.serve("/feed.xml", "<rss/>")

        assert ask(site.url("/feed.xml")) == (200, b"<rss/>")
        assert ask(site.url("/feed.xml?page=2")) == (200, b"<rss/>")
        assert ask(site.url("/other.xml"))[0] == 404


def test_a_repeated_etag_is_answered_304() -> None:
    with Publisher() as site:
        url = site.serve("/feed.xml", "<rss/>", etag='"1"')

        assert ask(url, If_None_Match='"1"') == (304, b"")
        assert ask(url, If_None_Match='"2"') == (200, b"<rss/>")


def test_scripted_replies_follow_in_turn_and_the_last_one_is_repeated() -> None:
    with Publisher() as site:
        url = site.script("/x", Answer(status=503), lambda seen: Answer(seen.method), Answer("settled"))

        assert [ask(url)[0], ask(url)[1], ask(url)[1], ask(url)[1]] == [503, b"GET", b"settled", b"settled"]


def test_requests_are_remembered_with_their_connection() -> None:
    with Publisher() as site:
        site.serve("/a", "a", chunked=True)
        client = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
        for body in ("one", "two"):
            client.request("POST", "/a", body=body)
            assert client.getresponse().read() == b"a"
        client.close()

        assert [(seen.method, seen.body, seen.connection) for seen in site.wait_for(2, "/a")] == [
            ("POST", b"one", 1),
            ("POST", b"two", 1),
        ]


def test_faults_break_responses() -> None:
    with Publisher() as site:
        with pytest.raises(http.client.IncompleteRead):
            ask(site.script("/cut", Cut("0123456789", after=4)))
        with pytest.raises(http.client.RemoteDisconnected):
            ask(site.script("/drop", Drop()))
        assert ask(site.script("/drip", Drip("drip", every_s=0)))[1] == b"drip"
        assert len(ask(site.script("/endless", Endless(b"x" * 1000, total=50_000)))[1]) == 50_000
        assert len(gzip.decompress(ask(site.script("/bomb", gzip_bomb(100_000)))[1])) == 100_000
        assert ask(site.script("/raw", Raw(b"HTTP/1.0 299 Odd\r\n\r\nbody"))) == (299, b"body")
        assert site.bytes_sent("/endless") > 50_000


def test_it_stops_while_a_client_is_connected() -> None:
    with Publisher() as site:
        site.script("/endless", Endless())
        client = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
        client.request("GET", "/endless")
        site.wait_for(1)
    client.close()


def test_it_serves_https_with_its_own_certificate() -> None:
    with Publisher(tls=True) as site:
        url = site.serve("/feed.xml", "<rss/>")

        trusting = ssl.create_default_context(cafile=CERTIFICATE)
        with urllib.request.urlopen(url, timeout=60, context=trusting) as response:
            assert response.read() == b"<rss/>"
        assert urlsplit(url).scheme == "https"
