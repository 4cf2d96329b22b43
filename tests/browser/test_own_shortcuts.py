"""Users choose the keys of pages."""

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


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as created:
        created.set_session(alice)
        yield created


def test_chosen_keys_act_and_are_shown(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    page = reader.go("/settings/shortcuts")
    page.get_by_label("Star", exact=True).fill("* xY")
    page.get_by_label("Next", exact=True).fill("N j")
    page.get_by_label("Starred", exact=True).fill("")
    page.get_by_label("Mark all as read", exact=True).fill("")
    page.locator("form.shortcuts .main").click()
    reader.wait_for_text("Saved.")
    page = reader.go("/unread")
    expect(page.locator(".row")).to_have_count(2)
    expect(page.locator(".overview kbd")).to_have_text("N")

    reader.press("j")
    expect(page.locator("#pane h1")).to_be_visible()
    reader.press("*")
    expect(page.locator(".row.starred")).to_have_count(1)
    star = page.locator(".tools button[name=unstar]")
    expect(star).to_have_attribute("title", "Remove star (*)")
    expect(star).to_have_attribute("aria-keyshortcuts", "*")
    reader.press("x", "Shift+Y")
    expect(page.locator(".row.starred")).to_have_count(0)
    # The default keys do nothing now.
    reader.press("f", "A", "g", "b", "?")
    expect(page.locator("#keys kbd", has_text="x Y")).to_be_visible()
    expect(page.locator("#keys kbd", has_text=re.compile("^(f|A|g b)$"))).to_have_count(0)
    reader.press("?")
    expect(page.locator("#keys")).to_have_count(0)
    expect(page.locator(".row.starred")).to_have_count(0)
    assert [entry["status"] for entry in alice.entries()].count("read") == 1


def test_keys_that_collide_are_said_while_they_are_typed(reader: Reader) -> None:
    page = reader.go("/settings/shortcuts")
    reader.wait_for_part("shortcuts")
    star = page.get_by_label("Star", exact=True)
    error = page.locator("#error-star")
    reset = page.get_by_role("button", name="Reset Star", exact=True)
    expect(reset).to_be_hidden()

    for key, told in (("m", "m is already used for: Mark as read or unread"), ("g", "g is already used for: Unread")):
        star.fill(key)
        expect(error).to_have_text(told)
        expect(star).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#error-unread")).to_have_text("gu is already used for: Star")
    star.fill("Enter")
    expect(error).to_have_text("Enter cannot be chosen as a key.")
    star.fill("")
    star.press("ArrowRight")
    expect(error).to_have_text("→ is already used for: Next")
    reset.click()
    expect(star).to_have_value("f")
    expect(page.locator(".shortcut .error:not(:empty)")).to_have_count(0)
    expect(reset).to_be_hidden()


def test_the_page_fits_a_phone(browser: Browser, service: RunningService, alice: Person) -> None:
    with reading(browser, service, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as phone:
        phone.set_session(alice)
        page = phone.go("/settings/shortcuts")

        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390
