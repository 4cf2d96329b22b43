"""All that Tidings uses of Granian without a promise that the next version has it.

Granian starts and watches its workers itself, with a thread for each of them. Our supervisor forks its children and
must not have threads, so it needs the two halves of Granian's `serve` alone: binding the socket, and the loop of one
worker. Neither is public. `pyproject.toml` therefore allows only the minor version whose source was read
(`server/common.py` and `server/mp.py`), and `tests/test_granian.py` says what to read again before that is raised.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Any

from granian import _signals
from granian.server.mp import MPServer as Server

from tidings.settings import LogLevel

__all__ = ["Server", "bind", "logging_config", "run_worker"]


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

    On Linux it only tries the address, since each worker binds a socket of its own with SO_REUSEPORT. Elsewhere, and
    for a Unix socket, workers inherit the one that is made here.
    """
    server._init_shared_socket()  # type: ignore[no-untyped-call]


def run_worker(
    server: Server, load: Callable[[], Any], prepare: Callable[[int], None], on_stop: Callable[[], None]
) -> None:
    """Serve in the calling process until SIGTERM or SIGINT.

    load: returns the application; called before connections are accepted.
    prepare: called with the descriptor of the listening socket, if this worker has one of its own.
    on_stop: called in the event loop when the signal arrives. Granian tells the application only when all responses
    have ended.
    """

    def serve(worker_id: int, name: str, load: Any, sockets: Any, *rest: Any) -> None:
        # sockets: ((address, listener), shared). With an address, Granian would build the listener from it and offers
        # no place between that and the first connection; with a listener, it uses it as it is.
        (address, listener), shared = sockets
        if address is not None:
            listener = address.build()
            prepare(listener.get_fd())
        # The function that `serve` runs in each worker for Interfaces.ASGI. The rest are settings in an order that only
        # `_spawn_worker` knows, passed on unread.
        Server._spawn_asgi_lifespan_worker(worker_id, name, load, ((None, listener), shared), *rest)

    _signals.set_loop_signals = partial(_set_loop_signals, _signals.set_loop_signals, on_stop)
    # A worker is described as a process object of `multiprocessing` (`inner`), whose `run` does in this process what
    # `start` would do in a new one.
    server._spawn_worker(0, serve, load).inner.run()


def _set_loop_signals(set_own: Callable[[Any], Any], on_stop: Callable[[], None], loop: Any) -> Any:
    """Let signals call `on_stop`, and then do what Granian does at a signal."""
    stop = set_own(loop)

    def handle() -> None:
        on_stop()
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, handle)
    return stop
