"""Feeds that are made from pages and JSON by selectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher

SELECTORS = {"item": "li.post", "title": "a", "link": "a@href", "date": ".when", "content": "p"}
FEED = {"kind": "html+css", "selectors": SELECTORS}


def page(titles: Sequence[str], *, title: str = "Notices") -> str:
    rows = "".join(
        f'<li class="post"><a href="/notices/{name}">{name}</a> <span class="when">2026-03-{number:02} 10:00</span>'
        f"<p>About <b>{name}</b>.<script>alert(1)</script></p></li>"
        for number, name in enumerate(titles, 1)
    )
    return f"<!doctype html><title>{title}</title><ul>{rows}</ul>"


def titles(person: Person, feed_id: int) -> list[str]:
    found = person.get(f"/v1/feeds/{feed_id}/entries", order="id", direction="asc")["entries"]
    return sorted(entry["title"] for entry in found)


def subscribe(person: Person, url: str, **fields: Any) -> int:
    created: int = person.post("/v1/feeds", {"feed_url": url, **FEED, **fields})["feed_id"]
    return created


def refresh(person: Person, feed_id: int) -> str:
    """Check a feed now. Returns the message of the error, "" without one."""
    answer = person.call("PUT", f"/v1/feeds/{feed_id}/refresh")
    if answer.status == 204:
        return ""
    message: str = answer.json()["error_message"]
    return message


def test_a_page_becomes_a_feed(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one", "two"]))

    feed_id = subscribe(alice, url)

    feed = alice.get(f"/v1/feeds/{feed_id}")
    assert (feed["title"], feed["kind"], feed["selectors"]) == ("Notices", "html+css", SELECTORS)
    found = alice.get(f"/v1/feeds/{feed_id}/entries", order="published_at", direction="asc")["entries"]
    assert [(one["title"], one["url"], one["published_at"]) for one in found] == [
        ("one", site.url("/notices/one"), "2026-03-01T10:00:00Z"),
        ("two", site.url("/notices/two"), "2026-03-02T10:00:00Z"),
    ]
    assert found[0]["content"] == "<p>About <b>one</b>.</p>"


def test_a_later_check_adds_only_what_is_new(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one", "two"]))
    feed_id = subscribe(alice, url)
    site.serve("/notices", page(["one", "two", "three"]))

    assert refresh(alice, feed_id) == ""

    assert titles(alice, feed_id) == ["one", "three", "two"]


def test_json_becomes_a_feed(alice: Person, site: Publisher) -> None:
    posts = [{"name": "One", "path": "/1", "key": 1, "labels": ["a", "b"]}, {"name": "Two", "path": "/2", "key": 2}]
    url = site.serve("/api/posts", json.dumps({"data": {"posts": posts}}), headers={"Content-Type": "application/json"})

    feed_id = subscribe(
        alice,
        url,
        kind="json",
        selectors={"item": "$.data.posts[*]", "title": "name", "link": "path", "id": "key", "tags": "labels"},
    )

    assert titles(alice, feed_id) == ["One", "Two"]
    (one,) = (entry for entry in alice.entries() if entry["title"] == "One")
    assert one["tags"] == ["a", "b"]


def test_an_entry_without_a_date_keeps_the_time_when_it_was_first_seen(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one"]))
    selectors = {"item": "li.post", "title": "a", "link": "a@href"}
    feed_id = subscribe(alice, url, selectors=selectors)
    (before,) = alice.get(f"/v1/feeds/{feed_id}/entries")["entries"]
    site.serve("/notices", page(["one", "two"]))

    assert refresh(alice, feed_id) == ""

    found = alice.get(f"/v1/feeds/{feed_id}/entries")["entries"]
    assert before["published_at"] in [one["published_at"] for one in found if one["title"] == "one"]


def test_a_page_that_lost_its_items_is_an_error_with_their_number(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one", "two"]))
    feed_id = subscribe(alice, url)
    cards = "".join(f'<div class="card"><h2><a href="/{one}">Notice number {one}</a></h2></div>' for one in range(4))
    site.serve("/notices", f"<title>New</title>{cards}")

    message = refresh(alice, feed_id)

    assert "The page has 0 items, and had 2 when it was last read." in message
    assert "nothing on the page matches li.post" in message
    assert "div.card (4)" in message
    feed = alice.get(f"/v1/feeds/{feed_id}")
    assert feed["parsing_error_count"] == 1
    assert "had 2" in feed["parsing_error_message"]
    assert titles(alice, feed_id) == ["one", "two"]


def test_a_feed_that_recovers_has_no_error(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one"]))
    feed_id = subscribe(alice, url)
    site.serve("/notices", page([]))
    assert refresh(alice, feed_id)
    site.serve("/notices", page(["one", "two"]))

    assert refresh(alice, feed_id) == ""

    assert alice.get(f"/v1/feeds/{feed_id}")["parsing_error_count"] == 0
    assert titles(alice, feed_id) == ["one", "two"]


def test_selectors_that_match_nothing_are_refused_with_what_is_there(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["A first notice", "A second notice", "A third notice"]))

    answer = alice.call(
        "POST", "/v1/feeds", {"feed_url": url, "kind": "html+css", "selectors": {"item": "li.item", "title": "a"}}
    )

    assert answer.status >= 400
    assert answer.json()["error_message"] == "item: nothing on the page matches li.item. It has li.post (3)."
    assert alice.get("/v1/feeds") == []


def test_a_selector_that_cannot_be_read_names_the_field_and_the_place(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one"]))

    def problem(kind: str, **selectors: Any) -> str:
        body = {"feed_url": url, "kind": kind, "selectors": {"item": "li", "title": "a", **selectors}}
        answer = alice.call("POST", "/v1/feeds", body)
        assert answer.status == 400, answer.body
        message: str = answer.json()["error_message"]
        return message

    assert problem("html+css", title="a[") == "selectors: title: The selector ends before a closing ]."
    assert problem("html+xpath", date="//a[") == "selectors: date: XPath: Invalid expression, at character 5."
    assert "document() at character 1" in problem("html+xpath", link="document('/etc/passwd')")
    assert "character 10: ] is expected" in problem("json", item="$.a[?@.b = 1]")
    assert "Nowhere" in problem("html+css", date={"selector": "b", "zone": "Nowhere"})
    assert "not a regular expression" in problem("html+css", title={"selector": "a", "capture": "("})
    assert "selectors: headline: not a part" in problem("html+css", headline="h1")
    assert problem("html", item="li").startswith("kind: ")
    assert site.requests == []


def test_selectors_without_a_kind_are_refused(alice: Person, site: Publisher) -> None:
    answer = alice.call("POST", "/v1/feeds", {"feed_url": site.url("/notices"), "selectors": SELECTORS})

    assert answer.status == 400
    assert answer.json()["error_message"].startswith("kind: ")


def test_changed_selectors_read_an_unchanged_page_again(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one"]), etag='"1"')
    feed_id = subscribe(alice, url, selectors={"item": "li.post", "title": "a", "link": "a"})

    alice.put(f"/v1/feeds/{feed_id}", {"selectors": {**SELECTORS, "title": "b"}}, status=201)
    assert refresh(alice, feed_id) == ""

    assert site.last.headers.get("if-none-match") is None
    (entry,) = alice.get(f"/v1/feeds/{feed_id}/entries")["entries"]
    assert entry["content"] == "<p>About <b>one</b>.</p>"


def test_a_change_of_the_kind_alone_is_checked_with_the_stored_selectors(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one"]))
    feed_id = subscribe(alice, url, selectors={"item": "ul > li", "title": "a"})

    answer = alice.call("PUT", f"/v1/feeds/{feed_id}", {"kind": "json in html"})

    assert answer.status == 400
    assert "selectors: item: the path cannot be read" in answer.json()["error_message"]
    assert alice.get(f"/v1/feeds/{feed_id}")["kind"] == "html+css"


def test_without_a_kind_it_is_an_ordinary_feed_again(alice: Person, site: Publisher) -> None:
    feed_id = subscribe(alice, site.serve("/notices", page(["one"])))

    changed = alice.put(f"/v1/feeds/{feed_id}", {"kind": ""}, status=201)

    assert (changed["kind"], changed["selectors"]) == ("", {})


def test_the_same_page_with_other_selectors_is_another_source(alice: Person, bob: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one", "two"]))
    by_title = subscribe(alice, url, selectors={"item": "li.post", "title": "a", "link": "a"})
    by_content = subscribe(bob, url, selectors={"item": "li.post", "title": "p", "link": "a"})
    site.serve("/notices", page(["one", "two", "three"]))

    assert refresh(alice, by_title) == ""
    assert refresh(bob, by_content) == ""

    assert titles(alice, by_title) == ["one", "three", "two"]
    assert titles(bob, by_content) == ["About one.", "About three.", "About two."]


def test_filters_apply_to_the_entries_of_a_page(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one", "two"]))

    feed_id = subscribe(alice, url, block_filter_entry_rules="EntryTitle=two")

    assert titles(alice, feed_id) == ["one"]


@pytest.mark.slow
@pytest.mark.one_engine
def test_an_xpath_without_end_is_an_error_of_its_feed_only(alice: Person, site: Publisher) -> None:
    deep = "<div>" * 200 + "</div>" * 200
    url = site.serve("/notices", page(["one"]) + deep * 200)

    answer = alice.call(
        "POST",
        "/v1/feeds",
        {
            "feed_url": url,
            "kind": "html+xpath",
            "selectors": {"item": "//*[count(//*//*//*) > 0]//*[count(//*//*) > 1]", "title": "."},
        },
    )

    assert answer.status >= 400
    assert "too large or too tangled" in answer.json()["error_message"]
    assert titles(alice, subscribe(alice, url)) == ["one"]


def test_a_preview_shows_items_with_hits_and_misses_and_stores_nothing(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["A first notice", "A second notice", "A third notice"]))
    selectors = {**SELECTORS, "author": ".author"}

    found = alice.post("/v1/feeds/preview-page", {"url": url, "kind": "html+css", "selectors": selectors}, status=200)

    assert (found["title"], found["item_count"], found["problem"]) == ("Notices", 3, "")
    assert found["items"][0]["title"] == "A first notice"
    assert found["items"][0]["published_at"] == "2026-03-01T10:00:00Z"
    fields = {one["field"]: one for one in found["fields"]}
    assert (fields["title"]["hits"], fields["title"]["misses"]) == (3, 0)
    assert (fields["author"]["hits"], fields["author"]["misses"]) == (0, 3)
    assert "span.when" in fields["author"]["instead"]
    assert alice.get("/v1/feeds") == []


def test_a_preview_without_selectors_suggests_some_that_work(alice: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["A first notice", "A second notice", "A third notice"]))

    found = alice.post("/v1/feeds/preview-page", {"url": url}, status=200)
    suggested = found["suggestions"][0]
    feed_id = subscribe(alice, url, kind=suggested["kind"], selectors=suggested["selectors"])

    assert suggested["items"] == 3
    assert titles(alice, feed_id) == ["A first notice", "A second notice", "A third notice"]
    # The page of the preview served for the subscription, too.
    assert [seen.path for seen in site.requests if seen.path == "/notices"] == ["/notices"]


def test_a_preview_of_selectors_that_match_nothing_says_what_there_is(alice: Person, site: Publisher) -> None:
    url = site.serve("/api", json.dumps({"data": {"posts": [{"title": "One"}, {"title": "Two"}]}}))
    selectors = {"item": "$.data.items[*]", "title": "title"}

    found = alice.post("/v1/feeds/preview-page", {"url": url, "kind": "json", "selectors": selectors}, status=200)

    assert found["problem"] == "item: nothing on the page matches .items ($.data). It has posts."
    assert found["suggestions"][0]["selectors"] == {"item": "$.data.posts[*]", "title": "title"}


def test_a_page_feed_survives_the_way_through_opml(alice: Person, bob: Person, site: Publisher) -> None:
    url = site.serve("/notices", page(["one"]))
    dated = {**SELECTORS, "date": {"selector": ".when", "format": "%Y-%m-%d %H:%M", "zone": "Europe/Berlin"}}
    subscribe(alice, url, selectors=dated)

    exported = alice.call("GET", "/v1/export").body
    bob.call("POST", "/v1/import", raw=exported)

    (feed,) = bob.get("/v1/feeds")
    assert (feed["feed_url"], feed["kind"], feed["selectors"]) == (url, "html+css", dated)
    assert refresh(bob, feed["id"]) == ""
    assert titles(bob, feed["id"]) == ["one"]
