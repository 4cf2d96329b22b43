"""A web worker below the supervisor, which can be replaced, or ended, without losing a request.

    running ──► successor starts ──► successor has started ──► drained ──► SIGTERM ──► ended
       │        both accept from one socket                    (SIGUSR1)
       └──────► not needed any more ───────────────────────────────▲

The listening socket belongs to the supervisor and all web workers, so that it is never closed and the connections in
its queue are not lost.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any

import structlog

from tidings.runtime.children import Child, kill_session
from tidings.runtime.web_process import HEADER_TIMEOUT_S, WebServer

log = structlog.get_logger()

# After a signal: all processes end in less than 5 s, even while clients hang.
WEB_STOP_S = 3.0
# A process that is replaced waits until its idle connections have ended by their usual timeout. Busy ones end with
# their next response.
DRAIN_S = HEADER_TIMEOUT_S + 2.0
# Then its open streams are ended, and long downloads have this time: nobody waits for the end.
LAST_RESPONSES_S = 60.0


@dataclass
class _Retired:
    """A process that was replaced, or is not needed any more, and serves what it still has."""

    process: BaseProcess
    ask_at: float | None
    """When it is sent SIGTERM; None after that."""
    kill_at: float

    @property
    def next_at(self) -> float:
        return self.kill_at if self.ask_at is None else self.ask_at


class _Start:
    """The start of a process: a pipe on which it says that it has started."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)

    def report(self) -> None:
        """Called in the new process."""
        os.write(self.writer, b"1")
        os.close(self.writer)

    def has_succeeded(self) -> bool:
        with suppress(BlockingIOError):
            return bool(os.read(self.reader, 1))
        return False

    def close(self) -> None:
        os.close(self.reader)


class WebChild(Child):
    """A web worker and, while it is replaced, its successor."""

    def __init__(
        self,
        number: int,
        server: WebServer,
        load: Callable[[], Any],
        *,
        ask_for_more: Callable[[], None] = lambda: None,
        on_demand: bool = False,
    ) -> None:
        """Prepare a web worker. load: returns the application, called in each of its processes.

        ask_for_more: called in these processes while requests wait for each other.
        on_demand: started by `start_if_resting` only.
        """
        super().__init__(
            "web worker", partial(self._serve, load, ask_for_more), time_to_stop_s=WEB_STOP_S, on_demand=on_demand
        )
        self.has_started = False
        self._number = number
        self._server = server
        self._start_report: _Start | None = None
        self._successor: BaseProcess | None = None
        self._retired: list[_Retired] = []

    @property
    def is_being_replaced(self) -> bool:
        """Whether a successor starts. The predecessor may serve its last requests for longer."""
        return self._successor is not None

    @property
    def is_starting(self) -> bool:
        """Whether a process starts, or is about to."""
        return self._start_report is not None or self._start_at is not None

    def end_gently(self, now: float) -> None:
        """Let the running process finish what it has, and start none until it is needed again."""
        if self._successor is None:
            self._retire(now)

    def replace(self) -> None:
        """Start a process in place of the running one, which goes on until its successor has started.

        Does nothing if none runs: the next one is new anyway.
        """
        if self._process is None or self._successor:
            return
        try:
            self._successor = self._forked()
        except OSError as error:
            log.error("web worker cannot be replaced", reason=str(error))  # noqa: TRY400

    def update(self, now: float) -> None:
        """Do what is due, as in other children, and take the next step of a replacement."""
        if self._start_report and self._start_report.has_succeeded():
            self._end_report()
            self.has_started = True
            if self._successor:
                self._retire(now)
        if self._successor and not self._successor.is_alive():
            log.error("web worker cannot be replaced", exit_code=self._successor.exitcode)
            kill_session(self._successor)
            self._successor = None
            self._end_report()
        if self._successor and self._process and not self._process.is_alive():
            log.error("process ended and is replaced", role=self._role, exit_code=self._process.exitcode)
            kill_session(self._process)
            self._process, self._successor, self._started_at = self._successor, None, now
        self._retired = [one for one in self._retired if not _has_ended(one, now)]
        super().update(now)

    def sentinels(self) -> list[int]:
        reports = [self._start_report.reader] if self._start_report else []
        return [*super().sentinels(), *(process.sentinel for process in self._others()), *reports]

    def wait_s(self, now: float) -> float | None:
        waits = [max(0.0, one.next_at - now) for one in self._retired]
        if (own := super().wait_s(now)) is not None:
            waits.append(own)
        return min(waits, default=None)

    def request_stop(self) -> None:
        super().request_stop()
        for process in self._others():
            process.terminate()

    def stop(self) -> None:
        super().stop()
        for process in self._others():
            self._await_end(process)

    def _others(self) -> list[BaseProcess]:
        return [*([self._successor] if self._successor else []), *(one.process for one in self._retired)]

    def _serve(self, load: Callable[[], Any], ask_for_more: Callable[[], None], _name: str) -> int:
        assert self._start_report  # made before the fork
        self._server.run(self._number, load, self._start_report.report, ask_for_more)
        return 0

    def _forked(self) -> BaseProcess:
        self._server.listen()
        self._end_report()
        self._start_report = _Start()
        try:
            return super()._forked()
        finally:
            os.close(self._start_report.writer)

    def _ended(self, process: BaseProcess, now: float) -> None:
        self._server.board.clear(self._number)
        self._end_report()
        super()._ended(process, now)

    def _retire(self, now: float) -> None:
        old, self._process, self._successor, self._started_at = self._process, self._successor, None, now
        if old is None or old.pid is None:
            return
        with suppress(ProcessLookupError):
            os.kill(old.pid, signal.SIGUSR1)
        self._retired.append(_Retired(old, now + DRAIN_S, now + DRAIN_S + LAST_RESPONSES_S))
        if self._process:
            log.info("web worker replaced", pid=old.pid, by=self._process.pid)

    def _end_report(self) -> None:
        if self._start_report:
            self._start_report.close()
            self._start_report = None


def _has_ended(one: _Retired, now: float) -> bool:
    """Do what is due with a process that finishes what it has, and return whether it has ended."""
    if not one.process.is_alive():
        kill_session(one.process)
        return True
    if one.ask_at is not None and one.ask_at <= now:
        one.process.terminate()
        one.ask_at = None
    elif one.kill_at <= now:
        one.process.kill()
    return False
