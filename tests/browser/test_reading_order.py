"""Reading from entry to entry: the order stays, Back leads to the list, and nothing moves when entries are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.readers import Reader, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}


@pytest.fixture
def articles(alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "desc"}, status=201)
    alice.has_feed(site, ["One", "Two", "Three", "Four"])


@pytest.fixture
def phone(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, **PHONE) as created:
        created.set_session(alice)
        yield created


@pytest.fixture
def wide(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, **WIDE) as created:
        created.set_session(alice)
        yield created


def shows(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()


def previous(page: Page) -> None:
    page.locator(".neighbours [rel=prev]").click()


@pytest.mark.usefixtures("articles")
def test_on_a_phone_previous_keeps_the_order_and_back_leads_to_the_list(phone: Reader) -> None:
    page = phone.go("/unread")
    page.get_by_role("link", name="One").click()
    shows(page, "One")
    for title in ("Two", "Three"):
        page.locator(".bottom [rel=next]").click()
        shows(page, title)
    # They have been read, and are not unread any more.
    previous(page)
    shows(page, "Two")
    previous(page)
    shows(page, "One")
    page.locator(".neighbours [rel=next]").click()
    shows(page, "Two")

    page.go_back()
    expect(page).to_have_url(re.compile("/unread$"))
    expect(page.get_by_role("link", name="Four")).to_be_visible()


@pytest.mark.usefixtures("articles")
def test_beside_the_list_the_order_stays_when_the_page_is_loaded_again(wide: Reader) -> None:
    page = wide.go("/unread")
    for title in ("One", "Two", "Three"):
        wide.press("j")
        shows(page, title)
    page.reload()
    shows(page, "Three")
    previous(page)
    shows(page, "Two")
    wide.press("k")
    shows(page, "One")
    page.locator(".neighbours [rel=next]").click()
    shows(page, "Two")


@pytest.mark.usefixtures("articles")
def test_the_order_stays_when_the_article_is_replaced(wide: Reader) -> None:
    page = wide.go("/unread")
    for title in ("One", "Two"):
        wide.press("j")
        shows(page, title)
    page.locator("#pane .tools").get_by_role("button", name="Share by public link").click()
    expect(page.locator("#pane .shared")).to_have_count(1)

    previous(page)
    shows(page, "One")


@pytest.mark.usefixtures("articles")
def test_the_foot_of_an_article_offers_both_neighbours(wide: Reader) -> None:
    page = wide.go("/unread")
    wide.press("j")
    shows(page, "One")
    expect(page.locator(".neighbours a")).to_have_text(["Previous", "Next"])
    expect(page.locator(".neighbours [rel=prev]")).to_have_attribute("aria-disabled", "true")
    expect(page.locator(".neighbours [rel=next]")).to_have_attribute("href", re.compile("/unread/"))


@pytest.mark.usefixtures("articles")
def test_the_title_has_the_right_count_after_back(wide: Reader) -> None:
    page = wide.go("/unread")
    expect(page).to_have_title(re.compile(r"^\(4\) Unread"))
    wide.press("j")
    shows(page, "One")
    wide.press("j")
    shows(page, "Two")
    expect(page.locator("#sidebar [data-count=unread]")).to_have_text("2")

    page.go_back()
    page.go_back()
    expect(page.locator("#pane[data-entry]")).to_have_count(0)
    expect(page).to_have_title(re.compile(r"^\(2\) Unread"))


def test_the_title_of_a_list_of_all_entries_keeps_its_count(wide: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One", "Two"])
    page = wide.go(f"/feeds/{feed['id']}?show=all")
    with page.expect_response("**/counts"):
        page.locator(".row button[name=read]").first.evaluate("button => button.click()")
    expect(page.locator("#sidebar [data-count=unread]")).to_have_text("1")
    expect(page).to_have_title(re.compile(r"^\(2\) "))
    expect(page.locator(".list-title .count")).to_have_text("2")


@pytest.mark.parametrize("screen", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_row_keeps_its_height_when_it_is_read(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, screen: dict[str, Any], scheme: str
) -> None:
    """Titles of all lengths around the width of a line, some of which broke differently in bold."""
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": 200}, status=201)
    titles = [("minimum wage and illumination " * 4)[:length] + "m" for length in range(20, 100)]
    alice.has_feed(site, titles)
    heights = "[...document.querySelectorAll('.row')].map(row => row.getBoundingClientRect().height)"
    with reading(browser, service, color_scheme=scheme, **screen) as created:
        created.set_session(alice)
        page = created.go("/unread")
        before = page.evaluate(heights)
        page.evaluate("document.querySelectorAll('.row').forEach(row => row.classList.remove('unread'))")
        assert page.evaluate(heights) == before
        assert len(before) == len(titles)


@pytest.mark.usefixtures("articles")
@pytest.mark.parametrize(("by", "word"), [(60, "Mark as read"), (140, "Mark as read"), (-60, "Star"), (-140, "Star")])
def test_a_swipe_shows_what_it_does_and_never_widens_the_page(phone: Reader, by: int, word: str) -> None:
    page = phone.go("/unread")
    box = page.locator(".row").first.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    debugger = page.context.new_cdp_session(page)
    for step in range(7):
        kind = "touchMove" if step else "touchStart"
        points = [{"x": x + by * step / 6, "y": y}]
        debugger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    shown = page.locator(".row .swipe")
    expect(shown).to_have_text(word)
    expect(shown.locator("svg")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    debugger.send("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})
    expect(page.locator(".row").first).to_have_class("row unread")
    expect(shown).to_have_count(0)
