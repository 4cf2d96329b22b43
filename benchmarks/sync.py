"""Measures what an app in step asks for, on a user with 100,000 entries, by HTTP requests, on both engines.

A sync without a change, one after 100 changes, and each list of which the app has the current state (304).
"""

from __future__ import annotations

import http.client
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks import lists
from support.people import Cast, Person
from support.running import running_service

CHANGES = 100
LISTS = (
    "/v1/feeds", "/v1/categories", "/v1/feeds/counters", "/v1/entries?limit=100&direction=desc", "/v1/entries/ids",
    "/v1/export",
)  # fmt: skip
READER_LISTS = ("tag/list", "subscription/list", "unread-count")


def run() -> None:
    for engine in ("sqlite", "postgresql"):
        with (
            tempfile.TemporaryDirectory() as folder,
            lists.databases(engine, Path(folder)) as created,
            created.migrated() as url,
            running_service(url, Path(folder)) as service,
        ):
            _measure(engine, lists.seeded(Cast(service), lists.entry))


def _measure(engine: str, person: Person) -> None:
    connection = http.client.HTTPConnection(urlsplit(person.service.url).netloc)
    key = {"X-Auth-Token": person.token}
    cursor = person.get("/v1/sync", limit=1000, fields="status")["next_cursor"]
    while (page := person.get("/v1/sync", cursor=cursor, limit=1000))["has_more"]:
        cursor = page["next_cursor"]
    cursor = page["next_cursor"]
    sys.stdout.write(f"sync on {engine}:                   median      p95     bytes\n")
    lists.measure_call(connection, "GET /v1/me, for comparison", "/v1/me", key)
    lists.measure_call(connection, "sync, nothing new", f"/v1/sync?cursor={cursor}", key)
    changed = [entry["id"] for entry in person.entries(limit=CHANGES)]
    person.put("/v1/entries", {"entry_ids": changed, "starred": True})
    lists.measure_call(connection, f"sync, {CHANGES} changes", f"/v1/sync?cursor={cursor}", key)
    lean = f"/v1/sync?cursor={cursor}&fields=status,starred"
    lists.measure_call(connection, f"sync, {CHANGES} changes, lean", lean, key)
    reader = lists.reader_header(person)
    for headers, paths in (
        (key, LISTS),
        (reader, tuple(f"/reader/api/0/{name}?output=json" for name in READER_LISTS)),
    ):
        for path in paths:
            _measure_unchanged(connection, path, headers)
    connection.close()


def _measure_unchanged(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> None:
    """Measure a conditional request of a list that has not changed."""
    connection.request("GET", path, headers=headers)
    first = connection.getresponse()
    first.read()
    etag = first.getheader("ETag")
    assert first.status == 200, path
    assert etag, path
    took = []
    for _ in range(lists.ROUNDS):
        started = time.perf_counter()
        connection.request("GET", path, headers={**headers, "If-None-Match": etag})
        response = connection.getresponse()
        response.read()
        took.append((time.perf_counter() - started) * 1000)
        assert response.status == 304, path
    took.sort()
    name = path.partition("?")[0]
    p95 = took[int(len(took) * 0.95)]
    sys.stdout.write(f"  304 {name:<40} {statistics.median(took):7.2f} ms {p95:7.2f} ms\n")
