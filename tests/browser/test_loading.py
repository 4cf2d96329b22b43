"""How much a page loads, and what it loads when it is needed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Route, expect

from browser.readers import SCREENS, Reader, reading
from browser.test_players import item, serve_podcast
from browser.test_reading import swipe
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

MAX_REQUESTS = 6
DELAY_S = 1.5
NO_WORKER = "delete Navigator.prototype.serviceWorker"


# A second after the page: on a busy machine before its network is idle.
LATER = ("/live.js", "/events")


@pytest.mark.parametrize("path", ["/unread", "/feeds", "/settings"])
def test_the_first_page_needs_at_most_six_requests(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, path: str
) -> None:
    """Document, style, script, drawings, icon and manifest. The service worker is registered when the page is there."""
    alice.has_feed(site, ["Rain"])
    with reading(browser, service) as created:
        created.set_session(alice)
        requests: list[str] = []
        created.page.on("request", lambda request: requests.append(urlsplit(request.url).path))
        created.go(path).wait_for_load_state("networkidle")

    needed = [one for one in requests if not one.endswith(LATER)]
    assert len(needed) <= MAX_REQUESTS, requests
    assert sum(one.endswith(".js") for one in needed) == 1


def delay(route: Route) -> None:
    time.sleep(DELAY_S)
    route.continue_()


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    """Alice, whose browser has no service worker that fetches scripts."""
    with reading(browser, service, viewport=SCREENS["wide"]["viewport"]) as created:
        created.set_session(alice)
        created.context.add_init_script(NO_WORKER)
        yield created


def test_keys_wait_for_their_script_and_act_in_order(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    page = reader.go("/unread")
    page.route("**/js/actions.js", delay)

    reader.press("j", "j", "f")

    expect(page.locator(".row.starred")).to_have_count(1)
    expect(page.locator(".row").nth(1)).to_have_class("row starred")


def test_what_is_typed_after_the_key_of_the_search_is_searched_for(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go("/search")
    page.locator("main").click()

    reader.press("/", "r", "j")

    expect(page.locator("main input[name=query]")).to_have_value("rj")


def test_a_script_that_cannot_be_loaded_is_asked_for_again(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go("/unread")
    page.route("**/js/actions.js", lambda route: route.abort())
    reader.press("?")
    reader.wait_for_text("No connection.")
    reader.complaints.clear()

    page.unroute("**/js/actions.js")
    page.get_by_role("button", name="Retry").click()

    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_swipe_waits_for_its_script(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    with reading(browser, service, **SCREENS["phone"]) as phone:
        phone.set_session(alice)
        phone.context.add_init_script(NO_WORKER)
        page = phone.go("/unread")
        page.route("**/js/touch.js", delay)

        swipe(page, ".row", 120)

        expect(page.locator(".row.unread")).to_have_count(0)
        expect(page.locator(".row")).to_have_count(1)


def test_a_recording_that_was_started_before_its_script_is_in_the_bar(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    serve_podcast(alice, site, item(site, 1))
    page = reader.go("/unread")
    page.route("**/js/player.js", delay)
    page.get_by_role("link", name="Episode 1").click()
    page.locator("audio").evaluate("sound => { sound.play() }")

    expect(page.locator("#playing")).to_be_visible()
    expect(page.locator("#playing")).to_contain_text("Episode 1")
