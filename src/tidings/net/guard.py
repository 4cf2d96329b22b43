"""The address guard: prevents connections into the operator's private network (server-side request forgery).

    name ── lookup ── addresses ── keep the allowed ones ── socket ── check again ── connect

The second check is in the socket factory, which gets the address that the socket is about to connect to. It covers
redirects, names that resolve differently in a second lookup (DNS rebinding), and literal addresses, for which aiohttp
calls no resolver.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from aiohttp.abc import AbstractResolver, ResolveResult

from tidings.base.messages import msg
from tidings.net.errors import AddressRefused

# Resolves a name to addresses, as text. Raises OSError if the name does not exist.
Lookup = Callable[[str], Awaitable[Sequence[str]]]

# Listed here in full because `is_global` changed between Python releases.
# Source: the IANA special-purpose address registries (RFC 6890 and its updates).
_NOT_PUBLIC_V4 = [
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared with other customers of a provider
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local; the metadata service of many clouds
        "168.63.129.16/32",  # a public address by number, but the metadata service of Azure
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # measurements
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
]
# All other addresses are loopback, link-local, private, multicast, mapped, or unassigned.
_PUBLIC_V6 = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = [
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, among them Teredo and ORCHID
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
]
_TRANSLATED_V6 = IPv6Network("64:ff9b::/96")  # NAT64: IPv4 addresses in an IPv6-only network
_6TO4 = IPv6Network("2002::/16")


class AddressGuard:
    """Decides which addresses connections may be made to.

    setting: the setting that allows private networks, named in the error message.
    """

    def __init__(
        self,
        *,
        allow_private_networks: bool = False,
        setting: str = "TIDINGS_FETCHER_ALLOW_PRIVATE_NETWORKS",
    ) -> None:
        self.allow_private_networks = allow_private_networks
        self.setting = setting

    def allows(self, address: str) -> bool:
        """Return whether connections to the address are allowed. address: IPv4 or IPv6 as text, else False."""
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return self.allow_private_networks or is_public(parsed)

    def allows_through_proxy(self, host: str) -> bool:
        """Return whether a request for this host may be sent to a proxy.

        The proxy resolves names, so that only literal addresses and localhost can be refused here. The operator of the
        proxy decides what else it may reach.
        """
        name = host.lower().removesuffix(".")
        if name == "localhost" or name.endswith(".localhost"):
            return self.allow_private_networks
        return self.allows(name) if _is_literal(name) else True

    def refusal(self, host: str) -> AddressRefused:
        """Return the error. It names the host and not its address, which would reveal the operator's network."""
        return AddressRefused(
            msg(
                "{host} leads into a private or local network, and connections to there are switched off. If it "
                "is meant to be reachable, the operator can allow it with {setting}.",
                host=host,
                setting=self.setting,
            )
        )

    def open_socket(self, info: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
        """Return a socket for the address after the last check before connecting. Raises AddressRefused.

        info: one result of `getaddrinfo`.
        """
        family, kind, protocol, _, address = info
        host = str(address[0])
        if not self.allows(host):
            raise self.refusal(host)
        return socket.socket(family, kind, protocol)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether the address belongs to the public internet.

    An IPv6 address that contains an IPv4 address is public if the IPv4 address is.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    if address.scope_id is not None:
        return False
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _TRANSLATED_V6:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if address in _6TO4:
        return is_public(IPv4Address(int(address) >> 80 & 0xFFFFFFFF))
    return address in _PUBLIC_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


class SystemLookup:
    """Resolves names as the operating system does.

    Uses threads of its own: a name server that does not respond blocks a thread for many seconds, which database
    operations in a shared pool would have to wait for.
    """

    def __init__(self, threads: int = 32) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="lookup")

    async def __call__(self, host: str) -> Sequence[str]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._ask, host)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    @staticmethod
    def _ask(host: str) -> Sequence[str]:
        try:
            results = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        except UnicodeError as error:  # a label too long or empty for the name system
            raise socket.gaierror(socket.EAI_NONAME, "not a host name") from error
        return [_with_scope(address) for *_, address in results]


class GuardedResolver(AbstractResolver):
    """A resolver for aiohttp that returns allowed addresses only. Raises AddressRefused if none of them is allowed."""

    def __init__(self, guard: AddressGuard, lookup: Lookup) -> None:
        self._guard = guard
        self._lookup = lookup

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002 - the connector sorts that out
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in self._allowed(host, await self._lookup(host))
        ]

    async def addresses(self, host: str) -> Sequence[str]:
        """Return the allowed addresses of a name, or of a literal address. Raises as `resolve` does."""
        return self._allowed(host, [host] if _is_literal(host) else await self._lookup(host))

    def _allowed(self, host: str, found: Sequence[str]) -> Sequence[str]:
        allowed = [address for address in found if self._guard.allows(address)]
        if found and not allowed:
            raise self._guard.refusal(host)
        if not allowed:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        return allowed

    async def close(self) -> None:
        """Does nothing: the owner of the lookup closes it."""


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _with_scope(address: tuple[object, ...]) -> str:
    """Return the address of a socket name; an IPv6 address with its scope id, as in fe80::1%2."""
    if len(address) == 4 and address[3]:
        return f"{address[0]}%{address[3]}" if "%" not in str(address[0]) else str(address[0])
    return str(address[0])
