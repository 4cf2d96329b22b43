"""The address guard: prevents connections into the operator's private network (server-side request forgery).

    URL ── target: name, port ── lookup ── addresses ── keep the allowed ones ── socket ── check again ── connect

The second check is in the socket factory, which gets the address that the socket is about to connect to. It covers
redirects, names that resolve differently in a second lookup (DNS rebinding), and literal addresses, for which aiohttp
calls no resolver.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Self
from urllib.parse import quote, urljoin

from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct
from yarl import URL

from tidings.base.errors import InvalidInput
from tidings.base.messages import Message, msg
from tidings.net.errors import AddressRefused

# Targets: the URLs that users and publishers give

MAX_URL_CHARS = 8192

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# The operating system reads 2130706433, 0177.0.0.1 and 0x7f.1 as 127.0.0.1.
_NUMERIC_LABEL = re.compile(r"\d+|0x[0-9a-f]*")
_DOT_SEGMENT = re.compile(r"/(?:\.|%2e){1,2}(?=/|$)", re.IGNORECASE)
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


class Target(Struct, frozen=True):
    """The target of a request, with the credentials of its URL."""

    url: URL
    """An http or https URL without credentials and fragment.

    Path and query are exactly as written where that is legal, because normalizing them breaks signed URLs. Segments
    with one or two dots are resolved, as in browsers.
    """
    username: str = ""
    password: str = ""

    def __str__(self) -> str:
        return str(self.url)

    def __repr__(self) -> str:
        return f"Target({self.url})"

    @property
    def host(self) -> str:
        return self.url.raw_host or ""

    def trusts(self, other: Self) -> bool:
        """Return whether the cookie, the credentials and the user agent for this target may also be sent to `other`.

        True for the same scheme, host and port, and for the same host after an upgrade from http to https.
        """
        if self.url.origin() == other.url.origin():
            return True
        return self.host == other.host and (
            self.url.scheme,
            self.url.port,
            other.url.scheme,
            other.url.port,
        ) == (
            "http",
            80,
            "https",
            443,
        )

    def follow(self, location: str) -> Target:
        """Return the target of a Location header. Raises InvalidInput as `parse_target` does."""
        # Raw bytes in a header arrive as lone surrogates; they become the same bytes of the URL again.
        raw = location.encode("utf-8", "surrogateescape")
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = quote(raw, safe=_PRINTABLE)
        try:
            return parse_target(urljoin(str(self.url), text.strip()))
        except ValueError as error:
            raise InvalidInput(msg("{location} is not a web address.", location=repr(location)), field="url") from error


def parse_target(address: str) -> Target:
    """Return the target. Raises InvalidInput, with the reason, unless it is a complete http(s) URL."""
    address = address.strip()
    if len(address) > MAX_URL_CHARS:
        raise _invalid(msg("The address is longer than {max} characters.", max=MAX_URL_CHARS))
    if _CONTROL.search(address):
        raise _invalid(
            msg("The address contains a line break or another invisible character. Remove it and try again.")
        )
    scheme = address.partition(":")[0].lower()
    if scheme not in {"http", "https"}:
        raise _invalid(msg("The address has to begin with http:// or https://."))
    try:
        parsed = URL(address)
        raw = URL(address, encoded=True)
        authority = _authority(parsed, bracketed="[" in raw.raw_authority)
        path, query = (quote(part, safe=_PRINTABLE) for part in (raw.raw_path or "/", raw.raw_query_string))
        if _DOT_SEGMENT.search(path):
            path = _resolve_dots(path)
        url = URL(f"{scheme}://{authority}{path}" + (f"?{query}" if query else ""), encoded=True)
        return Target(url, parsed.user or "", parsed.password or "")
    except ValueError as error:  # includes UnicodeError
        raise _invalid(msg("The address cannot be understood: look at its host name and port.")) from error


def _resolve_dots(path: str) -> str:
    """Return the path without segments of one or two dots. Source: WHATWG URL Standard, section 4.4, path state."""
    resolved: list[str] = []
    *folders, last = path.split("/")[1:]
    for segment in [*folders, last]:
        dots = segment.lower().replace("%2e", ".")
        if dots == "..":
            del resolved[-1:]
        elif dots != ".":
            resolved.append(segment)
    ends_with_folder = last.lower().replace("%2e", ".") in {".", ".."}
    return "/" + "/".join([*resolved, ""] if ends_with_folder else resolved)


def may_share(url: str, other: str) -> bool:
    """Return whether the cookie and the user agent of a feed at `url` may be sent to `other`: its article, its icon.

    False if one of them is not a valid URL.
    """
    try:
        return parse_target(url).trusts(parse_target(other))
    except InvalidInput:
        return False


def _authority(url: URL, *, bracketed: bool) -> str:
    """Return host and port for the request: in lower case, without a default port."""
    host = (url.raw_host or "").lower()
    if not host:
        raise _invalid(msg("The address has no host name. It should look like https://example.org/feed.xml."))
    literal = _literal(host)
    if literal is None or bracketed != isinstance(literal, IPv6Address):
        _check_name(host, bracketed=bracketed)
    if url.port == 0:
        raise _invalid(msg("The address names port 0, which does not exist."))
    shown = f"[{host}]" if isinstance(literal, IPv6Address) else host
    return shown if url.is_default_port() else f"{shown}:{url.port}"


def _check_name(host: str, *, bracketed: bool) -> None:
    labels = host.removesuffix(".").split(".")
    if bracketed or len(host) > 254 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid(msg("{host} is not a host name.", host=host[:100]))
    if _NUMERIC_LABEL.fullmatch(labels[-1]):
        raise _invalid(msg("{host} is a number where a host name should be.", host=host[:100]))


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        # A scope id, as in fe80::1%eth0, is only valid on this machine.
        return None if "%" in host else ip_address(host)
    except ValueError:
        return None


def _invalid(message: Message) -> InvalidInput:
    return InvalidInput(message, field="url")


# The guard

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
        return self.allows(name) if is_literal(name) else True

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
        return self._allowed(host, [host] if is_literal(host) else await self._lookup(host))

    def _allowed(self, host: str, found: Sequence[str]) -> Sequence[str]:
        allowed = [address for address in found if self._guard.allows(address)]
        if found and not allowed:
            raise self._guard.refusal(host)
        if not allowed:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        return allowed

    async def close(self) -> None:
        """Does nothing: the owner of the lookup closes it."""


def is_literal(host: str) -> bool:
    """Return whether a host is an IP address, and not a name."""
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
