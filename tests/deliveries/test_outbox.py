"""New entries, told to webhooks: written together with what they tell of."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from support.entry_fixtures import NOW, FeedFixture, ready
from support.people import Person, rss
from support.publisher import Publisher
from tidings.deliveries.events import MAX_BODY_BYTES
from tidings.deliveries.outbox import Outbox
from tidings.deliveries.store import integrations as integrations_storage
from tidings.deliveries.store import outbox as outbox_storage
from tidings.deliveries.tables import webhooks
from tidings.engine.database import Database
from tidings.services.listeners import Listeners
from tidings.storage.accounts import users
from tidings.storage.feeds import feeds


def switch_on(person: Person, url: str = "https://hooks.example/all", **more: Any) -> None:
    person.put("/v1/integrations", {"webhook": {"enabled": True, "url": url, **more}}, status=201)


def outbox(person: Person) -> list[dict[str, Any]]:
    """The oldest first, each with its body read."""
    with person.service.services.reading() as db:
        found = outbox_storage.list_deliveries(db, person.id, limit=1000)[::-1]
        bodies = [outbox_storage.body(db, person.id, shown.delivery.id) for shown in found]
    return [
        {"receiver": shown.delivery.receiver, "size": shown.delivery.size, **json.loads(body or b"")}
        for shown, body in zip(found, bodies, strict=True)
    ]


def publish(site: Publisher, feed: dict[str, Any], *titles: str) -> None:
    site.serve(feed["feed_url"].removeprefix(site.url("")), rss(titles, feed["feed_url"]))


def refresh(person: Person, feed: dict[str, Any]) -> None:
    person.put(f"/v1/feeds/{feed['id']}/refresh")


def test_all_new_entries_of_a_check_are_in_one_event(alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"timezone": "Asia/Tokyo"}, status=201)
    switch_on(alice)
    feed = alice.has_feed(site, ["One"])
    assert outbox(alice) == [], "a new feed is not news"

    publish(site, feed, "Three", "Two", "One")
    refresh(alice, feed)

    (event,) = outbox(alice)
    feed = alice.get(f"/v1/feeds/{feed['id']}")
    shown = {entry["title"]: entry for entry in alice.entries()}
    assert event["event_type"] == "new_entries"
    assert set(event) == {"event_type", "feed", "entries", "receiver", "size"}
    fields = ("id", "user_id", "feed_url", "site_url", "title", "checked_at")
    category = feed["category"]
    assert event["feed"] == {name: feed[name] for name in fields} | {
        "category_id": category["id"],
        "category": {"id": category["id"], "title": category["title"]},
    }
    assert [entry["title"] for entry in event["entries"]] == ["Two", "Three"], "the oldest first"
    for entry in event["entries"]:
        expected = shown[entry["title"]]
        left_out = ("feed", "language", "labels", "hidden")
        assert entry == {name: value for name, value in expected.items() if name not in left_out}
        assert entry["published_at"].endswith("+09:00")
    assert event["feed"]["checked_at"].endswith("+09:00")


def test_new_entries_are_told_with_the_labels_that_rules_give_them(alice: Person, site: Publisher) -> None:
    switch_on(alice)
    label = alice.post("/v1/labels", {"title": "Weather"})["id"]
    alice.post("/v1/rules", {"query": "title:storm", "actions": [{"type": "label", "label_id": label}]})
    feed = alice.has_feed(site, ["One"])

    publish(site, feed, "Storm", "Two", "One")
    refresh(alice, feed)

    (event,) = outbox(alice)
    assert {entry["title"]: entry.get("labels") for entry in event["entries"]} == {"Two": None, "Storm": ["Weather"]}


def test_a_feed_in_several_categories_is_told_with_all_of_them(alice: Person, site: Publisher) -> None:
    switch_on(alice)
    weather, news = alice.has_category("Weather"), alice.has_category("News")
    feed = alice.has_feed(site, ["One"], category_ids=[weather["id"], news["id"]])

    publish(site, feed, "Two", "One")
    refresh(alice, feed)

    (event,) = outbox(alice)
    named = [{"id": one["id"], "title": one["title"]} for one in (weather, news)]
    assert (event["feed"]["category"], event["feed"]["categories"]) == (named[0], named)


def test_checks_without_new_entries_and_imports_cause_no_event(alice: Person, site: Publisher) -> None:
    switch_on(alice)
    feed = alice.has_feed(site, ["One"])
    path = feed["feed_url"].removeprefix(site.url(""))

    refresh(alice, feed)
    site.serve(path, rss(["One"], feed["feed_url"]).replace("About One.", "About One, again."))
    refresh(alice, feed)
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", {"url": "https://example.org/old", "title": "Old"})
    alice.put(f"/v1/feeds/{feed['id']}", {"block_filter_entry_rules": "EntryTitle=Spam"}, status=201)
    publish(site, feed, "Spam", "One")
    refresh(alice, feed)

    assert outbox(alice) == []


@pytest.mark.parametrize("how", [{"enabled": False}, {"url": ""}])
def test_without_a_webhook_nothing_is_written(alice: Person, site: Publisher, how: dict[str, Any]) -> None:
    switch_on(alice)
    feed = alice.has_feed(site, ["One"])
    alice.put("/v1/integrations", {"webhook": how}, status=201)

    publish(site, feed, "Two", "One")
    refresh(alice, feed)

    assert outbox(alice) == []


def test_the_webhook_of_a_feed_replaces_that_of_its_user(alice: Person, site: Publisher) -> None:
    switch_on(alice)
    feed = alice.has_feed(site, ["One"])
    own = {"webhook_url": "https://hooks.example/one"}
    assert alice.put(f"/v1/feeds/{feed['id']}", own, status=201)["webhook_url"] == own["webhook_url"]

    publish(site, feed, "Two", "One")
    refresh(alice, feed)

    alice.put(f"/v1/feeds/{feed['id']}", {"webhook_url": ""}, status=201)
    publish(site, feed, "Three", "Two", "One")
    refresh(alice, feed)

    assert [event["receiver"] for event in outbox(alice)] == ["https://hooks.example/one", "https://hooks.example/all"]


@pytest.mark.parametrize(
    "url",
    [
        "ftp://hooks.example/",
        "hooks.example",
        "https://",
        "http://hooks.example:0/",
        "https://hooks.example/ x",
        "https://hooks.example/" + "x" * 2000,
    ],
)
def test_an_invalid_webhook_url_is_refused(alice: Person, site: Publisher, url: str) -> None:
    feed = alice.has_feed(site)

    answer = alice.call("PUT", f"/v1/feeds/{feed['id']}", {"webhook_url": url})

    assert answer.status == 400
    assert answer.error.startswith("webhook_url: ")
    assert alice.get(f"/v1/feeds/{feed['id']}")["webhook_url"] == ""


def test_each_subscriber_of_a_feed_gets_an_event(alice: Person, bob: Person, site: Publisher) -> None:
    for person in (alice, bob):
        switch_on(person, f"https://hooks.example/{person.id}")
    feed = alice.has_feed(site, ["One"])
    theirs = bob.get(f"/v1/feeds/{bob.post('/v1/feeds', {'feed_url': feed['feed_url']})['feed_id']}")

    publish(site, feed, "Two", "One")
    refresh(alice, feed)
    refresh(bob, theirs)

    for person, own in ((alice, feed), (bob, theirs)):
        (event,) = outbox(person)
        assert event["receiver"].endswith(f"/{person.id}")
        assert event["feed"]["id"] == own["id"]
        assert {entry["user_id"] for entry in event["entries"]} == {person.id}


def test_very_many_new_entries_are_split_into_several_events(alice: Person, site: Publisher) -> None:
    switch_on(alice)
    feed = alice.has_feed(site, ["One"])
    titles = [f"Item {number}" for number in range(12)]
    document = rss([*titles, "One"], feed["feed_url"]).replace("About Item", "x" * 200_000 + " Item")
    site.serve(feed["feed_url"].removeprefix(site.url("")), document)

    refresh(alice, feed)

    events = outbox(alice)
    assert len(events) == 3
    assert all(event["size"] <= MAX_BODY_BYTES for event in events)
    assert [entry["title"] for event in events for entry in event["entries"]] == titles[::-1]


@pytest.mark.slow
def test_events_of_very_many_entries_are_built_in_bounded_memory(database: Database) -> None:
    feed_fixture = FeedFixture.create(database)
    ids = feed_fixture.add(*(ready(f"{number}", f"{number} {'x' * 30_000}") for number in range(600)))
    with database.writing() as db:
        where = '{"url": "https://hooks.example/all"}'
        integrations_storage.save(db, feed_fixture.user_id, "webhook", enabled=True, settings=where, now=NOW)

    with database.writing() as db:
        user, feed = users.get(db, feed_fixture.user_id), feeds.get(db, feed_fixture.user_id, feed_fixture.feed_id)
        assert user
        assert feed
        tracemalloc.start()
        try:
            posted = Outbox(Listeners(), lambda: NOW).post_new_entries(db, user, feed, ids, NOW)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert posted == 19
    # 18 MB of texts, of which it held all, and their events.
    assert peak < 12 * MAX_BODY_BYTES


def test_invalid_integration_settings_do_not_prevent_storing_a_feed(alice: Person, site: Publisher) -> None:
    switch_on(alice)
    feed = alice.has_feed(site, ["One"])
    with alice.service.services.database.writing() as db:
        mine = webhooks.c.user_id == alice.id
        db.run(webhooks.update().where(mine).values(settings='{"url": 7}'))

    publish(site, feed, "Two", "One")
    refresh(alice, feed)

    assert len(alice.entries()) == 2
    assert outbox(alice) == []
