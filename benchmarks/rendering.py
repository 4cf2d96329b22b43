"""Measures pages in Chromium, on SQLite: first paint of a list and of an article, and what a key costs in a list.

First paint: after navigation, cold (nothing kept from before) and warm (the second visit), by turns with the reference
server on the same number of feeds and entries, if it is installed.
Keys: from the key to the next paint, as browsers measure it (Event Timing), with the processor slowed four times by the
developer tools. Returns 1 if one takes longer than KEY_MS.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, BrowserContext, Page

from benchmarks import reference
from benchmarks.lists import add_feeds, databases
from browser.chromium import chromium
from support.people import Cast, Person
from support.running import running_service
from tidings.base.times import MINUTE, Instant
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.entries.entries import EntryStatus, ReadyEntry

CATEGORIES, FEEDS, ENTRIES = 20, 500, 20_000
LOADS, KEYS = 15, 20
SLOWED, KEY_MS = 4, 50
ROWS = (100, 4_000)
TEXT: Final = "Lorem ipsum dolor sit amet, consectetur <a href='https://example.org/'>adipiscing</a> elit. " * 32
# Kept in a page until it is asked for; durations are rounded to 8 ms by browsers.
_WATCH_KEYS: Final = """() => {
    globalThis.watch?.disconnect();
    globalThis.keys = [];
    globalThis.watch = new PerformanceObserver(
        list => keys.push(...list.getEntries().filter(one => one.name === "keydown")));
    watch.observe({ type: "event", durationThreshold: 16 });
}"""
_DURATIONS: Final = "new Promise(done => setTimeout(() => done(keys.map(one => one.duration)), 500))"
_FIRST_PAINT: Final = """() => new Promise(done => {
    const look = () => {
        const paint = performance.getEntriesByName("first-contentful-paint")[0];
        if (paint) done(paint.startTime); else setTimeout(look, 20);
    };
    look();
})"""
# The second visit of a browser has the service worker of the first one.
_WORKER: Final = """() => Promise.race([
    navigator.serviceWorker.ready.then(() => null),
    new Promise(done => setTimeout(done, 3_000)),
])"""
_ADD_ROWS: Final = """count => new Promise(async done => {
    const { $lists } = await import(document.querySelector("script[src$='/reading.js']").src);
    while (document.querySelectorAll("#list .row").length < count && await $lists.more());
    done();
})"""


class Place:
    """A server, signed in, and the addresses of its list and of an article."""

    def __init__(self, name: str, sign_in: Callable[[BrowserContext], None], pages: dict[str, str]) -> None:
        self.name = name
        self.sign_in = sign_in
        self.pages = pages


def run() -> int:
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(stack.enter_context(databases("sqlite", folder)).migrated())
        person = _seeded(Cast(stack.enter_context(running_service(url, folder))))
        places = [_ours(person)]
        if reference.is_installed():
            places.append(stack.enter_context(_theirs(browser)))
        _measure_paint(browser, places)
        return _measure_keys(browser, places[0])


def _seeded(cast: Cast) -> Person:
    """Create the user with as many feeds and entries as `peer seed` does: seven in ten are read."""
    person = cast.person("alice")
    person.put(f"/v1/users/{person.id}", {"entry_sorting_direction": "desc", "entries_per_page": 100}, status=201)
    add_feeds(person, FEEDS, CATEGORIES, lambda feed, now: [_entry(one, now) for one in range(feed, ENTRIES, FEEDS)])
    return person


def _entry(number: int, now: Instant) -> ReadyEntry:
    return ReadyEntry(
        hash=number.to_bytes(32, "big"),
        fingerprint=b"",
        title=f"Entry title number {number}",
        url=f"http://127.0.0.1:1/e/{number}",
        author=f"Author {number % 100}",
        content=f"<p>{TEXT}</p>",
        published_at=Instant(now - number * MINUTE),
        status=EntryStatus.UNREAD if number % 10 >= 7 else EntryStatus.READ,
    )


def _ours(person: Person) -> Place:
    service = person.service
    token = service.services.accounts.sessions.begin(person.user, Origin("127.0.0.1", "bench", Method.PASSWORD))

    def sign_in(context: BrowserContext) -> None:
        context.add_cookies([{"name": "tidings_session", "value": token, "url": service.url}])

    entry = person.get("/v1/entries", status="read", direction="desc", limit=1)["entries"][0]["id"]
    pages = {"list": f"{service.url}/unread", "article": f"{service.url}/unread/{entry}"}
    return Place("Tidings", sign_in, pages)


@contextmanager
def _theirs(browser: Browser) -> Iterator[Place]:
    with reference.started() as said:
        if reference.sql("select count(*) from entries").strip() != str(ENTRIES):
            reference.sql("truncate feeds, entries, enclosures cascade")
            reference.run("seed", str(FEEDS), str(ENTRIES))
        context = browser.new_context()
        page = context.new_page()
        page.goto(said["URL"])
        page.fill("[name=username]", said["USER"])
        page.fill("[name=password]", said["PASSWORD"])
        page.click("button[type=submit]")
        page.wait_for_url("**/unread")
        cookies = context.cookies()
        context.close()
        entry = reference.sql("select id from entries where status = 'read' order by published_at desc limit 1").strip()
        pages = {"list": f"{said['URL']}/unread", "article": f"{said['URL']}/unread/entry/{entry}"}

        def sign_in(context: BrowserContext) -> None:
            # What it returns is more exact than what it takes.
            context.add_cookies(cookies)  # type: ignore[arg-type]

        yield Place(reference.REFERENCE, sign_in, pages)


def _measure_paint(browser: Browser, places: list[Place]) -> None:
    found: dict[tuple[str, str, str], list[float]] = {}
    for _ in range(LOADS):
        for place in places:
            for name, url in place.pages.items():
                context = browser.new_context(viewport={"width": 1440, "height": 900})
                place.sign_in(context)
                for state in ("cold", "warm"):
                    page = context.new_page()
                    page.goto(url, wait_until="load")
                    found.setdefault((name, state, place.name), []).append(page.evaluate(_FIRST_PAINT))
                    if state == "cold":
                        page.evaluate(_WORKER)
                    page.close()
                context.close()
    sys.stdout.write(f"first paint in Chromium, ms: median of {LOADS} (quartiles)\n")
    for (name, state, who), took in found.items():
        low, middle, high = statistics.quantiles(took, n=4)
        sys.stdout.write(f"  {name:<8} {state}  {who:<14} {middle:5.0f} ({low:.0f} to {high:.0f})\n")


def _measure_keys(browser: Browser, place: Place) -> int:
    slowest = 0.0
    sys.stdout.write(f"from a key to the next paint, ms, with the processor slowed {SLOWED} times\n")
    for rows in ROWS:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        place.sign_in(context)
        page = context.new_page()
        page.goto(place.pages["list"], wait_until="load")
        page.evaluate(_ADD_ROWS, rows)
        # So that there are rows above for the key that leads back.
        page.keyboard.press("j")
        page.locator("#pane h1").wait_for()
        for key in ("j", "k"):
            took = _took(page, key)
            slowest = max(slowest, statistics.median(took))
            figures = f"{statistics.median(took):4.0f}, at most {max(took):.0f}"
            sys.stdout.write(f"  {key}, {page.locator('.row').count():5} rows   {figures}\n")
        context.close()
    return int(slowest > KEY_MS)


def _took(page: Page, key: str) -> list[float]:
    """Return how long each of some presses of a key took. The first one loads what keys do, and is not counted."""
    page.keyboard.press(key)
    page.locator("#pane h1").wait_for()
    page.wait_for_load_state("networkidle")
    debugger = page.context.new_cdp_session(page)
    debugger.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    page.evaluate(_WATCH_KEYS)
    for _ in range(KEYS):
        before = page.url
        page.keyboard.press(key)
        page.wait_for_function("before => location.href !== before", arg=before)
        page.wait_for_load_state("networkidle")
    # An event without an entry was faster than the threshold.
    durations: list[float] = page.evaluate(_DURATIONS)
    debugger.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    debugger.detach()
    return [*durations, *([16.0] * (KEYS - len(durations)))]
