"""Ids of entries, enclosures and deliveries that do not fit into 32 bits work on every surface."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fever.apps import sign_in
from greader.apps import READING_LIST, STARRED, App, long_id
from support.databases import Databases
from support.people import Cast, Person, rss
from support.publisher import Publisher
from support.running import RunningService, running_service
from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.engine import sequences
from tidings.engine.database import Database
from tidings.maintenance.store import backup
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.entries import entry_lists

LAST = 2**40
ENCLOSURE = '<enclosure url="https://example.org/a.mp3" type="audio/mpeg" length="5"/>'

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service of its own: clients of other tests keep ids in 32 bits."""
    with databases.migrated() as url:
        database = Database(url)
        with database.writing() as db:
            sequences.write(db, dict.fromkeys(("entries", "enclosures", "deliveries"), LAST))
        database.close()
        with running_service(url, tmp_path_factory.mktemp("long_ids")) as running:
            yield running


@pytest.fixture
def alice(service: RunningService, site: Publisher) -> Person:
    """Subscribed to a feed with two entries, each with an enclosure."""
    person = Cast(service).person("alice")
    path = "/feed.xml"
    site.serve(path, rss(["One", "Two"], site.url(path)).replace("</item>", f"{ENCLOSURE}</item>"))
    person.post("/v1/feeds", {"feed_url": site.url(path)})
    return person


def test_entries_are_read_and_changed_by_the_native_api(alice: Person) -> None:
    first, second = sorted(entry["id"] for entry in alice.entries())
    assert first > LAST

    alice.put("/v1/entries", {"entry_ids": [first], "status": "read"})
    alice.put(f"/v1/entries/{second}/bookmark")

    assert [entry["id"] for entry in alice.entries(status="read")] == [first]
    assert [entry["id"] for entry in alice.entries(starred="true")] == [second]
    assert [entry["id"] for entry in alice.entries(before_entry_id=second)] == [first]
    assert sorted(alice.get("/v1/entries/ids")["entry_ids"]) == [first, second]


def test_entries_are_searched(alice: Person, service: RunningService) -> None:
    while SearchIndexer(service.services.database).work():
        pass

    with service.services.database.reading() as db:
        listed = entry_lists.page(db, alice.id, EntryFilter(search="two"), PageRequest())

    assert [(entry.title, entry.id > LAST) for entry in listed.entries] == [("Two", True)]


def test_positions_of_enclosures_are_stored(alice: Person) -> None:
    (enclosure,) = alice.entries()[0]["enclosures"]
    assert enclosure["id"] > LAST

    alice.put(f"/v1/enclosures/{enclosure['id']}", {"media_progression": 7})

    assert alice.get(f"/v1/enclosures/{enclosure['id']}")["media_progression"] == 7


def test_deliveries_are_listed_and_found(alice: Person, site: Publisher) -> None:
    alice.put("/v1/integrations", {"webhook": {"enabled": True, "url": site.url("/hook")}}, status=201)
    alice.post(f"/v1/entries/{alice.entries()[0]['id']}/save", status=202)

    (delivery,) = alice.get("/v1/webhooks/deliveries")["deliveries"]
    assert delivery["id"] > LAST
    assert alice.get(f"/v1/webhooks/deliveries/{delivery['id']}")["id"] == delivery["id"]


def test_apps_of_the_google_reader_api_read_and_star_them(alice: Person) -> None:
    app = App(alice).sign_in(alice.post("/v1/api-passwords", {"name": "app"})["password"])
    first, second = sorted(entry["id"] for entry in alice.entries())

    refs = app.get("stream/items/ids", {"s": READING_LIST, "n": 1})
    rest = app.get("stream/items/ids", {"s": READING_LIST, "n": 1, "c": refs["continuation"]})
    assert {int(found["itemRefs"][0]["id"]) for found in (refs, rest)} == {first, second}
    app.post("edit-tag", {"i": long_id(first), "a": STARRED})
    starred = app.get(f"stream/contents/{STARRED}")["items"]

    assert [item["id"] for item in starred] == [long_id(first)]


def test_apps_of_the_fever_api_read_and_mark_them(alice: Person) -> None:
    app = sign_in(alice)
    first, second = sorted(entry["id"] for entry in alice.entries())

    assert [item["id"] for item in app.items(f"&since_id={first}")] == [second]
    app.mark(mark="item", **{"as": "read"}, id=first)

    assert app.unread() == [second]


def test_other_rows_keep_small_ids(alice: Person) -> None:
    feed = alice.get("/v1/feeds")[0]

    assert feed["id"] < 2**31


def test_they_survive_a_backup(alice: Person, service: RunningService, tmp_path: Path) -> None:
    backup.copy_to(service.services.database, tmp_path / "backup.db", lambda *_: None)

    copy = Database(f"sqlite:///{tmp_path}/backup.db")
    with copy.reading() as db:
        ids = entry_lists.joined_ids(db, alice.id, EntryFilter())
    copy.close()
    assert sorted(map(int, ids.split(","))) == sorted(entry["id"] for entry in alice.entries())
