"""How much a page loads, and what it loads when it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import APIResponse, Browser, Route, expect

from browser.readers import SCREENS, Reader, held_back, reading, wait_until
from browser.test_players import item, serve_podcast
from browser.test_reading import swipe
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

MAX_REQUESTS = 5


# What `settle` in reading.js asks for a second after the page: on a busy machine before its network is idle.
LATER = ("/live.js", "/refresh.js", "/columns.js", "/events")


@pytest.mark.parametrize(
    ("path", "parts"), [("/unread", []), ("/feeds", []), ("/settings", []), ("/feeds/add", ["settings.js"])]
)
def test_the_first_page_needs_at_most_five_requests(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, path: str, parts: list[str]
) -> None:
    """Document, style, script, icon and manifest. The service worker is registered when the page is there."""
    alice.has_feed(site, ["Rain"])
    with reading(browser, service, has_worker=True) as created:
        created.set_session(alice)
        requests: list[str] = []
        created.page.on("request", lambda request: requests.append(urlsplit(request.url).path))
        created.go(path).wait_for_load_state("networkidle")

    needed = [one for one in requests if not one.endswith(LATER)]
    assert len(needed) <= MAX_REQUESTS, requests
    assert [one.rpartition("/")[2] for one in needed if one.endswith(".js")] == ["reading.js", *parts]


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    """Alice, whose browser has no service worker that fetches scripts."""
    with reading(browser, service, viewport=SCREENS["wide"]["viewport"]) as created:
        created.set_session(alice)
        yield created


# A key that is pressed while scripts wait until the page has been painted.
EARLY_KEY = """(() => {
    const Observer = PerformanceObserver;
    globalThis.PerformanceObserver = class extends Observer {
        observe(what) {
            globalThis.PerformanceObserver = Observer;
            const key = new KeyboardEvent("keydown", { key: "j", bubbles: true, cancelable: true });
            globalThis.wasOurs = !document.body.dispatchEvent(key);
            super.observe(what);
        }
    };
})()"""


def test_a_key_that_is_pressed_before_scripts_run_is_not_lost(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    reader.context.add_init_script(EARLY_KEY)
    page = reader.go("/unread")

    expect(page.locator("#pane h1")).to_have_text("Rain")
    assert page.evaluate("wasOurs")


def test_without_shortcuts_the_browser_has_all_keys(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    alice.put(f"/v1/users/{alice.id}", {"keyboard_shortcuts": False}, status=201)
    reader.context.add_init_script(EARLY_KEY)

    assert not reader.go("/unread").evaluate("wasOurs")


def test_keys_wait_for_their_script_and_act_in_order(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    page = reader.go("/unread")
    with held_back(page, "**/js/actions.js"):
        reader.press("j", "j", "f")

    expect(page.locator(".row.starred")).to_have_count(1)
    expect(page.locator(".row").nth(1)).to_have_class("row starred")


def test_keys_act_on_the_row_whose_article_is_on_its_way(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    page = reader.go("/unread")
    reader.press("j")
    first, second = (page.locator(".row").nth(place) for place in range(2))
    expect(page.locator(f"#pane[data-entry='{(first.get_attribute('id') or '')[1:]}']")).to_be_visible()

    with held_back(page, f"**/unread/{(second.get_attribute('id') or '')[1:]}"):
        reader.press("j", "f")
        expect(second).to_have_class("row unread starred")
        expect(page.locator(".row.starred")).to_have_count(1)
    expect(second).to_have_class("row starred")


def test_an_article_shows_the_star_that_was_set_while_it_was_on_its_way(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go("/unread")
    reader.wait_for_part("actions")
    answered: list[tuple[Route, APIResponse]] = []

    def answer_later(route: Route) -> None:
        answered.append((route, route.fetch()))

    page.route("**/unread/*", answer_later)
    reader.press("j")
    wait_until(page, lambda: answered)

    reader.press("f")
    expect(page.locator(".row.starred")).to_have_count(1)
    ((route, response),) = answered
    route.fulfill(response=response)

    expect(page.locator("#pane .tools button[name=unstar]")).to_be_visible()


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
    reader.loses_connection = True
    reader.press("?")
    reader.wait_for_text("No connection.")

    page.unroute("**/js/actions.js")
    page.get_by_role("button", name="Retry").click()

    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_swipe_waits_for_its_script(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    with reading(browser, service, **SCREENS["phone"]) as phone:
        phone.set_session(alice)
        page = phone.go("/unread")
        with held_back(page, "**/js/touch.js"):
            swipe(page, ".row", 120)

        expect(page.locator(".row.unread")).to_have_count(0)
        expect(page.locator(".row")).to_have_count(1)


def test_a_recording_that_was_started_before_its_script_is_in_the_bar(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    serve_podcast(alice, site, item(site, 1))
    page = reader.go("/unread")
    with held_back(page, "**/js/player.js"):
        page.get_by_role("link", name="Episode 1").click()
        page.locator("audio").evaluate("sound => { sound.play() }")

    expect(page.locator("#playing")).to_be_visible()
    expect(page.locator("#playing")).to_contain_text("Episode 1")
