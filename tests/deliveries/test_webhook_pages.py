"""Webhooks in the browser, without scripts."""

from __future__ import annotations

import re

import pytest

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor

LIST = "/settings/integrations"
NEW = f"{LIST}/webhooks/new"


def secret_on(page: str) -> str:
    (found,) = re.findall(r'id="new-secret">([0-9a-f]{64})<', page)
    return str(found)


def test_a_webhook_is_made_changed_tested_and_deleted(alice: Person, reader: Visitor, site: Publisher) -> None:
    site.serve("/hook", "thanks a lot")
    feed = alice.has_feed(site)
    fields = {"name": "Storms", "url": site.url("/hook"), "enabled": "1", "event": ["feed_failed", "entry_read"]}
    assert "New webhook" in reader.page(LIST)
    reader.page(NEW)

    made = reader.post(NEW, fields, more=f"f{feed['id']}", query="title:storm").body.decode()

    (hook,) = alice.get("/v1/webhooks")
    path = f"{LIST}/webhooks/{hook['id']}"
    assert (hook["events"], hook["feed_ids"], hook["query"]) == (
        ["entry_read", "feed_failed"],
        [feed["id"]],
        "title:storm",
    )
    first = secret_on(made)
    shown = reader.page(path)
    assert first not in shown
    assert f'name="place" value="f{feed["id"]}" checked' in shown
    assert "Storms" in reader.page(LIST)
    assert secret_on(reader.post(f"{path}/renew").body.decode()) != first
    category = feed["category"]["id"]
    assert reader.post(path, fields, place=[f"f{feed['id']}"], more=f"c{category}").status == 303
    assert (
        alice.get("/v1/webhooks")[0].items()
        >= {"feed_ids": [feed["id"]], "category_ids": [category], "query": ""}.items()
    )
    assert "thanks a lot" in reader.post(f"{path}/test", fields).body.decode()
    assert site.requests_for("/hook")[-1].json()["event_type"] == "entry_read"
    assert alice.get("/v1/webhooks")[0]["feed_ids"] == [], "the test saves the form"
    assert "Storms" in reader.page(f"{path}/delete")
    assert reader.post(f"{path}/delete").status == 303
    assert alice.get("/v1/webhooks") == []


def test_its_deliveries_are_shown_by_its_name(alice: Person, reader: Visitor, site: Publisher) -> None:
    hook = alice.post("/v1/webhooks", {"name": "Storms", "url": "https://hooks.example/"})
    alice.has_feed(site)
    alice.post(f"/v1/entries/{alice.entries()[0]['id']}/save", status=202)

    assert "Storms: Saved entry" in reader.page("/settings/deliveries")
    assert 'class="status pending"' in reader.page(f"{LIST}/webhooks/{hook['id']}")


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("query", "rain (snow", 'class="query-place"'),
        ("url", "ftp://hooks.example/", 'id="error-url"'),
        ("more", "f2000000000", 'id="error-more"'),
        ("more", "x", 'id="error-more"'),
        ("event", "rain", 'id="error-event"'),
    ],
)
def test_what_is_wrong_is_said_at_its_field(reader: Visitor, field: str, value: str, says: str) -> None:
    fields = {"name": "Kept", "url": "https://hooks.example/", "event": "save_entry"} | {field: value}
    reader.page(NEW)

    answer = reader.post(NEW, fields)

    assert answer.status == 400
    assert says in answer.body.decode()
    assert 'value="Kept"' in answer.body.decode()


def test_pages_of_other_users_are_missing(alice: Person, bob: Person, reader: Visitor) -> None:
    hook = bob.post("/v1/webhooks", {"url": "https://hooks.example/"})
    path = f"{LIST}/webhooks/{hook['id']}"
    reader.page(LIST)

    assert reader.get(path).status == 404
    for action in ("", "/test", "/renew", "/delete"):
        assert reader.post(path + action, url="https://b.example/").status == 404
    assert bob.get("/v1/webhooks")[0]["url"] == "https://hooks.example/"
