"""Where the system chooses the colours, as in Windows' contrast themes, backgrounds say nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def test_the_open_row_and_the_current_line_have_a_frame(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One", "Two"])
    with reading(browser, service, viewport={"width": 1440, "height": 900}, forced_colors="active") as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        page.locator(".row-title a").first.click()
        expect(page.locator("#pane h1")).to_be_visible()

        for current in (".row[aria-current]", "#sidebar .line[aria-current]"):
            expect(page.locator(current)).to_have_css("outline-style", "solid")
        expect(page.locator(".row:not([aria-current])")).to_have_css("outline-style", "none")
