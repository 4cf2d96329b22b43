"""What `tidings serve` runs: web workers under Granian, and pollers that are kept alive.

    tidings serve ─┬─ web worker 1 … n       spawned by Granian, share the port
                   └─ tidings worker 1 … n   each in a session of its own, started again when it ends

Ctrl-C, SIGTERM and a closed terminal reach this process only; it then stops all the others at the same time.
When it is killed without a chance to do so, they notice by themselves (`lifeline`).
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import multiprocessing
import os
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
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.mp import MPServer

from tidings import lifeline, logs, preflight
from tidings.domain.errors import TidingsError
from tidings.settings import LogLevel, Settings

log = structlog.get_logger()

# Takes the settings, returns the ASGI application; called once in each web worker.
WEB_APPLICATION = "tidings.wiring:asgi_app"

# From the wish to stop to the last process gone: less than 5 s, whatever clients and publishers are doing.
WEB_STOP_S = 3
POLLER_STOP_S = 4.0

FIRST_RESTART_WAIT_S = 1.0
LONGEST_RESTART_WAIT_S = 60.0


def poller_command() -> list[str]:
    return [sys.executable, "-m", "tidings", "worker", "--stop-with", str(os.getpid())]


def serve(
    settings: Settings,
    *,
    application: str = WEB_APPLICATION,
    poller: Sequence[str] | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> int:
    """Serve until told to stop; the exit code.

    poller: the command of a process that polls; None to serve web pages and the API only.
    on_ready: called once, as soon as a visitor would be let in.
    """
    host = preflight.check_address(settings.listen_addr)
    # A forked child would inherit locks and connections in whatever state they are.
    multiprocessing.set_start_method("spawn", force=True)
    kept = [KeptProcess(poller) for _ in range(settings.worker_processes)] if poller else []
    server = WebServer(settings, application, host, on_stop=partial(_ask_to_stop, kept))
    for process in kept:
        server.on_startup(process.start)
    server.on_startup(partial(_call_when_open, host, settings.listen_addr.port, on_ready))
    try:
        server.serve(target_loader=partial(_load, settings, os.getpid()))
    except SystemExit as ended:  # Granian gave up on a worker that cannot be kept alive
        return int(ended.code or 0)
    finally:
        _ask_to_stop(kept)
        for process in kept:
            process.stop()
    log.info("stopped")
    return 0


def _ask_to_stop(kept: Sequence[KeptProcess]) -> None:
    for process in kept:
        process.ask_to_stop()


class WebServer(MPServer):
    """Granian, which tells us when it begins to stop: the poller then stops beside it, not after it."""

    def __init__(self, settings: Settings, application: str, host: str, on_stop: Callable[[], None]) -> None:
        super().__init__(
            application,
            address=host,
            port=settings.listen_addr.port,
            interface=Interfaces.ASGI,
            workers=settings.web_workers,
            websockets=False,
            log_level=LogLevels.debug if settings.log_level is LogLevel.DEBUG else LogLevels.warning,
            log_dictconfig=logs.granian_config(settings.log_level),
            respawn_failed_workers=True,
            workers_kill_timeout=WEB_STOP_S,
        )
        self._on_stop = on_stop

    def shutdown(self, exit_code: int = 0) -> None:
        log.info("stopping")
        self._on_stop()
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]

    def signal_handler_reload(self, *args: Any, **kwargs: Any) -> None:
        """A closed terminal (SIGHUP) stops us: nobody could press Ctrl-C any more."""
        self.signal_handler_interrupt(*args, **kwargs)  # type: ignore[no-untyped-call]


def _load(settings: Settings, parent_pid: int, application: str) -> Any:
    """Runs in each web worker, first of all: the ASGI application."""
    # A session of its own: Ctrl-C would reach it past the supervisor, which would take its end for a crash.
    os.setsid()
    logs.configure(settings.log_level, settings.log_format)
    lifeline.follow(parent_pid, time_to_stop_s=WEB_STOP_S)
    module, _, name = application.partition(":")
    try:
        loaded = getattr(importlib.import_module(module), name)(settings)
    except TidingsError as error:
        log.error("web worker cannot start", reason=error.message)  # noqa: TRY400  (the message says it all)
        sys.exit(1)
    except Exception:
        log.exception("web worker cannot start")
        sys.exit(1)
    # When Python takes itself apart at the end, a thread of Granian may still call into it, and then aborts the
    # process with a trace (seen in one stop of eight). All is closed by then: leave without that part.
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


class KeptProcess:
    """A child process in its own session that is started again when it ends, after a growing wait."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        first_wait_s: float = FIRST_RESTART_WAIT_S,
        longest_wait_s: float = LONGEST_RESTART_WAIT_S,
        time_to_stop_s: float = POLLER_STOP_S,
    ) -> None:
        self._command = list(command)
        self._first_wait_s = first_wait_s
        self._longest_wait_s = longest_wait_s
        self._time_to_stop_s = time_to_stop_s
        self._stop_asked = threading.Event()
        self._stop_asked_at = 0.0
        # Held while the child is started or signalled, so that none is started after the signal went out.
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep, name="keeper", daemon=True)

    def start(self) -> None:
        self._keeper.start()

    def ask_to_stop(self) -> None:
        """Returns at once; asking again changes nothing."""
        with self._lock:
            if self._stop_asked.is_set():
                return
            self._stop_asked_at = time.monotonic()
            self._stop_asked.set()
            if self._child:
                self._child.terminate()

    def stop(self) -> None:
        """Returns when the child is gone: by itself in the time it has, or killed."""
        self.ask_to_stop()
        if not self._keeper.is_alive():
            return
        self._keeper.join(max(0.0, self._stop_asked_at + self._time_to_stop_s - time.monotonic()))
        if self._keeper.is_alive() and self._child:
            log.warning("poller did not stop in time and is killed", pid=self._child.pid)
            _kill_group(self._child.pid)
            self._keeper.join(1)

    def _keep(self) -> None:
        wait_s = self._first_wait_s
        while not self._stop_asked.is_set():
            started_at = time.monotonic()
            exit_code = self._run_once()
            if self._stop_asked.is_set():
                return
            if time.monotonic() - started_at > self._longest_wait_s:
                wait_s = self._first_wait_s  # it had been well for a while
            log.error("poller ended and will be started again", exit_code=exit_code, wait_s=wait_s)
            self._stop_asked.wait(wait_s)
            wait_s = min(wait_s * 2, self._longest_wait_s)

    def _run_once(self) -> int | str:
        """Start the child and wait for its end: its exit code, or why it could not be started."""
        with self._lock:
            if self._stop_asked.is_set():
                return 0
            try:
                child = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
            except OSError as error:
                return str(error)
            self._child = child
        log.debug("poller started", pid=child.pid)
        exit_code = child.wait()
        _kill_group(child.pid)  # children of its own that it left behind
        return exit_code


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
