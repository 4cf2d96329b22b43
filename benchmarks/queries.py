"""Measures queries of every field on a user with 100,000 entries, by HTTP requests, on both engines."""

from __future__ import annotations

import http.client
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from msgspec import structs

from benchmarks import lists
from support.people import Cast, Person
from support.running import running_service
from tidings.base.times import Instant
from tidings.content.model import ParsedEnclosure
from tidings.domain.entries.entries import ReadyEntry
from tidings.services.entries.search_index import SearchIndexer

QUERIES = (
    "rare", "common", "-common", "rar*", '"common words"', "title:common", "rare OR is:starred", "common -rare",
    "common is:unread", "author:42", "url:example", "url:/99/", "site:example.org", "feed:7", "tag:tag3", "#tag3 rare",
    "lang:de", "lang:en", "has:enclosure", "has:video", "-has:video", "is:unread", "is:starred", "words>3", "minutes>2",
    "published:7d", "added:today", "title:/number 9+7$/", "author:/ 4.$/", "url:/9.7$/",
)  # fmt: skip

# Fifty views as people have them: feeds, categories, words, times, labels. Those that half of all entries match follow.
VIEWS = (
    *(f"feed:{number}" for number in range(10)), *(f"feed:{number} rare" for number in range(10)),
    *(f"feed:{number} OR feed:{number + 1} -is:starred" for number in range(5)),
    *(f"number {number}" for number in range(70, 85)), "rare", "title:rare", "rar*", "rare -common", "is:starred",
    "category:bench", "published:1d", "published:7d feed:7", "label:later", "site:example.org",
)  # fmt: skip
BROAD_VIEWS = ("common", "title:common", "lang:de", "tag:tag3", "url:/99/")


def run() -> None:
    for engine in ("sqlite", "postgresql"):
        with (
            tempfile.TemporaryDirectory() as folder,
            lists.databases(engine, Path(folder)) as created,
            created.migrated() as url,
            running_service(url, Path(folder)) as service,
        ):
            person = lists.seeded(Cast(service), entry)
            indexer = SearchIndexer(service.services.database)
            while indexer.work():
                pass
            # Otherwise PostgreSQL would take the new index for empty.
            lists.vacuum(service.services.database)
            _measure(engine, person)


def entry(number: int, now: Instant) -> ReadyEntry:
    """Return an entry: half of all have "common", one in a thousand "rare", a tenth a video."""
    words = f"{'common' if number % 2 else 'other'} words {'rare' if number % 1000 == 7 else ''} number {number}"
    kinds = {3: "video/mp4", 4: "audio/mpeg", 5: "image/jpeg"}
    attached = kinds.get(number % 10)
    return structs.replace(
        lists.entry(number, now),
        title=words,
        content=f"<p>{words} {lists.BODY[: number % 500]}</p>",
        language=("en", "de", "de-AT", "")[number % 4],
        reading_time=number % 7,
        enclosures=(ParsedEnclosure(f"https://example.org/{number}", attached),) if attached else (),
    )


def _measure(engine: str, person: Person) -> None:
    connection = http.client.HTTPConnection(urlsplit(person.service.url).netloc)
    sys.stdout.write(f"queries on {engine}:                median      p95     bytes\n")
    for query in QUERIES:
        path = f"/v1/entries?{urlencode({'query': query, 'limit': 100, 'direction': 'desc', 'order': 'published_at'})}"
        lists.measure_call(connection, query, path, {"X-Auth-Token": person.token})
    for query in VIEWS:
        person.post("/v1/views", {"name": query, "query": query})
    _measure_views(connection, f"{len(VIEWS)} views counted", person)
    for query in BROAD_VIEWS:
        person.post("/v1/views", {"name": query, "query": query})
    _measure_views(connection, f"{len(BROAD_VIEWS)} broad ones as well", person)
    connection.close()


def _measure_views(connection: http.client.HTTPConnection, name: str, person: Person) -> None:
    """Measure the counters of all views, each time after an entry has changed, so that none are kept."""
    (entry,) = person.entries(limit=1)
    starred = False

    def change() -> None:
        nonlocal starred
        starred = not starred
        person.put("/v1/entries", {"entry_ids": [entry["id"]], "starred": starred})

    lists.measure_call(connection, name, "/v1/views/counters", {"X-Auth-Token": person.token}, before=change)
