"""Clients on plain sockets that send nothing, stop in the middle, or read responses slowly."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

RECEIVE_BUFFER = 4_096


def connected(url: str, sent: bytes = b"", *, reads_slowly: bool = False) -> socket.socket:
    """Return an open connection on which `sent` was sent. reads_slowly: its receive buffer is small."""
    address = urlsplit(url)
    client = socket.socket()
    if reads_slowly:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    client.settimeout(60)
    client.connect((address.hostname, address.port))
    client.sendall(sent)
    return client


def request(path: str, *, method: str = "GET", **headers: str) -> bytes:
    """Return the head of a request. headers: names with _ for -."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def rest_of(client: socket.socket) -> bytes:
    """Return what is received until the other side closes. Raises TimeoutError if it does not."""
    received = bytearray()
    while chunk := client.recv(65_536):
        received += chunk
    return bytes(received)


def is_open_at_server(client: socket.socket) -> bool:
    """Whether the side that accepted it, on this machine, still has the connection. Reads nothing from it."""
    port, server_port = client.getsockname()[1], client.getpeername()[1]
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    connections = [line.split()[1:4] for line in lines]
    return any(
        (int(local.split(":")[1], 16), int(remote.split(":")[1], 16), state) == (server_port, port, "01")
        for local, remote, state in connections
    )
