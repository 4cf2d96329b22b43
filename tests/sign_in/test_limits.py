"""An account has no more than it may have; what it has stays, and nothing that a publisher still offers is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.people import Person, rss
from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor
from tidings.base.times import Instant
from tidings.domain.accounts.events import Origin
from tidings.engine.database import Database
from tidings.sign_in import limits_store
from tidings.sign_in.limits_model import Limits, Usage, no_room, too_many_feeds
from tidings.storage.feeds import feeds


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
    assert (no_room(limits, usage) is not None) == is_full


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


def test_the_size_of_articles_is_measured_and_what_arrives_is_added(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    polling = PollingFixture(database, database_url, tmp_path)
    limiter, alice = polling.services.sign_in.limits, polling.user("alice")
    polling.subscribe(alice, site.serve("/rain.xml", rss(["One"], site.url("/rain.xml"))))
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
        assert "may take 1 MB" in str(limiter.full_accounts(db, [alice.id])[alice.id])


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
