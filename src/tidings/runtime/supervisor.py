"""What `tidings serve` runs: web workers under Granian, and pollers that are kept alive.

    tidings serve ─┬─ web worker 1 … n       spawned by Granian, share the port
                   └─ tidings worker 1 … n   each in a session of its own, started again when it ends

Ctrl-C, SIGTERM and a closed terminal reach this process only; it then stops all the others at the same time. SIGHUP
without a terminal is ignored (`hangup`).
When it is killed without a chance to do so, they notice by themselves (`lifeline`).
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

# From the wish to stop to the last process gone: less than 5 s, whatever clients and publishers are doing.
WEB_STOP_S = 3
POLLER_STOP_S = 4.0

# A connection without a complete request header for this long is closed. The server has one clock for a header that
# does not end and for a connection that rests between two requests.
HEADER_TIME_S = 10
# Open connections in one web worker; each is a file descriptor and some 10 kB. Beyond them, others wait to be accepted.
MAX_CONNECTIONS = 10_000
# Connections the kernel keeps until they are accepted; it takes less where net.core.somaxconn is lower.
BACKLOG = 4_096

FIRST_RESTART_WAIT_S = 1.0
LONGEST_RESTART_WAIT_S = 60.0
# A web worker that ran for longer than this, and than it had been waited with, is started again at once.
SHORT_RUN_S = 5.0

# Exit code of a web worker that cannot load its application: as EX_CONFIG of sysexits.h.
CANNOT_START = 78


def poller_command() -> list[str]:
    return [sys.executable, "-m", "tidings", "worker", "--stop-with", str(os.getpid())]


def _ignore(_worker: str) -> None:
    """For those who need not know that a worker ended."""


def serve(
    settings: Settings,
    *,
    application: str = WEB_APPLICATION,
    poller: Sequence[str] | None = None,
    on_ready: Callable[[], None] = lambda: None,
    on_crash: Callable[[str], None] = _ignore,
) -> int:
    """Serve until told to stop; the exit code.

    poller: the command of a process that polls, which is told its name with `--name`; None to serve web pages and the
    API only.
    on_ready: called once, as soon as a visitor would be let in.
    on_crash: called with the name of a worker that ended without having been told to. In a thread.
    """
    host = preflight.check_address(settings.listen_addr)
    connections = file_limit.raise_for(MAX_CONNECTIONS)
    # A forked child would inherit locks and connections in whatever state they are.
    multiprocessing.set_start_method("spawn", force=True)
    kept = [KeptProcess(poller, on_crash=on_crash) for _ in range(settings.worker_processes)] if poller else []
    server = WebServer(settings, application, host, connections, on_stop=partial(_ask_to_stop, kept))
    for process in kept:
        server.on_startup(process.start)
    server.on_startup(partial(_call_when_open, host, settings.listen_addr.port, on_ready))
    try:
        server.serve(target_loader=partial(_load, settings, os.getpid()))
    except SystemExit as ended:  # a web worker cannot be started at all
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

    def __init__(
        self, settings: Settings, application: str, host: str, connections: int, on_stop: Callable[[], None]
    ) -> None:
        """connections: how many may be open in one web worker at the same time."""
        super().__init__(
            application,
            address=host,
            port=settings.listen_addr.port,
            interface=Interfaces.ASGI,
            workers=settings.web_workers,
            # Found out by the first bytes, the version of HTTP would be waited for without a time limit.
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(header_read_timeout=HEADER_TIME_S * 1_000),
            websockets=False,
            backlog=BACKLOG,
            backpressure=connections,
            log_level=LogLevels.debug if settings.log_level is LogLevel.DEBUG else LogLevels.warning,
            log_dictconfig=logs.granian_config(settings.log_level),
            respawn_failed_workers=True,
            workers_kill_timeout=WEB_STOP_S,
        )
        self._on_stop = on_stop
        self._stops_on_hangup = hangup.stops_us()
        self._waits = [RestartWait() for _ in range(settings.web_workers)]
        # By web worker that is to be started again: when.
        self._due: dict[int, float] = {}

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        """Until told to stop: keep the web workers alive. In place of Granian's loop, which ends the service when one
        worker ends twice in five seconds. A worker that was never able to load the application still ends it.
        """
        while not self.interrupt_signal:
            if self._gives_up():
                return
            self._restart_due(spawn_target, target_loader)
            self.main_loop_interrupt.wait(self._rest_s())
            self.main_loop_interrupt.clear()
            if self.reload_signal:
                self.reload_signal = False
                log.info("SIGHUP ignored", hint="settings are read at the start; restart to change them")

    def _gives_up(self) -> bool:
        """Plan the restart of web workers that ended. Returns whether one of them makes it pointless."""
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
            self._due[index] = time.monotonic() + wait_s
        return False

    def _restart_due(self, spawn_target: Any, target_loader: Any) -> None:
        now = time.monotonic()
        for index in [index for index, due in self._due.items() if due <= now]:
            worker = self._spawn_worker(index, spawn_target, target_loader)
            try:
                worker.start()  # type: ignore[no-untyped-call]
            except OSError as error:
                log.error("web worker cannot be started", worker=index + 1, reason=str(error))  # noqa: TRY400
                self._due[index] = now + self._waits[index].after(0)
            else:
                self.wrks[index] = worker
                del self._due[index]

    def _rest_s(self) -> float | None:
        """Returns how long nothing is due; None as long as no web worker ends."""
        return max(0.0, min(self._due.values()) - time.monotonic()) if self._due else None

    def shutdown(self, exit_code: int = 0) -> None:
        log.info("stopping")
        self._on_stop()
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]

    def signal_handler_reload(self, *args: Any, **kwargs: Any) -> None:
        """SIGHUP: see `hangup`."""
        if self._stops_on_hangup:
            self.signal_handler_interrupt(*args, **kwargs)  # type: ignore[no-untyped-call]
        else:
            super().signal_handler_reload(*args, **kwargs)  # type: ignore[no-untyped-call]


class RestartWait:
    """How long one web worker is waited with: 0, 1, 2, 4 … 60 s, and 0 again after it ran for a while."""

    def __init__(self) -> None:
        self._last_s = self._next_s = 0.0
        self.is_first = True

    def after(self, ran_s: float) -> float:
        """Returns the seconds to wait before the next start, after a run of `ran_s` seconds."""
        if ran_s > max(SHORT_RUN_S, self._last_s):
            self._next_s = 0.0
        self.is_first = False
        self._last_s = self._next_s
        self._next_s = min(max(FIRST_RESTART_WAIT_S, self._next_s * 2), LONGEST_RESTART_WAIT_S)
        return self._last_s


def _load(settings: Settings, parent_pid: int, application: str) -> Any:
    """Runs in each web worker, first of all: the ASGI application."""
    # A session of its own: Ctrl-C would reach it past the supervisor, which would take its end for a crash.
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
    """A child process in its own session that is started again when it ends, after a growing wait.

    Each one is told a name of its own. on_crash: called with it when the child ended without having been told to.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        on_crash: Callable[[str], None] = _ignore,
        first_wait_s: float = FIRST_RESTART_WAIT_S,
        longest_wait_s: float = LONGEST_RESTART_WAIT_S,
        time_to_stop_s: float = POLLER_STOP_S,
    ) -> None:
        self._command = list(command)
        self._on_crash = on_crash
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
        name = f"{socket.gethostname()}:{secrets.token_hex(6)}"
        with self._lock:
            if self._stop_asked.is_set():
                return 0
            command = [*self._command, "--name", name]
            try:
                child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
            except OSError as error:
                return str(error)
            self._child = child
        log.debug("poller started", pid=child.pid)
        exit_code = child.wait()
        _kill_group(child.pid)  # children of its own that it left behind
        if exit_code:
            self._on_crash(name)
        return exit_code


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
