"""The address guard cannot be bypassed."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from net.fetching import Only, fetch, names, with_fetcher
from support.publisher import Publisher
from tidings.base.errors import InvalidInput
from tidings.net.errors import AddressRefused, NetworkError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.net.guard import AddressGuard, GuardedResolver, SystemLookup, is_public

PRIVATE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "168.63.129.16",
    "::ffff:168.63.129.16",
    "64:ff9b::168.63.129.16",
    "2002:a83f:8110::1",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.171",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:c0a8:1::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456:789a::1",
    "fe80::1",
    "fe80::1%2",
    "2606:4700::1%2",
    "fec0::1",
    "ff02::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "168.63.129.15",
    "168.63.129.17",
    "172.15.0.1",
    "172.32.0.1",
    "192.169.0.1",
    "223.255.255.254",
    "2606:4700:4700::1111",
    "2a00:1450:4001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_outside_the_public_internet_are_refused(address: str) -> None:
    assert not AddressGuard().allows(address)
    assert AddressGuard(allow_private_networks=True).allows(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_public_internet_are_allowed(address: str) -> None:
    assert AddressGuard().allows(address)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f000001", "1.1.1.1:80", "[::1]", "1.1.1.1\n"])
def test_a_text_that_is_not_an_address_is_refused(text: str) -> None:
    assert not AddressGuard().allows(text)
    assert not AddressGuard(allow_private_networks=True).allows(text)


@given(st.ip_addresses(v=4))
def test_an_embedded_ipv4_address_decides(address: IPv4Address) -> None:
    number = int(address)
    for disguise in (0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80):
        assert is_public(IPv6Address(disguise)) == is_public(address)
    # Here the standard library may be the judge, except for what it calls public and is of no use to us.
    assert not is_public(address) or address.is_global


@given(st.ip_addresses(v=6))
def test_no_address_private_by_the_registries_is_public(address: IPv6Address) -> None:
    if address.ipv4_mapped is None and is_public(address) and address.sixtofour is None:
        assert address.is_global or address in PUBLIC


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"])
def test_this_machine_is_refused_by_every_name(site: Publisher, host: str) -> None:
    site.serve("/feed.xml", "<rss/>")

    with pytest.raises(AddressRefused) as caught:
        fetch(site.url("/feed.xml", host=host), settings={"allow_private_networks": False})

    assert "TIDINGS_FETCHER_ALLOW_PRIVATE_NETWORKS" in caught.value.message
    assert caught.value.url.endswith(f":{site.port}/feed.xml")
    assert not caught.value.is_retryable
    assert site.connections == 0


@pytest.mark.parametrize("host", ["10.0.0.1", "169.254.169.254", "100.64.0.1", "[fd00::1]", "192.168.1.1"])
def test_private_networks_are_refused_at_once(host: str) -> None:
    with pytest.raises(AddressRefused, match=host.strip("[]")):
        fetch(f"http://{host}/", settings={"allow_private_networks": False})


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "127.1"])
def test_numeric_hosts_are_refused(site: Publisher, host: str) -> None:
    with pytest.raises(InvalidInput):
        fetch(site.url("/", host=host))

    site.redirect("/", to=site.url("/", host=host))
    with pytest.raises(NetworkError):
        fetch(site.url("/"), guard=Only("127.0.0.1"))

    assert len(site.requests) == 1


def test_the_setting_allows_private_networks(site: Publisher) -> None:
    site.serve("/feed.xml", "<rss/>")

    for host in ("127.0.0.1", "localhost"):
        assert fetch(site.url("/feed.xml", host=host)).body == b"<rss/>"


@pytest.mark.parametrize("to", ["http://127.0.0.2:{port}/", "http://inside.example:{port}/", "http://[::1]:{port}/"])
def test_a_redirect_does_not_bypass_the_guard(site: Publisher, other_site: Publisher, to: str) -> None:
    site.redirect("/feed.xml", to=to.format(port=other_site.port))

    with pytest.raises(AddressRefused):
        fetch(site.url("/feed.xml"), guard=Only("127.0.0.1"), lookup=names(inside_example="127.0.0.2"))

    assert len(site.requests) == 1
    assert other_site.connections == 0


def test_dns_rebinding_does_not_bypass_the_guard() -> None:
    # Both on one port, so that only the address differs.
    with Publisher("127.0.0.1") as outside, Publisher("127.0.0.2", port=outside.port) as inside:
        outside.serve("/feed.xml", "<rss/>", close=True)
        inside.serve("/feed.xml", "secret")
        url = outside.url("/feed.xml", host="rebinding.example")

        async def ask_twice(fetcher: Fetcher) -> list[FetchResponse | BaseException]:
            request = FetchRequest(url=url)
            first = await fetcher.get(request)
            return [first, *await asyncio.gather(fetcher.get(request), return_exceptions=True)]

        first, second = with_fetcher(
            ask_twice,
            guard=Only("127.0.0.1"),
            lookup=names(rebinding_example=["127.0.0.1", "127.0.0.2"]),
            remember_names_s=0,
        )

        assert isinstance(first, FetchResponse)
        assert first.body == b"<rss/>"
        assert isinstance(second, AddressRefused)
        assert inside.connections == 0


def test_a_name_is_looked_up_once_for_check_and_connection(site: Publisher) -> None:
    site.serve("/feed.xml", "<rss/>")
    requested: list[str] = []

    async def look_up(host: str) -> list[str]:
        requested.append(host)
        return ["127.0.0.1"] if len(requested) == 1 else ["127.0.0.2"]

    response = fetch(site.url("/feed.xml", host="feeds.example"), guard=Only("127.0.0.1"), lookup=look_up)

    assert response.body == b"<rss/>"
    assert requested == ["feeds.example"]


def test_of_several_addresses_only_the_allowed_ones_are_tried(site: Publisher) -> None:
    with Publisher("127.0.0.2", port=site.port) as inside:
        site.serve("/feed.xml", "<rss/>")

        async def look_up(host: str) -> list[str]:
            return ["127.0.0.2", "::1", "127.0.0.1", "10.0.0.1"]

        url = site.url("/feed.xml", host="mixed.example")
        assert fetch(url, guard=Only("127.0.0.1"), lookup=look_up).body == b"<rss/>"
        assert inside.connections == 0


def test_the_error_names_the_host_and_not_its_address() -> None:
    with pytest.raises(AddressRefused) as caught:
        fetch(
            "http://intranet.example/",
            settings={"allow_private_networks": False},
            lookup=names(intranet_example="10.20.30.40"),
        )

    assert "intranet.example" in caught.value.message
    assert "10.20.30.40" not in caught.value.message


def test_the_error_names_the_setting() -> None:
    guard = AddressGuard(setting="TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS")

    with pytest.raises(AddressRefused, match="TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS"):
        fetch("http://127.0.0.1/", guard=guard)


def test_the_last_check_gets_the_address_of_the_socket() -> None:
    guard = AddressGuard()

    with pytest.raises(AddressRefused):
        guard.open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 80)))
    with pytest.raises(AddressRefused):
        guard.open_socket((socket.AF_INET6, socket.SOCK_STREAM, 0, "", ("::ffff:127.0.0.1", 80, 0, 0)))
    guard.open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("8.8.8.8", 80))).close()


def test_an_unknown_name_is_a_network_error() -> None:
    with pytest.raises(NetworkError, match=r"nowhere\.example"):
        fetch("http://nowhere.example/", lookup=names())


def test_a_name_without_addresses_is_a_network_error() -> None:
    async def look_up(host: str) -> list[str]:
        return []

    with pytest.raises(NetworkError, match=r"empty\.example"):
        fetch("http://empty.example/", lookup=look_up)


def test_the_system_lookup_resolves_localhost() -> None:
    lookup = SystemLookup(threads=1)
    try:
        resolver = GuardedResolver(AddressGuard(allow_private_networks=True), lookup)
        found = asyncio.run(resolver.resolve("localhost", 80))
    finally:
        lookup.close()

    assert {one["host"] for one in found} <= {"127.0.0.1", "::1"}
    assert all(one["port"] == 80 for one in found)


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("example.org", True),
        ("8.8.8.8", True),
        ("10.0.0.1", False),
        ("::1", False),
        ("localhost", False),
        ("app.LocalHost.", False),
    ],
)
def test_addresses_refused_directly_are_refused_through_a_proxy(host: str, allowed: bool) -> None:
    assert AddressGuard().allows_through_proxy(host) is allowed
    assert AddressGuard(allow_private_networks=True).allows_through_proxy(host)
