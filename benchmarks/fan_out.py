"""Measures how long it takes until ten new entries of one feed are stored for all subscribers, on both engines.

`tidings serve` as an operator starts it. Ten thousand users (a thousand on SQLite) have the same feed, which has ten
new entries. First nothing else happens: the processor time of each subscriber is printed, until entries are stored and
until searches find them, next to that of a subscriber when there are only a hundred. The next ten entries come while
another user has a feed of their own, which is checked again and again, and asks for a page of entries: how long that
takes meanwhile is printed next to how long it takes when nothing else happens.

    python -m benchmarks fan-out
"""

from __future__ import annotations

import base64
import http.client
import itertools
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
from sqlalchemy import ColumnElement, func, select, update

from benchmarks.polling import publish, publisher
from support.people import PASSWORD
from support.postgres import create_database, postgres_server
from support.processor import spent_ms
from support.running import RunningService, environment_for, running
from tidings.base.times import HOUR
from tidings.engine import notify
from tidings.engine.database import Database
from tidings.services.clock import system_clock
from tidings.settings import load
from tidings.storage import migrate
from tidings.storage.accounts import users
from tidings.storage.feeds import categories, feeds
from tidings.storage.schema import feeds as feed_table
from tidings.storage.schema import search_pending
from tidings.storage.schema import sources as source_table
from tidings.wiring.services import build_services

SUBSCRIBERS: Final = {"sqlite": 1_000, "postgresql": 10_000}
# What one subscriber costs should not depend on how many there are.
FEW: Final = 100
# The publisher gives five new entries at a time.
ENTRIES, PUBLICATIONS = 10, 2
MAX_SECONDS = {"sqlite": 10.0, "postgresql": 20.0}
PAUSE = 2 * HOUR
IDLE_S, PAUSE_S = 5.0, 0.05
# Between two questions whether all is done, which cost processor time themselves.
PATIENCE_S = 0.5
TIMEOUT_S = 600.0

# Milliseconds of each wait, by what was waited for.
Waits = dict[str, list[float]]


def run() -> int:
    sys.stdout.write(f"fan-out: seconds until {ENTRIES} new entries of a feed are stored for all subscribers\n")
    with publisher(2, ENTRIES) as origin:
        with tempfile.TemporaryDirectory() as folder:
            is_slow = _measure("sqlite", origin, lambda name: f"sqlite:///{folder}/{name}.db", Path(folder))
        with postgres_server(is_durable=True) as server, tempfile.TemporaryDirectory() as folder:
            pid = pid_of(server)
            is_slow |= _measure("postgresql", origin, lambda name: create_database(server, name), Path(folder), pid)
    return int(is_slow)


def _measure(engine: str, origin: str, database_url: Callable[[str], str], folder: Path, *servers: int) -> bool:
    """Write the lines for an engine. Returns whether it was slower than it has to be.

    database_url: returns the one of a new database. servers: processes of the database.
    """
    with subscribed(FEW, origin, database_url("few"), folder) as (service, database, own_id):
        _write_costs(FEW, origin, database, own_id, service.process.pid, *servers)
    number = SUBSCRIBERS[engine]
    with subscribed(number, origin, database_url("many"), folder) as (service, database, own_id):
        _write_costs(number, origin, database, own_id, service.process.pid, *servers)
        others = Others(service, database, own_id)
        with others.waiting() as calm:
            time.sleep(IDLE_S)
        for _ in range(PUBLICATIONS):
            publish(origin)
        with others.waiting() as busy:
            took_s = _until_stored(database, own_id)
    waits = "; ".join(
        f"{name} {_median(calm[name]):.0f} and {_median(busy[name]):.0f} (at most {max(busy[name]):.0f}) ms"
        for name in busy
    )
    sys.stdout.write(f"  {engine:11} {number:6,} subscribers {took_s:6.1f} s; idle and meanwhile: {waits}\n")
    sys.stdout.flush()
    return took_s > MAX_SECONDS[engine]


@contextmanager
def subscribed(
    number: int, origin: str, database_url: str, folder: Path
) -> Iterator[tuple[RunningService, Database, int]]:
    """Yield a service whose users have the first entries of the shared feed, and the id of the other feed."""
    environment = environment_for(database_url, folder, polling_limit_per_host="100", log_level="warning")
    database = Database(database_url)
    own_id = _subscribe(database, environment, origin, number)
    with running("serve", environment, folder) as service:
        service.wait_until_ready()
        _until_stored(database, own_id, pause_s=PATIENCE_S)
        _until_indexed(database)
        yield service, database, own_id
    database.close()


def _write_costs(number: int, origin: str, database: Database, own_id: int, *processes: int) -> None:
    """Write the processor time of each subscriber, without what the processes take when nothing happens."""
    for _ in range(PUBLICATIONS):
        publish(origin)
    moments = [_moment(processes)]
    for wait in (
        lambda: time.sleep(IDLE_S),
        lambda: _until_stored(database, own_id, pause_s=PATIENCE_S),
        lambda: _until_indexed(database),
    ):
        wait()
        moments.append(_moment(processes))
    idle, *busy = [
        (after_s - before_s, [one - other for one, other in zip(after, before, strict=True)])
        for (before_s, before), (after_s, after) in itertools.pairwise(moments)
    ]
    rates = [spent / idle[0] for spent in idle[1]]
    own = [[spent - rate * took_s for spent, rate in zip(each, rates, strict=True)] for took_s, each in busy]
    names = ("Tidings", "PostgreSQL")
    each = ", ".join(
        f"{name} {stored / number:.2f} + {indexed / number:.2f}"
        for name, stored, indexed in zip(names, *own, strict=False)
    )
    sys.stdout.write(
        f"  {database.kind:11} {number:6,} subscribers {sum(map(sum, own)) / 1000:6.1f} s of a processor;"
        f" ms of each subscriber, to store and to index: {each}\n"
    )
    sys.stdout.flush()


def _moment(processes: Sequence[int]) -> tuple[float, list[float]]:
    """Return the time in seconds, and the milliseconds that each process and its descendants have used."""
    return time.monotonic(), [spent_ms(pid) for pid in processes]


def pid_of(server: str) -> int:
    """Return the process of a server, the parent of those that serve connections."""
    with psycopg.connect(server) as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
    return int(Path(folder, "postmaster.pid").read_text(encoding="utf-8").split()[0])


def _subscribe(database: Database, environment: dict[str, str], origin: str, number: int) -> int:
    """Let that many users subscribe to a feed, and one to another. Returns the id of the latter's feed."""
    migrate.upgrade(database)
    services = build_services(database, load(environment, None))
    reader = services.accounts.users.create("reader", PASSWORD)
    own = services.feeds.categories.create(reader.id, "Own")
    now = system_clock()
    moments = {"created_at": 0, "checked_at": 0, "icon_checked_at": now, "next_check_at": now + PAUSE}
    with database.writing() as db:
        values = {"feed_url": f"{origin}/plain/2", "title": "Own", **moments}
        own_id = feeds.add(db, reader.id, category_id=own.id, **values)
        for place in range(number):
            user_id = users.add(db, username=f"reader-{place}", password_hash="", is_admin=False, now=now)
            category_id = categories.add(db, user_id, title="All", title_key="all", hide_globally=False)
            values = {"feed_url": f"{origin}/feed/1", "title": "Shared", **moments}
            feeds.add(db, user_id, category_id=category_id, **values)
    return own_id


def _until_stored(database: Database, own_id: int, pause_s: float = 0.1) -> float:
    """Make the shared feed due. Returns the seconds until it is stored for all."""
    return _until_checked(database, feed_table.c.id != own_id, pause_s)


def _until_indexed(database: Database) -> None:
    """Wait until searches find all entries."""
    started = time.monotonic()
    while time.monotonic() - started < TIMEOUT_S:
        with database.reading() as db:
            if not db.scalar(select(func.count()).select_from(search_pending)):
                return
        time.sleep(PATIENCE_S)
    raise TimeoutError("not all entries were indexed")


def _until_checked(database: Database, chosen: ColumnElement[bool], pause_s: float = 0.01) -> float:
    """Make feeds due. Returns the seconds until all of them are checked."""
    due_at, started = system_clock(), time.monotonic()
    with database.writing() as db:
        db.run(update(feed_table).where(chosen).values(next_check_at=0))
        of_feeds = select(feed_table.c.source_id).where(chosen)
        db.run(update(source_table).where(source_table.c.id.in_(of_feeds)).values(next_check_at=0))
        notify.notify(db, notify.FEEDS)
    left = select(feed_table.c.id).where(chosen, feed_table.c.checked_at < due_at).limit(1)
    while time.monotonic() - started < TIMEOUT_S:
        with database.reading() as db:
            if db.scalar(left) is None:
                return time.monotonic() - started
        time.sleep(pause_s)
    raise TimeoutError("not all feeds were checked")


class Others:
    """The user who has nothing to do with the shared feed."""

    def __init__(self, service: RunningService, database: Database, feed_id: int) -> None:
        token = base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
        self._headers = {"Authorization": f"Basic {token}"}
        self._address = service.url.removeprefix("http://")
        self._database = database
        self._feed_id = feed_id

    @contextmanager
    def waiting(self) -> Iterator[Waits]:
        """Check the user's feed and ask for a page, again and again, while what is inside runs."""
        waits: defaultdict[str, list[float]] = defaultdict(list)
        stop = threading.Event()

        def repeat(name: str, step: Callable[[], object]) -> None:
            while not stop.is_set():
                started = time.perf_counter()
                step()
                waits[name].append((time.perf_counter() - started) * 1000)
                time.sleep(PAUSE_S)

        steps = {"another feed": self._check, "a page": self._read}
        threads = [threading.Thread(target=repeat, args=step) for step in steps.items()]
        for thread in threads:
            thread.start()
        try:
            yield waits
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def _check(self) -> None:
        _until_checked(self._database, feed_table.c.id == self._feed_id)

    def _read(self) -> None:
        connection = http.client.HTTPConnection(self._address, timeout=60)
        connection.request("GET", "/v1/entries?limit=100", headers=self._headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status == 200, f"the page answered {answer.status}"


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
