"""Child processes of the supervisor: forked, restarted after a growing wait, and stopped in time.

A fork copies only the thread that forks, so that locks of other threads would stay locked in the child: a process that
forks must have one thread and no open connections.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import structlog

from tidings.runtime import allocator, parent_watch

log = structlog.get_logger()

FORK = multiprocessing.get_context("fork")

FIRST_RESTART_WAIT_S = 1.0
MAX_RESTART_WAIT_S = 60.0
# Exit code of a child that will never be able to start: as EX_CONFIG of sysexits.h.
CANNOT_START = 78

# A child that ran for longer than this, and than the last wait, begins again with the first wait.
SHORT_RUN_S = 5.0

HANDLED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Where Linux keeps the name of a process, as `ps -e` and `top` show it.
PROCESS_NAME = Path("/proc/self/comm")
MAX_NAME_LENGTH = 15


class RestartWait:
    """The wait before each restart of one child: the first, 1, 2, 4 … 60 s, and the first again after a long run."""

    def __init__(self, *, first_s: float = 0.0, long_run_s: float = SHORT_RUN_S) -> None:
        self._first_s = self._last_s = self._next_s = first_s
        self._long_run_s = long_run_s

    def after(self, ran_s: float) -> float:
        """Return the seconds to wait before the next start, after a run of `ran_s` seconds."""
        if ran_s > max(self._long_run_s, self._last_s):
            self._next_s = self._first_s
        self._last_s = self._next_s
        self._next_s = min(max(FIRST_RESTART_WAIT_S, self._next_s * 2), MAX_RESTART_WAIT_S)
        return self._last_s


class Child:
    """A child process in its own session, which is forked again when it ends."""

    def __init__(
        self,
        role: str,
        body: Callable[[str], int],
        *,
        time_to_stop_s: float,
        wait: RestartWait | None = None,
        on_crash: Callable[[str], None] | None = None,
        on_demand: bool = False,
    ) -> None:
        """Prepare a child process; nothing runs yet.

        body: called in the child with a new name; returns the exit code, and ends at SIGTERM.

        on_crash: called in another child process with the name of one that ended by itself.
        on_demand: started by `start_if_resting` only, and not restarted after the exit code 0.
        """
        self.time_to_stop_s = time_to_stop_s
        self.cannot_start = False
        self._role = role
        self._body = body
        self._wait = wait or RestartWait()
        self._on_crash = on_crash
        self._process: BaseProcess | None = None
        self._follow_ups: list[BaseProcess] = []
        self._starts = 0
        self._name = ""
        self._started_at = 0.0
        self.is_on_demand = on_demand
        self._start_at: float | None = None if on_demand else 0.0
        self._stop_at = 0.0

    def update(self, now: float) -> None:
        """Notice an end and schedule the restart; start the process when that is due.

        A process that cannot start at all is not restarted, and `cannot_start` is set.
        """
        if self._process and not self._process.is_alive():
            self._ended(self._process, now)
        self._follow_ups = [process for process in self._follow_ups if process.is_alive()]
        if self._start_at is not None and self._start_at <= now:
            self._start(now)

    @property
    def is_running(self) -> bool:
        """Whether its process has been started, and has not been seen to end."""
        return self._process is not None

    def start_if_resting(self) -> bool:
        """Let the next `update` start a process on demand. Returns False if it runs or waits for a restart."""
        is_resting = self.is_on_demand and self._process is None and self._start_at is None
        if is_resting:
            self._start_at = 0.0
        return is_resting

    def sentinels(self) -> list[int]:
        """Return file descriptors that become readable when a process ends."""
        return [process.sentinel for process in [self._process, *self._follow_ups] if process]

    def wait_s(self, now: float) -> float | None:
        """Return the seconds until the next start, or None while the process runs."""
        return None if self._start_at is None else max(0.0, self._start_at - now)

    def request_stop(self) -> None:
        """Send SIGTERM and return immediately; the process is not started again."""
        self._start_at = None
        self._stop_at = time.monotonic() + self.time_to_stop_s
        if self._process:
            self._process.terminate()

    def stop(self) -> None:
        """Return when the process has ended; it is killed if it does not stop in time."""
        if self._process:
            self._await_end(self._process)

    def _await_end(self, process: BaseProcess) -> None:
        process.join(max(0.0, self._stop_at - time.monotonic()))
        if process.is_alive():
            log.warning("process did not stop in time and is killed", role=self._role, pid=process.pid)
            process.kill()
        kill_session(process)
        process.join(1)

    def _forked(self) -> BaseProcess:
        """Return a new process that runs the body. Raises OSError."""
        self._name = f"{socket.gethostname()}:{secrets.token_hex(6)}"
        body = partial(_run, self._role, partial(self._body, self._name), os.getpid(), self.time_to_stop_s)
        process = FORK.Process(target=body)
        _fork(process)
        return process

    def _start(self, now: float) -> None:
        try:
            process = self._forked()
        except OSError as error:
            wait_s = self._wait.after(0)
            log.error("process cannot be started", role=self._role, reason=str(error), wait_s=wait_s)  # noqa: TRY400
            self._start_at = now + wait_s
            return
        log.debug("process started", role=self._role, pid=process.pid)
        self._process, self._started_at, self._start_at = process, now, None
        self._starts += 1

    def _ended(self, process: BaseProcess, now: float) -> None:
        kill_session(process)  # in case it left children behind
        self._process = None
        # One that is started later than the others does not end the service that they run.
        if process.exitcode == CANNOT_START and self._starts == 1 and not self.is_on_demand:
            self.cannot_start = True
            return
        if self.is_on_demand and process.exitcode == 0:
            log.debug("process ended until it is needed again", role=self._role)
            return
        wait_s = self._wait.after(now - self._started_at)
        log.error("process ended and will be started again", role=self._role, exit_code=process.exitcode, wait_s=wait_s)
        self._start_at = now + wait_s
        if process.exitcode and self._on_crash:
            follow_up = FORK.Process(target=_without_handlers, args=(partial(self._on_crash, self._name),), daemon=True)
            with suppress(OSError):
                _fork(follow_up)
                self._follow_ups.append(follow_up)


def run_once(command: Callable[[], int]) -> int:
    """Run a command in a child process and return its exit code, so that what it opens and imports ends with it."""
    parent_pid = os.getpid()

    def run() -> None:
        parent_watch.follow(parent_pid)
        sys.exit(command())

    process = FORK.Process(target=run)
    process.start()
    process.join()
    return process.exitcode or 0


def _fork(process: BaseProcess) -> None:
    """Start the process. Signals wait until it is started, so that the child never runs handlers of its parent."""
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)


def _run(role: str, body: Callable[[], int], parent_pid: int, time_to_stop_s: float) -> None:
    # In its own session, or Ctrl-C would end the child directly, and the supervisor would report a crash.
    os.setsid()
    with suppress(OSError):
        PROCESS_NAME.write_text(f"tidings {role}"[:MAX_NAME_LENGTH], encoding="ascii")
    parent_watch.follow(parent_pid, time_to_stop_s=time_to_stop_s)
    allocator.keep_trimming()
    _without_handlers(lambda: sys.exit(body()))


def _without_handlers(body: Callable[[], None]) -> None:
    signal.set_wakeup_fd(-1)
    for number in HANDLED:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)
    body()


def kill_session(process: BaseProcess) -> None:
    """Kill a process that ended or has to, and what it started."""
    if process.pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
