"""Granian in the calling process: accepts connections and runs the ASGI application until SIGTERM or SIGINT.

All web workers accept from one listening socket, which belongs to the supervisor as well. A process that is replaced or
not needed any more is drained first (SIGUSR1): it stops accepting, and asks its clients to leave. The socket stays
open, so that no connection is refused or lost.
"""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from granian.constants import HTTPModes, Interfaces, RuntimeModes, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels

from tidings.base.errors import StartError
from tidings.http.event_stream import open_streams
from tidings.http.load import LoadBoard, process_load
from tidings.runtime import certificates, granian_internals
from tidings.runtime.certificates import TlsPair
from tidings.runtime.granian_internals import SocketHolder
from tidings.settings import LogLevel, Settings

log = structlog.get_logger()

Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[dict[str, Any], Any, Send], Awaitable[None]]

# A connection without a complete request header for this long is closed. Granian has one timeout for an incomplete
# header and for a connection that is idle between two requests.
HEADER_TIMEOUT_S = 10
# A connection on which the client made no room for more of its response for this long is ended.
SLOW_READER_TIMEOUT_S = 30
# Connections that the kernel queues until they are accepted; fewer if net.core.somaxconn is lower.
BACKLOG = 4_096
# The folder of a Unix socket decides who may connect: a proxy usually is another user.
SOCKET_PERMISSIONS = 0o666


class WebServer:
    """The socket and the settings of Granian. Made once by the supervisor; `run` is called in each web worker.

    board: where the web workers show their load.
    """

    def __init__(self, settings: Settings, host: str, connections: int) -> None:
        """Configure the server. host: a numeric address. connections: maximum number of connections of a web worker.

        Raises StartError if the certificate and its key cannot be used.
        """
        self._files = (settings.tls_certificate, settings.tls_key)
        self.board = LoadBoard(settings.web_workers)
        self._listener: _Listener | None = None
        self._pair: TlsPair | None = None
        self._server = granian_internals.Server(
            "",
            address=host,
            port=settings.listen_addr.port,
            uds=settings.listen_socket,
            uds_permissions=SOCKET_PERMISSIONS,
            ssl_protocol_min=SSLProtocols.tls12,
            interface=Interfaces.ASGI,
            # HTTPModes.auto would wait for the first bytes without a timeout.
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(header_read_timeout=HEADER_TIMEOUT_S * 1_000),
            # What RuntimeModes.auto becomes for ASGI, in a step of Granian's own supervisor that does not run here.
            runtime_mode=RuntimeModes.mt,
            websockets=False,
            backlog=BACKLOG,
            backpressure=connections,
            log_level=LogLevels.debug if settings.log_level is LogLevel.DEBUG else LogLevels.warning,
            log_dictconfig=granian_internals.logging_config(settings.log_level),
        )
        granian_internals.bind(self._server)
        if pair := self._read_pair():
            if pair.problem:
                log.warning("clients will refuse the certificate", reason=pair.problem)
            self._use(pair)

    @property
    def has_certificate(self) -> bool:
        return self._pair is not None

    def reload_certificate(self) -> str:
        """Let processes that are started from now on use the certificate in the files, and return when it expires.

        Raises StartError if the certificate and its key do not belong together, or clients would refuse it. Then
        nothing changes.
        """
        pair = self._read_pair()
        if pair is None:
            raise StartError("no certificate is set")
        if pair.problem:
            pair.close()
            raise StartError(f"clients would refuse the certificate {self._files[0]}: {pair.problem}")
        self._use(pair)
        return pair.expires_at

    def _read_pair(self) -> TlsPair | None:
        certificate, key = self._files
        return certificates.read(certificate, key) if certificate and key else None

    def _use(self, pair: TlsPair) -> None:
        if self._pair:
            self._pair.close()
        self._pair = pair
        granian_internals.set_certificate(self._server, pair.certificate, pair.key)

    def listen(self) -> None:
        """Open the listening socket, unless it is open. Raises OSError."""
        if self._listener is None:
            holder, descriptor = granian_internals.bound_socket(self._server)
            self._listener = _Listener(holder, socket.socket(fileno=descriptor))
            # Granian does it when a worker starts; until then the kernel would refuse connections.
            self._listener.socket.listen(BACKLOG)

    def close_listener(self) -> None:
        """Close the socket in this process, so that it does not stay open when the processes that accept have ended."""
        if self._listener:
            self._listener.socket.close()
            self._listener = None

    def run(
        self, number: int, load: Callable[[], Any], on_started: Callable[[], None], ask_for_more: Callable[[], None]
    ) -> None:
        """Serve until a signal. load: returns the application; called in this process before it accepts connections.

        number: of this web worker. on_started: called when this process handles signals and will accept connections.
        ask_for_more: called while requests wait for each other.
        """
        listener = self._listener
        assert listener  # opened before the fork
        if listener.socket.family != socket.AF_UNIX:
            _end_slow_readers(listener.socket)
        drain = _Drain(listener.socket)

        def start() -> None:
            process_load.join(self.board, number, ask_for_more)
            on_started()

        handlers = granian_internals.Handlers(start, drain.begin, open_streams.end_all)
        granian_internals.run_worker(self._server, lambda: drain.wrap(load()), listener.holder, handlers)


class _Listener(NamedTuple):
    """A listening socket, for Granian and for us."""

    holder: SocketHolder
    socket: socket.socket


class _Drain:
    """Lets a process finish: it accepts no more connections, and the next response on each ends the connection."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._has_begun = False
        self._deaf: socket.socket | None = None

    def wrap(self, application: Application) -> Application:
        """Return the application with a header in its responses that ends the connection, once draining has begun.

        A crowded process ends connections in the same way, so that clients come to one that has less to do.
        """

        def call(scope: dict[str, Any], receive: Any, send: Send) -> Awaitable[None]:
            if (self._has_begun or process_load.moves_client()) and scope["type"] == "http":
                return application(scope, receive, partial(_send_last, send))
            return application(scope, receive, send)

        return call

    def begin(self) -> None:
        """Accept no more connections, while the listening socket stays open in other processes.

        Granian cannot be asked to stop accepting and yet to serve new requests of connections that it has. So its
        descriptors of the socket become those of another one, to which nobody connects.
        """
        if self._has_begun:
            return
        self._has_begun = True
        process_load.leave()
        self._deaf = _socket_without_clients()
        for descriptor in _same_sockets(self._listener.fileno()):
            os.dup2(self._deaf.fileno(), descriptor, inheritable=False)


def _send_last(send: Send, message: dict[str, Any]) -> Awaitable[None]:
    if message["type"] == "http.response.start":
        message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
    return send(message)


def _socket_without_clients() -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.setblocking(False)
    with tempfile.TemporaryDirectory() as folder:
        listener.bind(str(Path(folder) / "none"))
    listener.listen(1)
    return listener


def _same_sockets(descriptor: int) -> list[int]:
    """Return all descriptors of this process for a socket."""
    identity = _identity(descriptor)
    descriptors = [int(file.name) for file in Path("/dev/fd").iterdir()]
    return [one for one in descriptors if identity and _identity(one) == identity]


def _identity(descriptor: int) -> tuple[int, int] | None:
    with suppress(OSError):
        found = os.fstat(descriptor)
        if stat.S_ISSOCK(found.st_mode):
            return found.st_dev, found.st_ino
    return None


def _end_slow_readers(listener: socket.socket) -> None:
    """Let the kernel end connections of this listening socket on which sent bytes find no room for too long.

    Accepted sockets inherit the option. Connections without unacknowledged bytes are not affected, and a client
    that reads slowly but steadily is not either. Source: RFC 5482; tcp(7).
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux only
    if option is not None:
        listener.setsockopt(socket.IPPROTO_TCP, option, SLOW_READER_TIMEOUT_S * 1_000)
