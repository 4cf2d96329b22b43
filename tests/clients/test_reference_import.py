"""An account moves from a running Miniflux: feeds with settings and categories, entries with state and enclosures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher
from support.reference import ReferenceMissing, ReferenceServer, reference_server
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.readers.miniflux_source import MinifluxSource
from tidings.net.guard import AddressGuard
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

SETTINGS = {
    "scraper_rules": "article > p",
    "rewrite_rules": "add_dynamic_image",
    "blocklist_rules": "(?i)advert",
    "keep_filter_entry_rules": "EntryTitle=a",
    "user_agent": "Reader/1.0",
    "username": "me",
    "password": "secret",
    "cookie": "a=b",
    "crawler": True,
    "disabled": True,
    "hide_globally": True,
    "ignore_http_cache": True,
}
ENTRY = ("hash", "status", "starred", "title", "url", "author", "comments_url", "reading_time", "tags")


@pytest.fixture(scope="module")
def reference() -> Iterator[ReferenceServer]:
    try:
        with reference_server() as server:
            yield server
    except ReferenceMissing as missing:
        pytest.skip(str(missing))


def _send(reference: ReferenceServer, method: str, path: str, body: Any) -> Any:
    return reference.call(method, path, json.dumps(body).encode())


def _fill(reference: ReferenceServer, site: Publisher) -> None:
    """Subscribe to a feed with three entries; one is read and starred. Another feed has every kind of setting."""
    for feed in reference.call("GET", "/v1/feeds"):
        reference.call("DELETE", f"/v1/feeds/{feed['id']}")
    category = next(
        (each for each in reference.call("GET", "/v1/categories") if each["title"] == "Tech & more"), None
    ) or _send(reference, "POST", "/v1/categories", {"title": "Tech & more"})
    items = "".join(
        f"<item><guid>tag:{number}</guid><title>Entry {number}</title><link>{site.url('/')}{number}</link>"
        f"<category>weather</category><description>&lt;p&gt;Rain {number}&lt;/p&gt;"
        '&lt;img src="http://img.example/a.png?b=1&amp;amp;c=2"&gt;</description>'
        f'<enclosure url="http://img.example/{number}.mp3" type="audio/mpeg" length="12"/></item>'
        for number in range(3)
    )
    created = {}
    for path in ("/a.xml", "/b.xml"):
        site.serve(path, f'<rss version="2.0"><channel><title>Site</title><link>/</link>{items}</channel></rss>')
        created = _send(reference, "POST", "/v1/feeds", {"feed_url": site.url(path), "category_id": category["id"]})
    _send(reference, "PUT", f"/v1/feeds/{created['feed_id']}", {"title": "Mine", **SETTINGS})
    entries = reference.call("GET", "/v1/entries")["entries"]
    _send(reference, "PUT", "/v1/entries", {"entry_ids": [entries[0]["id"]], "status": "read"})
    reference.call("PUT", f"/v1/entries/{entries[0]['id']}/bookmark")


def _import(services: AllServices, person: Person, reference: ReferenceServer) -> AccountImportReport:
    user = services.accounts.users.find(person.user.username)
    guard = AddressGuard(allow_private_networks=True)
    with MinifluxSource(f"{reference.url}/v1/", reference.token, guard=guard) as source:
        return services.archives.foreign_import.store(user, source, lambda _done, _total: None)


def _entries(found: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(
        (
            {name: entry[name] for name in ENTRY}
            | {
                "feed": entry["feed"]["feed_url"],
                "published_at": datetime.fromisoformat(entry["published_at"]),
                "enclosures": [
                    (each["url"], each["mime_type"], each["size"]) for each in entry.get("enclosures") or []
                ],
            }
            for entry in found["entries"]
        ),
        key=lambda entry: (entry["feed"], entry["hash"]),
    )


def _feeds(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        feed["feed_url"]: {name: feed[name] for name in ("title", "site_url", *SETTINGS)}
        | {"category": feed["category"]["title"]}
        for feed in found
    }


def test_an_account_moves_from_miniflux_and_is_equal(
    reference: ReferenceServer, alice: Person, site: Publisher, services: AllServices
) -> None:
    _fill(reference, site)

    report = _import(services, alice, reference)

    assert (report.new_feeds, report.new_entries, report.problems) == (2, 6, [])
    assert _feeds(alice.get("/v1/feeds")) == _feeds(reference.call("GET", "/v1/feeds"))
    moved = alice.get("/v1/entries")
    assert _entries(moved) == _entries(reference.call("GET", "/v1/entries"))
    assert all("http://img.example/a.png?b=1&amp;c=2" in entry["content"] for entry in moved["entries"])
    assert not any("/proxy/" in entry["content"] for entry in moved["entries"])


def test_a_repeated_import_doubles_nothing_and_keeps_what_was_read_since(
    reference: ReferenceServer, alice: Person, site: Publisher, services: AllServices
) -> None:
    _fill(reference, site)
    _import(services, alice, reference)
    alice.put("/v1/entries", {"entry_ids": [entry["id"] for entry in alice.entries()], "status": "read"})

    report = _import(services, alice, reference)

    assert (report.new_feeds, report.new_entries, report.known_entries) == (0, 0, 6)
    assert alice.entries(status="unread") == []


def test_the_next_check_of_a_moved_feed_recognises_its_entries(
    reference: ReferenceServer, alice: Person, site: Publisher, services: AllServices
) -> None:
    _fill(reference, site)
    _import(services, alice, reference)
    feed = next(feed for feed in alice.get("/v1/feeds") if feed["feed_url"].endswith("/a.xml"))

    alice.put(f"/v1/feeds/{feed['id']}/refresh", status=204)

    assert alice.get(f"/v1/feeds/{feed['id']}/entries")["total"] == 3
