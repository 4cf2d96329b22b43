"""All that Tidings uses of Granian without a promise that the next version has it.

Granian starts and watches its workers itself, with a thread for each of them. Our supervisor forks its children and
must not have threads, so it needs the two halves of Granian's `serve` alone: binding the socket, and the loop of one
worker. Neither is public. `pyproject.toml` therefore allows only the minor version whose source was read
(`server/common.py` and `server/mp.py`), and `tests/test_granian.py` says what to read again before that is raised.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from granian import _signals
from granian._granian import SocketHolder
from granian.server.mp import MPServer as Server

from tidings.settings import LogLevel

__all__ = [
    "Handlers",
    "Server",
    "SocketHolder",
    "bind",
    "bound_socket",
    "logging_config",
    "run_worker",
    "set_certificate",
]


def logging_config(level: LogLevel) -> dict[str, Any]:
    """Return the logging configuration for all of Granian's processes: lines go where `logs.configure` says.

    Granian merges it with its own, which has a handler for each of these two loggers. Their names are not documented;
    under another name, its lines would be printed next to ours and in another form.
    """
    granian_level = "DEBUG" if level is LogLevel.DEBUG else "WARNING"
    propagate = {"handlers": [], "level": granian_level, "propagate": True}
    return {"formatters": {}, "handlers": {}, "loggers": {"_granian": propagate, "granian.access": propagate}}


def bind(server: Server) -> None:
    """Let a server take its address: what the public `serve` does before it starts workers.

    On Linux it only tries the address, since each worker has a socket of its own with SO_REUSEPORT. Elsewhere, and for
    a Unix socket, all share the one that is made here.
    """
    server._init_shared_socket()  # type: ignore[no-untyped-call]


def bound_socket(server: Server) -> tuple[SocketHolder, int]:
    """Return a socket for a worker, and a descriptor that the caller has to close.

    The socket is the worker's own, or, where that is not possible, the one that all share.
    """
    private: Any = server
    if private._ssp is None:
        shared: SocketHolder = private._shd
        return shared, os.dup(shared.get_fd())
    # Granian never closes a socket that it has built.
    own: SocketHolder = private._ssp.build()
    return own, own.get_fd()


def set_certificate(server: Server, certificate: Path, key: Path) -> None:
    """Let workers that are started from now on serve TLS with this certificate. Each reads the files when it starts."""
    private: Any = server
    _is_tls, _certificate, _key, *rest = private.ssl_ctx
    private.ssl_ctx = (True, str(certificate), str(key), *rest)


@dataclass(frozen=True)
class Handlers:
    """What a worker calls in its event loop.

    on_started: its signals are handled from here on; it accepts connections immediately afterwards.
    on_drain: SIGUSR1 arrived.
    on_stop: SIGTERM or SIGINT arrived. Granian tells the application only when all responses have ended.
    """

    on_started: Callable[[], None]
    on_drain: Callable[[], None]
    on_stop: Callable[[], None]


def run_worker(server: Server, load: Callable[[], Any], listener: SocketHolder, handlers: Handlers) -> None:
    """Serve in the calling process until SIGTERM or SIGINT.

    load: returns the application; called before connections are accepted.
    listener: as `bound_socket` returns it.
    """

    def serve(worker_id: int, name: str, load: Any, sockets: Any, *rest: Any) -> None:
        # sockets: ((address, listener), shared). With an address, Granian would build a listener from it; with a
        # listener, it uses it as it is. The function is the one that `serve` runs in each worker for Interfaces.ASGI,
        # and the rest are settings in an order that only `_spawn_worker` knows, passed on unread.
        Server._spawn_asgi_lifespan_worker(worker_id, name, load, ((None, listener), sockets[1]), *rest)

    _signals.set_loop_signals = partial(_set_loop_signals, _signals.set_loop_signals, handlers)
    # A worker is described as a process object of `multiprocessing` (`inner`), whose `run` does in this process what
    # `start` would do in a new one.
    server._spawn_worker(0, serve, load).inner.run()


def _set_loop_signals(set_own: Callable[[Any], Any], handlers: Handlers, loop: Any) -> Any:
    """Let signals call the handlers, and then do what Granian does at a signal."""
    stop = set_own(loop)

    def handle() -> None:
        handlers.on_stop()
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, handle)
    loop.add_signal_handler(signal.SIGUSR1, handlers.on_drain)
    handlers.on_started()
    return stop
