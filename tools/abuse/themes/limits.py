"""Has more than an account may have: many requests at the same time, large documents, imports, and limits of one's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from abuse import client
from abuse.attempts import Attempt, Result
from abuse.client import HttpResponse
from abuse.people import Person, administrator, person
from abuse.publisher import Publisher
from abuse.service import Service
from abuse.testbed import Testbed

MAX_FEEDS, MAX_ENTRIES = 3, 5
AT_ONCE = 8
_IMPORT_WITHIN_S = 60


def run(testbed: Testbed) -> Iterator[Result]:
    service, publisher = testbed.shared, testbed.publisher
    for name, tries, attack in ATTACKS:
        if testbed.short and name not in SHORT:
            continue
        limited = _limited(service)
        attack(limited, publisher)
        yield _result(name, tries, limited)
    yield from _own_limits(service)


def _limited(service: Service) -> Person:
    limited = person(service)
    limits = {"max_feeds": MAX_FEEDS, "max_entries": MAX_ENTRIES}
    administrator(service).made("PUT", f"/v1/users/{limited.id}/limits", limits)
    return limited


def _result(name: str, tries: str, limited: Person) -> Result:
    feeds = len(limited.made("GET", "/v1/feeds"))
    entries = limited.made("GET", "/v1/entries?limit=1")["total"]
    attempt = Attempt(name, tries, f"more than {MAX_FEEDS} feeds or {MAX_ENTRIES} entries")
    return Result(attempt, f"{feeds} feeds, {entries} entries" if feeds > MAX_FEEDS or entries > MAX_ENTRIES else "")


def _feed(publisher: Publisher, name: str, entries: int) -> str:
    """Publish a feed with these entries, and return its address."""
    items = "".join(
        f"<item><title>{number}</title><guid>{name}-{number}</guid><description>{'rain ' * 50}</description></item>"
        for number in range(entries)
    )
    text = f'<rss version="2.0"><channel><title>{name}</title>{items}</channel></rss>'
    publisher.serve(f"/limits/{name}.xml", text, "application/rss+xml")
    return publisher.url(f"/limits/{name}.xml")


def _subscribe(limited: Person, url: str) -> HttpResponse:
    return limited.api("POST", "/v1/feeds", {"feed_url": url})


def _at_once(attack: Callable[[int], object]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(attack, range(AT_ONCE)))


def _opml(urls: list[str]) -> bytes:
    outlines = "".join(f'<outline text="T" xmlUrl="{url}"/>' for url in urls)
    return f'<opml version="2.0"><body>{outlines}</body></opml>'.encode()


def _subscribe_at_once(limited: Person, publisher: Publisher) -> None:
    urls = [_feed(publisher, f"s{limited.id}-{number}", 0) for number in range(AT_ONCE)]
    _at_once(lambda number: _subscribe(limited, urls[number]))


def _opml_at_once(limited: Person, _publisher: Publisher) -> None:
    documents = [
        _opml([f"https://example.org/{limited.id}/{number}/{n}" for n in range(2)]) for number in range(AT_ONCE)
    ]
    _at_once(lambda number: limited.api("POST", "/v1/import", documents[number]))


def _large_opml(limited: Person, _publisher: Publisher) -> None:
    limited.api("POST", "/v1/import", _opml([f"https://example.org/{limited.id}/{n}" for n in range(MAX_FEEDS + 1)]))


def _entries_at_once(limited: Person, publisher: Publisher) -> None:
    feed = _subscribe(limited, _feed(publisher, f"e{limited.id}", 1)).json()["feed_id"]
    path = f"/v1/feeds/{feed}/entries/import"

    def add(number: int) -> None:
        for part in range(2):
            limited.api("POST", path, {"url": f"https://example.org/{limited.id}/{number}/{part}", "title": "T"})

    _at_once(add)


def _large_document(limited: Person, publisher: Publisher) -> None:
    _subscribe(limited, _feed(publisher, f"d{limited.id}", MAX_ENTRIES * 4))


def _growing_document(limited: Person, publisher: Publisher) -> None:
    name = f"g{limited.id}"
    feed = _subscribe(limited, _feed(publisher, name, 1)).json()["feed_id"]
    for entries in (MAX_ENTRIES - 1, MAX_ENTRIES * 2, MAX_ENTRIES * 4):
        _feed(publisher, name, entries)
        limited.api("PUT", f"/v1/feeds/{feed}/refresh")


def _documents_at_once(limited: Person, publisher: Publisher) -> None:
    names = [f"p{limited.id}-{number}" for number in range(MAX_FEEDS)]
    feeds = [_subscribe(limited, _feed(publisher, name, 1)).json()["feed_id"] for name in names]
    for name in names:
        _feed(publisher, name, MAX_ENTRIES)
    _at_once(lambda number: limited.api("PUT", f"/v1/feeds/{feeds[number % MAX_FEEDS]}/refresh"))


def _archive(limited: Person, publisher: Publisher) -> None:
    rich = person(limited.service)
    _subscribe(rich, _feed(publisher, f"a{rich.id}", MAX_ENTRIES * 4))
    archive = client.request(rich.service, "GET", "/v1/export/archive", headers=rich.basic).body
    for _ in range(2):
        headers = {**limited.basic, "Content-Type": "application/octet-stream"}
        client.request(limited.service, "POST", "/v1/import/archive", headers=headers, body=archive)
        deadline = time.monotonic() + _IMPORT_WITHIN_S
        while time.monotonic() < deadline:
            state = limited.api("GET", "/v1/import/archive")
            if state.status == 404 or state.json()["finished_at"]:
                break
            time.sleep(0.1)


def _pages_at_once(limited: Person, publisher: Publisher) -> None:
    article = "<html><body><article><h1>Rain</h1><p>" + "It rained for days, and nobody knew why. " * 40
    urls = []
    for number in range(AT_ONCE):
        path = f"/limits/page-{limited.id}-{number}"
        publisher.serve(path, article, "text/html")
        urls.append(publisher.url(path))
    _at_once(lambda number: limited.api("POST", "/v1/saved-pages", {"url": urls[number]}))


ATTACKS: tuple[tuple[str, str, Callable[[Person, Publisher], None]], ...] = (
    ("feeds at once", "subscribes to many feeds at the same time", _subscribe_at_once),
    ("OPML at once", "imports many lists of feeds at the same time", _opml_at_once),
    ("large OPML", "imports a list with too many feeds", _large_opml),
    ("entries at once", "adds many entries at the same time", _entries_at_once),
    ("large document", "subscribes to a feed with too many entries", _large_document),
    ("growing document", "a feed has more entries with each check", _growing_document),
    ("documents at once", "several feeds have new entries, and are refreshed at the same time", _documents_at_once),
    ("archive", "imports an archive with too many entries, twice", _archive),
    ("pages at once", "saves many pages at the same time", _pages_at_once),
)
SHORT = ("entries at once", "large document")


def _own_limits(service: Service) -> Iterator[Result]:
    limited = _limited(service)
    more = {"max_feeds": 0, "max_entries": 0, "max_megabytes": 0}
    limited.api("PUT", f"/v1/users/{limited.id}/limits", more)
    limited.api("PUT", f"/v1/users/{limited.id}", more)
    limited.sign_in()
    form = limited.get("/settings")
    limited.post(f"/users/{limited.id}/limits", b"max_feeds=0&max_entries=0&csrf=" + _csrf(form.text).encode())
    limits = limited.made("GET", f"/v1/users/{limited.id}/limits")
    attempt = Attempt("own limits", "a user sets the limits of their own account", "they are changed")
    kept = (limits["max_feeds"], limits["max_entries"])
    yield Result(attempt, f"{kept}" if kept != (MAX_FEEDS, MAX_ENTRIES) else "")


def _csrf(page: str) -> str:
    from abuse.pages import forms

    return next(form.values["csrf"] for form in forms(page) if "csrf" in form.values)
