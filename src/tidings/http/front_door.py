"""The outermost ASGI application: checks the Host header, warns about unknown proxies, writes the access log.

It also lets go of the connection when a request ends.

Host ─► X-Forwarded-For of an unknown proxy ─► application ─► security headers ─► access log
400      a warning in the log                                 that it did not set
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any, Final

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tidings.http.requests import Network, Request, is_within
from tidings.http.responses import json, raw

log = structlog.get_logger()

# RFC 3986, section 3.2: a name or IPv4 address, or an IPv6 address in brackets; then a port.
_HOST: Final = re.compile(r"(?:[A-Za-z0-9._~%!$&'()*+,;=-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
# Tokens in the paths of public links, secret feed links, callbacks of hubs and addresses for mail.
_TOKEN: Final = re.compile(r"(?<=/)[A-Za-z0-9_-]{20,}")
# HTTP/1.0 in the spelling of ASGI, and of Granian.
_WITHOUT_HOST: Final = ("1.0", "1")
_THIS_MACHINE: Final = ("127.0.0.1", 0)
WARNING_INTERVAL_S: Final = 600.0
# For what is not a page: redirects, errors, texts. Pages and files set their own.
_SECURITY_HEADERS: Final = raw({
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
})  # fmt: skip


class FrontDoor:
    """An ASGI application around another one.

    trusted: proxies whose X-Forwarded-For is used. access_log: whether each request is logged.
    user_header: the header, in lower case, in which these proxies name the user; it is removed from requests of all
    others. "" for none.
    on_unix_socket: whether the connections come through a Unix socket, which has no addresses: they count as
    connections from this machine.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        trusted: Sequence[Network],
        access_log: bool,
        user_header: str = "",
        on_unix_socket: bool = False,
    ) -> None:
        self._app = app
        self._on_unix_socket = on_unix_socket
        self._trusted = trusted
        self._access_log = access_log
        self._user_header = user_header.encode()
        self._warned_at: float | None = None
        self._has_warned_about_user = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._on_unix_socket:
            scope["client"] = _THIS_MACHINE
        channel = _Channel(receive, send)
        try:
            await self._answer_and_log(scope, channel.receive, channel.send)
        finally:
            channel.release()

    async def _answer_and_log(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._warn_about_unknown_proxy(scope)
        if self._user_header:
            self._remove_forged_user(scope)
        if not self._access_log:
            await self._answer(scope, receive, send)
            return
        line = _AccessLine(scope, self._trusted)
        try:
            await self._answer(scope, receive, line.recording(send))
        finally:
            line.write()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_host_valid(scope):
            await self._app(scope, receive, send)
            return
        refusal = json({"error_message": "Send one Host header with the name of this server."}, 400)
        await refusal(scope, receive, send)

    def _warn_about_unknown_proxy(self, scope: Scope) -> None:
        """Warn about an unknown proxy: all clients behind it have its address, and share its limits."""
        peer = scope["client"][0] if scope.get("client") else ""
        is_forwarded = any(name == b"x-forwarded-for" for name, _ in scope["headers"])
        if not is_forwarded or is_within(peer, self._trusted):
            return
        now = time.monotonic()
        if self._warned_at is None or now - self._warned_at > WARNING_INTERVAL_S:
            self._warned_at = now
            hint = "if this is your proxy, name it in TIDINGS_TRUSTED_REVERSE_PROXY_NETWORKS"
            log.warning("X-Forwarded-For ignored", peer=peer, hint=hint)

    def _remove_forged_user(self, scope: Scope) -> None:
        """Remove the header that names the user, unless a trusted proxy has sent it. Logged once."""
        peer = scope["client"][0] if scope.get("client") else ""
        if not any(name == self._user_header for name, _ in scope["headers"]) or is_within(peer, self._trusted):
            return
        scope["headers"] = [header for header in scope["headers"] if header[0] != self._user_header]
        if not self._has_warned_about_user:
            self._has_warned_about_user = True
            hint = "if this is your proxy, name it in TIDINGS_TRUSTED_REVERSE_PROXY_NETWORKS"
            log.warning("user header ignored", header=self._user_header.decode(), peer=peer, hint=hint)


class _Channel:
    """The functions of the server for one request, until the request ends.

    Granian keeps a connection open while they are referenced, if the body of its request was not read to the end. An
    error refers to frames, which refer to the request: only a garbage collection would close the connection.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive: Receive | None = receive
        self._send: Send | None = send

    async def receive(self) -> MutableMapping[str, Any]:
        return {"type": "http.disconnect"} if self._receive is None else await self._receive()

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if self._send is None:
            return
        if message["type"] == "http.response.start":
            message["headers"] = _secured(message["headers"])
        await self._send(message)

    def release(self) -> None:
        self._receive = self._send = None


def _secured(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a response with the security headers that it lacks."""
    given = list(headers)
    names = {name for name, _ in given}
    return given + [header for header in _SECURITY_HEADERS if header[0] not in names]


def is_host_valid(scope: Scope) -> bool:
    """Return whether there is one Host header, with a host and a port only.

    Source: RFC 9112, section 3.2; HTTP/1.0 may leave it out.
    """
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if hosts in ([], [""]):  # the server sets an empty one if none was sent
        return scope["http_version"] in _WITHOUT_HOST
    return len(hosts) == 1 and _HOST.fullmatch(hosts[0]) is not None


class _AccessLine:
    """The log line of one request, without its query and the tokens in its path, which are secrets."""

    def __init__(self, scope: Scope, trusted: Sequence[Network]) -> None:
        self._scope = scope
        self._address = Request(scope, _nothing).address(trusted)
        self._started = time.perf_counter()
        self._status = 0
        self._size_bytes = 0

    def recording(self, send: Send) -> Send:
        async def record(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
            self._size_bytes += len(message.get("body", b""))
            await send(message)

        return record

    def write(self) -> None:
        """Write the line. status: 0 if the client disconnected before the response."""
        log.info(
            "request",
            method=self._scope["method"],
            path=_TOKEN.sub("[hidden]", self._scope["path"]),
            status=self._status,
            size_bytes=self._size_bytes,
            took_ms=round((time.perf_counter() - self._started) * 1000, 1),
            address=self._address,
            agent=Headers(scope=self._scope).get("user-agent", ""),
        )


async def _nothing() -> MutableMapping[str, Any]:
    raise RuntimeError("the body is for the application")
