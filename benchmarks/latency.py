"""Measures the response times of the API while all feeds are refreshed, and when idle, on both engines.

`tidings serve` as an operator starts it, 500 feeds of 30 entries on loopback. One client asks for /v1/me and for a page
of unread entries, again and again with a pause; first while nothing happens, then while every feed has five new entries
and is checked. Publisher, client, web and workers share the cores of the machine.
"""

from __future__ import annotations

import base64
import http.client
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from benchmarks.polling import Series, publish, publisher
from support.people import PASSWORD
from support.postgres import create_database, postgres_server
from support.running import running

IDLE_S, BUSY_S, PAUSE_S = 10.0, 10.0, 0.01
PAGES = {"GET /v1/me": "/v1/me", "a page of entries": "/v1/entries?status=unread&direction=desc&limit=100"}
GOAL = 3.0

# Milliseconds of each response, by page.
Answers = dict[str, list[float]]


def run() -> None:
    sys.stdout.write("latency: ms for an answer, idle and while 500 feeds are refreshed over and over\n")
    with publisher() as origin:
        with tempfile.TemporaryDirectory() as folder:
            _show("SQLite", *_measure(origin, f"sqlite:///{folder}/bench.db", Path(folder)))
        with postgres_server(is_durable=True) as server, tempfile.TemporaryDirectory() as folder:
            _show("PostgreSQL", *_measure(origin, create_database(server, "latency"), Path(folder)))


def _measure(origin: str, database_url: str, folder: Path) -> tuple[Answers, Answers, int]:
    """Return the times when idle and when busy, and how many feeds were checked meanwhile."""
    series = Series(origin, "feed", database_url, folder)
    with running("serve", series.environment, folder) as service:
        service.wait_until_ready()
        series.round()
        time.sleep(2)
        idle_until = time.monotonic() + IDLE_S
        idle = _measure_latency(service.url, lambda: time.monotonic() < idle_until)

        rounds = 0
        stop = threading.Event()

        def refresh() -> None:
            nonlocal rounds
            while not stop.is_set():
                publish(origin)
                series.round()
                rounds += 1

        refreshing = threading.Thread(target=refresh)
        refreshing.start()
        busy_until = time.monotonic() + BUSY_S
        busy = _measure_latency(service.url, lambda: time.monotonic() < busy_until)
        stop.set()
        refreshing.join()
        series.database.close()
    return idle, busy, rounds


def _measure_latency(url: str, is_running: Callable[[], bool]) -> Answers:
    token = base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    took_ms: defaultdict[str, list[float]] = defaultdict(list)
    while is_running():
        for name, path in PAGES.items():
            started = time.perf_counter()
            connection.request("GET", path, headers={"Authorization": f"Basic {token}"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, f"{path} answered {answer.status}"
            took_ms[name].append((time.perf_counter() - started) * 1000)
            time.sleep(PAUSE_S)
    connection.close()
    return took_ms


def _show(engine: str, idle: Answers, busy: Answers, rounds: int) -> None:
    for name in PAGES:
        calm, loaded = sorted(idle[name]), sorted(busy[name])
        ratio = _quantile(loaded, 0.99) / _quantile(calm, 0.99)
        verdict = "" if ratio <= GOAL else f", over {GOAL:g}"
        sys.stdout.write(
            f"  {engine:11} {name:18} idle p50 {_quantile(calm, 0.5):6.1f}  p99 {_quantile(calm, 0.99):6.1f}"
            f"   busy p50 {_quantile(loaded, 0.5):6.1f}  p99 {_quantile(loaded, 0.99):6.1f}"
            f"   p99 x {ratio:.1f}{verdict}  ({len(loaded)} answers, {rounds} rounds)\n"
        )


def _quantile(ordered: list[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
