"""Requests through SOCKS5 proxies, to a proxy of ours on a real socket (RFC 1928, RFC 1929)."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from net.fetching import Only, names, with_fetcher
from support.publisher import CERTIFICATE, Publisher
from tidings.base.errors import InvalidInput
from tidings.net.errors import AddressRefused, HostUnreachable, NetworkError, TlsError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse

FEED = "<rss/>"


class Proxy:
    """Connects every name to one port of this machine. reply: its answer to requests; 0 is success."""

    def __init__(self, port: int, *, reply: int = 0, password: str = "") -> None:
        self.asked: list[tuple[str, int]] = []
        self.passwords: list[tuple[str, str]] = []
        self.connections: set[asyncio.Task[Any]] = set()
        self._port = port
        self._reply = reply
        self._password = password

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self.connections.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await self._converse(reader, writer)
        await _close(writer)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _version, count = await reader.readexactly(2)
        await reader.readexactly(count)
        writer.write(b"\x05\x02" if self._password else b"\x05\x00")
        if self._password:
            await reader.readexactly(1)
            username, password = (await _counted(reader)), (await _counted(reader))
            self.passwords.append((username, password))
            writer.write(b"\x01\x00" if password == self._password else b"\x01\x01")
        _version, _command, _reserved, kind = await reader.readexactly(4)
        host = await _counted(reader) if kind == 3 else ".".join(map(str, await reader.readexactly(4)))
        self.asked.append((host, struct.unpack("!H", await reader.readexactly(2))[0]))
        writer.write(bytes([5, self._reply, 0, 1, 0, 0, 0, 0, 0, 0]))
        if not self._reply:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
            await asyncio.gather(_pour(reader, inner_writer), _pour(inner_reader, writer))


async def _counted(reader: asyncio.StreamReader) -> str:
    return (await reader.readexactly((await reader.readexactly(1))[0])).decode()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def fetch(proxy: Proxy, url: str, *, through: str = "socks5://127.0.0.1", settings: Any = None, **more: Any) -> bytes:
    """Return the body. through: the proxy's URL without its port. settings: of the fetcher, its proxy without port."""

    async def run() -> bytes:
        server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        request = {name: more.pop(name) for name in list(more) if name in FetchRequest.__struct_fields__}

        async def ask(fetcher: Fetcher) -> FetchResponse:
            return await fetcher.get(FetchRequest(url=url, proxy_url=f"{through}:{port}", **request))

        known = dict(settings or {})
        if "proxy_url" in known:
            known["proxy_url"] += f":{port}"
        async with server:
            gc.disable()
            try:
                return (await asyncio.to_thread(lambda: with_fetcher(ask, **known, **more))).body
            finally:
                # A connection that the fetcher left open fails the test, and does not keep the proxy waiting. It is
                # among the youngest objects: to look at all of a process that has run many tests takes half a second.
                gc.collect(0)
                gc.enable()
                # A loop that ends before them leaves sockets open, which a later test would be blamed for.
                await asyncio.gather(*proxy.connections)
                proxy.connections.clear()

    return asyncio.run(run())


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "SOCKS5"])
def test_the_proxy_resolves_the_name(site: Publisher, scheme: str) -> None:
    site.serve("/feed.xml", FEED)
    proxy = Proxy(site.port)

    body = fetch(proxy, "http://feeds.example/feed.xml", through=f"{scheme}://127.0.0.1", lookup=names())

    assert body == FEED.encode()
    assert proxy.asked == [("feeds.example", 80)]
    assert site.last.headers["host"] == "feeds.example"


def test_the_proxy_gets_its_credentials(site: Publisher) -> None:
    site.serve("/", FEED)
    proxy = Proxy(site.port, password="se cret")

    assert fetch(proxy, "http://feeds.example/", through="socks5://pat:se%20cret@127.0.0.1") == FEED.encode()
    assert proxy.passwords == [("pat", "se cret")]
    assert "authorization" not in site.last.headers


@pytest.mark.slow
def test_certificates_are_verified_behind_the_proxy() -> None:
    with Publisher(tls=True) as site:
        site.serve("/", FEED)
        proxy = Proxy(site.port)

        with pytest.raises(TlsError, match="self-signed"):
            fetch(proxy, "https://feeds.example/")
        assert fetch(proxy, "https://feeds.example/", allow_self_signed_certificates=True) == FEED.encode()


def test_a_connection_ends_though_the_other_side_does_not_end_tls() -> None:
    with _never_ending_tls() as port:
        response = fetch(Proxy(port), "https://feeds.example/", allow_self_signed_certificates=True)

    assert response == FEED.encode()


@contextlib.contextmanager
def _never_ending_tls() -> Iterator[int]:
    """Yield the port of a server that answers one request, and then neither ends TLS nor the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    def answer() -> None:
        connection, _address = listener.accept()
        with context.wrap_socket(connection, server_side=True) as wrapped:
            wrapped.recv(65536)
            wrapped.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(FEED)}\r\n\r\n{FEED}".encode())
            # Below TLS, so that its end is not answered.
            while socket.socket.recv(wrapped, 65536):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def test_redirects_are_followed_through_the_proxy(site: Publisher) -> None:
    site.redirect("/", to="http://news.example/feed.xml")
    site.serve("/feed.xml", FEED)
    proxy = Proxy(site.port)

    assert fetch(proxy, "http://feeds.example/") == FEED.encode()
    assert [host for host, _port in proxy.asked] == ["feeds.example", "news.example"]


def test_a_users_proxy_may_not_be_in_a_private_network(site: Publisher) -> None:
    proxy = Proxy(site.port)

    for through in ("socks5://127.0.0.1", "socks5://inside.example"):
        with pytest.raises(AddressRefused):
            fetch(
                proxy,
                "http://feeds.example/",
                through=through,
                settings={"allow_private_networks": False},
                lookup=names(inside_example="127.0.0.1"),
            )

    assert not proxy.asked


def test_a_users_proxy_may_be_in_a_private_network_if_the_operator_allows_it(site: Publisher) -> None:
    site.serve("/", FEED)
    settings = {"allow_private_networks": False, "allow_private_proxies": True}

    body = fetch(Proxy(site.port), "http://feeds.example/", through="socks5://127.0.0.1", settings=settings)

    assert body == FEED.encode()


def test_the_operators_proxy_may_be_in_a_private_network(site: Publisher) -> None:
    site.serve("/", FEED)
    settings = {"allow_private_networks": False, "proxy_url": "socks5://127.0.0.1"}

    assert fetch(Proxy(site.port), "http://feeds.example/", settings=settings) == FEED.encode()


def test_the_address_that_was_checked_is_the_one_connected_to(site: Publisher) -> None:
    site.serve("/", FEED)
    proxy = Proxy(site.port)
    # A second lookup would lead to an address that is refused.
    lookup = names(proxy_example=["127.0.0.1", "127.0.0.2"])

    body = fetch(
        proxy, "http://feeds.example/", through="socks5://proxy.example", guard=Only("127.0.0.1"), lookup=lookup
    )

    assert body == FEED.encode()


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "localhost", "[::1]", "169.254.169.254"])
def test_private_addresses_are_not_asked_of_the_proxy(site: Publisher, host: str) -> None:
    proxy = Proxy(site.port)
    settings = {"allow_private_networks": False, "proxy_url": "socks5://127.0.0.1"}

    with pytest.raises(AddressRefused):
        fetch(proxy, f"http://{host}/", settings=settings)

    assert not proxy.asked


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (4, r"^feeds\.example cannot be reached"),
        (5, r"^feeds\.example refuses the connection"),
        (2, r"^The proxy 127\.0\.0\.1 refuses"),
        (1, r"^The proxy 127\.0\.0\.1 refuses"),
    ],
)
def test_a_refusal_says_who_refused(site: Publisher, reply: int, message: str) -> None:
    with pytest.raises(HostUnreachable, match=message):
        fetch(Proxy(site.port, reply=reply), "http://feeds.example/")


def test_a_wrong_password_is_a_refusal_of_the_proxy(site: Publisher) -> None:
    with pytest.raises(NetworkError, match=r"The proxy 127\.0\.0\.1 refuses"):
        fetch(Proxy(site.port, password="right"), "http://feeds.example/", through="socks5://pat:wrong@127.0.0.1")


def test_an_unreachable_proxy_is_named() -> None:
    with Publisher() as site:
        gone = site.port

    with pytest.raises(HostUnreachable, match=r"The proxy 127\.0\.0\.1 refuses"):
        with_fetcher(
            lambda fetcher: fetcher.get(
                FetchRequest(url="http://feeds.example/", proxy_url=f"socks5://127.0.0.1:{gone}")
            )
        )


def test_an_invalid_url_of_a_proxy_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        with_fetcher(
            lambda fetcher: fetcher.get(FetchRequest(url="http://feeds.example/", proxy_url="socks5://256.1.1.1:1"))
        )

    assert caught.value.field == "proxy_url"
