"""Pages in Chromium beside those of the reference server, on the same feeds: `make bench ARGS=rendering`.

Both subscribe to the same published feeds, from a publisher on loopback (needs the corpus `feeds-real`). Each page is
loaded in a new browser and again in the same one, by turns, so that other work on the machine slows down both. Prints
medians: the first byte and the first paint after the navigation, the largest layout shift, requests and transferred
bytes, cold and warm. Pictures of publishers on https are not loaded by either. Service workers are off: what they ask
for in the background is no part of showing a page. Without the reference there are figures of ours only.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, Final

from msgspec import Struct
from playwright.sync_api import Browser, BrowserContext

from benchmarks.lists import databases
from browser.chromium import chromium
from scoring.archives import members
from support.people import PASSWORD, Cast, HttpResponse, call
from support.publisher import Publisher
from support.reference import ReferenceMissing, reference_server
from support.running import running_service

MAX_FEEDS, LOADS = 121, 7
SCREENS: Final = {"desktop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
_MEASURE: Final = """
() => new Promise(done => {
    let shift = 0;
    new PerformanceObserver(list => list.getEntries().forEach(one => { if (!one.hadRecentInput) shift += one.value }))
        .observe({ type: 'layout-shift', buffered: true });
    const page = performance.getEntriesByType('navigation')[0];
    const own = performance.getEntriesByType('resource').filter(one => one.name.startsWith(location.origin));
    setTimeout(() => done([
        page.responseStart,
        performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
        shift,
        1 + own.length,
        page.transferSize + own.reduce((sum, one) => sum + one.transferSize, 0),
    ]), 300);
})
"""


class Server(Struct, frozen=True):
    """A server with the account that reads. sign_in: the path of its form, which has `username` and `password`."""

    name: str
    url: str
    token: str
    username: str
    password: str
    sign_in: str


class Load(Struct, frozen=True):
    """first_byte, first_paint: milliseconds after the navigation. size: transferred bytes."""

    first_byte: float
    first_paint: float
    shift: float
    requests: int
    size: int


def run() -> None:
    for engine in ("sqlite", "postgresql"):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            database = stack.enter_context(stack.enter_context(databases(engine, folder)).migrated())
            person = Cast(stack.enter_context(running_service(database, folder))).person("alice")
            service = person.service
            servers = [Server("tidings", service.url, person.token, person.user.username, PASSWORD, "/sign-in")]
            try:
                found = stack.enter_context(reference_server())
                servers.append(Server("reference", found.url, found.token, "admin", "test123", "/"))
            except ReferenceMissing as missing:
                sys.stdout.write(f"without the reference: {missing}\n")
            site = stack.enter_context(Publisher())
            feeds = _publish(site)
            counts = [_subscribe(server, feeds) for server in servers]
            sys.stdout.write(f"pages in Chromium, {engine}, feeds and entries: {counts}\n")
            _measure(stack.enter_context(chromium()), servers)


def _publish(site: Publisher) -> list[str]:
    documents = [body for name, body in members("feeds-real") if not name.endswith(("LICENSE", "README.md"))]
    return [site.serve(f"/{number}.xml", body) for number, body in enumerate(documents[:MAX_FEEDS])]


def _subscribe(server: Server, feeds: list[str]) -> tuple[int, int]:
    """Returns how many feeds the server took, and how many entries they have."""
    taken = sum(_ask(server, "POST", "/v1/feeds", b'{"feed_url": "%s"}' % one.encode()).status == 201 for one in feeds)
    return taken, _ask(server, "GET", "/v1/entries?limit=1").json()["total"]


def _ask(server: Server, method: str, path: str, body: bytes | None = None) -> HttpResponse:
    return call(server.url, method, path, body, {"X-Auth-Token": server.token, "Content-Type": "application/json"})


def _measure(browser: Browser, servers: list[Server]) -> None:
    sys.stdout.write(f"  {'':<34} first byte   paint   shift requests      kB\n")
    sessions = {server.name: _sign_in(browser, server) for server in servers}
    for screen in SCREENS:
        for page in ("unread", "article", "feeds"):
            paths = {server.name: _path(server, page) for server in servers}
            loads: dict[str, list[tuple[Load, Load]]] = {server.name: [] for server in servers}
            for _ in range(LOADS):
                for server in servers:
                    address = server.url + paths[server.name]
                    loads[server.name].append(_load_twice(browser, address, sessions[server.name], screen))
            for name, found in loads.items():
                for state, column in (("cold", 0), ("warm", 1)):
                    _print(f"{page}, {screen}, {name}, {state}", [one[column] for one in found])


def _print(label: str, loads: list[Load]) -> None:
    first_byte, paint = (median(one.first_byte for one in loads), median(one.first_paint for one in loads))
    shift, requests = max(one.shift for one in loads), median(one.requests for one in loads)
    size = median(one.size for one in loads) / 1000
    sys.stdout.write(f"  {label:<34} {first_byte:7.0f} ms {paint:4.0f} ms {shift:7.3f} {requests:8.0f} {size:7.1f}\n")


def _path(server: Server, page: str) -> str:
    if page != "article":
        return f"/{page}"
    entry = _ask(server, "GET", "/v1/entries?limit=1&order=published_at&direction=desc").json()["entries"][0]
    return f"/feed/{entry['feed_id']}/entry/{entry['id']}" if server.sign_in == "/" else f"/unread/{entry['id']}"


def _sign_in(browser: Browser, server: Server) -> Any:
    context = _context(browser, "desktop")
    page = context.new_page()
    page.goto(server.url + server.sign_in)
    page.fill("[name=username]", server.username)
    page.fill("[name=password]", server.password)
    page.press("[name=password]", "Enter")
    page.wait_for_url("**/unread")
    state = context.storage_state()
    context.close()
    return state


def _context(browser: Browser, screen: str, **settings: Any) -> BrowserContext:
    context = browser.new_context(viewport=SCREENS[screen], service_workers="block", **settings)  # type: ignore[arg-type]
    context.set_default_timeout(60_000)
    return context


def _load_twice(browser: Browser, address: str, session: Any, screen: str) -> tuple[Load, Load]:
    context = _context(browser, screen, storage_state=session)
    page = context.new_page()
    # Routes of Playwright would switch off the cache of the browser.
    debugger = context.new_cdp_session(page)
    debugger.send("Network.enable")
    debugger.send("Network.setBlockedURLs", {"urls": ["https://*"]})
    found = []
    for _ in range(2):
        page.goto(address, wait_until="load")
        found.append(Load(*page.evaluate(_MEASURE)))
        page.goto("about:blank")
    context.close()
    return found[0], found[1]
