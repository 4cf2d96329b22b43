"""A network between a browser and the service: a TCP relay on loopback that can be cut.

    with Relay(service.url) as network:
        page.goto(network.url)
        network.cut()        # connections are reset, and new ones refused
        network.mend()
        network.lose_answer()    # cut as soon as the service answers a POST: it has received the request

Unlike the offline mode of a browser's developer tools, it also concerns service workers.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from support.ports import free_port

_CHUNK: Final = 65_536


class Relay:
    def __init__(self, url: str) -> None:
        target = urlsplit(url)
        self._target = (target.hostname, target.port)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._loses_answers = False
        self._listener: socket.socket | None = None
        self.requests: list[str] = []
        """Method and path of each, of browsers that wait for an answer before they ask again."""
        self._port = free_port()

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def mend(self) -> None:
        """Listen, on the same port as before."""
        listener = socket.create_server(("127.0.0.1", self._port), backlog=128)
        self._loses_answers = False
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self) -> None:
        """Reset all connections, and refuse new ones."""
        if self._listener is not None:
            _close(self._listener)
            self._listener = None
        with self._lock:
            cut, self._open = self._open, set()
        for one in cut:
            _close(one)

    def lose_answer(self) -> None:
        """Pass requests on; cut when the first answer to a POST arrives, and pass nothing of it on."""
        self._loses_answers = True

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _address = listener.accept()
                server = socket.create_connection(self._target)
                with self._lock:
                    is_cut = self._listener is not listener
                    self._open |= set() if is_cut else {client, server}
                if is_cut:
                    _close(client)
                    _close(server)
                    return
                has_posted = threading.Event()
                for source, sink, is_answer in ((client, server, False), (server, client, True)):
                    copied = (source, sink, is_answer, has_posted)
                    threading.Thread(target=self._copy, args=copied, daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket, is_answer: bool, has_posted: threading.Event) -> None:
        """has_posted: whether the last request of the connection is a POST."""
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                if not is_answer and b" HTTP/1.1\r\n" in data:
                    self.requests.append(data.partition(b" HTTP/1.1\r\n")[0].decode("latin-1"))
                if is_answer and has_posted.is_set() and self._loses_answers:
                    self.cut()
                    return
                if not is_answer and data.startswith((b"GET ", b"HEAD ")):
                    has_posted.clear()
                elif not is_answer and data.startswith(b"POST "):
                    has_posted.set()
                sink.sendall(data)
        for one in (source, sink):
            _close(one)
            with self._lock:
                self._open.discard(one)

    def __enter__(self) -> Self:
        self.mend()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()


def _close(one: socket.socket) -> None:
    # Closing alone does not wake a thread that waits for the socket.
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
