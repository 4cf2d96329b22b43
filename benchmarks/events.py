"""Measures how soon an event reaches listeners of another process, and what idle listeners cost. Both engines.

Two `tidings web`, and this process makes changes, as a worker does. A listener on the second web process waits for each
of them; the first one has 1,000 idle listeners, whose memory is what its processes have more than before. Exits
with 1 if the median is above MAX_MEDIAN_MS or the memory above MAX_IDLE_MB.
"""

from __future__ import annotations

import http.client
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from loopback import processes
from support.event_reader import reading_events
from support.people import Cast, Person
from support.postgres import create_database, postgres_server
from support.running import RunningService, running_service
from tidings.engine.database import Database
from tidings.live import hub
from tidings.storage import migrate

IDLE, USERS, CHANGES = 1_000, 50, 50
# Longer than streams gather changes, so that each is an event of its own.
PAUSE_S = 0.2
SETTLE_S = 5.0
MAX_MEDIAN_MS, MAX_IDLE_MB = 200.0, 60.0


def run() -> int:
    sys.stdout.write(f"events: ms until a change is told by another process; MB of {IDLE} idle listeners\n")
    with tempfile.TemporaryDirectory() as folder:
        found = [_measure("SQLite", f"sqlite:///{folder}/bench.db", Path(folder))]
    with postgres_server(is_durable=True) as server, tempfile.TemporaryDirectory() as folder:
        found.append(_measure("PostgreSQL", create_database(server, "events"), Path(folder)))
    return 0 if all(median <= MAX_MEDIAN_MS and memory <= MAX_IDLE_MB for median, memory in found) else 1


def _measure(engine: str, url: str, folder: Path) -> tuple[float, float]:
    database = Database(url)
    migrate.upgrade(database)
    database.close()
    with ExitStack() as stack:
        services = []
        for name in ("one", "two"):
            (folder / name).mkdir()
            services.append(stack.enter_context(running_service(url, folder / name)))
        one, two = services
        people = [Cast(one).person(f"reader{number}") for number in range(USERS)]
        before = _memory_mb(one)
        for number in range(IDLE):
            _listen(stack, one, people[number % USERS])
        time.sleep(SETTLE_S)
        idle_mb = _memory_mb(one) - before
        took_ms = sorted(_times(two, people[0]))
    median, p90 = statistics.median(took_ms), took_ms[len(took_ms) * 9 // 10]
    sys.stdout.write(f"  {engine:10} median {median:5.0f} ms, p90 {p90:5.0f} ms   idle listeners {idle_mb:5.1f} MB\n")
    sys.stdout.flush()
    return median, idle_mb


def _listen(stack: ExitStack, service: RunningService, person: Person) -> None:
    """Open a stream and leave it alone."""
    connection = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=60)
    stack.callback(connection.close)
    connection.request("GET", "/v1/events", headers={"X-Auth-Token": person.token})
    answer = connection.getresponse()
    assert answer.status == 200, answer.status


def _times(service: RunningService, person: Person) -> list[float]:
    took_ms = []
    categories = service.services.feeds.categories
    with reading_events(service.url, {"X-Auth-Token": person.token}) as events:
        events.until("ready")
        for number in range(CHANGES):
            time.sleep(max(PAUSE_S, hub.GATHER_S))
            started = time.perf_counter()
            categories.create(person.id, f"Category {number}")
            events.changes()
            took_ms.append((time.perf_counter() - started) * 1000)
    return took_ms


def _memory_mb(service: RunningService) -> float:
    tree = processes.tree(service.process.pid)
    return sum(processes.memory_bytes(process.pid) for process in tree) / 1e6
