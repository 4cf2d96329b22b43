"""An IMAP server for what a real one cannot be made to do: it answers each command with what the test wrote."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

# Takes the tag and the command, and returns what is sent; None to close the connection.
Script = Callable[[bytes, bytes], bytes | None]

# The first byte of a handshake (RFC 8446, section 5.1).
_TLS = b"\x16"


def usual(tag: bytes, command: bytes) -> bytes:
    """Answer as a server with one message of 120 bytes does, up to its content."""
    if command.startswith(b"CAPABILITY"):
        return b"* CAPABILITY IMAP4rev1\r\n" + tag + b" OK done\r\n"
    if command.startswith(b"EXAMINE"):
        return b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 2] x\r\n" + tag + b" OK [READ-ONLY] done\r\n"
    if command.startswith(b"UID SEARCH"):
        return b"* SEARCH 1\r\n" + tag + b" OK done\r\n"
    if b"RFC822.SIZE" in command:
        return b"* 1 FETCH (UID 1 RFC822.SIZE 120)\r\n" + tag + b" OK done\r\n"
    return tag + b" OK done\r\n"


@contextmanager
def speaker(script: Script, greeting: bytes = b"* OK ready\r\n") -> Iterator[int]:
    """Run the server, and yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, script, greeting), daemon=True)
        thread.start()
        yield int(listener.getsockname()[1])
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        thread.join(60)


def _serve(listener: socket.socket, script: Script, greeting: bytes) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                _converse(connection, script, greeting)


def _converse(connection: socket.socket, script: Script, greeting: bytes) -> None:
    connection.sendall(greeting)
    with connection.makefile("rb") as stream:
        # A client that begins TLS would wait for an answer until its patience ends.
        while stream.peek(1)[:1] != _TLS and (line := stream.readline()):
            tag, _, command = line.rstrip(b"\r\n").partition(b" ")
            answer = script(tag, command)
            if answer is None:
                return
            connection.sendall(answer)
