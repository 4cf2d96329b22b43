"""Where a list leads on to when nothing in it is unread any more."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.readers import SCREENS, Reader, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def mark_all(page: Page) -> None:
    page.locator("#mark-all button").first.click()
    expect(page.locator("#notice")).to_contain_text("marked read")


def go_on(page: Page, name: str) -> None:
    page.locator("#list").get_by_role("link", name=f"Go to {name}", exact=True).click()


def test_after_all_of_a_label_is_read_the_next_label_with_something_unread_is_offered(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, items=["One", "Two", "Three"])
    ids = [entry["id"] for entry in alice.entries()]
    labels = alice.service.services.entries.labels
    for name, number in (("First", 0), ("Read", 1), ("Last", 2)):
        labels.create(alice.id, name)
        labels.change(alice.id, [ids[number]], add=[name])
    labels.create(alice.id, "Without entries")
    alice.put("/v1/entries", {"entry_ids": [ids[1]], "status": "read"}, status=204)
    first = next(label["id"] for label in alice.get("/v1/labels") if label["title"] == "First")
    page = reader.go(f"/labels/{first}")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator("#list .go-on")).to_have_count(0)

    mark_all(page)
    expect(page.locator("#list")).to_contain_text("Nothing unread.")
    go_on(page, "Last")
    expect(page.locator("h1")).to_have_text("Last")
    mark_all(page)
    # Labels are kept to find things again: of one with entries, nothing else is offered.
    expect(page.locator(".row.unread")).to_have_count(0)
    expect(page.locator("#list .go-on")).to_have_count(0)


def test_after_all_of_a_view_is_read_the_next_view_is_offered_and_then_unread(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, items=["Rain", "Snow", "Sun"])
    for name, query in (("Wet", "rain is:unread"), ("Dry", "fog"), ("White", "snow is:unread")):
        alice.post("/v1/views", {"name": name, "query": query}, status=201)
    page = reader.go(f"/views/{alice.get('/v1/views')[0]['id']}")
    mark_all(page)
    go_on(page, "White")
    expect(page.locator(".row-title")).to_have_text("Snow")
    mark_all(page)
    go_on(page, "Unread")
    expect(page.locator(".row-title")).to_have_text("Sun")


def test_after_all_of_a_category_is_read_the_next_one_is_offered(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    ids = {}
    for name in ("Arts", "Books", "Cities"):
        ids[name] = alice.has_category(name)
        if name != "Books":
            alice.has_feed(site, items=[f"Of {name}"], category_id=ids[name]["id"])
    page = reader.go(f"/categories/{ids['Cities']['id']}")
    mark_all(page)
    go_on(page, "Arts")
    expect(page.locator(".row-title")).to_have_text("Of Arts")
    # With read entries shown, too.
    reader.go(f"/categories/{ids['Cities']['id']}?show=all")
    expect(page.locator(".row-title")).to_have_text("Of Cities")
    go_on(page, "Arts")


def test_when_unread_is_empty_a_view_of_hidden_feeds_is_offered_and_j_goes_there(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, items=["Seen"])
    alice.has_feed(site, items=["Quiet"], hide_globally=True)
    alice.post("/v1/views", {"name": "Seen ones", "query": "seen is:unread"}, status=201)
    alice.post("/v1/views", {"name": "Quiet ones", "query": "quiet is:unread"}, status=201)
    page = reader.go("/unread")
    expect(page.locator(".row-title")).to_have_text("Seen")
    expect(page.locator(".go-on")).to_have_count(0)
    mark_all(page)
    expect(page.locator("#list").get_by_role("link", name="Go to Quiet ones")).to_be_visible()
    reader.press("j")
    expect(page.locator(".row-title")).to_have_text("Quiet")


def test_beside_an_open_article_the_notice_leads_on(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, items=["One", "Another"])
    alice.has_feed(site, items=["Two"])
    with reading(browser, service, **SCREENS["wide"]) as reader:
        reader.set_session(alice)
        entry = next(entry for entry in alice.entries() if entry["title"] == "One")
        page = reader.go(f"/feeds/{entry['feed']['id']}/entries/{entry['id']}")
        mark_all(page)
        page.locator("#notice").get_by_role("link", name="Go to ").click()
        expect(page.locator(".row-title")).to_have_text("Two")
