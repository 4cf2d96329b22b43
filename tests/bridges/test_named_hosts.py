"""What a bridge must not be asked for: hosts that the address guard refuses, in any spelling."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from urllib.parse import quote

import pytest

from tidings.bridges.named_hosts import MAX_DECODINGS, MAX_NAMES, NamedHosts
from tidings.bridges.rsshub import ensure_route
from tidings.net.errors import AddressRefused, FetchTimeout
from tidings.net.guard import AddressGuard, SystemLookup

NAMES = {
    "site.example": ["93.184.215.14"],
    "both.example": ["93.184.215.14", "10.0.0.7"],
    "inside.example": ["127.0.0.1"],
    "inside6.example": ["::1"],
    "redis": ["172.18.0.3"],
}


async def look_up(host: str) -> Sequence[str]:
    if host in NAMES:
        return NAMES[host]
    raise socket.gaierror(socket.EAI_NONAME, "no such name")


async def hang(_host: str) -> Sequence[str]:
    raise TimeoutError


def check(*texts: str, allow_private: bool = False) -> None:
    hosts = NamedHosts(AddressGuard(allow_private_networks=allow_private), look_up)
    asyncio.run(hosts.ensure_public(texts))


HOSTILE = [
    "127.0.0.1",
    "10.1.2.3",
    "192.168.0.1:8080",
    "169.254.169.254",
    "168.63.129.16",
    "0.0.0.0",
    "0",
    "2130706433",
    "167772161",
    "0x7f000001",
    "0X7F.1",
    "0x",
    "0177.0.0.1",
    "127.1",
    "10.5",
    "::1",
    "[::1]",
    "[::1]:8080",
    "[::ffff:127.0.0.1]",
    "::ffff:7f00:1",
    "[64:ff9b::10.0.0.1]",
    "fd00::1",
    "fe80::1%25eth0",
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "printer.local",
    "metadata.google.internal",
    "inside.example",
    "inside.example.",
    "inside6.example",
    "both.example",
    "redis",
    "http://127.0.0.1/",
    "http:127.0.0.1",
    "https:/\\127.0.0.1",
    "//127.0.0.1/x",
    "http://user:password@127.0.0.1:80/",
    "alice@inside.example",
    "http://site.example@127.0.0.1",
    "http://127.0.0.1#@site.example/",
    "site.example?next=http://127.0.0.1/",
    "title=a&url=http://127.0.0.1",
    "https://site.example/?a=b;10.0.0.1",
    "１２７.０.０.１",
    "127。0。0。1",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "local\u00adhost",
    "127.0.\t0.1",
    "http://127.0.0\n.1/",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("encodings", [0, 1, 2, 4])
def test_hosts_that_the_guard_refuses_are_found(text: str, encodings: int) -> None:
    for _ in range(encodings):
        text = quote(text, safe="")

    with pytest.raises(AddressRefused):
        check("harmless", text)


def test_every_letter_may_be_encoded_twice() -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        with pytest.raises(AddressRefused):
            check("".join(f"%25{byte:02x}" for byte in host.encode()))


@pytest.mark.parametrize(
    "text",
    [
        "github",
        "DIYgod",
        "https://site.example/blog?page=2",
        "alice@site.example",
        "2267573",  # a user's number; at 0.34.153.181 nothing can be reached
        "1",
        "UCbfYPyITQ-7l4upoX8nvctg",
        "1234567890123456789",
        "93.184.215.14",
        "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
        "v1.2.3-beta",
        "50%",
        "新闻",
        "12:30",
        "",
        "unknown.example",
    ],
)
def test_everything_else_passes(text: str) -> None:
    check(text, quote(text, safe=""))


def test_numbers_are_not_looked_up() -> None:
    """The operating system would make addresses of them."""

    async def run() -> None:
        lookup = SystemLookup()
        await NamedHosts(AddressGuard(), lookup).ensure_public(["1", "2267573", "0.5", "12:30"])
        lookup.close()

    asyncio.run(run())


def test_nothing_is_refused_where_private_networks_are_allowed() -> None:
    check(*HOSTILE, allow_private=True)


def test_an_address_that_never_ends_to_be_encoded_is_refused() -> None:
    text = "127.0.0.1"
    for _ in range(MAX_DECODINGS + 1):
        text = quote(text.replace(".", "%2e"), safe="")

    with pytest.raises(AddressRefused, match="encoded too many times"):
        check(text)


def test_an_address_with_too_many_names_is_refused() -> None:
    with pytest.raises(AddressRefused, match="too many hosts"):
        check("/".join(f"word{number}" for number in range(MAX_NAMES + 1)))


def test_a_host_that_cannot_be_looked_up_in_time_is_not_let_through() -> None:
    hosts = NamedHosts(AddressGuard(), hang)

    with pytest.raises(FetchTimeout, match=r"slow\.example"):
        asyncio.run(hosts.ensure_public(["slow.example"]))
    asyncio.run(hosts.ensure_public(["word"]))


@pytest.mark.parametrize(
    "path",
    [
        "/rsshub/transform/html/https%3A%2F%2Fsite.example",
        "/RSSHub/Transform/json/x",
        "/rsshub%2ftransform/html/x",
        "/rsshub%252ftransform/html/x",
        "//rsshub//transform/html/x",
        "/%72sshub/%74ransform/html/x",
        "/rsshub\\transform/html/x",
        "/github/../rsshub/transform/html/x",
        "/github/%2e%2e/rsshub/transform/html/x",
        "/github/%252e%252e/x",
        "/./rsshub/transform",
    ],
)
def test_routes_that_fetch_any_address_are_refused(path: str) -> None:
    with pytest.raises(AddressRefused):
        ensure_route(path)


def test_ordinary_routes_pass() -> None:
    for path in ("/github/issue/DIYgod/RSSHub", "/rsshub/routes/en", "/transform/x", "/a..b/c", "/hackernews"):
        ensure_route(path)
