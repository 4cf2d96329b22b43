"""The supervisor of `tidings serve`: runs web workers under Granian, and worker processes that it restarts.

    tidings serve ─┬─ web worker 1 … n       spawned by Granian, share the port
                   └─ tidings worker 1 … n   each in its own session, restarted when it ends

Ctrl-C, SIGTERM and a closed terminal reach this process only; it then stops all others at the same time. SIGHUP
without a terminal is ignored (`hangup`). If this process is killed, the others stop by themselves (`parent_watch`).
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import multiprocessing
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import structlog
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from tidings.domain.errors import TidingsError
from tidings.runtime import file_limit, hangup, logs, parent_watch, preflight
from tidings.settings import LogLevel, Settings

log = structlog.get_logger()

# Takes the settings, returns the ASGI application; called once in each web worker.
WEB_APPLICATION = "tidings.wiring:asgi_app"

# Time to stop after a signal: all processes end in less than 5 s, even while clients or publishers hang.
WEB_STOP_S = 3
WORKER_STOP_S = 4.0

# A connection without a complete request header for this long is closed. Granian has one timeout for an incomplete
# header and for a connection that is idle between two requests.
HEADER_TIMEOUT_S = 10
# Open connections of one web worker; each is a file descriptor and about 10 kB. Further ones wait to be accepted.
MAX_CONNECTIONS = 10_000
# Connections that the kernel queues until they are accepted; fewer if net.core.somaxconn is lower.
BACKLOG = 4_096

FIRST_RESTART_WAIT_S = 1.0
MAX_RESTART_WAIT_S = 60.0
# A web worker that ran for longer than this, and than the last wait, is restarted at once.
SHORT_RUN_S = 5.0

# Exit code of a web worker that cannot load its application: as EX_CONFIG of sysexits.h.
CANNOT_START = 78


def worker_command() -> list[str]:
    """Returns the command of a worker process that stops when this process ends."""
    return [sys.executable, "-m", "tidings", "worker", "--stop-with", str(os.getpid())]


def _ignore(_worker: str) -> None:
    """The default of `on_crash`."""


def serve(
    settings: Settings,
    *,
    application: str = WEB_APPLICATION,
    worker: Sequence[str] | None = None,
    on_ready: Callable[[], None] = lambda: None,
    on_crash: Callable[[str], None] = _ignore,
) -> int:
    """Serve until a signal stops the service, and return the exit code.

    worker: the command of a worker process, which gets `--name` in addition; None for web pages and API only.
    on_ready: called once, in a thread, as soon as the port accepts connections.
    on_crash: called in a thread with the name of a worker that ended by itself.
    """
    host = preflight.check_url(settings.listen_addr)
    connections = file_limit.raise_for(MAX_CONNECTIONS)
    # A forked child would inherit locks and connections in an undefined state.
    multiprocessing.set_start_method("spawn", force=True)
    workers = [RestartedProcess(worker, on_crash=on_crash) for _ in range(settings.worker_processes)] if worker else []
    server = WebServer(settings, application, host, connections, on_stop=partial(_request_stop, workers))
    for process in workers:
        server.on_startup(process.start)
    server.on_startup(partial(_call_when_open, host, settings.listen_addr.port, on_ready))
    try:
        server.serve(target_loader=partial(_load, settings, os.getpid()))
    except SystemExit as ended:  # a web worker cannot be started at all
        return int(ended.code or 0)
    finally:
        _request_stop(workers)
        for process in workers:
            process.stop()
    log.info("stopped")
    return 0


def _request_stop(workers: Sequence[RestartedProcess]) -> None:
    for process in workers:
        process.request_stop()


class WebServer(MPServer):
    """Granian with its own restart policy. It calls `on_stop` first, so that workers stop at the same time."""

    def __init__(
        self, settings: Settings, application: str, host: str, connections: int, on_stop: Callable[[], None]
    ) -> None:
        """connections: most open connections of one web worker."""
        super().__init__(
            application,
            address=host,
            port=settings.listen_addr.port,
            interface=Interfaces.ASGI,
            workers=settings.web_workers,
            # HTTPModes.auto would wait for the first bytes without a timeout.
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(header_read_timeout=HEADER_TIMEOUT_S * 1_000),
            websockets=False,
            backlog=BACKLOG,
            backpressure=connections,
            log_level=LogLevels.debug if settings.log_level is LogLevel.DEBUG else LogLevels.warning,
            log_dictconfig=logs.granian_config(settings.log_level),
            respawn_failed_workers=True,
            workers_kill_timeout=WEB_STOP_S,
        )
        self._on_stop = on_stop
        self._stops_on_hangup = hangup.stops_process()
        self._waits = [RestartWait() for _ in range(settings.web_workers)]
        # When to restart web workers that ended, by their index.
        self._restart_at: dict[int, float] = {}

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        """Restart web workers that end, until the service stops.

        Replaces Granian's loop, which ends the service when a worker ends twice in five seconds. Here only a worker
        that cannot load the application at its first start ends the service.
        """
        while not self.interrupt_signal:
            if self._cannot_start():
                return
            self._restart_due(spawn_target, target_loader)
            self.main_loop_interrupt.wait(self._next_restart_s())
            self.main_loop_interrupt.clear()
            if self.reload_signal:
                self.reload_signal = False
                log.info("SIGHUP ignored", hint="settings are read at the start; restart to change them")

    def _cannot_start(self) -> bool:
        """Schedule the restart of web workers that ended. Returns True if one could not load the application."""
        for index in list(self.interrupt_children):
            ended, wait = self.wrks[index], self._waits[index]
            exit_code = ended.inner.exitcode
            if exit_code == CANNOT_START and wait.is_first:
                return True
            self.interrupt_children.remove(index)
            wait_s = wait.after(time.monotonic() - ended.birth)
            log.error(
                "web worker ended and will be started again", worker=index + 1, exit_code=exit_code, wait_s=wait_s
            )
            self._restart_at[index] = time.monotonic() + wait_s
        return False

    def _restart_due(self, spawn_target: Any, target_loader: Any) -> None:
        now = time.monotonic()
        for index in [index for index, due in self._restart_at.items() if due <= now]:
            worker = self._spawn_worker(index, spawn_target, target_loader)
            try:
                worker.start()  # type: ignore[no-untyped-call]
            except OSError as error:
                log.error("web worker cannot be started", worker=index + 1, reason=str(error))  # noqa: TRY400
                self._restart_at[index] = now + self._waits[index].after(0)
            else:
                self.wrks[index] = worker
                del self._restart_at[index]

    def _next_restart_s(self) -> float | None:
        """Returns the seconds until the next restart, or None if none is scheduled."""
        return max(0.0, min(self._restart_at.values()) - time.monotonic()) if self._restart_at else None

    def shutdown(self, exit_code: int = 0) -> None:
        log.info("stopping")
        self._on_stop()
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]

    def signal_handler_reload(self, *args: Any, **kwargs: Any) -> None:
        """Handle SIGHUP as `hangup` describes."""
        if self._stops_on_hangup:
            self.signal_handler_interrupt(*args, **kwargs)  # type: ignore[no-untyped-call]
        else:
            super().signal_handler_reload(*args, **kwargs)  # type: ignore[no-untyped-call]


class RestartWait:
    """The wait before each restart of one web worker: 0, 1, 2, 4 … 60 s, and 0 again after it ran for a while."""

    def __init__(self) -> None:
        self._last_s = self._next_s = 0.0
        self.is_first = True

    def after(self, ran_s: float) -> float:
        """Returns the seconds to wait before the next start, after a run of `ran_s` seconds."""
        if ran_s > max(SHORT_RUN_S, self._last_s):
            self._next_s = 0.0
        self.is_first = False
        self._last_s = self._next_s
        self._next_s = min(max(FIRST_RESTART_WAIT_S, self._next_s * 2), MAX_RESTART_WAIT_S)
        return self._last_s


def _load(settings: Settings, parent_pid: int, application: str) -> Any:
    """Load the ASGI application and return it. Granian calls this first in each web worker."""
    # In its own session, or Ctrl-C would end the web worker directly, and the supervisor would report a crash.
    os.setsid()
    logs.configure(settings.log_level, settings.log_format)
    parent_watch.follow(parent_pid, time_to_stop_s=WEB_STOP_S)
    module, _, name = application.partition(":")
    try:
        loaded = getattr(importlib.import_module(module), name)(settings)
    except TidingsError as error:
        log.error("web worker cannot start", reason=error.message)  # noqa: TRY400  (the message says it all)
        sys.exit(CANNOT_START)
    except Exception:
        log.exception("web worker cannot start")
        sys.exit(CANNOT_START)
    # While Python finalizes, a thread of Granian may still call into it and abort the process with a trace (seen in one
    # stop of eight). Everything is closed by then, so skip the finalization.
    atexit.register(os._exit, 0)
    return loaded


def _call_when_open(host: str, port: int, on_ready: Callable[[], None]) -> None:
    reachable = {"::": "::1", "0.0.0.0": "127.0.0.1"}.get(host, host)  # noqa: S104

    def wait() -> None:
        while True:
            with contextlib.suppress(OSError), socket.create_connection((reachable, port), timeout=1):
                break
            time.sleep(0.05)
        on_ready()

    threading.Thread(target=wait, name="ready", daemon=True).start()


class RestartedProcess:
    """A child process in its own session that is restarted when it ends, after a growing wait.

    command: gets `--name` with a new name at each start. on_crash: called with the name if the child ended by itself.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        on_crash: Callable[[str], None] = _ignore,
        first_wait_s: float = FIRST_RESTART_WAIT_S,
        max_wait_s: float = MAX_RESTART_WAIT_S,
        time_to_stop_s: float = WORKER_STOP_S,
    ) -> None:
        self._command = list(command)
        self._on_crash = on_crash
        self._first_wait_s = first_wait_s
        self._max_wait_s = max_wait_s
        self._time_to_stop_s = time_to_stop_s
        self._stopping = threading.Event()
        self._stopping_since = 0.0
        # Held while the child is started or signalled, so that none is started after the signal was sent.
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="restart", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def request_stop(self) -> None:
        """Send SIGTERM to the child and return at once. Repeating it does nothing."""
        with self._lock:
            if self._stopping.is_set():
                return
            self._stopping_since = time.monotonic()
            self._stopping.set()
            if self._child:
                self._child.terminate()

    def stop(self) -> None:
        """Stop the child and return when it has ended; it is killed if it does not stop in time."""
        self.request_stop()
        if not self._thread.is_alive():
            return
        self._thread.join(max(0.0, self._stopping_since + self._time_to_stop_s - time.monotonic()))
        if self._thread.is_alive() and self._child:
            log.warning("worker did not stop in time and is killed", pid=self._child.pid)
            _kill_group(self._child.pid)
            self._thread.join(1)

    def _run(self) -> None:
        wait_s = self._first_wait_s
        while not self._stopping.is_set():
            started_at = time.monotonic()
            exit_code = self._run_once()
            if self._stopping.is_set():
                return
            if time.monotonic() - started_at > self._max_wait_s:
                wait_s = self._first_wait_s
            log.error("worker ended and will be started again", exit_code=exit_code, wait_s=wait_s)
            self._stopping.wait(wait_s)
            wait_s = min(wait_s * 2, self._max_wait_s)

    def _run_once(self) -> int | str:
        """Start the child and wait for its end. Returns its exit code, or why it could not be started."""
        name = f"{socket.gethostname()}:{secrets.token_hex(6)}"
        with self._lock:
            if self._stopping.is_set():
                return 0
            command = [*self._command, "--name", name]
            try:
                child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
            except OSError as error:
                return str(error)
            self._child = child
        log.debug("worker started", pid=child.pid)
        exit_code = child.wait()
        _kill_group(child.pid)  # in case it left children behind
        if exit_code:
            self._on_crash(name)
        return exit_code


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
