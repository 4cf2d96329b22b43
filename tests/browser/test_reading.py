"""What script adds to lists and articles: fingers, endless lists, and coming back to the same place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.readers import LIMIT_MS, Reader, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

expect.set_options(timeout=LIMIT_MS)


@pytest.fixture
def phone(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    settings = {"viewport": {"width": 390, "height": 700}, "has_touch": True, "is_mobile": True}
    with reading(browser, service, **settings) as made:
        made.is_known(alice)
        yield made


@pytest.fixture
def long_list(alice: Person, site: Publisher) -> None:
    """Of more entries than a page has."""
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": 20, "entry_sorting_direction": "desc"}, status=201)
    feed = alice.has_feed(site, ["First"])
    for number in range(45):
        sent = {"url": f"{site.url('/')}{number}", "title": f"Entry {number}", "content": "<p>Rain.</p>"}
        alice.post(
            f"/v1/feeds/{feed['id']}/entries/import", {**sent, "published_at": 1_700_000_000 - number}, status=201
        )
    alice.put("/v1/entries", {"entry_ids": [entry["id"] for entry in alice.entries(limit=100)], "status": "unread"})


def swipe(page: Page, selector: str, by: int) -> None:
    """by: dots to the right."""
    box = page.locator(selector).first.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    debugger = page.context.new_cdp_session(page)
    debugger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 7):
        moved = {"x": x + by * step / 6, "y": y}
        debugger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [moved]})
    debugger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_finger_marks_and_stars(phone: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = phone.go("/unread")
    row = page.locator(".row")

    with page.expect_response("**/entries/marks"):
        swipe(page, ".row", 120)
    expect(row).to_have_class("row")
    with page.expect_response("**/entries/marks"):
        swipe(page, ".row", -120)
    expect(row).to_have_class("row starred")
    assert [(entry["status"], entry["starred"]) for entry in alice.entries()] == [("read", True)]


@pytest.mark.usefixtures("long_list")
def test_a_list_goes_on_and_is_where_it_was_left(phone: Reader) -> None:
    page = phone.go("/unread")
    rows = page.locator(".row")

    while (shown := rows.count()) < 46:
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_function("count => document.querySelectorAll('.row').length > count", arg=shown)
    page.get_by_role("link", name="Entry 40").click()
    expect(page.get_by_role("heading", level=1, name="Entry 40")).to_be_visible()
    page.locator(".to-list").click()

    # What was read meanwhile is not in it any more; what stood beside it is in sight.
    expect(page.get_by_role("link", name="Entry 41", exact=True)).to_be_in_viewport()


@pytest.mark.usefixtures("long_list")
def test_what_is_scrolled_past_is_read_if_the_device_says_so(phone: Reader, alice: Person) -> None:
    page = phone.go("/view")
    page.get_by_text("When scrolled past, too").click()
    page.get_by_role("button", name="Apply").click()
    phone.told("This device now shows it that way.")
    phone.go("/unread")

    with page.expect_response("**/entries/marks"):
        page.locator(".row").nth(6).evaluate("row => scrollTo(0, row.offsetTop)")
    expect(page.locator(".row").first).to_have_class("row")
    assert 3 <= sum(entry["status"] == "read" for entry in alice.entries(limit=100)) <= 8


def test_a_player_goes_on_where_it_stopped(phone: Reader, alice: Person, site: Publisher) -> None:
    enclosure = f'<enclosure url="{site.url("/rain.mp3")}" type="audio/mpeg" length="9"/>'
    item = f"<item><title>Episode</title><link>https://example.org/1</link>{enclosure}</item>"
    site.serve("/pod.xml", f'<rss version="2.0"><channel><title>Pod</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml")})
    entry = alice.entries()[0]
    alice.put(f"/v1/enclosures/{entry['enclosures'][0]['id']}", {"media_progression": 42})
    alice.put(f"/v1/users/{alice.id}", {"media_playback_rate": 1.5}, status=201)

    page = phone.go(f"/entries/{entry['id']}")
    audio = page.locator("audio")
    # The sound itself is left out: when it is known how long it is, is told by us.
    audio.evaluate("""audio => {
        Object.defineProperty(audio, "duration", { value: 100 });
        Object.defineProperty(audio, "currentTime", { value: 0, writable: true });
        audio.dispatchEvent(new Event("loadedmetadata"));
    }""")
    assert audio.evaluate("audio => [audio.currentTime, audio.playbackRate]") == [42, 1.5]

    page.get_by_title("Forward 30 seconds").click()
    with page.expect_response("**/position"):
        audio.evaluate("audio => audio.dispatchEvent(new Event('pause'))")

    assert alice.entries()[0]["enclosures"][0]["media_progression"] == 72
