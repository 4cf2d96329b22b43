"""What scripts add to lists and articles: touch gestures, endless lists, and restoring the scroll position."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from browser.readers import SCREENS, Reader, reading, wait_until
from cli.commands import eventually
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


@pytest.fixture
def phone(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    settings: dict[str, Any] = {"viewport": {"width": 390, "height": 700}, "has_touch": True, "is_mobile": True}
    with reading(browser, service, **settings) as created:
        created.set_session(alice)
        yield created


@pytest.fixture
def long_list(alice: Person, site: Publisher) -> None:
    """A feed with more entries than fit on a page."""
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": 20, "entry_sorting_direction": "desc"}, status=201)
    feed = alice.has_feed(site, ["First"])
    for number in range(45):
        sent = {"url": f"{site.url('/')}{number}", "title": f"Entry {number}", "content": "<p>Rain.</p>"}
        alice.post(
            f"/v1/feeds/{feed['id']}/entries/import", {**sent, "published_at": 1_700_000_000 - number}, status=201
        )
    alice.put("/v1/entries", {"entry_ids": [entry["id"] for entry in alice.entries(limit=100)], "status": "unread"})


def swipe(page: Page, selector: str, by: int) -> None:
    """Swipe an element. by: pixels to the right."""
    box = page.locator(selector).first.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch(page, *((x + by * step / 6, y) for step in range(7)))


def touch(page: Page, *points: tuple[float, float], at_s: float | None = None) -> None:
    """Touch with one finger. at_s: the timestamp of all events, so that the speed of the machine does not matter."""
    debugger = page.context.new_cdp_session(page)
    when = {} if at_s is None else {"timestamp": at_s}
    for number, (x, y) in enumerate(points):
        moved = {"type": "touchMove" if number else "touchStart", "touchPoints": [{"x": x, "y": y}]}
        debugger.send("Input.dispatchTouchEvent", moved | when)
    debugger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []} | when)


def tap_twice(page: Page, x: float, *, after_s: float) -> None:
    """Tap twice. after_s: seconds between the two taps."""
    now_s = time.time()
    touch(page, (x, 300), at_s=now_s)
    touch(page, (x, 300), at_s=now_s + after_s)


# For a screen that is 390 pixels wide.
GESTURES: dict[str, Callable[[Page], None]] = {
    "two slow taps": lambda page: tap_twice(page, 300, after_s=0.6),
    "a double tap on the right": lambda page: tap_twice(page, 300, after_s=0.1),
    "a double tap on the left": lambda page: tap_twice(page, 60, after_s=0.1),
    "to the left": lambda page: touch(page, *((300 - 25 * step, 500) for step in range(7))),
    "to the right": lambda page: touch(page, *((100 + 25 * step, 500) for step in range(7))),
    "to the right from the edge": lambda page: touch(page, *((5 + 25 * step, 500) for step in range(7))),
}
# Records which link was followed, instead of following it.
NOTE_LINKS = """() => {
    window.followed = [];
    addEventListener("click", (event) => {
        const link = event.target.closest("a");
        event.preventDefault();
        if (link) followed.push(link.rel || link.className.split(" ").at(-1));
    }, true);
}"""


def test_swiping_a_row_marks_and_stars(phone: Reader, alice: Person, site: Publisher) -> None:
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


@pytest.mark.parametrize(
    ("density", "language"),
    [
        pytest.param(density, language, marks=() if at == by else pytest.mark.long)
        for at, density in enumerate(("compact", "comfortable", "cards"))
        for by, language in enumerate(("uk_UA", "en_US", "de_DE"))
    ],
)
def test_icon_and_word_of_a_swipe_fit_beneath_the_row(
    phone: Reader, alice: Person, site: Publisher, density: str, language: str
) -> None:
    alice.has_feed(site, ["Rain"])
    alice.put(f"/v1/users/{alice.id}", {"language": language}, status=201)
    page = phone.go("/unread")
    page.locator("[popovertarget=list-view]").click()
    page.locator(f"[name=density][value={density}]").click()
    expect(page.locator("html")).to_have_attribute("data-density", density)
    expect(page.locator(":popover-open")).to_have_count(0)
    phone.wait_for_part("touch")
    box = page.locator(".row").bounding_box()
    assert box
    debugger = page.context.new_cdp_session(page)
    for by in (100, -100):
        points = [
            {"x": box["x"] + box["width"] / 2 + step, "y": box["y"] + box["height"] / 2} for step in (0, by / 2, by)
        ]
        for number, point in enumerate(points):
            moved = {"type": "touchMove" if number else "touchStart", "touchPoints": [point]}
            debugger.send("Input.dispatchTouchEvent", moved)

        beneath = page.locator(".swipe")
        expect(beneath.locator(".icon")).to_be_visible()
        assert beneath.inner_text().strip()
        # Nothing is cut off, and the page is not wider.
        assert beneath.evaluate("one => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        debugger.send("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})


def test_swiping_a_row_does_nothing_when_the_account_says_so(phone: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    alice.put(f"/v1/users/{alice.id}", {"entry_swipe": False}, status=201)
    page = phone.go("/unread")

    swipe(page, ".row", 120)
    swipe(page, ".row", -120)

    expect(page.locator(".row")).to_have_class("row unread")
    assert [(entry["status"], entry["starred"]) for entry in alice.entries()] == [("unread", False)]


def test_gestures_open_other_articles_as_the_account_says(phone: Reader, alice: Person, site: Publisher) -> None:
    settings = {"entry_sorting_direction": "desc", "mark_read_on_view": False}
    alice.put(f"/v1/users/{alice.id}", settings, status=201)
    alice.has_feed(site, ["One", "Two", "Three"])
    second_entry = next(entry["id"] for entry in alice.entries() if entry["title"] == "Two")
    found: dict[str, list[str]] = {}
    for gesture_nav in ("none", "tap", "swipe"):
        alice.put(f"/v1/users/{alice.id}", {"gesture_nav": gesture_nav}, status=201)
        page = phone.go(f"/unread/{second_entry}")
        page.evaluate(NOTE_LINKS)
        # The first gesture has to wait for its script.
        GESTURES["to the right from the edge"](page)
        page.wait_for_function("() => followed.splice(0).length")
        found[gesture_nav] = []
        for gesture in GESTURES.values():
            gesture(page)
            found[gesture_nav].append(" ".join(page.evaluate("followed.splice(0)")))

    assert found == {
        "none": ["", "", "", "", "to-list", "to-list"],
        "tap": ["", "next", "prev", "", "to-list", "to-list"],
        "swipe": ["", "", "", "next", "prev", "to-list"],
    }


def test_a_swipe_in_an_article_does_not_also_go_back_in_the_history(
    phone: Reader, alice: Person, site: Publisher
) -> None:
    """Chromium's overscroll navigation acts on wide swipes, and on short ones when a busy machine joins their moves.

    Each swipe here is one wide move. Chromium never navigates on the first one of a page, so there are two.
    """
    alice.has_feed(site, ["One", "Two"])
    article = f"/unread/{alice.entries()[0]['id']}"
    phone.go("/unread")
    page = phone.go(article)
    page.evaluate(NOTE_LINKS)

    for _ in range(2):
        touch(page, (20, 500), (360, 500))
    page.wait_for_function("() => followed.length === 2")
    # Time for a navigation that the browser has begun. None can be waited for, since none is to happen.
    page.wait_for_timeout(1000)

    assert page.url.endswith(article)
    assert page.evaluate("followed") == ["to-list", "to-list"]


@pytest.mark.usefixtures("long_list")
def test_a_list_loads_more_and_restores_its_scroll_position(phone: Reader) -> None:
    page = phone.go("/unread")
    rows = page.locator(".row")

    while (shown := rows.count()) < 46:
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_function("count => document.querySelectorAll('.row').length > count", arg=shown)
    page.get_by_role("link", name="Entry 40").click()
    expect(page.get_by_role("heading", level=1, name="Entry 40")).to_be_visible()
    page.locator(".to-list").click()

    # Entry 40 is read and not in the list any more; its neighbour is in view.
    expect(page.get_by_role("link", name="Entry 41", exact=True)).to_be_in_viewport()


@pytest.mark.usefixtures("long_list")
def test_back_restores_the_position_of_every_list(browser: Browser, service: RunningService, alice: Person) -> None:
    feed = alice.entries()[0]["feed"]["id"]
    with reading(browser, service, viewport={"width": 1280, "height": 700}) as created:
        created.set_session(alice)
        page = created.go("/unread")
        for path, top in (("/unread", 900), (f"/feeds/{feed}", 500)):
            created.go(path)
            page.locator("#column").evaluate("(column, top) => column.scrollTo(0, top)", top)
            page.wait_for_function("top => document.querySelector('#column').scrollTop === top", arg=top)
        created.go("/settings")

        for path, top in ((f"/feeds/{feed}", 500), ("/unread", 900)):
            page.go_back()
            page.wait_for_url(f"**{path}")
            page.wait_for_function("top => Math.abs(document.querySelector('#column').scrollTop - top) < 3", arg=top)


@pytest.mark.usefixtures("long_list")
def test_a_reload_beside_the_list_brings_the_open_row_into_view(
    browser: Browser, service: RunningService, alice: Person
) -> None:
    with reading(browser, service, viewport={"width": 1280, "height": 700}) as created:
        created.set_session(alice)
        page = created.go("/unread")
        row = page.locator(".row").nth(25)
        row.get_by_role("link").first.click()
        expect(page.locator("#pane h1")).to_be_visible()
        title = page.locator("#pane h1").inner_text()

        page.reload()

        expect(page.locator("#pane h1")).to_have_text(title)
        expect(page.locator(".row[aria-current]")).to_be_in_viewport()


@pytest.mark.usefixtures("long_list")
def test_entries_scrolled_past_are_marked_read_if_the_device_says_so(phone: Reader, alice: Person) -> None:
    page = phone.go("/view")
    page.get_by_text("When opened or scrolled past").click()
    page.get_by_role("button", name="Apply").click()
    phone.wait_for_text("Saved for this device.")
    phone.go("/unread")

    with page.expect_response("**/entries/marks"):
        page.locator(".row").nth(6).evaluate("row => scrollTo(0, row.offsetTop)")
    expect(page.locator(".row").first).to_have_class("row")
    assert 3 <= sum(entry["status"] == "read" for entry in alice.entries(limit=100)) <= 8


@pytest.mark.usefixtures("long_list")
def test_scrolling_a_column_beside_the_article_marks_entries_read(
    browser: Browser, service: RunningService, alice: Person
) -> None:
    """Also when it is scrolled far at once. Undone and new entries do not count as scrolled past."""
    with reading(browser, service, viewport={"width": 1280, "height": 700}) as created:
        created.set_session(alice)
        cookie = {"name": "tidings_view", "value": "passing=mark", "url": service.url}
        created.context.add_cookies([cookie])  # type: ignore[list-item]
        page = created.go("/unread")
        expect(page.locator(".row").nth(39)).to_be_attached()

        with page.expect_response("**/entries/marks"):
            page.locator("#column").evaluate("column => column.scrollTo(0, column.scrollHeight)")
        expect(page.locator(".row").first).to_have_class("row")
        expect(page.locator(".row").nth(45)).to_be_attached()
        left = page.locator(".row.unread").count()
        # Every entry above the visible ones is marked, and no visible one.
        assert page.evaluate("""() => [...document.querySelectorAll('.row')].slice(0, 20).every(
            row => row.classList.contains('unread') === row.getBoundingClientRect().bottom > 1)""")
        created.press("z")
        created.wait_for_text("unread again")
        expect(page.locator(".row.unread")).to_have_count(46)
        created.press("r")
        created.wait_for_text("Nothing to check")
        page.locator("#column").evaluate("column => column.scrollTo(0, 1)")
        created.press("A")
        created.wait_for_text("46 marked read")

    assert left < 46
    assert {entry["status"] for entry in alice.entries(limit=100)} == {"read"}


SCROLL_TO_END = """() => {
    for (const one of [document.querySelector('#column'), document.scrollingElement]) one.scrollTo(0, one.scrollHeight);
}"""


@pytest.mark.usefixtures("long_list")
@pytest.mark.parametrize("screen", SCREENS)
def test_the_last_entries_of_a_list_can_be_scrolled_past_too(
    browser: Browser, service: RunningService, alice: Person, screen: str
) -> None:
    with reading(browser, service, **SCREENS[screen]) as created:
        created.set_session(alice)
        page = created.go("/unread")
        last = page.locator(".row").nth(45)

        def has_all() -> bool:
            page.evaluate(SCROLL_TO_END)
            return bool(last.count())

        assert eventually(has_all, within_s=60)
        page.evaluate(SCROLL_TO_END)
        # Where entries are marked when they are opened, a list ends with its last entry.
        expect(last).to_be_in_viewport()
        cookie = {"name": "tidings_view", "value": "passing=mark", "url": service.url}
        created.context.add_cookies([cookie])  # type: ignore[list-item]
        created.go("/unread")
        assert eventually(has_all, within_s=60)

        with page.expect_response("**/entries/marks"):
            last.evaluate("row => row.scrollIntoView({ block: 'end' })")
        expect(page.locator(".row").first).to_have_class("row")
        expect(last).to_have_class("row unread")
        with page.expect_response("**/entries/marks"):
            page.evaluate(SCROLL_TO_END)
        expect(page.locator(".row.unread")).to_have_count(0)
        assert {entry["status"] for entry in alice.entries(limit=100)} == {"read"}

        # What is undone stays unread, although it is above the window.
        created.press("z")
        created.wait_for_text("unread again")
        expect(last).to_have_class("row unread")
        # Coming back shows the end of the list, not its beginning.
        page.goto(f"{service.url}/starred")
        page.go_back()
        page.wait_for_url("**/unread")
        expect(last).to_be_attached()
        page.wait_for_function(
            "() => [...document.querySelectorAll('.row')].at(-1).getBoundingClientRect().bottom < 60"
        )


def test_a_slow_action_shows_progress_at_once(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One", "Two"])
    with reading(browser, service) as created:
        created.set_session(alice)
        page = created.go("/unread")
        held: list[Route] = []

        def let_go() -> None:
            wait_until(page, lambda: held)
            held.pop().continue_()

        for path in ("**/mark-read", "**/entries/undo"):
            page.route(path, lambda route: held.append(route))  # noqa: PLW0108 - Playwright counts its parameters

        created.press("A")
        expect(page.locator(".row:not(.unread)")).to_have_count(2)
        created.wait_for_text("One moment …")
        let_go()
        created.wait_for_text("2 marked read")
        created.press("z")
        created.wait_for_text("One moment …")
        let_go()
        created.wait_for_text("2 unread again")
        expect(page.locator(".row.unread")).to_have_count(2)

    assert {entry["status"] for entry in alice.entries()} == {"unread"}


def test_reduced_motion_disables_animations_and_only_the_article_is_printed(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    body = (
        "&lt;p&gt;&lt;a href='https://example.org/map'&gt;A map&lt;/a&gt;&lt;/p&gt;" + "&lt;p&gt;Rain.&lt;/p&gt;" * 90
    )
    item = f"<item><title>Rain</title><link>https://example.org/1</link><description>{body}</description></item>"
    site.serve("/rain.xml", f'<rss version="2.0"><channel><title>Weather</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/rain.xml")})
    path = f"/unread/{alice.entries()[0]['id']}"
    moving = """() => [...document.querySelectorAll('*')].filter(one => {
        const style = getComputedStyle(one);
        return parseFloat(style.transitionDuration) || parseFloat(style.animationDuration)
            || style.scrollBehavior === 'smooth';
    }).length"""
    with reading(browser, service, viewport={"width": 1280, "height": 700}) as created:
        created.set_session(alice)
        page = created.go(path)
        assert page.evaluate(moving) == 0
        page.emulate_media(reduced_motion="no-preference")
        assert page.evaluate(moving) > 0

        page.emulate_media(media="print")
        for hidden in ("#sidebar", "#column", ".tools", ".neighbours"):
            expect(page.locator(hidden).filter(visible=True)).to_have_count(0)
        expect(page.get_by_role("heading", name="Rain")).to_be_visible()
        written = page.get_by_role("link", name="A map").evaluate("link => getComputedStyle(link, '::after').content")
        assert "https://example.org/map" in written
        # All of it, not what fits into the window.
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) > 1


def test_arrows_scroll_code_that_is_wider_than_the_article(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    """Elsewhere in the article they go to the next entry."""
    feed = alice.has_feed(site, ["First"])
    wide = {"url": site.url("/code"), "title": "Code", "content": f"<p>See:</p><pre>{'wide ' * 200}</pre><pre>x</pre>"}
    entry = alice.post(f"/v1/feeds/{feed['id']}/entries/import", wide, status=201)["id"]
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as created:
        created.set_session(alice)
        page = created.go(f"/unread/{entry}")
        code = page.locator(".content pre")
        expect(code.first).to_have_attribute("tabindex", "0")

        # On a busy machine, the browser may drop a key that comes before its first frame.
        def is_scrolled() -> bool:
            code.first.focus()
            created.press("ArrowRight")
            return bool(code.first.evaluate("(code) => code.scrollLeft > 0"))

        assert eventually(is_scrolled, within_s=60)
        expect(page.locator("#pane h1")).to_have_text("Code")
        assert [one.get_attribute("tabindex") for one in code.all()] == ["0", None]
        page.locator("#pane").focus()
        created.press("ArrowRight" if page.locator("#pane .tools [rel=next][href]").count() else "ArrowLeft")
        expect(page.locator("#pane h1")).to_have_text("First")
