"""An address for newsletters is copied with two clicks, on a phone as on a wide screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import SCREENS, reading, wait_until
from support.databases import Databases
from support.people import Cast
from support.running import RunningService, running_service

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def with_letters(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service to which a mail server delivers."""
    address = {"newsletters_address": "letters+{secret}@reader.example.org"}
    with databases.migrated() as url, running_service(url, tmp_path_factory.mktemp("letters"), **address) as started:
        yield started


@pytest.mark.parametrize("screen", SCREENS)
def test_the_address_is_made_and_copied_with_two_clicks(
    browser: Browser, with_letters: RunningService, screen: str
) -> None:
    alice = Cast(with_letters).person("alice")
    permissions = ["clipboard-read", "clipboard-write"]
    with reading(browser, with_letters, permissions=permissions, **SCREENS[screen]) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        for _ in range(2):
            page.evaluate("navigator.clipboard.writeText('')")
            if screen == "phone":
                page.locator(".bottom").get_by_role("button", name="More").click()
            else:
                page.locator("#sidebar footer").get_by_role("button", name="Add feed").click()
            page.get_by_role("button", name="Copy newsletter address").locator("visible=true").click()

            reader.wait_for_text("· Copied")
            (made,) = alice.get("/v1/newsletters")
            # The notice of the first time may be there still.
            wait_until(page, lambda: page.evaluate("navigator.clipboard.readText()") == made["addresses"][0])  # noqa: B023
            expect(page.locator(":popover-open")).to_have_count(0)


def test_without_scripts_the_page_that_adds_feeds_leads_to_the_address(
    browser: Browser, with_letters: RunningService
) -> None:
    alice = Cast(with_letters).person("alice")
    with reading(browser, with_letters, java_script_enabled=False) as reader:
        reader.set_session(alice)
        page = reader.go("/feeds/add")
        page.locator("main").get_by_role("button", name="Copy newsletter address").click()

        expect(page.get_by_text("letters+").first).to_be_visible()
        (made,) = alice.get("/v1/newsletters")
        expect(page.get_by_text(made["addresses"][0])).to_be_visible()
