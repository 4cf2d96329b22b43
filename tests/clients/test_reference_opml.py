"""Subscriptions move to the reference server and back as OPML, with every setting."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher
from support.reference import ReferenceMissing, reference_server
from tidings.domain.feeds.feed_settings import FEED_SETTINGS, SWITCHES

pytestmark = pytest.mark.slow

SHARED = [one for one in FEED_SETTINGS if one.setting.opml and not one.setting.is_own]
OWN = [one for one in FEED_SETTINGS if one.setting.is_own]
_TEXTS = {
    "scraper_rules": "article > p, div.text",
    "rewrite_rules": 'add_dynamic_image,replace("a & b"|"<b>")',
    "urlrewrite_rules": 'rewrite("^https:(.*)$"|"http:$1")',
    "blocklist_rules": "(?i)ad|été",
    "keeplist_rules": "rain \"heavy\" 'light'",
    "block_filter_entry_rules": "EntryTitle=a\nEntryURL=b&c",
    "keep_filter_entry_rules": "EntryAuthor=<x>\r\nEntryTag=\ty",
    "user_agent": "Reader/1.0 (+https://reader.example)",
}


def all_settings() -> dict[str, Any]:
    return {one.name: True if one.name in SWITCHES else _TEXTS[one.name] for one in SHARED}


def settings_of(feeds: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what OPML carries of each feed, by its address."""
    names = ["title", "site_url", "description", *(setting.name for setting in SHARED)]
    return {
        feed["feed_url"]: {name: feed[name] for name in names} | {"category": feed["category"]["title"]}
        for feed in feeds
    }


def test_subscriptions_go_to_the_reference_and_back_with_every_setting(
    alice: Person, bob: Person, site: Publisher
) -> None:
    full, art = alice.has_category("Tech / Python & <more>"), alice.has_category("Art")
    alice.has_feed(site, category_id=art["id"])
    values = all_settings()
    for each in (values, *({name: value} for name, value in values.items())):
        feed = alice.has_feed(site, category_id=full["id"])
        changed = alice.put(f"/v1/feeds/{feed['id']}", each, status=201)
        assert {name: changed[name] for name in each} == each
    own = alice.has_feed(site)
    texts = {"title": "Mine: “&<>\"'", "description": "Two\nlines", "site_url": "https://site.example/?a=1&b=2"}
    alice.put(f"/v1/feeds/{own['id']}", texts | {"check_interval_minutes": 30, "keep_read_days": 9}, status=201)
    expected = settings_of(alice.get("/v1/feeds"))

    try:
        with reference_server() as reference:
            reference.call("POST", "/v1/import", alice.call("GET", "/v1/export").body)
            there = settings_of(reference.call("GET", "/v1/feeds"))
            returned = reference.call("GET", "/v1/export")
    except ReferenceMissing as missing:
        pytest.skip(str(missing))

    assert there == expected
    imported = bob.call("POST", "/v1/import", raw=returned)
    assert imported.status == 201
    assert imported.json()["message"] == f"Feeds imported: {len(expected)}."
    assert settings_of(bob.get("/v1/feeds")) == expected


def test_settings_that_only_we_have_come_back_from_our_own_export(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    others: dict[str, Any] = {
        "check_interval_minutes": 30,
        "keep_read_days": 9,
        "keep_unread_days": -1,
        "kind": "html+css",
        "selectors": {"item": "li", "title": "a", "link": "a@href"},
    }
    values = {one.name: True if one.name in SWITCHES else others[one.name] for one in OWN}
    alice.put(f"/v1/feeds/{feed['id']}", values, status=201)

    assert bob.call("POST", "/v1/import", raw=alice.call("GET", "/v1/export").body).status == 201

    (copy,) = bob.get("/v1/feeds")
    assert {name: copy[name] for name in values} == values
