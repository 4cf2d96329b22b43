"""Saved views in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import SCREENS, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def test_a_view_made_from_a_search_is_read_with_its_live_count(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    """Search, "Save as view", j: the count in the sidebar falls; A: exactly what the page shows is read."""
    alice.has_feed(site, items=["Heavy rain", "Rain", "Light rain", "Snow"])
    with reading(browser, service, **SCREENS["wide"]) as reader:
        reader.set_session(alice)
        page = reader.go("/search?query=title:rain")
        page.get_by_role("link", name="Save as view").click()
        page.get_by_label("Name").fill("Wet")
        page.get_by_role("button", name="Save").click()
        expect(page).to_have_url(re.compile(r"/views/\d+$"))
        count = page.locator("#own-views .count")
        expect(count).to_have_text("3")
        reader.press("j")
        expect(page.locator("#pane h1")).to_be_visible()
        expect(count).to_have_text("2")

        reader.press("A")
        expect(page.get_by_role("status")).to_contain_text("2 marked read")
        expect(count).to_have_text("")
        assert [entry["title"] for entry in alice.entries(status="unread")] == ["Snow"]
