"""Connections through SOCKS5 proxies (RFC 1928).

The proxy resolves the names of publishers. The guard decides about the address of the proxy itself, here, and about
literal addresses of publishers, in `connections`.
"""

from __future__ import annotations

import asyncio
from ssl import SSLContext, SSLError
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp_socks import ProxyConnector
from msgspec import Struct
from python_socks import ProxyConnectionError, ProxyError
from yarl import URL

from tidings.net.guard import GuardedResolver

DEFAULT_PORT = 1080


class SocksProxy(Struct, frozen=True):
    host: str
    port: int
    username: str = ""
    password: str = ""

    @classmethod
    def of(cls, url: URL) -> SocksProxy:
        """Return the proxy at a URL. url: valid, of any scheme; without a port it means the port of SOCKS."""
        return cls(url.raw_host or "", url.explicit_port or DEFAULT_PORT, url.user or "", url.password or "")


class SocksFailure(aiohttp.ClientError):
    """A connection through a proxy that failed. aiohttp would wrap its cause, and lose the kind of error."""

    def __init__(self, cause: OSError | ProxyError) -> None:
        super().__init__(str(cause))
        self.cause = cause

    @property
    def reply(self) -> int:
        """The number with which the proxy refused (RFC 1928, section 6); 0 without one."""
        return getattr(self.cause, "error_code", None) or 0


class SocksConnector(ProxyConnector):
    """A connector for one proxy. resolver: resolves the proxy's name; raises AddressRefused for a refused one."""

    def __init__(self, proxy: SocksProxy, resolver: GuardedResolver) -> None:
        # rdns: names go to the proxy, so that hosts that only it can resolve are reachable. No name server sees them.
        super().__init__(
            proxy.host,
            proxy.port,
            username=proxy.username or None,
            password=proxy.password or None,
            rdns=True,
            limit=0,
        )
        self._proxy = proxy
        self._resolver_of_proxy = resolver

    async def _connect_via_proxy(
        self,
        host: str,
        port: int,
        ssl: SSLContext | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as in the base
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        try:
            return await self._connect_to_any(host, port, ssl, timeout)
        except (ProxyConnectionError, ProxyError, SSLError) as error:
            raise SocksFailure(error) from error

    async def _connect_to_any(self, host: str, port: int, *options: Any) -> tuple[asyncio.Transport, ResponseHandler]:
        """Connects through the first address of the proxy that accepts a connection.

        Literal addresses that passed the guard are all that is connected to: a second lookup could say something else.
        """
        refused: ProxyConnectionError | None = None
        for address in await self._resolver_of_proxy.addresses(self._proxy.host):
            self._proxy_host = address
            try:
                return await super()._connect_via_proxy(host, port, *options)
            except ProxyConnectionError as error:
                refused = error
        assert refused is not None
        raise refused
