"""Unread counts that a user does not want to see."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import Reader, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

ICON = "link[rel=icon]"


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as created:
        created.set_session(alice)
        yield created


@pytest.mark.parametrize("hides", [False, True])
def test_numbers_are_in_sidebar_title_and_icon_unless_the_user_hides_them(
    reader: Reader, alice: Person, site: Publisher, *, hides: bool
) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    alice.put(f"/v1/users/{alice.id}", {"hides_unread_counts": hides}, status=201)
    page = reader.go("/unread")
    counts = page.locator("[data-count=unread]")

    # In the sidebar, in the head of the list and beside the list.
    assert counts.count() == 3
    assert [one.is_visible() for one in counts.all()] == [not hides] * 3
    if hides:
        alice.put("/v1/entries", {"entry_ids": [alice.entries()[0]["id"]], "status": "read"}, status=204)
        # Counts are fetched when the page is looked at again.
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(counts.first).to_have_text("1", timeout=60_000)
        expect(page).to_have_title(re.compile("^Unread"))
        assert "data:" not in str(page.locator(ICON).get_attribute("href"))
    else:
        expect(page).to_have_title(re.compile(r"^\(2\) Unread"))
        expect(page.locator(ICON)).to_have_attribute("href", re.compile("^data:"))
    assert bool(page.locator("[data-count]:visible").count()) is not hides
    reader.go(f"/feeds/{alice.entries()[0]['feed_id']}")
    assert bool(page.locator(".overview [data-count]:visible").count()) is not hides
    assert alice.get("/v1/feeds/counters")["unreads"]
