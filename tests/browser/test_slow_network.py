"""Networks that are slow, and that are cut while something is under way: waiting is shown, and no mark is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from browser.readers import TIMEOUT_MS, Reader, reading
from cli.commands import eventually
from support.people import Person
from support.publisher import Publisher
from support.relay import Relay
from support.running import RunningService
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

# Bytes per second and milliseconds: a phone in a train.
SLOW: Final = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 20_000}
CUT: Final = SLOW | {"offline": True}
WIDTHS: Final = (390, 1280)
# Keeps what a page showed while it waited, across pages: "page" and "pane", if they had a moving line.
_RECORD: Final = """
new MutationObserver((changes) => {
    for (const { target } of changes) {
        const isPage = target === document.documentElement;
        const line = isPage ? target : target.querySelector(".tools") ?? target;
        const isMoving = getComputedStyle(line, "::after").animationName === "wait";
        if (isPage ? isMoving && "loading" in target.dataset : target.id === "pane" && target.ariaBusy)
            sessionStorage.setItem("waited", isPage ? "page" : "pane");
    }
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["aria-busy", "data-loading"] });
"""


@pytest.fixture(params=WIDTHS)
def reader(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, request: pytest.FixtureRequest
) -> Iterator[Reader]:
    alice.has_feed(site, ["Rain", "Sun", "Wind"])
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "desc"}, status=201)
    # There is no service worker: it has a network of its own, which is not slowed down.
    viewport = {"width": request.param, "height": 800}
    with reading(browser, service, viewport=viewport) as made:
        made.context.add_init_script(_RECORD)
        made.loses_connection = True
        made.set_session(alice)
        yield made


def network(reader: Reader, conditions: dict[str, Any]) -> CDPSession:
    debugger = reader.context.new_cdp_session(reader.page)
    debugger.send("Network.emulateNetworkConditions", conditions)
    return debugger


def is_wide(page: Page) -> bool:
    return bool(page.evaluate("innerWidth >= 1100"))


def star_button(page: Page, title: str) -> str:
    """Return the selector of the button after the article has been opened."""
    expect(page.locator("#pane h1")).to_have_text(title)
    # The title of a page is there before its script.
    page.wait_for_load_state()
    return "#pane .tools button[name=star]" if is_wide(page) else ".bottom button[name=star]"


def titles(person: Person, **query: Any) -> list[str]:
    return sorted(entry["title"] for entry in person.entries(**query))


def test_waiting_shows_at_once(reader: Reader) -> None:
    page = reader.go("/unread")
    network(reader, SLOW)

    page.get_by_role("link", name="Rain").first.click()

    expect(page.locator("#pane h1")).to_have_text("Rain")
    assert page.evaluate("sessionStorage.getItem('waited')") == ("pane" if is_wide(page) else "page")
    assert page.locator("[data-loading], #pane[aria-busy=true]").count() == 0


def test_a_star_shows_before_the_server_has_answered(reader: Reader, alice: Person) -> None:
    page = reader.go("/unread")
    page.get_by_role("link", name="Rain").first.click()
    button = star_button(page, "Rain")
    network(reader, SLOW)

    # In the same task: no answer can have come.
    shown = page.evaluate(
        "(button) => { document.querySelector(button).click(); return !document.querySelector(button); }", button
    )

    assert shown
    assert eventually(lambda: titles(alice, starred="true") == ["Rain"], within_s=60)


def test_reading_on_while_the_network_comes_and_goes_loses_nothing(reader: Reader, alice: Person) -> None:
    page = reader.go("/unread")
    debugger = network(reader, SLOW)
    first, second, third = (row.inner_text() for row in page.locator(".row-title").all())

    page.get_by_role("link", name=first).first.click()
    button = star_button(page, first)
    debugger.send("Network.emulateNetworkConditions", CUT)
    page.locator(button).click()
    expect(page.locator("#notice")).to_contain_text("No connection")
    assert titles(alice, starred="true") == []
    debugger.send("Network.emulateNetworkConditions", SLOW)
    assert eventually(lambda: titles(alice, starred="true") == [first], within_s=60)

    for title in (second, third):
        page.locator("#pane .tools [rel=next], .bottom [rel=next]").locator("visible=true").first.click()
        expect(page.locator("#pane h1")).to_have_text(title)
    page.locator(star_button(page, third)).click()

    assert eventually(lambda: titles(alice, starred="true") == sorted([first, third]), within_s=60)
    assert eventually(lambda: titles(alice, status="unread") == [], within_s=60)


def test_a_mark_whose_answer_is_lost_is_sent_again(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as reader:
        reader.loses_connection = True
        reader.set_session(alice)
        with Relay(service.url) as relay:
            page = reader.page
            page.goto(f"{relay.url}/unread")
            relay.lose_answer()
            page.locator(".row", has_text="Rain").hover()
            page.locator(".row button[name=star]").click()

            expect(page.locator("#notice")).to_contain_text("No connection")
            expect(page.locator(".row.starred")).to_have_count(1)
            assert titles(alice, starred="true") == ["Rain"]
            relay.mend()
            with page.expect_response(
                lambda response: response.request.method == "POST", timeout=TIMEOUT_MS
            ) as retried:
                page.locator("#notice").get_by_role("button", name="Retry").click()
            assert retried.value.ok
            expect(page.locator(".row.starred")).to_have_count(1)
            assert titles(alice, starred="true") == ["Rain"]
            relay.cut()


def test_a_change_of_the_queue_can_be_tried_again(
    reader: Reader, alice: Person, site: Publisher, services: AllServices
) -> None:
    enclosure = f'<enclosure url="{site.url("/one.mp3")}" type="audio/mpeg" length="1000"/>'
    item = f"<item><title>Episode</title><guid>1</guid>{enclosure}</item>"
    url = site.serve("/sounds.xml", f'<rss version="2.0"><channel><title>Sounds</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": url})
    (episode,) = (one for one in alice.entries() if one["title"] == "Episode")
    services.media.queue.add(alice.id, episode["enclosures"][0]["id"])
    page = reader.go("/queue")
    debugger = network(reader, CUT)

    page.locator(".queue button[name=remove]").click()

    retry = page.locator("#notice").get_by_role("button", name="Retry")
    expect(retry).to_be_visible()
    expect(page.locator(".queue li")).to_have_count(1)
    debugger.send("Network.emulateNetworkConditions", SLOW)
    retry.click()
    expect(page.get_by_text("The queue is empty.")).to_be_visible()
    assert services.media.queue.list_all(alice.id) == []
