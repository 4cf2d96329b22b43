"""Pooled HTTP connections behind the address guard, for fetching documents and for posting.

One exchange is one request and its response; redirects, bodies and their meaning are up to the caller. Errors of the
connection are raised as FetchError.

Responses of servers that write HTTP carelessly are read as browsers read them:

bytes ── head: invalid lines are dropped or mended ── aiohttp's parser
      └─ body, and what follows it

aiohttp refuses a whole response for one invalid line. Where the length of the body is clear, the response is read.
Source: RFC 9112, sections 2.2, 5.1 and 6.3; what browsers do beyond it.

A SOCKS5 proxy (RFC 1928) resolves the names of publishers. The guard decides about the address of the proxy itself, and
about literal addresses of publishers.
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from ssl import SSLContext, SSLError
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp_socks import ProxyConnector
from msgspec import Struct
from python_socks import ProxyConnectionError, ProxyError
from yarl import URL

from tidings.base.errors import InvalidInput, LocalShortage
from tidings.base.messages import Message, msg
from tidings.base.shortages import is_shortage
from tidings.net.errors import AddressRefused, ConnectTimeout, FetchError, HostUnreachable, NetworkError, TlsError
from tidings.net.guard import AddressGuard, GuardedResolver, Lookup, SystemLookup, Target, parse_target

# Careless responses

# Bytes. What is longer goes to aiohttp's parser as it came, which has limits of its own.
_MAX_HEAD: Final = 256 * 1024

_PROTOCOL: Final = b"HTTP/"
_END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_NAME: Final = re.compile(_TOKEN)
# A head in which nothing has to be mended. Possessive, so that a long one takes no more time than its length.
_CLEAN: Final = re.compile(rb"[^\r\n]*\r\n(?:" + _TOKEN + rb":[^\r\n]*\r\n)*+\r\n")
_FRAMING: Final = re.compile(rb"\n(?:content-length|transfer-encoding):[ \t]*([^\r\n]*)", re.IGNORECASE)
_INTERIM: Final = re.compile(rb"HTTP/1\.[01] +1(?!01)\d\d")


def mend_head(head: bytes) -> bytes:
    """Return the head of a response without what aiohttp refuses; the same object if nothing had to be mended.

    head: from the status line to the empty line, inclusive.
    Lines without a valid name are dropped. One of several equal lengths stays, and none next to `chunked`, which has
    precedence. Lengths that differ stay: then it is not clear where the body ends.
    """
    framing = _FRAMING.findall(head)
    if _CLEAN.fullmatch(head) and len(framing) <= 1 and b"," not in b"".join(framing):
        return head
    status, *lines = re.split(rb"\r?\n", head.rstrip(b"\r\n"))
    fields = _settle_framing(_read_fields(lines))
    return b"\r\n".join([status, *(name + b": " + value for name, value in fields), b"", b""])


def _read_fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return names and values. A line that begins with a blank continues the one before it."""
    fields: list[tuple[bytes, bytes]] = []
    is_kept = False
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            if is_kept:
                name, value = fields[-1]
                fields[-1] = (name, value + b" " + line.strip())
            continue
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        is_kept = bool(colon and _NAME.fullmatch(name))
        if is_kept:
            fields.append((name, value.strip(b" \t")))
    return fields


def _settle_framing(fields: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the fields with one statement about the length of the body, if they agree on it."""
    codings = _list_of(fields, b"transfer-encoding")
    lengths = _list_of(fields, b"content-length")
    unused: set[bytes] = set()
    settled: list[tuple[bytes, bytes]] = []
    if b"chunked" in codings:
        unused = {b"content-length", b"transfer-encoding"}
        settled = [(b"Transfer-Encoding", b"chunked")]
    elif len(set(lengths)) == 1:
        unused = {b"content-length"}
        settled = [(b"Content-Length", lengths[0])]
    return [(name, value) for name, value in fields if name.lower() not in unused] + settled


def _list_of(fields: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    values = b",".join(value for each, value in fields if each.lower() == name).lower().split(b",")
    return [value.strip() for value in values if value.strip()]


class InvalidBody(aiohttp.ClientPayloadError):
    """A body that breaks its own framing, for example by the size of a chunk."""


class LenientResponseHandler(ResponseHandler):
    """aiohttp's protocol of a connection, which gets each head mended and separately from the body.

    Separately, because bytes that follow the end of the body are an error only after the body has been read: a head
    that arrives in one packet with them would be lost together with them.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._awaits_head = False
        self._head = bytearray()

    def set_response_params(self, **options: Any) -> None:
        """Begin to read the response to the next request."""
        self._awaits_head, self._head = True, bytearray()
        super().set_response_params(**options)

    def data_received(self, data: bytes) -> None:
        """Pass received bytes on to the parser."""
        while self._awaits_head and data:
            searched = max(0, len(self._head) - 2)
            # Some servers send an empty line after a body, which arrives before the next head.
            self._head += data if self._head else data.lstrip(b"\r\n")
            if not _PROTOCOL.startswith(self._head[: len(_PROTOCOL)]):
                data = self._take_head()
                break
            end = _END_OF_HEAD.search(self._head, searched)
            if end is None and len(self._head) <= _MAX_HEAD:
                return
            head, data = self._take_head(), b""
            if end is not None:
                head, data = head[: end.end()], head[end.end() :]
                # The response itself follows, for example after "103 Early Hints".
                self._awaits_head = bool(_INTERIM.match(head))
                head = self._mend(head)
            super().data_received(head)
            if not data or self.exception() is not None:
                return
        super().data_received(data)

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """End the response with an error. aiohttp leaves a body that is being read without it, until the time is up."""
        super().set_exception(exc, *cause)
        body = self._payload
        if isinstance(exc, HttpProcessingError) and body is not None and not body.is_eof():
            body.set_exception(InvalidBody(), exc)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Pass on a head that was cut off."""
        if self._head:
            super().data_received(self._take_head())
        super().connection_lost(exc)

    def _take_head(self) -> bytes:
        head, self._head, self._awaits_head = bytes(self._head), bytearray(), False
        return head

    def _mend(self, head: bytes) -> bytes:
        mended = mend_head(head)
        if mended is not head:
            # The server and a proxy before it may disagree on where this response ends.
            self.force_close()
        return mended


def read_leniently(connector: aiohttp.BaseConnector) -> None:
    """Make all connections of the connector read responses leniently.

    aiohttp offers no other way to choose the protocol of its connections.
    """
    create: Any = partial(LenientResponseHandler, loop=asyncio.get_running_loop())
    connector._factory = create


# SOCKS5

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


# Connections

# A response whose body has not been read yet.
Response = aiohttp.ClientResponse

# Bytes. Some publishers send policies of many kilobytes in one header.
_MAX_HEADER = 32 * 1024
_MAX_HEADERS = 128

REASONS: dict[int, Message] = {
    errno.ECONNREFUSED: msg("{host} refuses the connection"),
    errno.ECONNRESET: msg("{host} broke off the connection"),
    errno.EHOSTUNREACH: msg("{host} cannot be reached"),
    errno.ENETUNREACH: msg("{host} cannot be reached: there is no network to it"),
    errno.ETIMEDOUT: msg("{host} does not answer"),
}
# Replies of SOCKS proxies about the other side of the connection (RFC 1928, section 6).
_SOCKS_REPLIES = {3: errno.ENETUNREACH, 4: errno.EHOSTUNREACH, 5: errno.ECONNREFUSED, 6: errno.ETIMEDOUT}
_SOCKS = re.compile(r"\s*socks5h?(?=://)", re.IGNORECASE)
_NO_TLS = msg("the server does not follow the TLS protocol")
_TRUST_ANYWAY = msg("If you know this address and trust it anyway, allow self-signed certificates for this feed.")


class Connections:
    """Opened on first use, inside the running event loop; closed by `close` or as an async context.

    trusted_proxies: proxies that the operator configured, which may be in a private network. Every other proxy must
    pass the guard, since a user who may choose a proxy could reach the private network through it.
    trusts_all_proxies: the operator allows users to choose proxies in private networks.
    lookup: resolves names; by default as the operating system does. remember_names_s: how long results are cached.
    keep_alive: whether a connection serves more than one request.
    """

    def __init__(
        self,
        guard: AddressGuard,
        *,
        connect_timeout_s: float = 10,
        trusted_proxies: frozenset[str] = frozenset(),
        trusts_all_proxies: bool = False,
        lookup: Lookup | None = None,
        remember_names_s: int = 10,
        keep_alive: bool = True,
    ) -> None:
        self._guard = guard
        self._trusted_proxies = trusted_proxies
        self._trusts_all_proxies = trusts_all_proxies
        self._timeout = aiohttp.ClientTimeout(total=None, connect=connect_timeout_s)
        self._system_lookup = SystemLookup()
        self._lookup = lookup or self._system_lookup
        self._remember_names_s = remember_names_s
        self._keep_alive = keep_alive
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self._verifying: ssl.SSLContext | None = None
        self._lenient: ssl.SSLContext | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()
        self._system_lookup.close()

    @asynccontextmanager
    async def exchange(
        self,
        method: str,
        target: Target,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        proxy_url: str = "",
        allow_self_signed_certificates: bool = False,
        is_trusted: bool = False,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Sends one request and yields its response; redirects are not followed.

        is_trusted: the operator configured the host of the target, which may be in a private network.

        Raises FetchError, including for errors while the caller reads the body. Only connecting has a time limit here;
        the caller limits the whole exchange. A connection whose body was read to its end is kept for the next request.
        """
        proxy = _proxy(proxy_url) if proxy_url else None
        http_proxy = None if _is_socks(proxy_url) else proxy
        needs_tls = "https" in {target.url.scheme, http_proxy.url.scheme if http_proxy else ""}
        with _translate_errors(target, proxy):
            if proxy is not None and not self._guard.allows_through_proxy(target.host):
                raise self._guard.refusal(target.host)
            async with (
                self._session_for(proxy_url, is_trusted=is_trusted) as session,
                session.request(
                    method,
                    target.url,
                    headers=headers,
                    data=body,
                    allow_redirects=False,
                    proxy=None if http_proxy is None else _with_credentials(http_proxy),
                    # Loading the certificate authorities takes time, which plain HTTP does not need.
                    ssl=self._tls(lenient=allow_self_signed_certificates) if needs_tls else True,
                ) as response,
            ):
                yield response

    @asynccontextmanager
    async def _session_for(self, proxy_url: str, *, is_trusted: bool) -> AsyncIterator[aiohttp.ClientSession]:
        """Yield the session for requests through this proxy, or for direct ones.

        is_trusted: a direct request may connect to any address.

        Each request through a SOCKS proxy has a session of its own: connections to it are rare, and a pool for each
        proxy that a user ever named would grow without end.
        """
        trusts_proxy = self._trusts_all_proxies or proxy_url in self._trusted_proxies
        guarded = not (trusts_proxy if proxy_url else is_trusted)
        if not _is_socks(proxy_url):
            yield self._session(guarded=guarded)
            return
        resolver = GuardedResolver(self._guard_of(guarded=guarded), self._lookup)
        connector = SocksConnector(SocksProxy.of(URL(proxy_url.strip())), resolver)
        async with self._new_session(connector) as session:
            yield session

    def _session(self, *, guarded: bool) -> aiohttp.ClientSession:
        if guarded not in self._sessions:
            guard = self._guard_of(guarded=guarded)
            self._sessions[guarded] = self._new_session(
                aiohttp.TCPConnector(
                    # The callers limit the number of concurrent requests; waiting here would use up their time limits.
                    limit=0,
                    force_close=not self._keep_alive,
                    resolver=GuardedResolver(guard, self._lookup),
                    ttl_dns_cache=self._remember_names_s,
                    socket_factory=guard.open_socket,
                )
            )
        return self._sessions[guarded]

    def _guard_of(self, *, guarded: bool) -> AddressGuard:
        return self._guard if guarded else AddressGuard(allow_private_networks=True)

    def _new_session(self, connector: aiohttp.BaseConnector) -> aiohttp.ClientSession:
        read_leniently(connector)
        return aiohttp.ClientSession(
            connector=connector,
            # Requests of different users share nothing: no stored cookies, no environment, no netrc.
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=self._timeout,
            max_line_size=_MAX_HEADER,
            max_field_size=_MAX_HEADER,
            max_headers=_MAX_HEADERS,
        )

    def _tls(self, *, lenient: bool) -> ssl.SSLContext:
        if not lenient:
            self._verifying = self._verifying or ssl.create_default_context()
            return self._verifying
        if self._lenient is None:
            self._lenient = ssl.create_default_context()
            self._lenient.check_hostname = False
            self._lenient.verify_mode = ssl.CERT_NONE
            # Servers whose certificate is not valid are often old devices, which only support old ciphers.
            self._lenient.set_ciphers("ALL:!aNULL:!eNULL:@SECLEVEL=0")
        return self._lenient


def _is_socks(proxy_url: str) -> bool:
    return bool(_SOCKS.match(proxy_url))


def _proxy(proxy_url: str) -> Target:
    """Return host and credentials of the proxy, for SOCKS with the scheme http. Raises InvalidInput."""
    try:
        return parse_target(_SOCKS.sub("http", proxy_url))
    except InvalidInput as error:
        raise InvalidInput(msg("The proxy cannot be used. {problem}", problem=error.text), field="proxy_url") from error


def _with_credentials(proxy: Target) -> URL:
    """Return the proxy's URL with credentials, the one form that aiohttp accepts for http and https."""
    return proxy.url.with_user(proxy.username).with_password(proxy.password) if proxy.username else proxy.url


@contextmanager
def _translate_errors(target: Target, proxy: Target | None) -> Iterator[None]:
    try:
        yield
    except AddressRefused as error:
        raise AddressRefused(error.text, url=str(target)) from error
    except (aiohttp.ServerTimeoutError, TimeoutError) as error:
        raise ConnectTimeout(
            msg("Connecting to {host} took too long. Check the address, or try again later.", host=target.host),
            url=str(target),
        ) from error
    except (aiohttp.ClientError, OSError) as error:
        if is_shortage(error) or (isinstance(error, aiohttp.ClientConnectorError) and _no_file_is_left()):
            raise LocalShortage from error
        raise _fetch_error(error, target, proxy) from error
    except (RuntimeError, MemoryError) as error:
        if is_shortage(error):
            raise LocalShortage from error
        raise


def _no_file_is_left() -> bool:
    """Return whether no socket can be opened. A lookup that failed for this reason does not say so."""
    try:
        socket.socket().close()
    except OSError:
        return True
    return False


def _fetch_error(error: Exception, target: Target, proxy: Target | None) -> FetchError:
    if isinstance(error, SocksFailure) and isinstance(error.cause, ssl.SSLError):
        error = error.cause
    if isinstance(error, ssl.SSLError | aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return TlsError(_tls_failure(target, error), url=str(target), hint=_TRUST_ANYWAY)
    kind = HostUnreachable if isinstance(error, aiohttp.ClientConnectorError | SocksFailure) else NetworkError
    message = msg("{problem}. Check the address, or try again later.", problem=_problem(error, target, proxy))
    return kind(message, url=str(target))


def _problem(error: Exception, target: Target, proxy: Target | None) -> Message:
    host = target.host
    match error:
        case SocksFailure() if proxy is not None:
            return _socks_problem(error, host, _proxy_name(proxy))
        case aiohttp.ClientHttpProxyError(status=status):
            return msg("The proxy refuses the request (status {status})", status=status)
        case aiohttp.ClientProxyConnectionError() if proxy is not None:
            return _reason(error, _proxy_name(proxy))
        case aiohttp.ClientConnectorDNSError():
            return msg(
                "There is no host named {host}, or its name server does not answer", host=proxy.host if proxy else host
            )
        case aiohttp.ClientConnectorError():
            return _reason(error, host)
        case InvalidBody():
            return msg("{host} sent a response that is not valid HTTP", host=host)
        case aiohttp.ClientPayloadError():
            return msg("{host} closed the connection in the middle of its response", host=host)
        case aiohttp.ServerDisconnectedError() | OSError():
            return msg("{host} closed the connection without a response", host=host)
        case aiohttp.ClientResponseError():
            return msg("{host} sent a response that is not valid HTTP", host=host)
        case _:
            return msg("The connection to {host} failed", host=host)


def _socks_problem(error: SocksFailure, host: str, proxy: Message) -> Message:
    """Return why a connection through a SOCKS proxy failed. Other replies than those are refusals of the proxy."""
    if error.reply in _SOCKS_REPLIES:
        return REASONS[_SOCKS_REPLIES[error.reply]].with_values(host=host)
    number = error.cause.errno if isinstance(error.cause, OSError) else errno.ECONNREFUSED
    return REASONS.get(number or 0, REASONS[errno.EHOSTUNREACH]).with_values(host=proxy)


def _proxy_name(proxy: Target) -> Message:
    return msg("The proxy {host}", host=proxy.host)


def _reason(error: aiohttp.ClientConnectorError, host: str | Message) -> Message:
    # A connection that ends during the TLS handshake has no error number.
    number = errno.ECONNRESET if isinstance(error.os_error, ConnectionResetError) else error.os_error.errno
    return REASONS.get(number or 0, REASONS[errno.EHOSTUNREACH]).with_values(host=host)


def _tls_failure(target: Target, error: Exception) -> Message:
    return msg("The secure connection to {host} failed: {reason}.", host=target.host, reason=tls_reason(error))


def tls_reason(error: Exception) -> str | Message:
    """Return the reason that OpenSSL gives, without file names and numbers."""
    cause: object = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return cause.verify_message.rstrip(".")
    if isinstance(cause, ssl.SSLError) and cause.reason:
        return cause.reason.replace("_", " ").lower()
    return _NO_TLS
