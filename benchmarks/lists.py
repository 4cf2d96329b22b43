"""Measures lists of a user with 100,000 entries in 100 feeds, by HTTP requests to a web process, on both engines."""

from __future__ import annotations

import http.client
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from support.databases import Databases, PostgresDatabases, SqliteDatabases
from support.people import Cast, Person, call
from support.postgres import postgres_server
from support.running import running_service
from tidings.base.times import MINUTE, Instant
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.engine.database import Database
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes

FEEDS, ENTRIES = 100, 100_000
ROUNDS = 60
CALLS = {
    "GET /v1/me": "/v1/me",
    "unread, 100": "/v1/entries?status=unread&limit=100&order=published_at&direction=desc",
    "all, 100": "/v1/entries?limit=100&direction=desc",
    "starred, 100": "/v1/entries?starred=true&limit=100",
    "all, 100 at offset 20,000": "/v1/entries?limit=100&offset=20000",
    "changed after, 100": "/v1/entries?changed_after=1700000000&limit=100&order=changed_at",
    "ids, 10,000 unread": "/v1/entries/ids?status=unread",
    "feeds": "/v1/feeds",
    "counters": "/v1/feeds/counters",
}
BODY = "<p>" + "Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 50 + "</p>"


READER = "/reader/api/0/stream"
READING_LIST = "user/-/state/com.google/reading-list"
READ = "user/-/state/com.google/read"
# Of the Google Reader API.
READER_CALLS = {
    "Reader: ids, 10,000": f"{READER}/items/ids?n=10000&s={READING_LIST}",
    "Reader: ids, 10,000 unread": f"{READER}/items/ids?n=10000&s={READING_LIST}&xt={READ}",
    "Reader: contents, 100": f"{READER}/contents?n=100",
    "Reader: unread of a feed, 100": f"{READER}/contents/feed/1?n=100&xt={READ}",
    "Reader: unread counts": "/reader/api/0/unread-count",
}


def run() -> None:
    for engine in ("sqlite", "postgresql"):
        with (
            tempfile.TemporaryDirectory() as folder,
            databases(engine, Path(folder)) as created,
            created.migrated() as url,
            running_service(url, Path(folder)) as service,
        ):
            _measure(engine, seeded(Cast(service), entry))


@contextmanager
def databases(engine: str, folder: Path, *, is_durable: bool = False) -> Iterator[Databases]:
    """is_durable: PostgreSQL waits for the disk at each commit, as it is installed."""
    if engine == "sqlite":
        yield SqliteDatabases(folder)
    else:
        with postgres_server(is_durable=is_durable) as server, closing(PostgresDatabases(server)) as databases:
            yield databases


def seeded(cast: Cast, make_entry: Callable[[int, Instant], ReadyEntry]) -> Person:
    """Return a user with 100,000 entries in 100 feeds. make_entry: makes an entry of its number and the time."""
    person = cast.person("alice")
    started = time.perf_counter()
    each = ENTRIES // FEEDS
    add_feeds(
        person,
        FEEDS,
        1,
        lambda feed, now: [make_entry(number, now) for number in range(feed * each, (feed + 1) * each)],
    )
    took = time.perf_counter() - started
    vacuum(person.service.services.database)
    sys.stdout.write(f"{ENTRIES} entries stored at {ENTRIES / took:.0f} a second\n")
    return person


def add_feeds(
    person: Person, count: int, categories: int, entries_of: Callable[[int, Instant], Sequence[ReadyEntry]]
) -> None:
    """Store feeds of a user, by turns in each of some new categories.

    entries_of: makes the entries of a feed, of its number and the time.
    """
    services = person.service.services
    ids = [services.feeds.categories.create(person.id, f"Category {number}").id for number in range(categories)]
    now = services.clock()
    for number in range(count):
        category = ids[number % categories]
        with services.database.writing() as db:
            feed_id = feeds.add(
                db, person.id, category_id=category, feed_url=f"http://127.0.0.1:1/{number}", title=f"Feed {number}",
                created_at=now, checked_at=now, next_check_at=now,
            )  # fmt: skip
            entry_writes.add(db, person.id, feed_id, category, entries_of(number, now), now=now)


def vacuum(database: Database) -> None:
    """Do at once what PostgreSQL's autovacuum does soon after many changes: count rows, and mark pages as visible."""
    if not database.is_sqlite:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")


def entry(number: int, now: Instant) -> ReadyEntry:
    return ReadyEntry(
        hash=number.to_bytes(32, "big"),
        fingerprint=number.to_bytes(16, "big"),
        title=f"Entry title number {number}",
        url=f"https://example.org/{number}",
        content=f"{BODY}{number}",
        author=f"Author {number % 100}",
        published_at=Instant(now - (number * 7919 % ENTRIES) * MINUTE),
        tags=(f"tag{number % 10}",),
        status=EntryStatus.READ if number % 10 < 7 else EntryStatus.UNREAD,
        starred=number % 50 == 0,
    )


def _measure(engine: str, person: Person) -> None:
    connection = http.client.HTTPConnection(urlsplit(person.service.url).netloc)
    sys.stdout.write(f"lists on {engine}:                  median      p95     bytes\n")
    ways = [({"X-Auth-Token": person.token}, CALLS), (reader_header(person), READER_CALLS)]
    for headers, calls in ways:
        for name, path in calls.items():
            measure_call(connection, name, path, headers)
    connection.close()


def reader_header(person: Person) -> dict[str, str]:
    password = person.post("/v1/api-passwords", {"name": "benchmark"})["password"]
    query = urlencode({"Email": person.user.username, "Passwd": password})
    answer = call(person.service.url, "GET", f"/accounts/ClientLogin?{query}").body.decode()
    return {"Authorization": f"GoogleLogin auth={answer.partition('Auth=')[2].strip()}"}


def measure_call(
    connection: http.client.HTTPConnection,
    name: str,
    path: str,
    headers: dict[str, str],
    *,
    before: Callable[[], None] | None = None,
) -> None:
    """Measure a request and write its times. before: called before each, not measured."""
    took, size = [], 0
    for _ in range(ROUNDS):
        if before is not None:
            before()
        started = time.perf_counter()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        size = len(answer.read())
        took.append((time.perf_counter() - started) * 1000)
        assert answer.status == 200, path
    took.sort()
    p95 = took[int(len(took) * 0.95)]
    sys.stdout.write(f"  {name:<28} {statistics.median(took):7.2f} ms {p95:7.2f} ms {size:9}\n")
