"""Asks the service on this machine whether it is ready, as its health checks answer."""

from __future__ import annotations

import http.client
import socket
import ssl
from pathlib import Path

# Limit on the whole request: the service itself answers within two seconds.
TIMEOUT_S = 5.0


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def ask(host: str, port: int, *, unix_socket: Path | None, is_tls: bool) -> str:
    """Return why the service is not ready, "" if it is.

    host: a name or an address of this machine. The certificate is not verified: it is made for another name.
    """
    if unix_socket:
        connection: http.client.HTTPConnection = _UnixConnection(unix_socket)
    elif is_tls:
        unverified = ssl.create_default_context()
        unverified.check_hostname = False
        unverified.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=unverified)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        text = response.read(200).decode("utf-8", "replace").strip()
    except OSError as error:
        return f"no answer: {error.strerror or error}"
    except http.client.HTTPException as error:
        return f"no answer: {error}"
    finally:
        connection.close()
    return "" if response.status == 200 else f"status {response.status}: {' '.join(text.split())}"
