"""A pool of child processes for work that may hang, exhaust memory, or run untrusted code.

    request ─► an idle worker, or a new one ─► response
                    └─► killed at the timeout

Workers start on demand and end after `idle_s` without a request.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Struct

from tidings.base.ipc import LENGTH_BYTES, framed

R = TypeVar("R")


class WorkerDied(Exception):
    """The worker process ended before it responded."""


class WorkerPool:
    """Sends requests to worker processes, which are started on demand and get no environment but PYTHONPATH.

    module: the Python module that each worker runs with `arguments`.
    idle_s: a worker ends after this time without a request. max_requests: a worker is replaced after this many.
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
            return [process.pid for process in self._all]

    def request(self, request: bytes, *, timeout_s: float, keeps_worker: Callable[[bytes], bool] = bool) -> bytes:
        """Send a request to a worker and return its response.

        keeps_worker: takes the response and returns whether the worker may serve another request.
        Raises WorkerDied if the worker ends, or does not respond within `timeout_s` seconds and is killed.
        """
        process = self._acquire()
        is_kept = False
        try:
            response = process.request(request, timeout_s)
            is_kept = keeps_worker(response)
        finally:
            if not is_kept:
                self._end(process)
        if is_kept:
            self._release(process)
        return response

    def close(self) -> None:
        """End every worker; pending requests raise WorkerDied. Repeating it does nothing."""
        with self._lock:
            self._closed = True
            busy, idle = self._all.difference(self._idle), list(self._idle)
            self._idle.clear()
        for process in busy:
            process.kill()
        for process in idle:
            self._end(process)

    def _acquire(self) -> _Worker:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                process.cancel_retirement()
                if process.is_alive:
                    return process
                process.end()
                self._all.discard(process)
            if self._closed:
                raise WorkerDied("the pool is closed")
            process = _Worker(self._command)
            self._all.add(process)
            return process

    def _release(self, process: _Worker) -> None:
        with self._lock:
            if not self._closed and process.request_count < self._max_requests:
                self._idle.append(process)
                process.retire_after(self._idle_s, lambda: self._retire(process))
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


class ProcessLimits(Struct, frozen=True, kw_only=True):
    """What a process of `runtime.limited_process` may use."""

    cpu_s: int
    """Whole seconds of processor time for a request."""
    wall_s: float = 30
    """The timeout, longer for a busy machine."""
    memory_bytes: int = 512 * 2**20
    """Address space of the process."""
    requests: int = 200
    """The process is replaced after this many requests."""
    idle_s: float = 60
    """The process ends after this time without a request."""


class LimitedWorkers:
    """Worker processes with limits on time and memory, and the threads that wait for them."""

    def __init__(self, module: str, limits: ProcessLimits, *, max_concurrent: int) -> None:
        self._timeout_s = limits.wall_s
        self._threads = ThreadPoolExecutor(max_concurrent, thread_name_prefix=module)
        self._pool = WorkerPool(
            module,
            [str(limits.cpu_s), str(limits.memory_bytes)],
            idle_s=limits.idle_s,
            max_requests=limits.requests,
        )
        self.is_closed = False

    @property
    def pids(self) -> list[int]:
        """Process ids of the running workers."""
        return self._pool.pids

    async def request(self, request: object, response_type: type[R], *, keeps_worker: Callable[[R], bool]) -> R:
        """Send a request when a worker is free, and return its response. Raises WorkerDied, as `WorkerPool.request`."""
        send = partial(self._send, request, msgspec.msgpack.Decoder(response_type), keeps_worker)
        return await asyncio.get_running_loop().run_in_executor(self._threads, send)

    def close(self) -> None:
        """End every worker, busy ones too. Repeating it does nothing."""
        self.is_closed = True
        self._pool.close()
        self._threads.shutdown(cancel_futures=True)

    def _send(self, request: object, decoder: msgspec.msgpack.Decoder[R], keeps_worker: Callable[[R], bool]) -> R:
        decoded: list[R] = []

        def is_kept(response: bytes) -> bool:
            decoded.append(decoder.decode(response))
            return keeps_worker(decoded[0])

        self._pool.request(msgspec.msgpack.encode(request), timeout_s=self._timeout_s, keeps_worker=is_kept)
        return decoded[0]


class _Worker:
    """One child process. request_count: the number of requests sent to it."""

    def __init__(self, command: Sequence[str]) -> None:
        self.request_count = 0
        self._retirement: threading.Timer | None = None
        # A forked process would inherit locks and connections in an undefined state.
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": os.pathsep.join(sys.path)},
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def request(self, request: bytes, timeout_s: float) -> bytes:
        self.request_count += 1
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # Killing the worker closes its pipes, which ends the reads below.
        timeout = threading.Timer(timeout_s, self.kill)
        timeout.start()
        try:
            self._process.stdin.write(framed(request))
            self._process.stdin.flush()
            length = self._process.stdout.read(LENGTH_BYTES)
            response = self._process.stdout.read(int.from_bytes(length))
        except OSError as error:
            raise WorkerDied(f"exit code {self._process.wait()}") from error
        finally:
            timeout.cancel()
        if len(length) < LENGTH_BYTES or len(response) < int.from_bytes(length):
            raise WorkerDied(f"exit code {self._process.wait()}")
        return response

    def retire_after(self, idle_s: float, retire: Callable[[], None]) -> None:
        self._retirement = threading.Timer(idle_s, retire)
        self._retirement.daemon = True
        self._retirement.start()

    def cancel_retirement(self) -> None:
        if self._retirement is not None:
            self._retirement.cancel()

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        self.cancel_retirement()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # closing flushes data that the worker no longer reads
                pipe.close()
