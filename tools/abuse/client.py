"""Sends requests as an attacker does: nothing is validated or corrected."""

from __future__ import annotations

import base64
import http.client
import json
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Address(Protocol):
    """Host and port of a service."""

    host: str
    port: int


@dataclass(frozen=True)
class HttpResponse:
    """headers: in the order received; a name may occur several times."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """Return the first header of that name, "" without one."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        return json.loads(self.body)


def request(
    service: Address,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    timeout_s: float = 30,
) -> HttpResponse:
    """Send a request on its own connection. Returns the response. Raises OSError without one in time."""
    connection = http.client.HTTPConnection(service.host, service.port, timeout=timeout_s)
    try:
        connection.request(method, path, body=body, headers=dict(headers or {}))
        answer = connection.getresponse()
        return HttpResponse(answer.status, answer.getheaders(), answer.read())
    except http.client.HTTPException as error:
        raise ConnectionError(f"no HTTP answer: {error!r}") from error
    finally:
        connection.close()


def raw(service: Address, sent: bytes | Iterable[bytes], *, timeout_s: float = 10) -> bytes:
    """Return all bytes received until the other side closes or sends nothing for `timeout_s`."""
    received = b""
    with socket.create_connection((service.host, service.port), timeout_s) as connection:
        try:
            for piece in [sent] if isinstance(sent, bytes) else sent:
                connection.sendall(piece)
            while piece := connection.recv(65536):
                received += piece
        except OSError:
            pass
    return received


def basic(name: str, password: str) -> dict[str, str]:
    """Return the header of HTTP basic authentication (RFC 7617)."""
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}
