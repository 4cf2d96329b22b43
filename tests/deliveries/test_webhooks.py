"""Several webhooks of a user: who is told of what, through the API, to receivers on real sockets."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

from fever.apps import sign_in
from greader.apps import READ, STARRED, with_password
from support.outbox import deliver, delivery_queue
from support.people import Person, rss
from support.publisher import Answer, Publisher
from tidings.deliveries.events import EVENTS
from tidings.deliveries.tables import deliveries, receivers, webhooks
from tidings.deliveries.webhooks import MAX_WEBHOOKS

PATH = "/v1/webhooks"


def has_webhook(person: Person, url: str, **fields: Any) -> dict[str, Any]:
    created: dict[str, Any] = person.post(PATH, {"url": url, **fields})
    return created


def told(person: Person) -> list[tuple[int | None, str, dict[str, Any]]]:
    """Return the webhook, the event and the body of each delivery of a person, oldest first."""
    shown = person.get(f"{PATH}/deliveries")["deliveries"][::-1]
    bodies = [json.loads(person.get(f"{PATH}/deliveries/{one['id']}")["body"]) for one in shown]
    return [(one["webhook_id"], one["event_type"], body) for one, body in zip(shown, bodies, strict=True)]


def titles(body: dict[str, Any]) -> list[str]:
    return [entry["title"] for entry in body["entries"]]


def publish(person: Person, site: Publisher, feed: dict[str, Any], *items: str) -> None:
    site.serve(feed["feed_url"].removeprefix(site.url("")), rss(items, feed["feed_url"]))
    person.put(f"/v1/feeds/{feed['id']}/refresh")


def run(person: Person, until: Callable[[], bool]) -> None:
    """Deliver until the condition holds, without what other tests left."""
    services = person.service.services
    others = (deliveries.c.user_id != person.id, deliveries.c.state == "pending")
    with services.database.writing() as db:
        db.run(update(deliveries).where(*others).values(state="failed", finished_at=services.clock()))
    deliver(delivery_queue(services.database), until)


def states(person: Person) -> list[str]:
    return [one["state"] for one in person.get(f"{PATH}/deliveries")["deliveries"][::-1]]


# Settings


def test_the_secret_is_shown_once_and_can_be_made_new(alice: Person) -> None:
    created = has_webhook(alice, "https://hooks.example/one", name=" My  receiver ")

    assert re.fullmatch("[0-9a-f]{64}", created.pop("secret"))
    assert created == {
        "id": created["id"],
        "name": "My receiver",
        "is_main": False,
        "enabled": True,
        "url": "https://hooks.example/one",
        "events": ["save_entry", "new_entries", "rule_matched"],
        "feed_ids": [],
        "category_ids": [],
        "query": "",
        "problem": "",
        "last_error": "",
    }
    assert alice.get(PATH) == [created]
    assert alice.get(f"{PATH}/{created['id']}") == {**created, "deliveries": []}
    renewed = [alice.post(f"{PATH}/{created['id']}/secret")["secret"] for _ in range(2)]
    assert len({*renewed}) == 2
    assert renewed[0] not in alice.service.log


def test_the_webhook_of_the_integrations_is_the_first_and_stays_as_it_was_to_old_clients(alice: Person) -> None:
    other = has_webhook(alice, "https://hooks.example/other")
    alice.put("/v1/integrations", {"webhook": {"enabled": True, "url": "https://hooks.example/main"}}, status=201)

    main, second = alice.get(PATH)

    assert (main["is_main"], main["url"], main["enabled"]) == (True, "https://hooks.example/main", True)
    assert second["id"] == other["id"]
    changed = {"url": "https://hooks.example/moved", "enabled": False, "events": ["feed_failed"], "name": "Mine"}
    alice.put(f"{PATH}/{main['id']}", changed, status=201)
    assert alice.get("/v1/integrations")["webhook"].items() >= {"url": changed["url"], "enabled": False}.items()
    alice.put("/v1/integrations", {"webhook": {"enabled": True}}, status=201)
    assert alice.get(f"{PATH}/{main['id']}").items() >= (changed | {"enabled": True}).items(), "events stay"
    secret = alice.get("/v1/integrations")["webhook"]["secret"]
    assert alice.post(f"{PATH}/{main['id']}/secret")["secret"] == alice.get("/v1/integrations")["webhook"]["secret"]
    assert alice.get("/v1/integrations")["webhook"]["secret"] != secret
    alice.delete(f"{PATH}/{main['id']}")
    assert alice.get("/v1/integrations")["webhook"]["url"] == ""
    assert alice.get("/v1/integrations/status") == {"has_integrations": True}, "the other one saves"


def test_what_was_not_sent_stays(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    created = has_webhook(alice, "https://hooks.example/one", feed_ids=[feed["id"]], query="title:rain")

    changed = alice.put(f"{PATH}/{created['id']}", {"name": "Rain"}, status=201)

    assert changed == {name: value for name, value in created.items() if name != "secret"} | {"name": "Rain"}


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"url": ""}, "url: a webhook needs an address"),
        ({"url": "ftp://hooks.example/"}, "url: The address has to begin with http:// or https://"),
        ({"events": []}, "events: choose at least one"),
        ({"events": ["rain"]}, "events: 'rain' is not one of save_entry"),
        ({"name": "x" * 101}, "name: use at most 100"),
        ({"name": " "}, "name: a webhook needs one"),
        ({"feed_ids": [2_000_000_000]}, "feed_ids: There is no feed 2000000000"),
        ({"category_ids": [2_000_000_000]}, "category_ids: There is no category 2000000000"),
        ({"query": "rain (snow"}, "cannot be read from character 11 on"),
        ({"query": "S:nowhere"}, "query: there is no saved view nowhere"),
        ({"enabled": "yes"}, "enabled"),
    ],
)
def test_what_cannot_be_stored_is_refused(alice: Person, fields: dict[str, Any], says: str) -> None:
    created = has_webhook(alice, "https://hooks.example/one")
    before = alice.get(PATH)

    added = alice.call("POST", PATH, {"url": "https://hooks.example/two"} | fields)
    changed = alice.call("PUT", f"{PATH}/{created['id']}", fields)

    assert (added.status, changed.status) == (400, 400)
    assert says in added.error
    assert says in changed.error
    assert alice.get(PATH) == before


def test_a_user_has_a_bounded_number_of_webhooks(alice: Person) -> None:
    for number in range(MAX_WEBHOOKS):
        has_webhook(alice, f"https://hooks.example/{number}")

    answer = alice.call("POST", PATH, {"url": "https://hooks.example/more"})

    assert answer.status == 400
    assert f"{MAX_WEBHOOKS} webhooks" in answer.error


def test_strangers_and_other_keys_reach_no_webhook(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    created = has_webhook(alice, "https://hooks.example/one")
    path = f"{PATH}/{created['id']}"

    for method, where in (
        ("GET", path),
        ("PUT", path),
        ("DELETE", path),
        ("POST", f"{path}/test"),
        ("POST", f"{path}/secret"),
    ):
        assert bob.call(method, where, {}).status == 404
    assert bob.get(PATH) == []
    assert bob.call("GET", f"{PATH}/deliveries", webhook_id=created["id"]).status == 404
    assert bob.call("POST", PATH, {"url": "https://b.example/", "feed_ids": [feed["id"]]}).status == 400
    assert len(alice.get(PATH)) == 1


def test_a_view_that_a_webhook_names_is_not_deleted(alice: Person) -> None:
    view = alice.post("/v1/views", {"name": "Rain", "query": "title:rain"})
    has_webhook(alice, "https://hooks.example/one", name="Hook", query="S:Rain")

    answer = alice.call("DELETE", f"/v1/views/{view['id']}")

    assert answer.status == 400
    assert "the webhook Hook" in answer.error


# Deliveries


def test_each_webhook_is_sent_its_events_with_its_own_secret(alice: Person, site: Publisher) -> None:
    site.serve("/one")
    site.serve("/two")
    first = has_webhook(alice, site.url("/one"), events=["save_entry"])
    second = has_webhook(alice, site.url("/two"), events=["save_entry", "new_entries"])
    alice.has_feed(site, ["Rain"])
    alice.post(f"/v1/entries/{alice.entries()[0]['id']}/save", status=202)

    run(alice, lambda: states(alice) == ["delivered"] * 2)

    for hook, path in ((first, "/one"), (second, "/two")):
        (seen,) = site.requests_for(path)
        expected = hmac.new(hook["secret"].encode(), seen.body, hashlib.sha256).hexdigest()
        assert seen.headers["x-service-signature"] == seen.headers["x-miniflux-signature"] == expected
        (done,) = alice.get(f"{PATH}/{hook['id']}")["deliveries"]
        assert (done["state"], done["last_status"], done["webhook_id"]) == ("delivered", 200, hook["id"])
        assert done["integration"] == "webhook"
        assert alice.get(f"{PATH}/deliveries", webhook_id=hook["id"])["deliveries"] == [done]


def test_one_that_is_gone_is_switched_off_and_others_go_on(alice: Person, site: Publisher) -> None:
    site.script("/gone", Answer(status=410))
    site.serve("/here")
    gone = has_webhook(alice, site.url("/gone"))
    here = has_webhook(alice, site.url("/here"))
    alice.has_feed(site, ["Rain"])
    alice.post(f"/v1/entries/{alice.entries()[0]['id']}/save", status=202)

    run(alice, lambda: "pending" not in states(alice))

    first, second = alice.get(PATH)
    assert (first["id"], first["enabled"], "permanently gone" in first["last_error"]) == (gone["id"], False, True)
    assert (second["id"], second["enabled"], second["last_error"]) == (here["id"], True, "")


def test_one_that_is_off_or_deleted_gets_nothing_and_what_waits_goes_with_it(alice: Person, site: Publisher) -> None:
    site.serve("/hook")
    off, deleted, kept = (has_webhook(alice, site.url(f"/hook?{number}"), events=["save_entry"]) for number in range(3))
    alice.has_feed(site, ["Rain"])
    save = f"/v1/entries/{alice.entries()[0]['id']}/save"
    alice.post(save, status=202)
    alice.put(f"{PATH}/{off['id']}", {"enabled": False}, status=201)
    alice.delete(f"{PATH}/{deleted['id']}")
    alice.post(save, status=202)

    assert [hook_id for hook_id, _, _ in told(alice)] == [off["id"], kept["id"], kept["id"]]
    run(alice, lambda: states(alice) == ["failed", "delivered", "delivered"])
    with alice.service.services.reading() as db:
        keys = db.scalars(
            receivers.select().with_only_columns(receivers.c.integration).where(receivers.c.user_id == alice.id)
        )
    assert f"webhook:{deleted['id']}" not in keys


def test_the_address_of_a_feed_replaces_only_that_of_the_main_webhook(alice: Person, site: Publisher) -> None:
    alice.put("/v1/integrations", {"webhook": {"enabled": True, "url": "https://hooks.example/main"}}, status=201)
    other = has_webhook(alice, "https://hooks.example/other")
    feed = alice.has_feed(site, ["One"])
    alice.put(f"/v1/feeds/{feed['id']}", {"webhook_url": "https://hooks.example/feed"}, status=201)

    publish(alice, site, feed, "Two", "One")

    sent = {one["webhook_id"]: one["receiver"] for one in alice.get(f"{PATH}/deliveries")["deliveries"]}
    main = alice.get(PATH)[0]["id"]
    assert sent == {main: "https://hooks.example/feed", other["id"]: "https://hooks.example/other"}


@pytest.mark.parametrize("event", ["", *EVENTS])
@pytest.mark.one_engine
def test_a_sample_of_each_event_can_be_sent(alice: Person, site: Publisher, event: str) -> None:
    site.serve("/hook", "thanks")
    hook = has_webhook(alice, site.url("/hook"), enabled=False, events=["feed_failed"])

    outcome = alice.call("POST", f"{PATH}/{hook['id']}/test{f'?event={event}' * bool(event)}").json()

    assert outcome == {"works": True, "status": 200, "error": "", "response": "thanks"}
    (seen,) = site.requests_for("/hook")
    assert seen.json()["event_type"] == seen.headers["x-service-event-type"] == (event or "feed_failed")
    assert alice.get(f"{PATH}/deliveries")["deliveries"] == []


def test_a_sample_of_an_unknown_event_is_refused(alice: Person) -> None:
    hook = has_webhook(alice, "https://hooks.example/")

    answer = alice.call("POST", f"{PATH}/{hook['id']}/test", event="rain")

    assert answer.status == 400
    assert "'rain' is not one of" in answer.error


# Feeds, categories and queries


def test_new_entries_are_told_to_the_webhooks_that_ask_for_them(alice: Person, site: Publisher) -> None:
    above = alice.has_category("Weather")
    below = alice.post("/v1/categories", {"title": "Storms", "parent_id": above["id"]})
    here = alice.has_feed(site, ["One"], category_id=below["id"])
    there = alice.has_feed(site, ["One"])
    url = "https://hooks.example/"
    everything = has_webhook(alice, f"{url}all")
    of_feed = has_webhook(alice, f"{url}feed", feed_ids=[there["id"]])
    of_category = has_webhook(alice, f"{url}category", category_ids=[above["id"]])
    of_query = has_webhook(alice, f"{url}query", query="title:rain OR text:umbrella")
    both = has_webhook(alice, f"{url}both", feed_ids=[here["id"]], query="title:rain")
    has_webhook(alice, f"{url}saved", events=["save_entry"])
    has_webhook(alice, f"{url}off", enabled=False)

    publish(alice, site, here, "Snow", "Rain", "One")
    publish(alice, site, there, "Rain again", "One")

    found = [(hook, titles(body)) for hook, _, body in told(alice)]
    assert sorted(found) == sorted(
        [
            (everything["id"], ["Rain", "Snow"]),
            (of_category["id"], ["Rain", "Snow"]),
            (of_query["id"], ["Rain"]),
            (both["id"], ["Rain"]),
            (everything["id"], ["Rain again"]),
            (of_feed["id"], ["Rain again"]),
            (of_query["id"], ["Rain again"]),
        ]
    )


def test_a_query_may_ask_for_the_text_the_feed_and_a_saved_view(alice: Person, site: Publisher) -> None:
    alice.post("/v1/views", {"name": "About", "query": "text:about -title:snow"})
    feed = alice.has_feed(site, ["One"])
    has_webhook(alice, "https://hooks.example/", query=f"S:About f:{feed['id']} is:unread")

    publish(alice, site, feed, "Snow", "Rain", "One")

    assert [titles(body) for _, _, body in told(alice)] == [["Rain"]]


def test_one_whose_feeds_are_deleted_is_told_of_no_other(alice: Person, site: Publisher) -> None:
    gone, left = alice.has_feed(site, ["One"]), alice.has_feed(site, ["One"])
    hook = has_webhook(alice, "https://hooks.example/", feed_ids=[gone["id"]])
    alice.delete(f"/v1/feeds/{gone['id']}")

    publish(alice, site, left, "Two", "One")

    assert told(alice) == []
    assert "were deleted" in alice.get(f"{PATH}/{hook['id']}")["problem"]


def test_saved_and_matched_entries_are_told_with_what_they_are(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    has_webhook(alice, "https://hooks.example/", events=["save_entry"], query="title:one")
    matched = has_webhook(alice, "https://hooks.example/", events=["rule_matched"], query="title:storm")
    rule = alice.post("/v1/rules", {"name": "Rain", "query": "title:rain", "actions": [{"type": "webhook"}]})

    publish(alice, site, feed, "Rain and storm", "Rain", "One")
    for entry in alice.entries():
        alice.post(f"/v1/entries/{entry['id']}/save", status=202)

    (first, second) = told(alice)
    assert (first[0], first[1], titles(first[2])) == (matched["id"], "rule_matched", ["Rain and storm"])
    assert first[2]["rule"] == {"id": rule["id"], "name": "Rain"}
    assert (second[1], second[2]["entry"]["title"]) == ("save_entry", "One")


# Reading and starring


def test_reading_and_starring_are_told_once_for_each_request(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Three", "Two", "One"])
    has_webhook(alice, "https://hooks.example/", events=["entry_read", "entry_starred"])
    one, two, three = sorted(entry["id"] for entry in alice.entries())

    alice.put("/v1/entries", {"entry_ids": [one, two], "status": "read"})
    alice.put("/v1/entries", {"entry_ids": [one, two, three], "status": "read"})
    alice.put("/v1/entries", {"entry_ids": [one], "status": "unread"})
    alice.put(f"/v1/entries/{two}/bookmark")
    alice.put("/v1/entries", {"entry_ids": [two, three], "starred": True})
    alice.put(f"/v1/entries/{two}/bookmark")

    sent = told(alice)
    assert [(event, body["entry_ids"]) for _, event, body in sent] == [
        ("entry_read", [one, two]),
        ("entry_read", [three]),
        ("entry_starred", [two]),
        ("entry_starred", [three]),
    ]
    body = sent[0][2]
    assert set(body) == {"event_type", "user_id", "entry_ids", "entries"}
    assert body["user_id"] == alice.id
    assert [(entry["status"], entry["content"], entry["feed"]["user_id"]) for entry in body["entries"]] == [
        ("read", "About One.", alice.id), ("read", "About Two.", alice.id)
    ]  # fmt: skip


def test_every_way_of_marking_lists_is_told(alice: Person, site: Publisher) -> None:
    feeds = [alice.has_feed(site, ["Two", "One"]) for _ in range(3)]
    has_webhook(alice, "https://hooks.example/", events=["entry_read"])

    alice.put(f"/v1/feeds/{feeds[0]['id']}/mark-all-as-read")
    alice.put(f"/v1/categories/{feeds[1]['category']['id']}/mark-all-as-read")
    alice.put(f"/v1/categories/{feeds[1]['category']['id']}/mark-all-as-read")
    publish(alice, site, feeds[0], "Three", "Two", "One")
    alice.put(f"/v1/users/{alice.id}/mark-all-as-read")
    publish(alice, site, feeds[0], "Four", "Three", "Two", "One")
    view = alice.post("/v1/views", {"name": "Four", "query": "title:four"})
    alice.put(f"/v1/views/{view['id']}/mark-all-as-read")

    sent = [titles(body) for _, _, body in told(alice)]
    assert [len(one) for one in sent] == [2, 4, 1, 1]
    assert sent[2:] == [["Three"], ["Four"]]


def test_marks_of_apps_are_told(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Two", "One"])
    other = alice.has_feed(site, ["Three"])
    one, two, _three = (entry["id"] for entry in sorted(alice.entries(), key=lambda entry: entry["id"]))
    has_webhook(alice, "https://hooks.example/", events=["entry_read", "entry_starred"])
    fever = sign_in(alice, "Fever")
    greader = with_password(alice)

    fever.mark(mark="item", id=one, **{"as": "read"})
    fever.mark(mark="item", id=one, **{"as": "saved"})
    fever.mark(mark="item", id=one, **{"as": "read"})
    greader.post("edit-tag", [("i", two), ("a", READ), ("a", STARRED)])
    fever.mark(mark="feed", id=other["id"], before=2**40, **{"as": "read"})
    publish(alice, site, other, "Four", "Three")
    greader.post("mark-all-as-read", {"s": f"feed/{other['id']}"})

    assert [(event, titles(body)) for _, event, body in told(alice)] == [
        ("entry_read", ["One"]),
        ("entry_starred", ["One"]),
        ("entry_read", ["Two"]),
        ("entry_starred", ["Two"]),
        ("entry_read", ["Three"]),
        ("entry_read", ["Four"]),
    ]


def test_many_entries_are_told_in_few_small_events(alice: Person, site: Publisher) -> None:
    items = [f"Entry {number}" for number in range(150)]
    feed = alice.has_feed(site, items)
    other = alice.has_feed(site, items[:20])
    everything = has_webhook(alice, "https://hooks.example/", events=["entry_read"])
    some = has_webhook(alice, "https://hooks.example/", events=["entry_read"], feed_ids=[other["id"]])

    alice.put(f"/v1/users/{alice.id}/mark-all-as-read")

    (all_of_them, only_some) = told(alice)
    assert (all_of_them[0], len(all_of_them[2]["entry_ids"]), all_of_them[2]["entries"]) == (everything["id"], 170, [])
    assert only_some[0] == some["id"]
    assert len(only_some[2]["entry_ids"]) == len(only_some[2]["entries"]) == 20
    assert "content" not in only_some[2]["entries"][0]
    assert only_some[2]["entries"][0]["feed"]["id"] == other["id"] != feed["id"]


def test_imports_and_rules_are_no_reading(alice: Person, site: Publisher) -> None:
    has_webhook(alice, "https://hooks.example/", events=["entry_read", "entry_starred"])
    feed = alice.has_feed(site, ["One"])
    actions = [{"type": "mark_read"}, {"type": "star"}]
    alice.post("/v1/rules", {"query": "title:two", "actions": actions})

    publish(alice, site, feed, "Two", "One")
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", {"url": "https://example.org/old", "starred": True})

    assert told(alice) == []


# Events about feeds, and about imports


def test_a_feed_that_begins_to_fail_and_one_that_works_again_are_told_once(alice: Person, site: Publisher) -> None:
    feed, other = alice.has_feed(site, ["One"]), alice.has_feed(site, ["One"])
    url = "https://hooks.example/"
    has_webhook(alice, url, events=["feed_failed", "feed_recovered"], feed_ids=[feed["id"]])
    has_webhook(alice, url, events=["feed_failed"], feed_ids=[other["id"]])
    path = feed["feed_url"].removeprefix(site.url(""))
    refresh = f"/v1/feeds/{feed['id']}/refresh"

    site.serve(path, "no feed")
    for _ in range(2):
        assert alice.call("PUT", refresh).status == 500
    # A change clears the errors, but the feed has failed and has not worked since.
    alice.put(f"/v1/feeds/{feed['id']}", {"title": "Weather"}, status=201)
    assert alice.call("PUT", refresh).status == 500
    for _ in range(2):
        publish(alice, site, feed, "One")

    ((_, failed, why), (_, recovered, well)) = told(alice)
    assert (failed, recovered) == ("feed_failed", "feed_recovered")
    assert (why["feed"]["id"], why["disabled"]) == (feed["id"], False)
    assert "feed" in why["error_message"]
    assert set(well) == {"event_type", "feed"}


def test_a_temporary_error_is_told_when_it_counts_as_one_of_the_feed(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    has_webhook(alice, "https://hooks.example/", events=["feed_failed", "feed_recovered"])
    site.serve(feed["feed_url"].removeprefix(site.url("")), status=503)
    refresh = f"/v1/feeds/{feed['id']}/refresh"

    counts = []
    while not told(alice):
        assert alice.call("PUT", refresh).status == 500
        counts.append(alice.get(f"/v1/feeds/{feed['id']}")["parsing_error_count"])

    assert counts == [0] * (len(counts) - 1) + [1]
    assert len(counts) > 1


def test_an_import_is_told_when_it_has_ended(alice: Person) -> None:
    has_webhook(alice, "https://hooks.example/", events=["import_finished"])
    document = '<opml version="2.0"><body><outline xmlUrl="https://a.example/feed" text="A"/></body></opml>'

    for _ in range(2):
        assert alice.call("POST", "/v1/import", raw=document.encode()).status == 201

    sent = [body for _, _, body in told(alice)]
    assert [body["import"] for body in sent] == [
        {"source": "opml", "origin": "", "succeeded": True, "error_message": "", "new_feeds": new, "known_feeds": known,
         "new_entries": 0, "known_entries": 0, "problems": 0}
        for new, known in ((1, 0), (0, 1))
    ]  # fmt: skip


def test_the_table_has_no_secret_of_another_form(alice: Person) -> None:
    """What is stored is what the integration has stored before: address and secret as JSON."""
    created = has_webhook(alice, "https://hooks.example/one")
    with alice.service.services.reading() as db:
        settings = db.scalars(
            webhooks.select().with_only_columns(webhooks.c.settings).where(webhooks.c.user_id == alice.id)
        )

    assert [json.loads(one) for one in settings] == [{"url": created["url"], "secret": created["secret"]}]
