"""The supervisor of `tidings serve`: forks web workers and workers from one image, and restarts those that end.

    tidings serve ─┬─ web worker 1 … n   share the listening socket
                   └─ worker 1 … n       all but the first of each on demand, unless their number was chosen

This process has imported everything and opened nothing but the listening socket: no database, no thread. A child
process shares its memory until one of them writes to it, and starts in milliseconds. Ctrl-C, SIGTERM and a closed
terminal reach this process only; it then stops all others at the same time. SIGHUP without a terminal (`hangup`) has
the certificate read again, and replaces the web workers one by one (`web_child`); without a certificate it is ignored.
If this process is killed, the others stop by themselves (`parent_watch`).
"""

from __future__ import annotations

import gc
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from multiprocessing import connection
from typing import Any

import structlog

from tidings.base.errors import StartError, TidingsError
from tidings.runtime import children, file_limit, hangup, preflight
from tidings.runtime.children import Child, RestartWait
from tidings.runtime.demand import Demand, WorkerLifetime
from tidings.runtime.notify import ServiceManager
from tidings.runtime.web_child import WebChild
from tidings.runtime.web_group import WebGroup
from tidings.runtime.web_process import WebServer
from tidings.settings import Settings

log = structlog.get_logger()

# Time to stop after a signal: all processes end in less than 5 s, even while publishers hang.
WORKER_STOP_S = 4.0

# Open connections of one web worker; each is a file descriptor and about 10 kB. Further ones wait to be accepted.
MAX_CONNECTIONS = 10_000


def _ignore(_worker: str) -> None:
    """The default of `on_crash`."""


def serve(
    settings: Settings,
    *,
    application: Callable[[Settings], Any],
    worker: Callable[[str, WorkerLifetime], int] | None = None,
    workers_on_demand: bool = False,
    web_on_demand: bool = False,
    on_ready: Callable[[], None] = lambda: None,
    on_crash: Callable[[str], None] = _ignore,
) -> int:
    """Serve until a signal stops the service, and return the exit code.

    application: returns the ASGI application; called once in each web worker.
    worker: runs a worker of the given name until SIGTERM, and returns its exit code; None for web pages and API only.
    workers_on_demand: start with one worker, and start the others when one asks for more.
    web_on_demand: start with one web worker, and start others while requests wait.
    on_ready: called once, as soon as the port accepts connections.
    on_crash: called in a process of its own with the name of a worker that ended by itself.
    """
    host = preflight.check_listening(settings)
    server = WebServer(settings, host, file_limit.raise_for(MAX_CONNECTIONS))
    load = partial(_load, application, settings)
    web = _web_group(server, load, settings.web_workers, on_demand=web_on_demand)
    demand = Demand()
    workers = [
        _worker_child(worker, on_crash, server, demand, on_demand=workers_on_demand and number > 0)
        for number in range(settings.worker_processes if worker else 0)
        if worker
    ]
    # The collector would write to the memory that the children share.
    gc.collect()
    gc.freeze()
    supervisor = Supervisor(server, web, workers, on_ready, ServiceManager.of_this_process(), demand)
    exit_code = supervisor.run()
    log.info("stopped")
    return exit_code


def _load(application: Callable[[Settings], Any], settings: Settings) -> Any:
    try:
        return application(settings)
    except TidingsError as error:
        log.error("web worker cannot start", reason=error.message)  # noqa: TRY400  (the message says it all)
    except Exception:
        log.exception("web worker cannot start")
    sys.exit(children.CANNOT_START)


def _web_group(server: WebServer, load: Callable[[], Any], count: int, *, on_demand: bool) -> WebGroup:
    demand = Demand()
    children = [
        WebChild(number, server, load, ask_for_more=demand.ask, on_demand=on_demand and number > 0)
        for number in range(count)
    ]
    return WebGroup(children, server.board, demand)


def _worker_child(
    worker: Callable[[str, WorkerLifetime], int],
    on_crash: Callable[[str], None],
    server: WebServer,
    demand: Demand,
    *,
    on_demand: bool,
) -> Child:
    wait = RestartWait(first_s=children.FIRST_RESTART_WAIT_S, long_run_s=children.MAX_RESTART_WAIT_S)
    lifetime = WorkerLifetime(demand.ask, ends_when_idle=on_demand)

    def run(name: str) -> int:
        server.close_listener()
        return worker(name, lifetime)

    def follow_up(name: str) -> None:
        server.close_listener()
        on_crash(name)

    return Child("worker", run, time_to_stop_s=WORKER_STOP_S, wait=wait, on_crash=follow_up, on_demand=on_demand)


class Supervisor:
    """Starts children, restarts them, and stops them at a signal. It has one thread, so it may fork at any time."""

    def __init__(
        self,
        server: WebServer,
        web: WebGroup,
        workers: Sequence[Child],
        on_ready: Callable[[], None],
        manager: ServiceManager,
        demand: Demand,
    ) -> None:
        """Prepare to supervise; nothing runs yet."""
        self._manager = manager
        self._demand = demand
        self._server = server
        self._web = web
        self._workers = workers
        self._children = [*web.children, *workers]
        self._to_replace = deque[WebChild]()
        self._on_ready = on_ready
        self._is_ready = False
        self._stops_on_hangup = hangup.stops_process()
        self._got_stop = self._got_hangup = False

    def run(self) -> int:
        """Run until a signal, and return the exit code."""
        with self._signals() as wakeup:
            try:
                exit_code = self._supervise(wakeup)
            finally:
                self._stop()
        return exit_code

    def _supervise(self, wakeup: socket.socket) -> int:
        while not self._got_stop:
            self._adjust_numbers()
            for child in self._children:
                child.update(time.monotonic())
                if child.cannot_start:
                    return 1
            if self._web.is_down:
                # Clients and proxies are to hear immediately that nobody answers.
                self._server.close_listener()
            if not self._is_ready and self._web.has_started:
                self._is_ready = True
                self._on_ready()
                self._manager.ready("Serving")
            if self._is_ready:
                self._manager.ping()
            if self._got_hangup:
                self._got_hangup = False
                self._reload()
            if self._to_replace and not any(child.is_being_replaced for child in self._web.children):
                self._to_replace.popleft().replace()
            self._wait(wakeup)
        return 0

    def _adjust_numbers(self) -> None:
        """Let processes start that were asked for, and end those that are not needed."""
        if self._demand.take():
            for child in self._workers:
                child.start_if_resting()
        self._web.adjust(time.monotonic())

    def _reload(self) -> None:
        """Read the certificate again, and have the web workers replaced if it can be used."""
        if not self._server.has_certificate:
            log.info("SIGHUP ignored", hint="settings are read at the start; restart to change them")
            return
        try:
            expires_at = self._server.reload_certificate()
        except StartError as error:
            log.error("certificate not reloaded, the old one stays", reason=error.message)  # noqa: TRY400
            return
        log.info("certificate reloaded", expires_at=expires_at)
        self._to_replace = deque(self._web.children)

    def _wait(self, wakeup: socket.socket) -> None:
        """Return when a child ends, is due to be restarted, or asks for more, or when a signal arrives."""
        now = time.monotonic()
        waits = [self._web.wait_s(now), *(child.wait_s(now) for child in self._children)]
        waits += [self._manager.ping_s] if self._is_ready else []
        ends = [sentinel for child in self._children for sentinel in child.sentinels()]
        connection.wait(
            [wakeup, self._demand.fileno(), self._web.demand.fileno(), *ends],
            min((wait for wait in waits if wait is not None), default=None),
        )
        with suppress(BlockingIOError):
            wakeup.recv(4096)

    def _stop(self) -> None:
        log.info("stopping")
        self._manager.stopping()
        for child in self._children:
            child.request_stop()
        self._server.close_listener()
        for child in sorted(self._children, key=lambda child: child.time_to_stop_s):
            child.stop()

    @contextmanager
    def _signals(self) -> Iterator[socket.socket]:
        """Handle signals; yields a socket that is readable after each."""
        receiver, sender = socket.socketpair()
        receiver.setblocking(False)
        sender.setblocking(False)
        handlers: dict[signal.Signals, Any] = {
            signal.SIGTERM: self._request_stop,
            signal.SIGINT: self._request_stop,
            signal.SIGHUP: self._request_stop if self._stops_on_hangup else self._note_hangup,
        }
        with closing(receiver), closing(sender):
            previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
            signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
            try:
                yield receiver
            finally:
                signal.set_wakeup_fd(-1)
                for number, handler in previous.items():
                    signal.signal(number, handler)

    def _request_stop(self, *_: object) -> None:
        self._got_stop = True

    def _note_hangup(self, *_: object) -> None:
        self._got_hangup = True
