"""Pages of a user with 100,000 entries in 1,000 feeds, on both engines: by the server, and in Chromium.

The server's time is from the request to the last byte, uncompressed, on a connection that stays. In Chromium: first
paint after navigation, and how much of the layout has moved meanwhile (CLS), with nothing kept from before.
"""

from __future__ import annotations

import http.client
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser

from benchmarks.lists import databases, entry
from browser.chromium import chromium
from support.people import Cast, Person
from support.running import running_service
from tidings.storage import feeds, intake

CATEGORIES, FEEDS, ENTRIES = 20, 1_000, 100_000
ROUNDS, LOADS = 30, 5
GOAL_MS = 50
PAGES: Final = {
    "unread": "/unread",
    "unread, the second page": "/unread?after={after}",
    "article": "/unread/{entry}",
    "starred": "/starred",
    "history": "/history",
    "category": "/categories/{category}",
    "feed": "/feeds/{feed}?show=all",
    "search, what all have": "/search?q=ipsum",
    "search, one in a hundred": "/search?q=47*",
    "search, a rare one": "/search?q=4711",
    "feeds": "/feeds",
    "edit a feed": "/feeds/{feed}/edit",
    "categories": "/categories",
    "add a feed": "/feeds/add",
    "import": "/feeds/import",
    "settings": "/settings",
    "integrations": "/settings/integrations",
    "deliveries": "/settings/deliveries",
    "statistics": "/statistics",
    "instance": "/instance",
}
LOOKED_AT: Final = ("unread", "article", "feeds")
_MEASURE: Final = """
() => new Promise(done => {
    let shift = 0;
    new PerformanceObserver(list => list.getEntries().forEach(one => { if (!one.hadRecentInput) shift += one.value }))
        .observe({ type: 'layout-shift', buffered: true });
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    setTimeout(() => done([paint ? paint.startTime : NaN, shift]), 300);
})
"""


def run() -> None:
    with chromium() as browser:
        for engine in ("sqlite", "postgresql"):
            with (
                tempfile.TemporaryDirectory() as folder,
                databases(engine, Path(folder)) as made,
                made.migrated() as url,
                running_service(url, Path(folder)) as service,
            ):
                person = _seeded(Cast(service))
                _measure(engine, person, browser)


def _seeded(cast: Cast) -> Person:
    """Seven in ten are read, one in fifty is starred."""
    person = cast.person("alice", is_admin=True)
    services = person.service.services
    categories = [services.categories.create(person.id, f"Category {one}").id for one in range(CATEGORIES)]
    now = services.clock()
    for number in range(FEEDS):
        category = categories[number % CATEGORIES]
        with services.database.writing() as db:
            feed_id = feeds.add(
                db, person.id, category_id=category, feed_url=f"http://127.0.0.1:1/{number}", title=f"Feed {number}",
                created_at=now, checked_at=now, next_check_at=now,
            )  # fmt: skip
            entries = [entry(number * (ENTRIES // FEEDS) + one, now) for one in range(ENTRIES // FEEDS)]
            intake.add(db, person.id, feed_id, category, entries, now=now)
    while services.search.work():
        pass
    if not services.database.is_sqlite:
        # As autovacuum does by itself soon after.
        with services.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")
    return person


def _measure(engine: str, person: Person, browser: Browser) -> None:
    token = person.service.services.sessions.begin(person.id, user_agent="bench", address="127.0.0.1")
    chosen = person.get("/v1/entries", status="read", limit=1)["entries"][0]
    values = {
        "entry": chosen["id"],
        "feed": chosen["feed_id"],
        "category": chosen["feed"]["category"]["id"],
        "after": f"{person.service.services.clock()}.1",
    }
    paths = {name: path.format(**values) for name, path in PAGES.items()}
    sys.stdout.write(f"pages on {engine}:              median      p95     bytes\n")
    connection = http.client.HTTPConnection(urlsplit(person.service.url).netloc)
    for name, path in paths.items():
        took, size = _asked(connection, path, token)
        slow = "" if statistics.median(took) < GOAL_MS else f"   over {GOAL_MS} ms"
        p95 = took[int(len(took) * 0.95)]
        sys.stdout.write(f"  {name:<24} {statistics.median(took):9.1f} ms {p95:5.1f} ms {size:9}{slow}\n")
    connection.close()
    for name in LOOKED_AT:
        paint, shift = _seen(browser, person.service.url, paths[name], token)
        sys.stdout.write(f"  {name:<24} in Chromium: first paint after {paint:.0f} ms, layout shift {shift:.3f}\n")


def _asked(connection: http.client.HTTPConnection, path: str, token: str) -> tuple[list[float], int]:
    """Milliseconds of each answer, shortest first, and its size."""
    took, size = [], 0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": f"tidings_session={token}"})
        answer = connection.getresponse()
        size = len(answer.read())
        took.append((time.perf_counter() - started) * 1000)
        assert answer.status == 200, f"{path}: {answer.status}"
    return sorted(took), size


def _seen(browser: Browser, url: str, path: str, token: str) -> tuple[float, float]:
    """Median of the first paint in milliseconds, and the largest shift."""
    found: list[Any] = []
    for _ in range(LOADS):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "tidings_session", "value": token, "url": url}])
        page = context.new_page()
        page.goto(url + path, wait_until="load")
        found.append(page.evaluate(_MEASURE))
        context.close()
    return statistics.median(one[0] for one in found), max(one[1] for one in found)
