"""A publisher with configured responses, on loopback or on every address of a private network."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class Contact:
    """A connection. reached: the address connected to. line: the request line. head: it and the headers."""

    reached: str
    port: int
    line: str = ""
    head: str = ""


@dataclass(frozen=True)
class Document:
    """A response. headers: in addition to the default ones; an empty value removes a header."""

    body: bytes = b""
    media_type: str = "application/xml"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Publisher:
    """Serves `documents` by path, and records every connection.

    host: the address of loopback where it listens, unless it does `everywhere`. answer: asked first; None leaves the
    answer to `documents`. received: whole requests, with their bodies.
    """

    def __init__(
        self,
        ports: tuple[int, ...] = (0,),
        *,
        host: str = "127.0.0.1",
        everywhere: bool = False,
        answer: Callable[[Contact], Document | None] | None = None,
    ) -> None:
        self.documents: dict[str, Document] = {}
        self.contacts: list[Contact] = []
        self.received: list[bytes] = []
        self._host = host
        self._answer = answer
        self._listeners: list[socket.socket] = []
        for port in ports:
            self._listeners.append(_listen(host if not everywhere else "0.0.0.0", port))
            if everywhere:
                self._listeners.append(_listen("::", port))
        self.port: int = self._listeners[0].getsockname()[1]

    def __enter__(self) -> Self:
        for listener in self._listeners:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for listener in self._listeners:
            listener.close()

    def serve(self, path: str, body: bytes | str, media_type: str = "application/xml", **headers: str) -> str:
        """The current URL."""
        data = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.documents[path] = Document(data, media_type, 200, named)
        return self.url(path)

    def url(self, path: str) -> str:
        return f"http://{self._host}:{self.port}{path}"

    def requests(self, path: str) -> list[Contact]:
        """Return the requests for a path, with any query."""
        return [seen for seen in self.contacts if f" {path}" in seen.line]

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        reached, port = connection.getsockname()[:2]
        with connection:
            connection.settimeout(10)
            try:
                head, _, rest = _read_head(connection)
                lines = head.decode("latin-1").split("\r\n")
                contact = Contact(reached, port, lines[0], head.decode("latin-1"))
                self.contacts.append(contact)
                self.received.append(head + b"\r\n\r\n" + _read_body(connection, head, rest))
                _send(connection, self._document(contact))
            except OSError:
                pass

    def _document(self, contact: Contact) -> Document:
        created = self._answer(contact) if self._answer else None
        path = contact.line.split(" ")[1].partition("?")[0] if contact.line.count(" ") == 2 else ""
        return created or self.documents.get(path) or Document(b"nothing here", "text/plain", 404)


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if ":" in host:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    listener.bind((host, port))
    listener.listen(256)
    return listener


def _read_head(connection: socket.socket) -> tuple[bytes, bytes, bytes]:
    received = b""
    while b"\r\n\r\n" not in received and len(received) < 65536:
        piece = connection.recv(65536)
        if not piece:
            break
        received += piece
    return received.partition(b"\r\n\r\n")


def _read_body(connection: socket.socket, head: bytes, rest: bytes) -> bytes:
    """Return the declared body. It is read as a whole, so that closing does not reset the connection."""
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            missing = int(line.partition(b":")[2]) - len(rest)
            while missing > 0:
                piece = connection.recv(65536)
                if not piece:
                    return rest
                rest += piece
                missing -= len(piece)
    return rest


def _send(connection: socket.socket, document: Document) -> None:
    headers = {
        "Content-Type": document.media_type,
        "Content-Length": str(len(document.body)),
        "Connection": "close",
        **document.headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
    connection.sendall(f"HTTP/1.1 {document.status} Answer\r\n{head}\r\n".encode("latin-1") + document.body)
