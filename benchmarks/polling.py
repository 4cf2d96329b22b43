"""Measures polling, compared with the reference server if it is installed: `make bench-poll`.

500 feeds of 30 entries on loopback (`publisher`), polled by a real worker process on each engine, from the moment they
are due to the moment the last is written. Each engine, and the reference, is measured three times, and the best time of
each round is printed, since other work on the machine slows some runs down. Exits with 1 if an entry is missing
or a rate is below its minimum beside the reference.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct
from sqlalchemy import func, select, update

from benchmarks import reference as peer
from benchmarks.reference import REFERENCE
from support.people import PASSWORD
from support.postgres import create_database, postgres_server
from support.running import environment_for, running
from tidings.base.times import HOUR, Instant
from tidings.engine import notify
from tidings.engine.database import Database
from tidings.services.clock import system_clock
from tidings.settings import load
from tidings.storage import migrate
from tidings.storage.feeds import feeds
from tidings.storage.schema import entries, feed_counters
from tidings.storage.schema import feeds as feed_table
from tidings.storage.schema import sources as source_table
from tidings.wiring.services import build_services

FEEDS, ENTRIES, NEW = 500, 30, 5
RUNS = 3
# Until when feeds are not due. A worker corrects times that are too far ahead, so it is not much longer than a run.
PAUSE = 2 * HOUR
TIMEOUT_S = 300.0

FIRST_FETCH, WITH_VALIDATORS, WITHOUT_VALIDATORS, NEW_ENTRIES = (
    "first fetch",
    "unchanged, validators",
    "unchanged, none",
    f"{NEW} new of {ENTRIES}",
)
# The minimum ratio of our rate to that of the reference.
MIN_SPEEDUPS = {FIRST_FETCH: 6, WITH_VALIDATORS: 2, WITHOUT_VALIDATORS: 25, NEW_ENTRIES: 15}


class Measurement(Struct, frozen=True):
    """took_s: by round. missing: the number of entries that are not stored."""

    took_s: dict[str, float]
    missing: int = 0


def run() -> int:
    with publisher() as origin:
        runs = [_measure_once(origin) for _ in range(RUNS)]
    found = {name: _best_of([one_run[name] for one_run in runs]) for name in runs[0]}
    reference = found.pop(REFERENCE, None)
    _show(found, reference)
    return 1 if any(result.missing for result in found.values()) or _below_minimum(found, reference) else 0


def _measure_once(origin: str) -> dict[str, Measurement]:
    measured = {"SQLite": _on_sqlite(origin), "PostgreSQL": _on_postgresql(origin)}
    return measured | ({REFERENCE: _measure_reference(origin)} if peer.is_installed() else {})


def _best_of(runs: list[Measurement]) -> Measurement:
    """Return the best time of each round, and the number of entries missing in any run."""
    took_s = {name: min(one_run.took_s[name] for one_run in runs) for name in MIN_SPEEDUPS}
    return Measurement(took_s, sum(one_run.missing for one_run in runs))


@contextmanager
def publisher(count: int = FEEDS, entries: int = ENTRIES) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.publisher", str(count), str(entries)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdin is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.stdin.close()


def _on_sqlite(origin: str) -> Measurement:
    def database(folder: Path) -> str:
        return f"sqlite:///{folder / 'bench.db'}"

    return _measure(origin, database)


def _on_postgresql(origin: str) -> Measurement:
    # Durable, as in production: commits wait for the disk.
    with postgres_server(is_durable=True) as server:
        numbers = iter(range(10))
        return _measure(origin, lambda _: create_database(server, f"bench{next(numbers)}"))


def _measure(origin: str, database: Callable[[Path], str]) -> Measurement:
    publish(origin)
    with tempfile.TemporaryDirectory() as folder:
        with_validators = Series(origin, "feed", database(Path(folder)), Path(folder))
        with with_validators.worker():
            took_s = {FIRST_FETCH: with_validators.round(), WITH_VALIDATORS: with_validators.round()}
            publish(origin)
            took_s[NEW_ENTRIES] = with_validators.round()
        missing = FEEDS * (ENTRIES + NEW) - with_validators.stored()
    with tempfile.TemporaryDirectory() as folder:
        without_validators = Series(origin, "plain", database(Path(folder)), Path(folder))
        with without_validators.worker():
            without_validators.round()
            took_s[WITHOUT_VALIDATORS] = without_validators.round()
        missing += FEEDS * ENTRIES - without_validators.stored()
    return Measurement({name: took_s[name] for name in MIN_SPEEDUPS}, missing)


class Series:
    """A database with feeds of one kind."""

    def __init__(self, origin: str, kind: str, database_url: str, folder: Path) -> None:
        self.folder = folder
        # All feeds are on one host here, so that the limit per host would slow the benchmark down.
        self.environment = environment_for(database_url, folder, polling_limit_per_host="100", log_level="warning")
        self.database = Database(database_url)
        migrate.upgrade(self.database)
        services = build_services(self.database, load(self.environment, None))
        user = services.accounts.users.create("reader", PASSWORD)
        category = services.feeds.categories.create(user.id, "Feeds")
        moments = {
            "created_at": 0,
            "checked_at": 0,
            "next_check_at": system_clock() + PAUSE,
            "icon_checked_at": system_clock(),
        }
        rows = [
            {"category_id": category.id, "feed_url": f"{origin}/{kind}/{number}", "title": f"{number}"}
            | {"site_url": f"{origin}/site/{number}"}
            | moments
            for number in range(1, FEEDS + 1)
        ]
        with self.database.writing() as db:
            feeds.add_many(db, user.id, rows)

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Run as many worker processes as `tidings serve` does."""
        with ExitStack() as stack:
            workers = [
                stack.enter_context(running("worker", self.environment, self.folder))
                for _ in range(load(self.environment, None).worker_processes)
            ]
            time.sleep(5)  # until they are running and idle
            yield
            for worker in workers:
                worker.stop()
        self.database.close()

    def round(self) -> float:
        """Make all feeds due, and return the seconds until all are checked and stored."""
        started, due_at = time.monotonic(), system_clock()
        with self.database.writing() as db:
            db.run(update(feed_table).values(next_check_at=0))
            db.run(update(source_table).values(next_check_at=0))
            notify.notify(db, notify.FEEDS)
        while (checked := self._checked_since(due_at)) < FEEDS:
            took_s = time.monotonic() - started
            if took_s > TIMEOUT_S:
                raise TimeoutError(f"only {checked} of {FEEDS} feeds were polled")
            # A query takes a millisecond or two of the measured time, so it is repeated more often near the end only.
            left_s = took_s * (FEEDS - checked) / checked if checked else 0.0
            time.sleep(min(max(left_s / 4, 0.01), 0.2))
        return time.monotonic() - started

    def stored(self) -> int:
        database = Database(self.environment["TIDINGS_DATABASE_URL"])
        try:
            with database.reading() as db:
                counted = int(db.scalar(select(func.count()).select_from(entries)))
                assert counted == int(db.scalar(select(func.sum(feed_counters.c.unread))))
                return counted
        finally:
            database.close()

    def _checked_since(self, moment: Instant) -> int:
        with self.database.reading() as db:
            checked = select(func.count()).select_from(feed_table).where(feed_table.c.checked_at >= moment)
            return int(db.scalar(checked.where(feed_table.c.parsing_error_count == 0)))


def _measure_reference(origin: str) -> Measurement:
    """The reference server, with its own PostgreSQL."""
    with peer.started():
        took_s = {}
        peer.sql("truncate feeds cascade")
        peer.run("feeds", f"{origin}/feed", str(FEEDS))
        took_s[FIRST_FETCH] = _timed_refresh()
        took_s[WITH_VALIDATORS] = _timed_refresh()
        publish(origin)
        took_s[NEW_ENTRIES] = _timed_refresh()
        peer.sql("truncate feeds cascade")
        peer.run("feeds", f"{origin}/plain", str(FEEDS))
        _timed_refresh()
        took_s[WITHOUT_VALIDATORS] = _timed_refresh()
    return Measurement({name: took_s[name] for name in MIN_SPEEDUPS})


def _timed_refresh() -> float:
    peer.run("due")
    started = time.monotonic()
    peer.run("refresh")
    return time.monotonic() - started


def publish(origin: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(f"{origin}/publish", method="POST")):  # noqa: S310
        pass


def _below_minimum(found: dict[str, Measurement], reference: Measurement | None) -> list[str]:
    if reference is None:
        return []
    return [
        f"{engine}, {name}: {reference.took_s[name] / one.took_s[name]:.1f} times the reference, not {floor}"
        for engine, one in found.items()
        for name, floor in MIN_SPEEDUPS.items()
        if reference.took_s[name] / one.took_s[name] < floor
    ]


def _show(found: dict[str, Measurement], reference: Measurement | None) -> None:
    write = sys.stdout.write
    write(f"polling: {FEEDS} feeds of {ENTRIES} entries on loopback; feeds and entries (looked at) a second\n")
    rows = found | ({REFERENCE: reference} if reference else {})
    for engine, row in rows.items():
        for name, took_s in row.took_s.items():
            times = f"  {reference.took_s[name] / took_s:6.1f} times the reference" if reference else ""
            rate = FEEDS / took_s
            write(f"  {engine:14} {name:22} {took_s:6.2f} s {rate:7.0f} {rate * ENTRIES:8.0f}{times}\n")
        if row.missing:
            write(f"  {engine:14} {row.missing} entries are missing\n")
    for line in _below_minimum(found, reference):
        write(f"  too slow: {line}\n")
    if reference is None:
        write("  (the reference is not at hand: no floors)\n")


if __name__ == "__main__":
    sys.exit(run())
