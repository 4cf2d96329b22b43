"""Measures polling, compared with the other feed readers that are there: `make bench-poll`.

500 feeds of 30 entries on loopback (`publisher`), polled by real worker processes on each engine, from the moment they
are due to the moment the last is written. The others poll the first of the same feeds, fewer since they are slower: a
run takes less than five minutes. FreshRSS is given by --freshrss PATH and polls by its script; the library `reader` is
that of the interpreter --reader PYTHON. Each engine, and the reference, is measured up to three times, as long as
that fits into five minutes, and the best time of each round is printed, since other work on the machine slows some runs
down. Writes the figures to build/bench-poll.json, with a plot next to it. Exits with 1 if an entry is missing or a rate
is below its minimum compared with the reference.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct
from sqlalchemy import func, select, update

from benchmarks import freshrss, library, peers
from benchmarks import reference as peer
from benchmarks.freshrss import FRESHRSS
from benchmarks.library import READER
from benchmarks.peers import OURS, Peers
from benchmarks.plots import Bars, write_bars
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
# The first of these feeds: on a machine where ours polls 300 a second, they poll 30 or fewer.
FEEDS_OF_REFERENCE, FEEDS_OF_FRESHRSS, FEEDS_OF_READER = 300, 60, 50
RESULT = Path("build/bench-poll.json")
RUNS = 3
# No run is begun that would end later than this, as long as the one before.
LIMIT_S = 290.0
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
    """What was measured of one feed reader.

    took_s: by round. missing: the number of entries that are not stored. feeds: how many were polled.
    """

    took_s: dict[str, float]
    missing: int = 0
    feeds: int = FEEDS

    def rate(self, name: str) -> float:
        """Return the feeds per second of a round."""
        return self.feeds / self.took_s[name]


def run(arguments: Sequence[str]) -> int:
    there = peers.found(peers.parse(arguments, program="benchmarks.polling"), is_served=False)
    sys.stdout.write(peers.missing_lines(there))
    with publisher() as origin:
        found = _measure_all(origin, there)
    sys.stdout.write(table(found))
    _write(found)
    return 1 if any(result.missing for result in found.values()) or _below_minimum(found) else 0


def _measure_all(origin: str, there: Peers) -> dict[str, Measurement]:
    """Return the best of up to RUNS runs, as many as fit into LIMIT_S. The slow feed readers run once, in between."""
    began = time.monotonic()
    runs = [_measure_once(origin, there)]
    took_s = time.monotonic() - began
    once = _measure_slow(origin, there)
    while len(runs) < RUNS and time.monotonic() - began + took_s < LIMIT_S:
        runs.append(_measure_once(origin, there))
    return {name: _best_of([one_run[name] for one_run in runs]) for name in runs[0]} | once


def _measure_once(origin: str, there: Peers) -> dict[str, Measurement]:
    measured = {OURS["sqlite"]: _on_sqlite(origin), OURS["postgresql"]: _on_postgresql(origin)}
    return measured | ({REFERENCE: _measure_reference(origin)} if there.reference else {})


def _measure_slow(origin: str, there: Peers) -> dict[str, Measurement]:
    measured = {}
    if there.freshrss is not None:
        measured[FRESHRSS] = _measure_freshrss(origin, there.freshrss)
    if there.reader is not None:
        measured[READER] = _measure_reader(origin, there.reader)
    return measured


def _best_of(runs: list[Measurement]) -> Measurement:
    """Return the best time of each round, and the number of entries missing in any run."""
    took_s = {name: min(one_run.took_s[name] for one_run in runs) for name in MIN_SPEEDUPS}
    return Measurement(took_s, sum(one_run.missing for one_run in runs), runs[0].feeds)


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

    def subscribe(base_url: str) -> None:
        peer.sql("truncate feeds cascade")
        peer.run("feeds", base_url, str(FEEDS_OF_REFERENCE))

    def stored() -> int:
        return int(peer.sql("select count(*) from entries"))

    with peer.started():
        return _rounds(origin, FEEDS_OF_REFERENCE, subscribe=subscribe, poll=_timed_refresh, stored=stored)


def _timed_refresh() -> float:
    peer.run("due")
    started = time.monotonic()
    peer.run("refresh")
    return time.monotonic() - started


def _measure_freshrss(origin: str, snapshot: Path) -> Measurement:
    with freshrss.installed(snapshot) as installation:

        def subscribe(base_url: str) -> None:
            installation.subscribe(base_url, FEEDS_OF_FRESHRSS)

        return _rounds(
            origin, FEEDS_OF_FRESHRSS, subscribe=subscribe, poll=installation.refresh, stored=installation.stored
        )


def _measure_reader(origin: str, python: str) -> Measurement:
    with library.running(python) as process:

        def subscribe(base_url: str) -> None:
            urls = [f"{base_url}/{number}" for number in range(1, FEEDS_OF_READER + 1)]
            process.do("subscribe", urls=urls, categories=[])

        def poll() -> float:
            return float(process.do("update", workers=library.THREADS))

        def stored() -> int:
            return int(process.do("counts")["total"])

        return _rounds(origin, FEEDS_OF_READER, subscribe=subscribe, poll=poll, stored=stored)


def _rounds(
    origin: str,
    count: int,
    *,
    subscribe: Callable[[str], None],
    poll: Callable[[], float],
    stored: Callable[[], int],
) -> Measurement:
    """Measure all rounds of another feed reader. subscribe: replaces its feeds. poll: makes all due, and times them."""
    publish(origin)
    subscribe(f"{origin}/feed")
    took_s = {FIRST_FETCH: poll(), WITH_VALIDATORS: poll()}
    publish(origin)
    took_s[NEW_ENTRIES] = poll()
    missing = count * (ENTRIES + NEW) - stored()
    subscribe(f"{origin}/plain")
    poll()
    took_s[WITHOUT_VALIDATORS] = poll()
    missing += count * ENTRIES - stored()
    return Measurement({name: took_s[name] for name in MIN_SPEEDUPS}, missing, count)


def publish(origin: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(f"{origin}/publish", method="POST")):  # noqa: S310
        pass


def _below_minimum(found: Mapping[str, Measurement]) -> list[str]:
    """Return a line for each rate of ours that is too low; none without the reference."""
    reference = found.get(REFERENCE)
    if reference is None:
        return []
    return [
        f"{engine}, {name}: {found[engine].rate(name) / reference.rate(name):.1f} times the reference, not {floor}"
        for engine in OURS.values()
        for name, floor in MIN_SPEEDUPS.items()
        if found[engine].rate(name) / reference.rate(name) < floor
    ]


def table(found: Mapping[str, Measurement]) -> str:
    """Return the lines of all feed readers, ours first."""
    lines = [f"polling: feeds of {ENTRIES} entries on loopback; feeds and entries (looked at) a second"]
    reference = found.get(REFERENCE)
    for reader, one in found.items():
        for name in one.took_s:
            rate = one.rate(name)
            times = f"  {rate / reference.rate(name):6.2f} times {REFERENCE}" if reference else ""
            shown = f"{one.feeds:4} feeds {one.took_s[name]:6.2f} s {rate:7.0f} {rate * ENTRIES:8.0f}"
            lines.append(f"  {reader:20} {name:22} {shown}{times}")
        if one.missing:
            lines.append(f"  {reader:20} {one.missing} entries are missing")
    lines += [f"  too slow: {line}" for line in _below_minimum(found)]
    if FRESHRSS in found:
        lines.append(f"  {FRESHRSS}: one process of its script app/actualize_script.php, SQLite")
    if READER in found:
        lines.append(f"  {READER}: a library without HTTP, update_feeds in one process with {library.THREADS} threads")
    if reference is None:
        lines.append(f"  ({REFERENCE} is not there: no minimums)")
    return "\n".join([*lines, ""])


def _write(found: Mapping[str, Measurement]) -> None:
    """Write the figures and a plot of the rates."""
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    groups = [Bars(name, [one.rate(name) for one in found.values()]) for name in MIN_SPEEDUPS]
    write_bars(RESULT.with_suffix(".svg"), title="feeds polled per second", engines=list(found), groups=groups)


if __name__ == "__main__":
    peers.end_in_order()
    sys.exit(run(sys.argv[1:]))
