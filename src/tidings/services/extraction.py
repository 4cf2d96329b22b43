"""Looking for articles in processes of their own, with a limit for time and one for memory.

page ─► a free process, or a new one ─► article
              └─► killed when it takes too long; ended by the system when it takes too much

They are started when they are needed and stop when nothing was to do for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import msgspec
import structlog
from msgspec import Struct

from tidings.domain.articles import LENGTH_BYTES, Article, Outcome, Page
from tidings.domain.errors import PageTooDemanding

log = structlog.get_logger()

_decoder = msgspec.msgpack.Decoder(Outcome)


class Limits(Struct, frozen=True, kw_only=True):
    """cpu_s: whole seconds of processor time for a page. wall_s: of patience, on a machine that has other things to do.

    memory: bytes of address space for a process. pages: a process is replaced after this many. idle_s: and ended when
    it had nothing to do for so long.
    """

    cpu_s: int = 10
    wall_s: float = 30
    memory: int = 512 * 2**20
    pages: int = 200
    idle_s: float = 60


class Extraction:
    """places: pages looked at side by side."""

    def __init__(self, *, places: int = 2, limits: Limits = Limits()) -> None:  # noqa: B008 - it cannot change
        self._limits = limits
        self._threads = ThreadPoolExecutor(places, thread_name_prefix="articles")
        self._lock = threading.Lock()
        self._all: set[_Process] = set()
        self._idle: list[_Process] = []
        self._closed = False

    async def article(self, page: Page) -> Article:
        """PageTooDemanding when the page needs more time or memory than there is for it."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._article, page)

    @property
    def processes(self) -> list[int]:
        """Of those that run: their ids."""
        with self._lock:
            return [process.id for process in self._all]

    def close(self) -> None:
        """Ends every process, those at work too. Repeating it is harmless."""
        with self._lock:
            self._closed = True
            ended = list(self._all)
        for process in ended:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in ended:
            self._end(process)

    def _article(self, page: Page) -> Article:
        process = self._take()
        began = time.monotonic()
        try:
            outcome = process.ask(page, self._limits.wall_s)
        except _Lost as lost:
            self._end(process)
            self._tell(page, str(lost), began)
            raise _too_demanding(page) from lost
        if outcome.article is None:
            # Out of memory, perhaps: who knows in what state it is now.
            self._end(process)
            self._tell(page, outcome.failure, began)
            raise _too_demanding(page)
        self._give_back(process)
        return outcome.article

    def _tell(self, page: Page, reason: str, began: float) -> None:
        if not self._closed:
            took_ms = round((time.monotonic() - began) * 1000)
            host = urlsplit(page.url).hostname
            log.warning("page too demanding", host=host, size=len(page.body), reason=reason, took_ms=took_ms)

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
                raise RuntimeError("articles are looked for no more")
            process = _Process(self._limits)
            self._all.add(process)
            return process

    def _give_back(self, process: _Process) -> None:
        with self._lock:
            if not self._closed and process.asked < self._limits.pages:
                self._idle.append(process)
                process.leave_after(self._limits.idle_s, self._retire)
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


class _Lost(Exception):
    """The process ended before it had answered."""


class _Process:
    """asked: pages so far."""

    def __init__(self, limits: Limits) -> None:
        self.asked = 0
        self._leaving: threading.Timer | None = None
        # A process that was forked would have our locks and connections in whatever state they are.
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-m", "tidings.extractor", str(limits.cpu_s), str(limits.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    @property
    def id(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, page: Page, patience_s: float) -> Outcome:
        self.asked += 1
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # Killing it ends the pipes, and with them our waiting.
        clock = threading.Timer(patience_s, self.kill)
        clock.start()
        try:
            question = msgspec.msgpack.encode(page)
            self._process.stdin.write(len(question).to_bytes(LENGTH_BYTES) + question)
            self._process.stdin.flush()
            length = int.from_bytes(self._process.stdout.read(LENGTH_BYTES))
            return _decoder.decode(self._process.stdout.read(length))
        except (OSError, msgspec.DecodeError) as error:
            raise _Lost(f"exit code {self._process.wait()}") from error
        finally:
            clock.cancel()

    def leave_after(self, idle_s: float, leave: Callable[[_Process], None]) -> None:
        self._leaving = threading.Timer(idle_s, leave, [self])
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


def _too_demanding(page: Page) -> PageTooDemanding:
    return PageTooDemanding(
        "This page is too large or too tangled to find the article in it. Read it on its site.", url=page.url
    )
