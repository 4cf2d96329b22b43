"""Clients that are silent, that stop in the middle, or that take their answers slowly: plain sockets."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

RECEIVE_BUFFER = 4_096


def connected(url: str, sent: bytes = b"", *, reads_slowly: bool = False) -> socket.socket:
    """An open connection on which so much was sent. reads_slowly: with hardly any room for an answer."""
    address = urlsplit(url)
    client = socket.socket()
    if reads_slowly:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    client.settimeout(60)
    client.connect((address.hostname, address.port))
    client.sendall(sent)
    return client


def request(path: str, *, method: str = "GET", **headers: str) -> bytes:
    """A request's head. headers: with _ for -."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def rest_of(client: socket.socket) -> bytes:
    """All that still comes until the other side closes. TimeoutError when it does not."""
    received = bytearray()
    while chunk := client.recv(65_536):
        received += chunk
    return bytes(received)
