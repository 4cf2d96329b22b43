"""An account has no more than it may have; what it has stays, and nothing that a publisher still offers is lost."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.people import Person, rss
from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor
from tidings.archives.import_runs import AccountImportReport
from tidings.base.times import Instant
from tidings.domain.accounts.events import Origin
from tidings.domain.errors import AccountFull
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.sign_in import limits_store
from tidings.sign_in.limits_model import Limits, Usage, room_for_entries, too_many_feeds
from tidings.storage.feeds import feeds

pytestmark = pytest.mark.slow


def limit(charlie: Person, person: Person, **limits: int | None) -> None:
    charlie.put(f"/v1/users/{person.id}/limits", limits, status=200)


def test_own_limits_come_before_the_defaults() -> None:
    default = Limits(max_feeds=5, max_entries=7)

    assert Limits(max_feeds=0).or_default(default) == Limits(0, 7)
    assert too_many_feeds(Limits(max_feeds=0), Usage(900, 0, None), 1) is None
    assert too_many_feeds(default, Usage(4, 0, None), 1) is None
    assert too_many_feeds(default, Usage(4, 0, None), 2) is not None


@pytest.mark.parametrize(
    ("limits", "usage", "is_full"),
    [
        (Limits(), Usage(9, 9, 9), False),
        (Limits(max_entries=9), Usage(0, 8, None), False),
        (Limits(max_entries=9), Usage(0, 9, None), True),
        (Limits(max_megabytes=1), Usage(0, 0, None), False),
        (Limits(max_megabytes=1), Usage(0, 0, 999_999), False),
        (Limits(max_megabytes=1), Usage(0, 0, 1_000_000), True),
    ],
)
def test_an_account_is_full_at_its_limit(limits: Limits, usage: Usage, is_full: bool) -> None:
    assert (room_for_entries(limits, usage).problem is not None) == is_full


def test_feeds_beyond_the_limit_are_refused_with_the_reason(alice: Person, charlie: Person, site: Publisher) -> None:
    alice.has_feed(site)
    limit(charlie, alice, max_feeds=1)
    opml = b'<opml version="2.0"><body><outline text="T" xmlUrl="https://example.org/a.xml"/></body></opml>'

    url = site.serve("/more.xml", rss(["One"], site.url("/more.xml")))
    answer = alice.call("POST", "/v1/feeds", {"feed_url": url})
    imported = alice.call("POST", "/v1/import", raw=opml)

    assert (answer.status, imported.status) == (400, 400)
    for one in (answer, imported):
        assert "may have 1 feeds and has 1" in one.error
        assert one.headers["x-error-code"] == "account-full"
    assert len(alice.get("/v1/feeds")) == 1
    limit(charlie, alice, max_feeds=None)
    assert alice.call("POST", "/v1/import", raw=opml).status == 201


def test_a_full_account_takes_no_entries_by_hand(alice: Person, charlie: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One", "Two"])
    limit(charlie, alice, max_entries=2)

    path = f"/v1/feeds/{feed['id']}/entries/import"
    answer = alice.call("POST", path, {"url": "https://example.org/x", "title": "X"})

    assert answer.status == 400
    assert "may have 2 entries" in answer.error


def test_a_full_account_gets_its_entries_once_there_is_room(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    settings = {"max_entries_per_user": "2", "polling_parsing_error_limit": "1"}
    polling = PollingFixture(database, database_url, tmp_path, **settings)
    limiter = polling.services.sign_in.limits
    alice, bob = polling.user("alice"), polling.user("bob")
    url = site.serve("/rain.xml", rss(["One", "Two"], site.url("/rain.xml")))
    of_alice, of_bob = polling.subscribe(alice, url), polling.subscribe(bob, url)
    limiter.change(bob, bob.id, Limits(max_entries=0), Origin())
    polling.poll()
    site.serve("/rain.xml", rss(["Three", "One", "Two"], site.url("/rain.xml")))
    for _ in range(2):
        polling.due_again()
        polling.poll()
    with database.reading() as db:
        feed = feeds.get(db, alice.id, of_alice)

    assert polling.titles(of_bob) == ["One", "Three", "Two"]
    assert polling.titles(of_alice) == ["One", "Two"]
    assert feed is not None
    assert "may have 2 entries" in feed.parsing_error_message
    assert (feed.disabled, feed.parsing_error_count) == (False, 1)

    limiter.change(alice, alice.id, Limits(max_entries=3), Origin())
    polling.due_again()
    polling.poll()
    assert polling.titles(of_alice) == ["One", "Three", "Two"]


def test_the_newest_entries_of_a_document_fill_an_account(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    polling = PollingFixture(database, database_url, tmp_path, max_entries_per_user="3")
    limiter, alice = polling.services.sign_in.limits, polling.user("alice")
    url = site.serve("/rain.xml", rss(["One", "Two"], site.url("/rain.xml")))
    feed_id, other_id = polling.subscribe(alice, url), polling.subscribe(alice, site.url("/snow.xml"))
    site.serve("/snow.xml", rss([], site.url("/snow.xml")))
    polling.poll()
    # Two feeds of one account, whose updates are stored in one transaction.
    site.serve("/rain.xml", rss(["Five", "Four", "Three", "One", "Two"], site.url("/rain.xml")))
    site.serve("/snow.xml", rss(["Seven", "Six"], site.url("/snow.xml")))
    polling.due_again()
    polling.poll()

    def found(id_: int) -> Feed:
        with database.reading() as db:
            feed = feeds.get(db, alice.id, id_)
        assert feed is not None
        return feed

    titles = polling.titles(feed_id) + polling.titles(other_id)
    assert len(titles) == 3
    assert {"Five", "Seven"} & set(titles)
    # One may have found the account full when it was decided, the other one when it was stored.
    for feed in (found(feed_id), found(other_id)):
        assert "may have 3 entries" in feed.parsing_error_message
        assert (feed.disabled, feed.parsing_error_count) == (False, 1)
    assert any("not stored yet: " in found(id_).parsing_error_message for id_ in (feed_id, other_id))

    limiter.change(alice, alice.id, Limits(max_entries=0), Origin())
    polling.due_again()
    polling.poll()
    assert polling.titles(feed_id) == ["Five", "Four", "One", "Three", "Two"]
    assert polling.titles(other_id) == ["Seven", "Six"]
    assert found(feed_id).parsing_error_message == found(other_id).parsing_error_message == ""


def test_a_subscription_fills_an_account_with_its_newest_entries(
    alice: Person, charlie: Person, site: Publisher
) -> None:
    limit(charlie, alice, max_entries=2)

    feed = alice.has_feed(site, ["Three", "Two", "One"])

    assert [entry["title"] for entry in alice.entries(order="id")] == ["Two", "Three"]
    assert feed["parsing_error_message"].endswith("New entries of this feed that are not stored yet: 1.")
    assert feed["disabled"] is False
    limit(charlie, alice, max_entries=3)
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    assert len(alice.entries()) == 3
    assert alice.get(f"/v1/feeds/{feed['id']}")["parsing_error_message"] == ""


def test_requests_at_the_same_time_exceed_no_limit(alice: Person, charlie: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    limit(charlie, alice, max_entries=3, max_feeds=3)
    urls = [site.url(f"/parallel-{alice.id}-{number}.xml") for number in range(6)]
    for url in urls:
        site.serve(urlsplit(url).path, rss([], url))

    def add_entry(number: int) -> int:
        path = f"/v1/feeds/{feed['id']}/entries/import"
        return alice.call("POST", path, {"url": f"https://example.org/{number}", "title": "X"}).status

    def add_feed(number: int) -> int:
        return alice.call("POST", "/v1/feeds", {"feed_url": urls[number]}).status

    with ThreadPoolExecutor(6) as pool:
        of_entries = list(pool.map(add_entry, range(6)))
        limit(charlie, alice, max_entries=0)
        of_feeds = list(pool.map(add_feed, range(6)))

    assert sorted(of_entries) == [201] * 2 + [400] * 4
    assert sorted(of_feeds) == [201] * 2 + [400] * 4
    assert len(alice.entries()) == 3
    assert len(alice.get("/v1/feeds")) == 3


def test_an_archive_fills_an_account_and_the_report_says_what_was_left_out(
    database: Database, tmp_path: Path, database_url: str, site: Publisher
) -> None:
    polling = PollingFixture(database, database_url, tmp_path)
    alice, bob = polling.user("alice"), polling.user("bob")
    polling.subscribe(alice, site.serve("/rain.xml", rss(["One", "Two", "Three"], site.url("/rain.xml"))))
    polling.poll()
    archives, listened = polling.services.archives, []
    archive = io.BytesIO()
    archives.account_export.write(alice, archive, with_secrets=False, progress=lambda *_: None)
    polling.services.sign_in.limits.change(alice, bob.id, Limits(max_entries=2), Origin())

    def imported() -> AccountImportReport:
        archive.seek(0)
        return archives.account_import.store(bob, archive, lambda *seen: listened.append(seen))

    report = imported()
    with pytest.raises(AccountFull, match="may have 2 entries") as full:
        imported()

    assert (report.new_entries, report.known_entries) == (2, 0)
    assert report.problems == [f"1 entries were left out. {full.value} Import the archive again when there is room."]
    assert listened[-1] == (3, 3)
    polling.services.sign_in.limits.change(alice, bob.id, Limits(max_entries=9), Origin())
    report = imported()
    assert (report.new_entries, report.known_entries, report.problems) == (1, 2, [])


def test_a_page_can_be_saved_at_the_limit_of_feeds(alice: Person, charlie: Person, site: Publisher) -> None:
    alice.has_feed(site)
    limit(charlie, alice, max_feeds=1)
    text = "<p>" + "It rained for days, and nobody knew when it would end. " * 20 + "</p>"
    url = site.serve(
        "/page",
        f"<html><body><article><h1>Rain</h1>{text}</article></body></html>",
        headers={"Content-Type": "text/html"},
    )

    alice.post("/v1/saved-pages", {"url": url})

    assert alice.get(f"/v1/users/{alice.id}/limits")["feeds"] == 1


def test_the_size_of_articles_is_measured_and_what_arrives_is_added(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    polling = PollingFixture(database, database_url, tmp_path)
    limiter, alice = polling.services.sign_in.limits, polling.user("alice")
    feed_id = polling.subscribe(alice, site.serve("/rain.xml", rss(["One"], site.url("/rain.xml"))))
    polling.poll()

    def size() -> int | None:
        return limiter.find(alice.id)[2].size_bytes

    assert not limiter.measure_next()
    assert size() is None
    limiter.change(alice, alice.id, Limits(max_megabytes=1), Origin())
    assert limiter.measure_next()
    assert not limiter.measure_next()
    measured = size()
    assert measured
    site.serve("/rain.xml", rss(["Two", "One"], site.url("/rain.xml")))
    polling.due_again()
    polling.poll()
    assert (size() or 0) > measured

    with database.writing() as db:
        limits_store.set_size(db, alice.id, 1_000_000, Instant(polling.services.clock()))
        assert "may take 1 MB" in str(limiter.rooms(db, [alice.id])[alice.id].problem)
        limiter.measure(db, alice.id)
        assert limiter.rooms(db, [alice.id])[alice.id].problem is None
    with database.reading() as reading:
        before = limits_store.limits_of(reading, [alice.id])[alice.id].size_bytes or 0
    fields = {"url": "https://example.org/x", "title": "X", "content": "<p>" + "rain " * 100}
    polling.services.entries.changes.import_one(alice, feed_id, fields)
    assert (size() or 0) >= before + 500


def test_an_administrator_sets_limits_on_a_page(service: RunningService, charlie: Person, alice: Person) -> None:
    admin = Visitor(service, charlie)
    admin.sign_in()
    path = f"/users/{alice.id}/limits"
    assert "without limit" in admin.page(path)

    assert admin.post(path, max_feeds="-1").status == 400
    assert admin.post(path, max_feeds="12", max_entries="", max_megabytes="0").status == 303
    assert alice.get(f"/v1/users/{alice.id}/limits") == {
        "user_id": alice.id, "max_feeds": 12, "max_entries": None, "max_megabytes": 0, "feeds": 0, "entries": 0,
        "size_bytes": None,
    }  # fmt: skip
    assert alice.call("PUT", f"/v1/users/{alice.id}/limits", {"max_feeds": 99}).status == 403
    assert charlie.call("PUT", f"/v1/users/{alice.id}/limits", {"max_feeds": -1}).status == 400
