"""The page of the appearance, and that of feeds with a line for each."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from browser.page_checks import findings, sticking_out
from browser.readers import SCREENS, TIMEOUT_MS, Reader, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

expect.set_options(timeout=TIMEOUT_MS)


def test_the_text_grows_by_one_size(reader: Reader, alice: Person) -> None:
    """With A+ and A−, which stay in their places, and with the arrow keys."""
    page = reader.go("/view")
    sizes = page.locator(".choice-size")
    chosen = sizes.locator("input:checked")
    expect(chosen).to_have_value("18")
    expect(sizes.locator("label:visible")).to_have_count(3)
    larger = sizes.locator("label:visible").nth(2)
    # A click scrolls to what is not in view.
    larger.scroll_into_view_if_needed()
    here = sizes.locator("label:visible").nth(1).bounding_box()
    for size in ("19", "20"):
        larger.click()
        expect(chosen).to_have_value(size)
    assert sizes.locator("label:visible").nth(1).bounding_box() == here
    chosen.press("ArrowLeft")
    expect(chosen).to_have_value("19")
    for size in ("20", "21", "22"):
        chosen.press("ArrowRight")
        expect(chosen).to_have_value(size)
    expect(sizes.locator("label:visible")).to_have_count(2)
    assert findings(page) == []
    assert sticking_out(page) == []
    page.get_by_role("button", name="Apply").click()
    reader.wait_for_text("Saved for this device.")
    expect(page.locator("html")).to_have_attribute("data-size", "22")


@pytest.mark.parametrize("screen", SCREENS)
def test_a_feed_that_works_has_one_line(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, screen: str
) -> None:
    """On a phone its facts are in a second one."""
    for name in ("A feed", "A feed with a name that is longer than the line of a phone has room for"):
        feed = alice.has_feed(site, items=["One", "Two"])
        alice.put(f"/v1/feeds/{feed['id']}", {"title": name}, status=201)
    with reading(browser, service, **SCREENS[screen]) as reader:
        reader.set_session(alice)
        page = reader.go("/feeds")
        heights = [line.bounding_box() for line in page.locator(".feeds > li").all()]
        assert [box["height"] < (50 if screen == "wide" else 62) for box in heights if box] == [True, True]
        # The filter is not called as the first category is.
        expect(page.locator(".states").get_by_role("link", name="All feeds 2")).to_have_attribute(
            "aria-current", "true"
        )
        assert findings(page) == []
        assert sticking_out(page) == []


def test_on_a_phone_all_settings_are_in_a_menu(browser: Browser, service: RunningService, alice: Person) -> None:
    with reading(browser, service, **SCREENS["phone"]) as reader:
        reader.set_session(alice)
        page = reader.go("/settings")
        menu = page.locator("#settings-list")
        expect(menu).to_be_hidden()
        page.get_by_role("button", name="All settings").click()
        expect(menu).to_be_in_viewport()
        expect(menu.get_by_role("link", name="Account", exact=True)).to_have_attribute("aria-current", "page")
        assert findings(page) == []
        menu.get_by_role("link", name="Reading", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Reading")
        assert sticking_out(page) == []
