"""Rules with actions in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browser.readers import TIMEOUT_MS, Reader
from support.people import Person
from support.publisher import Publisher
from tidings.rules.services import RuleServices

pytestmark = pytest.mark.slow

expect.set_options(timeout=TIMEOUT_MS)


def test_a_rule_hides_what_is_loud_from_unread(reader: Reader, alice: Person, site: Publisher) -> None:
    """From the article in three clicks; applied to what is stored; still in its feed; undone."""
    feed = alice.has_feed(site, items=["Daily digest", "Rain", "Snow"])
    entry = next(one for one in alice.entries() if one["title"] == "Daily digest")
    page = reader.go(f"/rules/new?entry={entry['id']}&by=title")
    page.get_by_label("Mark as read").uncheck()
    page.get_by_label("Hide from Unread").check()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".rule-preview .state")).to_have_text("Hide from Unread")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/rules#*")
    page.get_by_role("link", name="title:Daily").click()
    page.get_by_role("link", name="Apply to stored entries").click()
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("progress")).to_be_visible()
    _finish(alice)
    expect(page.get_by_text("1 entry was changed")).to_be_visible()

    page = reader.go("/unread")
    expect(page.locator(".row")).to_have_count(2)
    expect(page.locator(".row", has_text="Daily digest")).to_have_count(0)
    page = reader.go(f"/feeds/{feed['id']}")
    expect(page.locator(".row", has_text="Daily digest")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    # Shown again from its row, or on a phone from its article, and hidden once more.
    page = reader.go("/search?query=is:hidden")
    place = page.locator(".row", has_text="Daily digest")
    expect(place.get_by_text("hidden")).to_be_visible()
    if page.evaluate("matchMedia('(hover: none)').matches"):
        page = reader.go(f"/search/{entry['id']}?query=is:hidden")
        place = page.locator("#article")
    button = place.get_by_role("button", name="Show in Unread again")
    button.focus()
    button.press("Enter")
    expect(page.get_by_text("1 shown in Unread again")).to_be_visible()
    expect(button).to_have_count(0)
    expect(place.get_by_text("hidden")).to_have_count(0)
    alice.put("/v1/entries", {"entry_ids": [entry["id"]], "hidden": True, "status": "unread"})

    (rule,) = alice.get("/v1/rules")
    page = reader.go(f"/rules/{rule['id']}/apply")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("progress")).to_be_visible()
    _finish(alice)
    page = reader.go("/unread")
    expect(page.locator(".row")).to_have_count(3)


def _finish(person: Person) -> None:
    runs = person.service.services.of(RuleServices).runs
    while runs.work("browser"):
        pass
