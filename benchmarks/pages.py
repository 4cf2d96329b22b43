"""Measures pages of a user with 102,000 entries in 3,000 feeds, on both engines: in the server, and in Chromium.

The server's time is from the request to the last byte, uncompressed, on a connection that stays; beside it how long
the web process and PostgreSQL were busy with it, which does not depend on what else the machine does.
In Chromium: first paint after navigation, and how much of the layout has moved meanwhile (CLS), with nothing kept from
before. Returns 1 if a page takes longer than GOAL_MS, a search longer than SEARCH_MS, a paint longer than PAINT_MS.
"""

from __future__ import annotations

import http.client
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser
from sqlalchemy import text

from benchmarks.lists import add_feeds, databases, entry
from browser.chromium import chromium
from support.people import Cast, Person
from support.processor import spent_ms
from support.running import running_service
from tidings.deliveries import events
from tidings.deliveries.store import outbox
from tidings.domain.accounts.events import Method, Origin
from tidings.engine.database import Database

CATEGORIES, FEEDS, ENTRIES = 60, 3_000, 102_000
ROUNDS, LOADS = 30, 5
DELIVERIES, SESSIONS = 500, 20
GOAL_MS, SEARCH_MS, PAINT_MS = 50, 100, 300
PAGES: Final = {
    "unread": "/unread",
    "unread, the second page": "/unread?after={after}",
    "article": "/unread/{entry}",
    "article of a search": "/search/{entry}?query=ipsum",
    "starred": "/starred",
    "history": "/history",
    "category": "/categories/{category}",
    "feed": "/feeds/{feed}?show=all",
    "search, what all have": "/search?query=ipsum",
    "search, page two of it": "/search?query=ipsum&after={after}",
    "search, three such words": "/search?query=ipsum+dolor+amet",
    "search, a phrase": "/search?query=%22ipsum+dolor%22",
    "search, a beginning": "/search?query=ips*",
    "search, without a word": "/search?query=ipsum+-4711",
    "search, in a feed": "/search?query=ipsum&where=f{feed}",
    "search, in a category": "/search?query=ipsum&where=c{category}",
    "search, one in a hundred": "/search?query=47*",
    "search, a rare one": "/search?query=4711",
    "search, nothing": "/search?query=nowhere",
    "Atom list": "/lists/{list}/unread",
    "shared entry": "/share/{share}",
    "feeds": "/feeds",
    "feeds, failing": "/feeds?state=failing",
    "feeds, a word, page two": "/feeds?q=feed&sort=newest&page=2",
    "edit a feed": "/feeds/{feed}/edit",
    "categories": "/categories",
    "delete a category": "/categories/{category}/delete",
    "add a feed": "/feeds/add",
    "import": "/feeds/import",
    "export": "/feeds/export",
    "keyboard": "/keys",
    "counts": "/counts",
    "appearance": "/view",
    "settings": "/settings",
    "settings, reading": "/settings/reading",
    "settings, filters": "/settings/filters",
    "password and sessions": "/settings/security",
    "API keys": "/settings/api-keys",
    "secret addresses": "/list-links",
    "integrations": "/settings/integrations",
    "an integration": "/settings/integrations/webhook",
    "deliveries": "/settings/deliveries",
    "statistics": "/statistics",
    "users": "/users",
    "instance": "/instance",
    "about": "/about",
}
RENDERED_PAGES: Final = ("unread", "article", "feeds")
_MEASURE: Final = """
() => new Promise(done => {
    let shift = 0;
    new PerformanceObserver(list => list.getEntries().forEach(one => { if (!one.hadRecentInput) shift += one.value }))
        .observe({ type: 'layout-shift', buffered: true });
    const look = () => {
        const paint = performance.getEntriesByName('first-contentful-paint')[0];
        if (paint) done([paint.startTime, shift]); else setTimeout(look, 100);
    };
    setTimeout(look, 300);
})
"""


def run() -> int:
    is_too_slow = False
    with chromium() as browser:
        for engine in ("sqlite", "postgresql"):
            with (
                tempfile.TemporaryDirectory() as folder,
                databases(engine, Path(folder)) as created,
                created.migrated() as url,
                running_service(url, Path(folder)) as service,
            ):
                person = _seeded(Cast(service))
                is_too_slow |= _measure(engine, person, browser)
    return int(is_too_slow)


def _seeded(cast: Cast) -> Person:
    """Create the user with feeds and entries: seven in ten are read, one in fifty is starred."""
    person = cast.person("alice", is_admin=True)
    services = person.service.services
    each = ENTRIES // FEEDS
    add_feeds(
        person,
        FEEDS,
        CATEGORIES,
        lambda feed, now: [entry(number, now) for number in range(feed * each, (feed + 1) * each)],
    )
    while services.entries.search.work():
        pass
    _vacuum(services.database)
    return person


def _add_page_content(person: Person) -> dict[str, object]:
    """Return the parameters of page URLs, after adding content to pages that would be empty."""
    services = person.service.services
    chosen = person.get("/v1/entries", status="read", limit=1)["entries"][0]
    with services.database.writing() as db:
        db.run(text("UPDATE feeds SET parsing_error_count = 3, failed_checks = 3 WHERE id % 10 = 0"))
        # Read on the day of publication.
        db.run(text("UPDATE entries SET changed_at = published_at WHERE status = 1"))
        for number in range(DELIVERIES):
            outbox.add(
                db, person.id, delivery_id=str(uuid.uuid4()), integration="webhook", event_type=events.NEW_ENTRIES,
                receiver="https://example.org/hook", feed_id=chosen["feed_id"], body=b"{}" * number,
                now=services.clock(),
            )  # fmt: skip
    for number in range(SESSIONS):
        services.accounts.sessions.begin(person.user, Origin("127.0.0.1", f"Browser {number}", Method.PASSWORD))
    return {
        "entry": chosen["id"],
        "feed": chosen["feed_id"],
        "category": chosen["feed"]["category"]["id"],
        "after": f"{services.clock()}.1",
        "list": services.entries.feed_links.renew(person.id),
        "share": services.entries.public_links.create(person.id, chosen["id"]),
    }


def _vacuum(database: Database) -> None:
    """Vacuum the tables, as autovacuum does soon after."""
    if not database.is_sqlite:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            # Commits that are not flushed yet prevent index-only scans of their pages.
            connection.exec_driver_sql("CHECKPOINT")
            connection.exec_driver_sql("VACUUM ANALYZE")


def _measure(engine: str, person: Person, browser: Browser) -> bool:
    """Print the figures of all pages. Returns whether one of them is too slow."""
    is_too_slow = False
    service = person.service
    values = _add_page_content(person)
    _vacuum(service.services.database)
    token = service.services.accounts.sessions.begin(person.user, Origin("127.0.0.1", "bench", Method.PASSWORD))
    paths = {name: path.format(**values) for name, path in PAGES.items()}
    sys.stdout.write(f"pages on {engine}:             first   median      p95      busy     bytes\n")
    connection = http.client.HTTPConnection(urlsplit(service.url).netloc)
    processor_ms = [service.process.pid, *_postmaster(service.services.database)]
    for name, path in paths.items():
        first, _size = _measure_requests(connection, path, token, rounds=1)
        busy = sum(map(spent_ms, processor_ms))
        took, size = _measure_requests(connection, path, token, rounds=ROUNDS)
        busy = (sum(map(spent_ms, processor_ms)) - busy) / ROUNDS
        goal_ms = SEARCH_MS if path.startswith("/search") else GOAL_MS
        slow = "" if statistics.median(took) < goal_ms else f"   over {goal_ms} ms"
        is_too_slow |= bool(slow)
        p95 = took[int(len(took) * 0.95)]
        figures = f"{first[0]:6.0f} {statistics.median(took):6.1f} ms {p95:5.0f} ms {busy:6.1f} ms {size:9}"
        sys.stdout.write(f"  {name:<24} {figures}{slow}\n")
    connection.close()
    for name in RENDERED_PAGES:
        paint, shift = _measure_rendering(browser, service.url, paths[name], token)
        slow = "" if paint < PAINT_MS else f"   over {PAINT_MS} ms"
        is_too_slow |= bool(slow)
        figures = f"first paint after {paint:.0f} ms, layout shift {shift:.3f}"
        sys.stdout.write(f"  {name:<24} in Chromium: {figures}{slow}\n")
    return is_too_slow


def _postmaster(database: Database) -> list[int]:
    """Return the id of the PostgreSQL process whose children serve the connections; empty for SQLite."""
    if database.is_sqlite:
        return []
    return [int((Path(str(database.url.query["host"])) / "data" / "postmaster.pid").read_text().split()[0])]


def _measure_requests(
    connection: http.client.HTTPConnection, path: str, token: str, *, rounds: int
) -> tuple[list[float], int]:
    """Return the milliseconds of each response in ascending order, and its size."""
    took, size = [], 0
    for _ in range(rounds):
        started = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": f"tidings_session={token}"})
        answer = connection.getresponse()
        size = len(answer.read())
        took.append((time.perf_counter() - started) * 1000)
        assert answer.status == 200, f"{path}: {answer.status}"
    return sorted(took), size


def _measure_rendering(browser: Browser, url: str, path: str, token: str) -> tuple[float, float]:
    """Return the median first paint in milliseconds, and the largest layout shift."""
    found: list[Any] = []
    for _ in range(LOADS):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "tidings_session", "value": token, "url": url}])
        page = context.new_page()
        page.goto(url + path, wait_until="load")
        found.append(page.evaluate(_MEASURE))
        context.close()
    return statistics.median(row[0] for row in found), max(row[1] for row in found)
