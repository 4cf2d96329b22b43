"""Measures response times while thousands of connections are silent, incomplete or slow.

`tidings serve` as an operator starts it, with one web worker, on SQLite. The clients are processes of their own on the
same machine; a connection that the service closes is opened again, so that the numbers stay as they are. Meanwhile one
client asks for /healthcheck and for a page, on a new connection each time. Exits with 1 if a request was refused, or if
one in a hundred took longer than MAX_P99_MS.
"""

from __future__ import annotations

import multiprocessing
import selectors
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from msgspec import Struct

from support.connections import connected, request
from support.people import PASSWORD, call
from support.running import RunningService, environment_for, running
from tidings.runtime import file_limit

IDLE, HALF_SENT, SLOW_READERS = 5_000, 2_000, 500
MEASURED_S, PAUSE_S, MAX_P99_MS = 30.0, 0.05, 200.0
BYTES_AT_A_TIME, READ_EVERY_S = 64, 0.5
PAGES = ("/healthcheck", "/sign-in")

PARTIAL_HEADER = b"GET /sign-in HTTP/1.1\r\nHost: local"
PARTIAL_BODY = request("/sign-in", method="POST", Content_Length="1000") + b"username="


class Measured(Struct):
    """The responses of one page. took_ms: of those that were answered with 200. failed: the other statuses."""

    page: str
    took_ms: list[float]
    failed: list[int]

    @property
    def p99_ms(self) -> float:
        return sorted(self.took_ms)[int(len(self.took_ms) * 0.99)]


def run() -> int:
    file_limit.raise_for(IDLE + HALF_SENT + SLOW_READERS)
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_for(f"sqlite:///{folder}/bench.db", Path(folder), admin_password=PASSWORD)
        with running("serve", environment, Path(folder)) as service:
            service.wait_until_ready()
            _report("with no other connection", _measure_responses(service.url, MEASURED_S / 3))
            return 0 if _is_fast_under_load(service) else 1


def _is_fast_under_load(service: RunningService) -> bool:
    opened: Synchronized[int] = multiprocessing.Value("i", 0)
    wanted = IDLE + HALF_SENT + SLOW_READERS
    with _clients(service.url, opened):
        while opened.value < wanted:
            time.sleep(0.1)
        measured = _measure_responses(service.url, MEASURED_S)
    _report(f"with {IDLE:,} idle, {HALF_SENT:,} half-sent and {SLOW_READERS} slowly read", measured)
    sys.stdout.write(f"  connections reopened {opened.value - wanted:,}\n")
    problems = [problem for each in measured for problem in _problems(each)]
    sys.stdout.write("".join(f"  FAILED: {problem}\n" for problem in problems))
    return not problems


@contextmanager
def _clients(url: str, opened: Any) -> Iterator[None]:
    processes = [
        multiprocessing.Process(target=work, args=(url, number, opened), daemon=True)
        for work, number in ((_hold_idle, IDLE), (_hold_half_sent, HALF_SENT), (_read_slowly, SLOW_READERS))
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def _measure_responses(url: str, seconds: float) -> list[Measured]:
    measured = [Measured(page, [], []) for page in PAGES]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for each in measured:
            started = time.perf_counter()
            status = call(url, "GET", each.page).status
            if status == 200:
                each.took_ms.append((time.perf_counter() - started) * 1_000)
            else:
                each.failed.append(status)
        time.sleep(PAUSE_S)
    return measured


def _problems(measured: Measured) -> Iterator[str]:
    if measured.failed:
        yield f"{measured.page} was answered {len(measured.failed)} times with {sorted({*measured.failed})}"
    if not measured.took_ms or measured.p99_ms > MAX_P99_MS:
        yield f"p99 of {measured.page} is over {MAX_P99_MS:g} ms"


def _report(when: str, measured: list[Measured]) -> None:
    for page, took, p99 in ((each.page, sorted(each.took_ms), each.p99_ms) for each in measured if each.took_ms):
        p50 = took[len(took) // 2]
        sys.stdout.write(
            f"  {page:13} {when}: ms p50 {p50:.1f}  p99 {p99:.1f}  slowest {took[-1]:.1f} of {len(took)}\n"
        )


def _hold_idle(url: str, number: int, opened: Any) -> None:
    """Half of the connections send nothing, the others stay idle after a response."""
    rest = request("/healthcheck")
    _keep_open(number, lambda index: connected(url, rest if index % 2 else b""), opened)


def _hold_half_sent(url: str, number: int, opened: Any) -> None:
    _keep_open(number, lambda index: connected(url, PARTIAL_BODY if index % 2 else PARTIAL_HEADER), opened)


def _keep_open(number: int, open_one: Callable[[int], socket.socket], opened: Any) -> None:
    """Open connections, and replace each one that is closed."""
    with selectors.DefaultSelector() as waiting:
        for index in range(number):
            _watch(waiting, index, open_one, opened)
        while True:
            for key, _ in waiting.select():
                client: Any = key.fileobj
                with suppress(OSError):
                    if client.recv(65_536):
                        continue
                waiting.unregister(client)
                client.close()
                _watch(waiting, key.data, open_one, opened)


def _watch(waiting: selectors.BaseSelector, index: int, open_one: Callable[[int], socket.socket], opened: Any) -> None:
    waiting.register(open_one(index), selectors.EVENT_READ, index)
    with opened.get_lock():
        opened.value += 1


def _read_slowly(url: str, number: int, opened: Any) -> None:
    clients = [connected(url, request("/v1/openapi.json"), reads_slowly=True) for _ in range(number)]
    with opened.get_lock():
        opened.value += number
    while True:
        for client in clients:
            with suppress(OSError):
                client.recv(BYTES_AT_A_TIME)
        time.sleep(READ_EVERY_S)
