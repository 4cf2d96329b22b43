"""Verification of certificates, and requests through proxies."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Iterator

import pytest

from net.fetching import Only, fetch, names, with_fetcher
from support.publisher import CERTIFICATE, Publisher
from tidings.base.errors import InvalidInput
from tidings.net.errors import AddressRefused, NetworkError, TlsError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse

FEED = "<rss/>"


@pytest.fixture
def safe_site() -> Iterator[Publisher]:
    with Publisher(tls=True) as publisher:
        yield publisher


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this process trust the certificate of the tests."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


def test_a_self_signed_certificate_is_refused(safe_site: Publisher) -> None:
    with pytest.raises(TlsError) as caught:
        fetch(safe_site.serve("/", FEED))

    assert "self-signed" in caught.value.message
    assert "_ssl.c" not in caught.value.message
    assert caught.value.url == safe_site.url("/")
    assert not safe_site.requests


def test_a_feed_may_allow_a_self_signed_certificate(safe_site: Publisher) -> None:
    response = fetch(safe_site.serve("/", FEED), allow_self_signed_certificates=True)

    assert response.body == FEED.encode()
    assert response.url == safe_site.url("/")


def test_allowing_a_certificate_for_one_feed_does_not_affect_another(safe_site: Publisher) -> None:
    url = safe_site.serve("/", FEED)

    async def ask_twice(fetcher: Fetcher) -> None:
        await fetcher.get(FetchRequest(url=url, allow_self_signed_certificates=True))
        with pytest.raises(TlsError):
            await fetcher.get(FetchRequest(url=url))

    with_fetcher(ask_twice)

    assert len(safe_site.requests) == 1


def test_a_trusted_certificate_is_accepted(safe_site: Publisher, trusting: None) -> None:
    safe_site.serve("/", FEED)

    assert fetch(safe_site.url("/")).body == FEED.encode()
    assert fetch(safe_site.url("/", host="localhost")).body == FEED.encode()


def test_a_certificate_for_another_name_is_refused(safe_site: Publisher, trusting: None) -> None:
    url = safe_site.url("/", host="feeds.example")

    with pytest.raises(TlsError, match=r"feeds\.example"):
        fetch(url, lookup=names(feeds_example="127.0.0.1"))


def test_a_server_without_tls_is_reported_as_such() -> None:
    async def answer_plainly(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 This is plain HTTP\r\n\r\n")
        await writer.drain()
        writer.close()

    async def ask(fetcher: Fetcher) -> None:
        server = await asyncio.start_server(answer_plainly, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(TlsError):
                await fetcher.get(FetchRequest(url=f"https://127.0.0.1:{port}/"))

    with_fetcher(ask)


def test_old_ciphers_work_only_if_self_signed_certificates_are_allowed() -> None:
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old.load_cert_chain(CERTIFICATE)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    old.set_ciphers("ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<rss/>")
        await writer.drain()
        writer.close()

    async def ask_twice(fetcher: Fetcher) -> FetchResponse:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=old)
        async with server:
            url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            # This server hangs up where others would say why.
            with pytest.raises((TlsError, NetworkError), match=r"closed the connection|broke off|handshake"):
                await fetcher.get(FetchRequest(url=url))
            return await fetcher.get(FetchRequest(url=url, allow_self_signed_certificates=True))

    assert with_fetcher(ask_twice).body == FEED.encode()


def test_secrets_are_not_sent_after_a_redirect_from_https_to_http(safe_site: Publisher, site: Publisher) -> None:
    safe_site.redirect("/", to=site.serve("/", FEED))

    fetch(
        safe_site.url("/"),
        allow_self_signed_certificates=True,
        cookie="id=1",
        username="alice",
        password="secret",
    )

    assert {"cookie", "authorization"}.isdisjoint(site.last.headers)


# Proxies. A publisher plays the proxy: it is asked for whole URLs instead of paths.


def test_a_proxy_is_asked_for_the_whole_url(site: Publisher) -> None:
    site.serve("http://feeds.example/feed.xml", FEED)

    response = fetch("http://feeds.example/feed.xml", proxy_url=site.url("/"), lookup=names())

    assert response.body == FEED.encode()
    assert response.url == "http://feeds.example/feed.xml"
    assert "proxy-authorization" not in site.last.headers


def test_proxy_and_publisher_get_their_own_credentials(site: Publisher) -> None:
    site.serve("http://feeds.example/", FEED)

    fetch(
        "http://feeds.example/",
        proxy_url=site.url("/").replace("//", "//pat:proxy@"),
        username="alice",
        password="secret",
    )

    assert site.last.headers["proxy-authorization"] == "Basic cGF0OnByb3h5"
    assert site.last.headers["authorization"] == "Basic YWxpY2U6c2VjcmV0"


def test_redirects_are_followed_through_the_proxy(site: Publisher) -> None:
    site.redirect("http://feeds.example/", to="http://news.example/feed.xml")
    site.serve("http://news.example/feed.xml", FEED)

    assert fetch("http://feeds.example/", proxy_url=site.url("/")).url == "http://news.example/feed.xml"


def test_only_a_proxy_of_the_operator_may_be_in_a_private_network(site: Publisher) -> None:
    site.serve("http://feeds.example/", FEED)
    proxy = site.url("/")

    with pytest.raises(AddressRefused):
        fetch("http://feeds.example/", proxy_url=proxy, settings={"allow_private_networks": False})
    assert site.connections == 0

    settings = {"allow_private_networks": False, "proxy_url": proxy}
    assert fetch("http://feeds.example/", proxy_url=proxy, settings=settings).body == FEED.encode()


def test_the_operator_may_allow_proxies_of_users_in_private_networks(site: Publisher) -> None:
    site.serve("http://feeds.example/", FEED)
    settings = {"allow_private_networks": False, "allow_private_proxies": True}

    assert fetch("http://feeds.example/", proxy_url=site.url("/"), settings=settings).body == FEED.encode()

    for url in (site.url("/feed.xml"), "http://10.0.0.1/"):
        with pytest.raises(AddressRefused):
            fetch(url, settings=settings)
        with pytest.raises(AddressRefused):
            fetch(url, proxy_url=site.url("/"), settings=settings)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "[::1]", "localhost"])
def test_a_proxy_gets_no_request_for_a_refused_url(site: Publisher, host: str) -> None:
    settings = {"allow_private_networks": False, "proxy_url": site.url("/")}

    with pytest.raises(AddressRefused) as caught:
        fetch(f"http://{host}/", proxy_url=site.url("/"), settings=settings)

    assert caught.value.url == f"http://{host}/"
    assert site.connections == 0


def test_a_trusted_proxy_does_not_allow_direct_private_connections(site: Publisher) -> None:
    site.serve("http://feeds.example/", FEED)

    async def ask_twice(fetcher: Fetcher) -> None:
        await fetcher.get(FetchRequest(url="http://feeds.example/", proxy_url=site.url("/")))
        with pytest.raises(AddressRefused):
            await fetcher.get(FetchRequest(url=site.url("/")))

    with_fetcher(ask_twice, allow_private_networks=False, proxy_url=site.url("/"))


def test_an_unreachable_proxy_is_named_in_the_error() -> None:
    with Publisher() as site:
        gone = site.url("/")

    with pytest.raises(NetworkError, match=r"proxy 127\.0\.0\.1 refuses"):
        fetch("http://feeds.example/", proxy_url=gone.replace("//", "//pat:secret@"))


@pytest.mark.parametrize(
    "proxy", ["ftp://proxy.example/", "proxy.example:3128", "http://:3128", "http://a:0/", "socks5://", "socks5://a:0"]
)
def test_an_invalid_proxy_url_is_refused(proxy: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        fetch("http://feeds.example/", proxy_url=proxy)

    assert caught.value.field == "proxy_url"


def test_https_uses_a_tunnel_through_the_proxy(safe_site: Publisher) -> None:
    safe_site.serve("/feed.xml", FEED)
    heads: list[str] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", safe_site.port)
        writer.write(b"HTTP/1.1 200 Go ahead\r\n\r\n")
        await asyncio.gather(_pour(reader, inner_writer), _pour(inner_reader, writer))

    async def ask(fetcher: Fetcher) -> FetchResponse:
        proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
        port = proxy.sockets[0].getsockname()[1]
        async with proxy:
            response = await fetcher.get(
                FetchRequest(
                    url="https://feeds.example/feed.xml",
                    proxy_url=f"http://pat:proxy@127.0.0.1:{port}/",
                    cookie="id=1",
                    allow_self_signed_certificates=True,
                )
            )
            await fetcher.close()
            return response

    assert with_fetcher(ask).body == FEED.encode()
    assert heads[0].startswith("CONNECT feeds.example:443 ")
    assert "Proxy-Authorization: Basic cGF0OnByb3h5" in heads[0]
    assert "id=1" not in heads[0]
    assert safe_site.last.headers["cookie"] == "id=1"
    assert "proxy-authorization" not in safe_site.last.headers


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


def test_a_proxy_that_refuses_the_tunnel_is_named(site: Publisher) -> None:
    site.serve("feeds.example:443", "no", status=403)

    with pytest.raises(NetworkError, match=r"proxy .* 403"):
        fetch("https://feeds.example/", proxy_url=site.url("/"))


def test_the_refusal_of_a_proxy_names_the_proxy(site: Publisher) -> None:
    site.serve("http://feeds.example/", FEED)
    proxy = site.url("/", host="proxy.example")

    def ask(proxy_address: str) -> bytes:
        return fetch(
            "http://feeds.example/",
            proxy_url=proxy,
            guard=Only("127.0.0.1"),
            lookup=names(proxy_example=proxy_address),
        ).body

    assert ask("127.0.0.1") == FEED.encode()
    with pytest.raises(AddressRefused, match=r"proxy\.example"):
        ask("127.0.0.2")
