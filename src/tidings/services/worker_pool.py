"""A pool of child processes for work that may hang, exhaust memory, or run untrusted code.

    request ─► an idle worker, or a new one ─► response
                    └─► killed at the timeout

Workers start on demand and end after `idle_s` without a request.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from tidings.domain.ipc import LENGTH_BYTES


class WorkerDied(Exception):
    """The worker process ended before it responded."""


class WorkerPool:
    """module: runs in each worker, with `arguments`. idle_s: a worker ends after this time without a request.

    max_requests: a worker is replaced after this many. Of the environment, workers get PYTHONPATH only.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], *, idle_s: float = 60, max_requests: int = 1_000_000
    ) -> None:
        self._command = [sys.executable, "-P", "-m", module, *arguments]
        self._idle_s = idle_s
        self._max_requests = max_requests
        self._lock = threading.Lock()
        self._all: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """Process ids of the running workers."""
        with self._lock:
            return [process.id for process in self._all]

    def request(self, request: bytes, *, timeout_s: float, keeps_worker: Callable[[bytes], bool] = bool) -> bytes:
        """Send a request to a worker and return its response.

        Raises WorkerDied when it does not respond within `timeout_s` seconds; the worker is killed.

        keeps_worker: returns whether a worker with this response may serve another request.
        """
        process = self._take()
        stays = False
        try:
            answer = process.request(request, timeout_s)
            stays = keeps_worker(answer)
        finally:
            if not stays:
                self._end(process)
        if stays:
            self._give_back(process)
        return answer

    def close(self) -> None:
        """End every worker; pending requests raise WorkerDied. Repeating it does nothing."""
        with self._lock:
            self._closed = True
            at_work, idle = self._all.difference(self._idle), list(self._idle)
            self._idle.clear()
        for process in at_work:
            process.kill()
        for process in idle:
            self._end(process)

    def _take(self) -> _Worker:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                process.stay()
                if process.is_alive:
                    return process
                process.end()
                self._all.discard(process)
            if self._closed:
                raise WorkerDied("the pool is closed")
            process = _Worker(self._command)
            self._all.add(process)
            return process

    def _give_back(self, process: _Worker) -> None:
        with self._lock:
            if not self._closed and process.asked < self._max_requests:
                self._idle.append(process)
                process.leave_after(self._idle_s, lambda: self._retire(process))
                return
        self._end(process)

    def _retire(self, process: _Worker) -> None:
        with self._lock:
            if process not in self._idle:
                return
            self._idle.remove(process)
        self._end(process)

    def _end(self, process: _Worker) -> None:
        process.end()
        with self._lock:
            self._all.discard(process)


class _Worker:
    """asked: number of requests sent."""

    def __init__(self, command: Sequence[str]) -> None:
        self.asked = 0
        self._leaving: threading.Timer | None = None
        # A forked process would inherit locks and connections in an undefined state.
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": os.pathsep.join(sys.path)},
        )

    @property
    def id(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def request(self, request: bytes, timeout_s: float) -> bytes:
        self.asked += 1
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # Killing the worker closes its pipes, which ends the reads below.
        clock = threading.Timer(timeout_s, self.kill)
        clock.start()
        try:
            self._process.stdin.write(len(request).to_bytes(LENGTH_BYTES) + request)
            self._process.stdin.flush()
            length = self._process.stdout.read(LENGTH_BYTES)
            answer = self._process.stdout.read(int.from_bytes(length))
        except OSError as error:
            raise WorkerDied(f"exit code {self._process.wait()}") from error
        finally:
            clock.cancel()
        if len(length) < LENGTH_BYTES or len(answer) < int.from_bytes(length):
            raise WorkerDied(f"exit code {self._process.wait()}")
        return answer

    def leave_after(self, idle_s: float, leave: Callable[[], None]) -> None:
        self._leaving = threading.Timer(idle_s, leave)
        self._leaving.daemon = True
        self._leaving.start()

    def stay(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        self.stay()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # what it did not read any more
                pipe.close()
