"""The pages in a real browser, over a real service."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page

from browser.readers import reading
from cli.commands import eventually
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def sign_in(page: Page, person: Person) -> None:
    page.goto(f"{person.service.url}/unread")
    page.fill("[name=username]", person.user.username)
    page.fill("[name=password]", person.password)
    page.click("main button")
    page.wait_for_url(f"{person.service.url}/unread")


def test_signing_in_and_reading_cause_no_errors_and_no_external_requests(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(60_000)
    errors: list[str] = []
    request_urls: set[str] = set()
    try:
        page = context.new_page()
        page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: request_urls.add(request.url))
        sign_in(page, alice)
        page.click("text=Rain")
        page.wait_for_selector("article h1 >> text=Rain")

        assert page.locator("article .content").inner_text() == "About Rain."
        page.wait_for_selector("#sidebar [aria-current] .count:text-is('1')")
        page.click(".tools [name=star]")
        page.wait_for_selector(".tools [name=unstar]")
        # It shows at once, before the server has heard of it.
        assert eventually(lambda: [entry["title"] for entry in alice.entries(starred=True)] == ["Rain"], within_s=60)
    finally:
        context.close()

    assert errors == []
    assert {url for url in request_urls if not url.startswith(f"{service.url}/")} == set()


def test_without_script_the_same_works_on_a_phone(browser: Browser, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    context.set_default_timeout(60_000)
    try:
        page = context.new_page()
        sign_in(page, alice)
        # Feeds open over the page and close again, which is the browser's own doing.
        page.click(".bottom >> text=Feeds")
        page.click("#sidebar >> text=A feed")
        page.click("text=Rain")
        page.click(".bottom >> text=Star")
        page.wait_for_selector(".bottom [name=unstar]")
    finally:
        context.close()

    assert [entry["title"] for entry in alice.entries(starred=True)] == ["Rain"]


def test_on_a_phone_the_navigation_of_feeds_shows_the_current_place_and_begins_where_the_page_does(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    with reading(browser, service, viewport={"width": 390, "height": 844}) as created:
        created.set_session(alice)
        page = created.go("/feeds")
        first = page.locator(".places a").first
        assert left_of_text(first) == left_of_text(page.locator("h1"))

        page = created.go("/feeds/import")
        last = page.locator(".places [aria-current]").bounding_box()
        assert last is not None
        assert 0 <= last["x"] <= 390 - last["width"]


def left_of_text(element: Locator) -> int:
    """Return where the text of an element begins, in pixels from the left of the window."""
    script = "const range = new Range(); range.selectNodeContents(one); return range.getBoundingClientRect().x"
    left: float = element.evaluate(f"one => {{ {script} }}")
    return round(left)
