"""How long a feed keeps its entries, and that what went does not come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from support.databases import Databases
from support.people import Person, rss
from support.publisher import Publisher
from support.running import RunningService, running_service
from tidings.base.times import DAY, Instant
from tidings.maintenance.cleanup import Cleanup, CleanupSettings
from tidings.maintenance.cleanup_worker import run_cleanup
from tidings.storage.schema import feeds, tombstones

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service without the entries of other tests: all of them would expire as well."""
    with databases.migrated() as url, running_service(url, tmp_path_factory.mktemp("retention")) as running:
        yield running


def clean_up(person: Person, *, in_days: int) -> None:
    services = person.service.services
    later = Cleanup(services.database, lambda: Instant(services.clock() + in_days * DAY), CleanupSettings())
    # Another test's rounds are of another time: this one is made whatever they left.
    assert run_cleanup(later, "test", lambda _done, _total: None) is not None


def titles(person: Person) -> list[str]:
    return sorted(entry["title"] for entry in person.entries())


def publish(person: Person, site: Publisher, feed: dict[str, Any], *listed: str) -> None:
    site.serve(feed["feed_url"].removeprefix(site.url("")), rss(listed, feed["feed_url"]))
    person.put(f"/v1/feeds/{feed['id']}/refresh")


def test_an_expired_entry_does_not_come_back_while_its_publisher_lists_it(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Old", "Starred"])
    starred = next(entry for entry in alice.entries() if entry["title"] == "Starred")
    alice.put("/v1/entries", {"entry_ids": [starred["id"]], "starred": True})

    clean_up(alice, in_days=181)
    assert titles(alice) == ["Starred"]
    publish(alice, site, feed, "New", "Old", "Starred")

    assert titles(alice) == ["New", "Starred"]
    assert alice.get("/v1/feeds/counters")["unreads"] == {str(feed["id"]): 2}


def test_parsing_a_document_marks_the_tombstones_of_listed_entries(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Listed", "Gone"])
    database = alice.service.services.database
    clean_up(alice, in_days=181)
    own_entries = (tombstones.c.feed_id == feed["id"],)
    with database.writing() as db:
        db.run(tombstones.update().where(*own_entries).values(seen_at=0))

    publish(alice, site, feed, "New", "Listed")

    with database.reading() as db:
        seen = sorted(db.scalars(select(tombstones.c.seen_at).where(*own_entries)))
        parsed_at = db.scalar(select(feeds.c.parsed_at).where(feeds.c.id == feed["id"]))
    assert seen == [0, parsed_at]


@pytest.mark.parametrize("field", ["keep_read_days", "keep_unread_days"])
def test_a_feed_has_its_own_retention(alice: Person, site: Publisher, field: str) -> None:
    feed = alice.has_feed(site, ["A"])
    assert feed[field] is None

    for days in (7, -1, 36_500, None):
        assert alice.put(f"/v1/feeds/{feed['id']}", {field: days}, status=201)[field] == days
    alice.put(f"/v1/feeds/{feed['id']}", {field: 30}, status=201)
    assert alice.put(f"/v1/feeds/{feed['id']}", {"title": "Other"}, status=201)[field] == 30


@pytest.mark.parametrize("days", [0, -2, 36_501, 2**40, 1.5, "7", True])
def test_an_invalid_number_of_days_is_refused(alice: Person, site: Publisher, days: object) -> None:
    feed = alice.has_feed(site, ["A"])

    for field in ("keep_read_days", "keep_unread_days"):
        answer = alice.call("PUT", f"/v1/feeds/{feed['id']}", {field: days})
        assert answer.status == 400
        assert field in answer.error


def test_retention_can_be_set_at_creation_and_is_exported_in_opml(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, ["A"], keep_read_days=7, keep_unread_days=-1)

    bob.call("POST", "/v1/import", raw=alice.call("GET", "/v1/export").body)

    (copied,) = bob.get("/v1/feeds")
    assert (copied["keep_read_days"], copied["keep_unread_days"]) == (7, -1)


def test_the_retention_of_a_feed_does_not_affect_other_feeds(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["A"], keep_unread_days=5)
    alice.has_feed(site, ["B"])

    clean_up(alice, in_days=6)

    assert titles(alice) == ["B"]
