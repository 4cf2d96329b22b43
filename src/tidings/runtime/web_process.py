"""Granian in the calling process: accepts connections and runs the ASGI application until SIGTERM or SIGINT."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from granian.constants import HTTPModes, Interfaces, RuntimeModes, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels

from tidings.http.event_stream import open_streams
from tidings.runtime import granian_internals
from tidings.settings import LogLevel, Settings

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
    """The socket and the settings of Granian. Made once by the supervisor; `run` is called in each web worker."""

    def __init__(self, settings: Settings, host: str, connections: int) -> None:
        """Configure the server. host: a numeric address. connections: maximum number of connections of a web worker."""
        self._server = granian_internals.Server(
            "",
            address=host,
            port=settings.listen_addr.port,
            uds=settings.listen_socket,
            uds_permissions=SOCKET_PERMISSIONS,
            ssl_cert=settings.tls_certificate,
            ssl_key=settings.tls_key,
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

    def run(self, load: Callable[[], Any]) -> None:
        """Serve until a signal. load: returns the application; called in this process before it accepts connections."""
        granian_internals.run_worker(self._server, load, _end_slow_readers, open_streams.end_all)


def _end_slow_readers(descriptor: int) -> None:
    """Let the kernel end connections of this listening socket on which sent bytes find no room for too long.

    Accepted sockets inherit the option. Connections without unacknowledged bytes are not affected, and a client
    that reads slowly but steadily is not either. Source: RFC 5482; tcp(7).
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux only
    if option is None:
        return
    listener = socket.socket(fileno=descriptor)
    try:
        listener.setsockopt(socket.IPPROTO_TCP, option, SLOW_READER_TIMEOUT_S * 1_000)
    finally:
        # The socket stays Granian's.
        listener.detach()
