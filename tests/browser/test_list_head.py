"""The head of a list: refreshing its feeds, order, density, and the number of results of a search."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from browser.page_checks import findings, sticking_out
from browser.readers import SCREENS, Reader, reading
from support.people import Person, rss
from support.publisher import Publisher
from support.running import RunningService
from tidings.base.times import DAY, SECOND

pytestmark = pytest.mark.slow


@pytest.fixture
def phone(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, **SCREENS["phone"]) as created:
        created.set_session(alice)
        yield created


@pytest.fixture
def weather(alice: Person, site: Publisher) -> str:
    """The path of a feed that has published a second entry since it was checked."""
    site.serve("/weather.xml", rss(["Rain"], site.url("/weather.xml")))
    feed = alice.post("/v1/feeds", {"feed_url": site.url("/weather.xml")})["feed_id"]
    site.serve("/weather.xml", rss(["Sun", "Rain"], site.url("/weather.xml")))
    return f"/feeds/{feed}"


def test_a_list_is_refreshed_and_says_when_it_was_checked(reader: Reader, weather: str) -> None:
    page = reader.go(weather)
    button = page.locator("#refresh button")
    expect(button).to_have_text(re.compile("^Checked "))

    button.click()
    expect(page.locator(".row")).to_have_count(2)
    expect(page.get_by_role("status").filter(has_text="Checked.")).to_be_visible()
    expect(page.locator("#refresh progress")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def pull(page: Page, x: int) -> None:
    """Touches the page and moves down 160 pixels. x: where, in pixels."""
    debugger = page.context.new_cdp_session(page)
    for step in range(9):
        points = [{"x": x, "y": 150 + 20 * step}]
        debugger.send(
            "Input.dispatchTouchEvent", {"type": "touchMove" if step else "touchStart", "touchPoints": points}
        )
    debugger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_pulling_a_list_down_refreshes_it(phone: Reader, weather: str) -> None:
    page = phone.go(weather)
    pull(page, 200)

    expect(page.locator(".row")).to_have_count(2)
    assert page.locator("#column").evaluate("column => column.style.translate") == ""


def test_on_a_tablet_only_pulling_from_the_beginning_of_the_column_refreshes(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, [f"Rain {number}" for number in range(40)])
    with reading(browser, service, viewport={"width": 1280, "height": 800}, has_touch=True) as tablet:
        tablet.set_session(alice)
        page = tablet.go("/unread")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
        # Where the list is scrolled to counts when the touch is seen.
        tablet.wait_for_part("touch")
        column = page.locator("#column")
        column.evaluate("column => column.scrollTo({top: 400, behavior: 'instant'})")

        pull(page, 400)
        assert column.evaluate("column => column.style.translate") == ""
        assert not asked
        column.evaluate("column => column.scrollTo({top: 0, behavior: 'instant'})")
        with page.expect_request(lambda request: request.url.endswith("/feeds/refresh")):
            pull(page, 400)


def test_the_progress_of_a_category_is_shown_until_its_feeds_are_checked(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    """Feeds of other categories that wait for a check are not waited for."""
    alice.has_feed(site, ["Rain"])
    category = alice.entries()[0]["feed"]["category"]["id"]
    page = reader.go(f"/categories/{category}")
    checking = 2

    def counts(route: Route) -> None:
        assert f"category={category}" in route.request.url
        route.fulfill(json={"unread": 1, "checking": checking})

    reader.context.route("**/counts?checking=1*", counts)
    with page.expect_response("**/counts?checking=1*"):
        page.locator("#refresh button").click()

    expect(page.locator("#refresh progress")).to_be_visible()
    checking = 1
    expect(page.locator("#refresh progress")).to_have_js_property("value", 1)
    checking = 0
    expect(page.locator("#refresh progress")).to_be_hidden()


def test_order_and_layout_are_chosen_for_each_list(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["New", "Old"])
    for entry in alice.entries():
        alice.put(f"/v1/entries/{entry['id']}/bookmark", status=204)
    usual = alice.get("/v1/me")["entry_sorting_direction"]
    page = reader.page

    def choose(name: str) -> None:
        page.get_by_role("button", name="Order and density").click()
        page.get_by_role("button", name=name, exact=True).click()

    reader.go("/unread")
    choose("Oldest first")
    expect(page.locator(".row-title")).to_have_text(["Old", "New"])
    choose("Cards")
    expect(page.locator("html")).to_have_attribute("data-density", "cards")
    reader.go("/starred")
    expect(page.locator(".row-title")).to_have_text(["New", "Old"])
    expect(page.locator("html")).to_have_attribute("data-density", "comfortable")

    reader.go("/unread")
    expect(page.locator("html")).to_have_attribute("data-density", "cards")
    if page.locator("#pane").is_visible():
        for title in ("Old", "New"):
            reader.press("j")
            expect(page.locator("#pane h1")).to_have_text(title)
    choose("Default Newest first")
    expect(page.locator("html")).to_have_attribute("data-density", "cards")
    assert alice.get("/v1/me")["entry_sorting_direction"] == usual
    reader.go("/history")
    choose("Oldest first")
    expect(page.locator(".row-title")).to_have_text(["Old", "New"])


def test_the_word_at_which_a_query_cannot_be_read_is_selected(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go("/search")
    expect(page.locator("main input[name=query]")).to_be_focused()

    # The browser reports the status 400, at some moment.
    reader.loses_connection = True
    page.keyboard.type("\u2614 rain is:new wind")
    reader.press("Enter")

    expect(page.get_by_text("expected one of unread, read")).to_be_visible()
    expect(page.locator("main input[name=query]")).to_be_focused()
    page.wait_for_function("getSelection().toString() === 'new'")
    page.keyboard.type("unread -")
    reader.press("Enter")
    expect(page.locator("main input[name=query]")).to_have_value("\u2614 rain is:unread - wind")


def test_a_search_says_how_many_results_there_are(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": 5}, status=201)
    alice.has_feed(site, [f"Rain {number}" for number in range(12)] + ["Snow"])
    page = reader.go("/search?query=snow")
    expect(page.locator(".result-count")).to_have_text("1 result")
    reader.go("/search?query=rain")
    expect(page.locator(".result-count")).to_have_text("12 results")


def test_lists_are_refreshed_and_sorted_without_scripts(
    browser: Browser, service: RunningService, alice: Person, weather: str, site: Publisher
) -> None:
    alice.has_feed(site, [f"Rain {number}" for number in range(8)])
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": 5}, status=201)
    with reading(browser, service, java_script_enabled=False, **SCREENS["phone"]) as created:
        created.set_session(alice)
        page = created.go(weather)
        page.locator("#refresh button").click()
        expect(page.locator(".row")).to_have_count(2)
        page.get_by_role("button", name="Order and density").click()
        page.get_by_role("button", name="Oldest first").click()
        expect(page.locator(".row-title")).to_have_text(["Rain", "Sun"])
        created.go("/search?query=rain")
        expect(page.locator(".result-count")).to_have_text("More than 5 results")
        for path in ("/unread", f"/categories/{alice.get('/v1/categories')[0]['id']}"):
            created.go(path)
            page.locator("#refresh button").click()
            expect(page).to_have_url(re.compile(f"{path}$"))
            expect(page.get_by_role("status")).to_have_text(re.compile("checked"))


def test_after_an_import_old_entries_can_be_marked_read(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, [])
    now_s = int(time.time())
    for title, age in (("New", DAY), ("Old", 8 * DAY), ("Older", 30 * DAY)):
        sent = {"url": site.url(f"/{title}"), "title": title, "content": "", "published_at": now_s - age // SECOND}
        alice.post(f"/v1/feeds/{feed['id']}/entries/import", {**sent, "status": "unread"}, status=201)
    page = reader.go("/feeds/import")

    expect(page.get_by_text("2 unread entries are older than a week.")).to_be_visible()
    page.get_by_role("button", name="Mark everything older than a week as read").click()

    expect(page.locator(".row-title")).to_have_text(["New"])
    expect(page.get_by_role("status")).to_contain_text("2 marked read")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".row")).to_have_count(3)


def test_what_is_older_than_a_week_is_marked_from_the_button_next_to_mark_all(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, [])
    now_s = int(time.time())
    for title, age in (("New", DAY), ("Old", 8 * DAY)):
        sent = {"url": site.url(f"/{title}"), "title": title, "content": "", "published_at": now_s - age // SECOND}
        alice.post(f"/v1/feeds/{feed['id']}/entries/import", {**sent, "status": "unread"}, status=201)
    page = reader.go("/unread")

    page.locator(".head").get_by_role("button", name="Mark older entries as read").click()
    assert findings(page) == []
    page.get_by_role("button", name="Mark older than a week").click()

    expect(page.locator(".row-title")).to_have_text(["New"])
    expect(page.get_by_role("status")).to_contain_text("1 marked read")


def test_a_feed_is_moved_from_the_menu_of_its_list(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain"])
    weather = alice.has_category("Weather")
    page = reader.go(f"/feeds/{feed['id']}")

    page.locator(".head").get_by_role("button", name="Search, edit, move").click()
    assert findings(page) == []
    assert sticking_out(page) == []
    page.locator("#list-menu").get_by_role("button", name="Weather").click()

    reader.wait_for_text("Moved to Weather.")
    assert alice.get(f"/v1/feeds/{feed['id']}")["category"]["id"] == weather["id"]
    expect(page).to_have_url(re.compile(f"/feeds/{feed['id']}$"))
