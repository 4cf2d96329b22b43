"""Memory of all processes of `tidings serve` as a user starts it, on both engines.

The proportional set size (PSS) of each process, so that shared pages count once: idle after the start, after polling
500 feeds of 200 entries, and after a load of eight connections. Exits with 1 above the limits, which are for two cores.
Only Linux has these figures.
"""

from __future__ import annotations

import base64
import http.client
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.polling import Series, publisher
from loopback import processes
from support.people import PASSWORD
from support.postgres import create_database, postgres_server
from support.running import RunningService, environment_for, running

FEEDS, ENTRIES = 500, 200
CONNECTIONS, LOAD_S = 8, 20.0
# Longer than the interval at which processes give memory back.
SETTLE_S = 35.0
LIMITS_MIB = {"idle": 150, "polled": 250, "loaded": 250}
PATHS = (
    "/v1/me",
    "/v1/feeds",
    "/v1/entries?status=unread&direction=desc&limit=100",
    "/v1/entries?search=rain&limit=50",
    "/v1/categories?counts=true",
    "/v1/feeds/counters",
    "/v1/export",
    "/v1/entries?limit=1000",
)


def run() -> int:
    sys.stdout.write("memory: MiB (PSS) of all processes of `tidings serve`\n")
    found = {}
    with publisher(FEEDS, ENTRIES) as origin, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found["SQLite"] = _measure(origin, f"sqlite:///{folder}/empty.db", f"sqlite:///{folder}/bench.db", folder)
        with postgres_server(is_durable=True) as server:
            empty_url, database_url = create_database(server, "empty"), create_database(server, "memory")
            found["PostgreSQL"] = _measure(origin, empty_url, database_url, folder)
    above = [name for sizes in found.values() for name, limit in LIMITS_MIB.items() if sizes[name] > limit]
    return 1 if above else 0


def _measure(origin: str, empty_url: str, database_url: str, folder: Path) -> dict[str, float]:
    """empty_url: a database without feeds, on which the service is idle."""
    with _serve(environment_for(empty_url, folder), folder) as service:
        sizes = {"idle": _show(service, "idle")}
    series = Series(origin, "feed", database_url, folder)
    # A busy machine may take long to deliver 300 MB, and a feed that timed out would be polled much later.
    with _serve({**series.environment, "TIDINGS_HTTP_CLIENT_TIMEOUT": "600"}, folder) as service:
        series.round()
        assert series.stored() == FEEDS * ENTRIES, "entries are missing"
        sizes["polled"] = _show(service, "polled")
        _load(service.url)
        sizes["loaded"] = _show(service, "loaded")
    series.database.close()
    return sizes


@contextmanager
def _serve(environment: dict[str, str], folder: Path) -> Iterator[RunningService]:
    """Run the service with as many processes as it starts by default."""
    default = {name: value for name, value in environment.items() if name != "TIDINGS_WEB_WORKERS"}
    with running("serve", default, folder) as service:
        service.wait_until_ready()
        yield service


def _show(service: RunningService, title: str) -> float:
    time.sleep(SETTLE_S)
    tree = processes.tree(service.process.pid)
    sizes = [processes.memory_bytes(process.pid) / 2**20 for process in tree]
    roles = " + ".join(f"{process.role} {size:.0f}" for process, size in zip(tree, sizes, strict=True))
    engine = service.database_url.partition(":")[0]
    sys.stdout.write(f"  {engine:10} {title:8} {sum(sizes):6.0f}   {roles}\n")
    sys.stdout.flush()
    return sum(sizes)


def _load(url: str) -> None:
    until = time.monotonic() + LOAD_S
    token = base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
    failures: list[str] = []

    def request_all() -> None:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
        while time.monotonic() < until:
            for path in PATHS:
                connection.request("GET", path, headers={"Authorization": f"Basic {token}"})
                response = connection.getresponse()
                if response.status != 200 or not response.read():
                    failures.append(path)
        connection.close()

    threads = [threading.Thread(target=request_all) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, f"no answer with content: {set(failures)}"


if __name__ == "__main__":
    sys.exit(run())
