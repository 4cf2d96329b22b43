"""The lists of shared and of tagged entries, deleting the history, and feeds that fail."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import update

from support.people import Person, rss
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.domain.feeds.feeds import NEWSLETTERS_URL, SAVED_PAGES_URL
from tidings.domain.feeds.health import DEAD_AFTER_FAILURES
from tidings.storage.schema import feeds
from tidings.wiring.services import AllServices


def empty_part(page: str) -> str:
    """What the list shows in place of entries."""
    found = re.search(r'<div id="list".*?<div class="empty">(.*?)</div>', page, re.DOTALL)
    assert found
    return found[1]


def add_tagged(person: Person, site: Publisher, tag: str = "Deep sea & more") -> int:
    feed = person.has_feed(site, ["Squid", "Sand"])
    squid = next(entry for entry in person.entries() if entry["title"] == "Squid")
    fields = {"title": "Whale", "url": "https://example.org/whale", "content": "<p>Big.</p>", "tags": [tag]}
    person.post(f"/v1/feeds/{feed['id']}/entries/import", fields)
    return int(squid["id"])


def test_the_tags_of_an_entry_lead_to_a_list(reader: Visitor, alice: Person, site: Publisher) -> None:
    add_tagged(alice, site)
    whale = next(entry["id"] for entry in alice.entries() if entry["title"] == "Whale")

    assert 'href="/tagged?tag=Deep+sea+%26+more"' in reader.page(f"/entries/{whale}")
    page = reader.page("/tagged?tag=deep+sea+%26+MORE")
    assert f'href="/tagged/{whale}?tag=deep+sea+%26+MORE"' in page
    assert "Squid" not in page
    assert "Big." in reader.page(f"/tagged/{whale}?tag=deep+sea+%26+more")
    assert "No entry has this tag." in reader.page("/tagged?tag=")


def test_lists_have_no_entries_of_others(reader: Visitor, alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Hers"])
    add_tagged(bob, site)
    whale = next(entry["id"] for entry in bob.entries() if entry["title"] == "Whale")
    bob.service.services.entries.public_links.create(bob.id, whale)

    assert "Whale" not in reader.page("/tagged?tag=deep+sea+%26+more")
    assert "Nothing shared." in reader.page("/shared")
    for path in (f"/tagged/{whale}?tag=x", f"/shared/{whale}"):
        assert reader.get(path).status == 404


def test_shared_entries_are_listed(reader: Visitor, alice: Person, site: Publisher) -> None:
    squid = add_tagged(alice, site)
    reader.page("/unread")
    reader.post(f"/entries/{squid}/share")
    page = reader.page("/shared")

    assert f'href="/shared/{squid}"' in page
    assert "Whale" not in page
    assert "Copy public link" in reader.page(f"/shared/{squid}")
    reader.post(f"/entries/{squid}/unshare")
    assert "Nothing shared." in reader.page("/shared")


def test_the_history_is_deleted_but_not_what_is_starred_or_shared(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Starred", "Shared", "Read", "Unread"])
    ids = {entry["title"]: entry["id"] for entry in alice.entries()}
    read = [ids["Starred"], ids["Shared"], ids["Read"]]
    alice.put("/v1/entries", {"entry_ids": read, "status": "read"})
    alice.put(f"/v1/entries/{ids['Starred']}/bookmark")
    alice.service.services.entries.public_links.create(alice.id, ids["Shared"])

    assert 'href="/history/delete"' in reader.page("/history")
    assert "3 read entries will be deleted for good." in reader.page("/history/delete")
    page = reader.follow(reader.post("/history/delete"))

    assert "History deleted." in page
    assert sorted(entry["title"] for entry in alice.entries()) == ["Shared", "Starred", "Unread"]


def test_the_list_of_a_failing_feed_says_what_failed(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    page = f"/feeds/{feed['id']}"
    assert "/edit" in reader.page(page)
    assert 'class="message error' not in reader.page(page)

    site.serve("/" + feed["feed_url"].rpartition("/")[2], status=403)
    alice.call("PUT", f"/v1/feeds/{feed['id']}/refresh")
    shown = reader.page(page)

    assert 'class="message error' in shown
    assert "403" in shown


@pytest.mark.parametrize("switched_off", [False, True])
def test_the_empty_list_of_a_dead_feed_says_what_failed_and_what_to_do(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices, switched_off: bool
) -> None:
    feed = alice.has_feed(site, [])
    site.serve("/" + feed["feed_url"].rpartition("/")[2], status=404)
    alice.call("PUT", f"/v1/feeds/{feed['id']}/refresh")
    with services.database.writing() as db:
        changed = {"disabled": switched_off, "failed_checks": DEAD_AFTER_FAILURES}
        db.run(update(feeds).where(feeds.c.id == feed["id"]).values(**changed))

    shown = reader.page(f"/feeds/{feed['id']}")

    assert shown.count("(404)") == 1
    assert "Look for its new address, or unsubscribe." in shown
    assert "Nothing unread." not in shown
    assert "show=all" not in empty_part(shown)
    assert f'href="/feeds/{feed["id"]}/edit"' in empty_part(shown)


def test_the_empty_list_of_a_failing_feed_leads_to_its_read_entries(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, ["One"])
    alice.put(f"/v1/feeds/{feed['id']}/mark-all-as-read")
    site.serve("/" + feed["feed_url"].rpartition("/")[2], status=404)
    alice.call("PUT", f"/v1/feeds/{feed['id']}/refresh")

    empty = empty_part(reader.page(f"/feeds/{feed['id']}"))

    assert "(404)" in empty
    assert f'href="/feeds/{feed["id"]}?show=all"' in empty


def test_the_empty_list_of_a_feed_that_is_switched_off_says_so(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, [])
    alice.put(f"/v1/feeds/{feed['id']}", {"disabled": True}, status=201)

    empty = empty_part(reader.page(f"/feeds/{feed['id']}"))

    assert "The feed is not checked until you switch it on again." in empty
    assert "#check" not in empty


@pytest.mark.parametrize("url", [NEWSLETTERS_URL, SAVED_PAGES_URL])
def test_the_empty_list_of_a_feed_that_is_never_fetched_names_no_trouble(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices, url: str
) -> None:
    feed = alice.has_feed(site, ["One"])
    alice.put(f"/v1/feeds/{feed['id']}/mark-all-as-read")
    with services.database.writing() as db:
        db.run(update(feeds).where(feeds.c.id == feed["id"]).values(feed_url=f"{url}a", disabled=True))

    assert "Nothing unread." in empty_part(reader.page(f"/feeds/{feed['id']}"))


def test_the_list_of_a_feed_without_entries_says_that_none_are_stored(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, [])

    empty = empty_part(reader.page(f"/feeds/{feed['id']}"))

    assert "Nothing from this feed is stored yet." in empty
    assert "#check" not in empty


@pytest.mark.slow
@pytest.mark.parametrize(("language", "shown"), [("en_US", "1,200"), ("de_DE", "1.200")])
def test_counts_are_grouped(reader: Visitor, alice: Person, site: Publisher, language: str, shown: str) -> None:
    alice.put(f"/v1/users/{alice.id}", {"language": language, "entries_per_page": 10}, status=201)
    url = site.serve("/many.xml", rss([f"Entry {number}" for number in range(1200)], site.url("/many.xml")))
    alice.post("/v1/feeds", {"feed_url": url})
    page = reader.page("/unread")

    assert f'<span class="count" data-count="unread">{shown}</span>' in page
    assert f"<title>({shown}) " in page


def test_a_category_without_feeds_says_so(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain"])
    empty = alice.has_category("Weather")
    path = f"/categories/{empty['id']}"
    assert "No feeds in this category yet." in empty_part(reader.page(path))

    reader.post(f"/feeds/{feed['id']}/move", category_id=empty["id"])
    alice.put("/v1/entries", {"entry_ids": [alice.entries()[0]["id"]], "status": "read"})

    assert "Nothing unread." in empty_part(reader.page(path))
