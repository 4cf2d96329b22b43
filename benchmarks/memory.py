"""Memory of all processes of `tidings serve` as a user starts it, on both engines.

The proportional set size (PSS) of each process, so that shared pages count once: idle after the start, the most while
polling 500 feeds of 30 entries, after polling 500 feeds of 200, the most under a load of eight connections, for which
another web process starts, and after it. Exits with 1 above the limits, which are for two cores. Only Linux has these
figures.

    python -m benchmarks.memory [--hours 10 [--engine postgresql]]

--hours: instead, poll 500 feeds of 30 entries for so many hours, compressed: in each of them every feed gets five new
entries and is due again as soon as the hour before is stored. Prints the memory after each, and exits with 1 if it
grows.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.polling import ENTRIES as SMALL_ENTRIES
from benchmarks.polling import NEW, Series, publish, publisher
from loopback import processes
from loopback.readings import growth
from support.people import PASSWORD
from support.postgres import create_database, postgres_server
from support.running import RunningService, environment_for, running

ENGINES = ("sqlite", "postgresql")
FEEDS, ENTRIES = 500, 200
CONNECTIONS, LOAD_S = 8, 20.0
# Longer than the interval at which processes give memory back.
SETTLE_S = 35.0
# Between two looks at the memory under load.
SAMPLE_S = 2.0
# Of the memory in the course of simulated hours. The allocator and caches fill in the first ones; a leak grows further.
MAX_GROWTH = 1.15
LIMITS_MIB = {"idle": 150, "polling": 250, "polled": 250, "load": 330, "loaded": 250}
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
        found["SQLite"] = _measure(
            origin, [f"sqlite:///{folder}/{one}.db" for one in ("empty", "small", "large")], folder
        )
        with postgres_server(is_durable=True) as server:
            urls = [create_database(server, one) for one in ("empty", "small", "large")]
            found["PostgreSQL"] = _measure(origin, urls, folder)
    above = [name for sizes in found.values() for name, limit in LIMITS_MIB.items() if sizes[name] > limit]
    return 1 if above else 0


def run_hours(hours: int, engines: tuple[str, ...]) -> int:
    sys.stdout.write(f"memory: MiB (PSS) in the course of {hours} simulated hours\n")
    grown = []
    for engine in engines:
        with publisher(FEEDS, SMALL_ENTRIES) as origin, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if engine == "sqlite":
                grown.append(_measure_hours(origin, f"sqlite:///{folder}/hours.db", folder, hours))
            else:
                with postgres_server(is_durable=True) as server:
                    grown.append(_measure_hours(origin, create_database(server, "hours"), folder, hours))
    return 1 if max(grown) > MAX_GROWTH else 0


def _measure_hours(origin: str, database_url: str, folder: Path, hours: int) -> float:
    """Return the growth of the memory from the first hours to the last ones, as a factor."""
    series = Series(origin, "feed", database_url, folder)
    sizes = []
    # One worker all the time: one that is started on demand would look like growth.
    with _serve({**series.environment, "TIDINGS_WORKER_PROCESSES": "1"}, folder) as service:
        series.round()
        for hour in range(1, hours + 1):
            publish(origin)
            series.round()
            sizes.append(_show(service, f"hour {hour}", settle_s=0))
            stored, expected = series.stored(), FEEDS * (SMALL_ENTRIES + hour * NEW)
            assert stored == expected, f"{stored} of {expected} entries"
        factor = growth(sizes)
        sys.stdout.write(f"  {service.database_url.partition(':')[0]:10} growth {factor:.2f} times\n")
    series.database.close()
    return factor


def _measure(origin: str, database_urls: Sequence[str], folder: Path) -> dict[str, float]:
    """database_urls: of three databases: without feeds, for feeds of 30 entries, and for those of `origin`."""
    empty_url, small_url, large_url = database_urls
    with _serve(environment_for(empty_url, folder), folder) as service:
        sizes = {"idle": _show(service, "idle")}
    with publisher(FEEDS, SMALL_ENTRIES) as small:
        series = Series(small, "feed", small_url, folder)
        with _serve(series.environment, folder) as service, peak_of(service) as peak:
            series.round()
        sizes["polling"] = _tell_peak(series, peak, SMALL_ENTRIES)
    series = Series(origin, "feed", large_url, folder)
    # A busy machine may take long to deliver 300 MB, and a feed that timed out would be polled much later.
    with _serve({**series.environment, "TIDINGS_HTTP_CLIENT_TIMEOUT": "600"}, folder) as service:
        with peak_of(service) as peak:
            series.round()
        _tell_peak(series, peak, ENTRIES)
        sizes["polled"] = _show(service, "polled")
        with peak_of(service) as peak:
            _load(service.url)
        sizes["load"] = peak.mib
        _write_peak(series, "load", peak, f"at most, {CONNECTIONS} connections")
        sizes["loaded"] = _show(service, "loaded")
    series.database.close()
    return sizes


def _tell_peak(series: Series, peak: Peak, entries: int) -> float:
    assert series.stored() == FEEDS * entries, "entries are missing"
    _write_peak(series, "polling", peak, f"at most, {entries} entries per feed")
    return peak.mib


def _write_peak(series: Series, title: str, peak: Peak, note: str) -> None:
    engine = "sqlite" if series.database.is_sqlite else "postgresql"
    sys.stdout.write(f"  {engine:10} {title:8} {peak.mib:6.0f}   {note}\n")
    sys.stdout.flush()


@contextmanager
def _serve(environment: dict[str, str], folder: Path) -> Iterator[RunningService]:
    """Run the service with as many processes as it starts by default."""
    default = {name: value for name, value in environment.items() if name != "TIDINGS_WEB_WORKERS"}
    with running("serve", default, folder) as service:
        service.wait_until_ready()
        yield service


class Peak:
    """The largest memory of all processes so far, MiB (PSS)."""

    def __init__(self) -> None:
        self.mib = 0.0


@contextmanager
def peak_of(service: RunningService) -> Iterator[Peak]:
    """Look at the memory of the service every SAMPLE_S until the end. Yields the peak."""
    peak, is_over = Peak(), threading.Event()

    def look() -> None:
        while not is_over.wait(SAMPLE_S):
            # A process may end meanwhile.
            with suppress(OSError):
                peak.mib = max(peak.mib, memory_mib(service))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield peak
    finally:
        is_over.set()
        looking.join()
    assert peak.mib > 0, "the memory was not measured"


def memory_mib(service: RunningService) -> float:
    """Return the memory of all processes of a service (PSS)."""
    return sum(processes.memory_bytes(process.pid) for process in processes.tree(service.process.pid)) / 2**20


def _show(service: RunningService, title: str, *, settle_s: float = SETTLE_S) -> float:
    time.sleep(settle_s)
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


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.memory")
    parser.add_argument("--hours", type=int, default=0)
    parser.add_argument("--engine", choices=ENGINES)
    arguments = parser.parse_args()
    engines = (arguments.engine,) if arguments.engine else ENGINES
    return run_hours(arguments.hours, engines) if arguments.hours else run()


if __name__ == "__main__":
    sys.exit(main())
