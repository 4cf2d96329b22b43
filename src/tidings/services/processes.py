"""Helpers: processes of our own for work that may hang, fill the memory, or do what it should not.

    question ─► a free process, or a new one ─► answer
                    └─► killed when it takes too long

They are started when they are needed and stop when nothing was to do for a while.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from tidings.domain.pipes import LENGTH_BYTES


class Lost(Exception):
    """The process ended before it had answered."""


class Helpers:
    """module: what is run, with its arguments. idle_s: a process ends when it had nothing to do for so long.

    questions: a process is replaced after this many. They get nothing of our environment but where Python finds its
    modules.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], *, idle_s: float = 60, questions: int = 1_000_000
    ) -> None:
        self._command = [sys.executable, "-P", "-m", module, *arguments]
        self._idle_s = idle_s
        self._questions = questions
        self._lock = threading.Lock()
        self._all: set[_Process] = set()
        self._idle: list[_Process] = []
        self._closed = False

    @property
    def processes(self) -> list[int]:
        """Of those that run: their ids."""
        with self._lock:
            return [process.id for process in self._all]

    def ask(self, question: bytes, *, patience_s: float, is_sound: Callable[[bytes], bool] = bool) -> bytes:
        """Lost when no answer came; the process is no more then.

        is_sound: whether a process that gave this answer may stay.
        """
        process = self._take()
        stays = False
        try:
            answer = process.ask(question, patience_s)
            stays = is_sound(answer)
        finally:
            if not stays:
                self._end(process)
        if stays:
            self._give_back(process)
        return answer

    def close(self) -> None:
        """Ends every process; who waits for one at work hears that it is lost. Repeating it is harmless."""
        with self._lock:
            self._closed = True
            at_work, idle = self._all.difference(self._idle), list(self._idle)
            self._idle.clear()
        for process in at_work:
            process.kill()
        for process in idle:
            self._end(process)

    def _take(self) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                process.stay()
                if process.is_alive:
                    return process
                process.end()
                self._all.discard(process)
            if self._closed:
                raise Lost("we are about to stop")
            process = _Process(self._command)
            self._all.add(process)
            return process

    def _give_back(self, process: _Process) -> None:
        with self._lock:
            if not self._closed and process.asked < self._questions:
                self._idle.append(process)
                process.leave_after(self._idle_s, lambda: self._retire(process))
                return
        self._end(process)

    def _retire(self, process: _Process) -> None:
        with self._lock:
            if process not in self._idle:
                return
            self._idle.remove(process)
        self._end(process)

    def _end(self, process: _Process) -> None:
        process.end()
        with self._lock:
            self._all.discard(process)


class _Process:
    """asked: how often."""

    def __init__(self, command: Sequence[str]) -> None:
        self.asked = 0
        self._leaving: threading.Timer | None = None
        # A process that was forked would have our locks and connections in whatever state they are.
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

    def ask(self, question: bytes, patience_s: float) -> bytes:
        self.asked += 1
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # Killing it ends the pipes, and with them our waiting.
        clock = threading.Timer(patience_s, self.kill)
        clock.start()
        try:
            self._process.stdin.write(len(question).to_bytes(LENGTH_BYTES) + question)
            self._process.stdin.flush()
            length = self._process.stdout.read(LENGTH_BYTES)
            answer = self._process.stdout.read(int.from_bytes(length))
        except OSError as error:
            raise Lost(f"exit code {self._process.wait()}") from error
        finally:
            clock.cancel()
        if len(length) < LENGTH_BYTES or len(answer) < int.from_bytes(length):
            raise Lost(f"exit code {self._process.wait()}")
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
