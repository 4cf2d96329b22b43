"""How a worker asks the supervisor for more workers: one byte through a socket that they inherit."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct


class Demand:
    """Made by the supervisor before it forks. A byte in the socket means that more workers are needed."""

    def __init__(self) -> None:
        self._receiver, self._sender = socket.socketpair()
        self._receiver.setblocking(False)
        self._sender.setblocking(False)

    def ask(self) -> None:
        """Ask for more workers. A full socket already means the same."""
        with suppress(OSError):
            self._sender.send(b".")

    def fileno(self) -> int:
        """Return the descriptor that is readable after `ask`."""
        return self._receiver.fileno()

    def take(self) -> bool:
        """Return whether a worker asked since the last call."""
        with suppress(BlockingIOError):
            return bool(self._receiver.recv(4096))
        return False


class WorkerLifetime(Struct, frozen=True):
    """When a worker asks for others, and when it ends."""

    ask_for_more: Callable[[], None] = lambda: None
    """Called while more is due than it can begin."""
    ends_when_idle: bool = False
    """Whether it ends by itself, with exit code 0, when it was not needed for a while."""
