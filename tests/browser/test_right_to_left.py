"""The pages in languages that are written from right to left: everything is mirrored but what runs left everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pytest
from babel import Locale
from playwright.sync_api import Browser, Page, ViewportSize, expect

from browser.page_checks import findings, sticking_out
from browser.readers import Reader, reading
from browser.test_reading import swipe, touch
from demo.demo_service import DemoService, demo_service
from support.databases import SqliteDatabases
from support.people import Person, rss
from support.publisher import Publisher
from support.running import RunningService
from tidings.web.language import CATALOGUES, language_of_account

pytestmark = pytest.mark.slow

# Without their catalogues, which take two seconds to read.
LANGUAGES: Final = [name for name, locale in CATALOGUES.items() if Locale.parse(locale).text_direction == "rtl"]
_SCREENS: Final[list[ViewportSize]] = [{"width": 390, "height": 844}, {"width": 1280, "height": 800}]
_PAGES: Final[list[Callable[[DemoService], str]]] = [
    lambda _: "/sign-in",
    lambda _: "/unread",
    lambda of: f"/unread/{of.entry('The pencil and the tide machine')}",
    lambda of: f"/unread/{of.entry('Episode 84: The woman who repairs pianos')}",
    lambda of: f"/feeds/{of.feed('Plain Systems')}?show=all",
    lambda _: "/search?query=map",
    lambda _: "/feeds",
    lambda of: f"/feeds/{of.feed('Night Sky Weekly')}/edit",
    lambda _: "/feeds/add",
    lambda _: "/categories",
    lambda _: "/settings",
    lambda _: "/settings/security",
    lambda _: "/settings/apps/netnewswire",
    lambda _: "/statistics",
    lambda _: "/keys",
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoService]:
    folder = tmp_path_factory.mktemp("demo")
    with SqliteDatabases(folder).migrated() as url, demo_service(url, folder) as created:
        yield created


def sign_in(page: Page, person: Person) -> None:
    """Sign in with the form that is shown, in any language."""
    page.fill("[name=username]", person.user.username)
    page.fill("[name=password]", person.password)
    page.locator("form:has([name=password]) button").last.click()
    page.wait_for_url(lambda url: "/sign-in" not in url)


@pytest.mark.parametrize(
    "language", [pytest.param(name, marks=() if name == "ar_SA" else pytest.mark.long) for name in LANGUAGES]
)
def test_the_main_pages_fit_and_are_accessible(browser: Browser, demo: DemoService, language: str) -> None:
    demo.owner.put(f"/v1/users/{demo.owner.id}", {"language": language}, status=201)
    code = language_of_account(language).code
    context = browser.new_context(reduced_motion="reduce", locale=code)
    context.set_default_timeout(60_000)
    page = context.new_page()
    found: dict[tuple[str, object], list[str]] = {}
    for place in _PAGES:
        url = place(demo)
        page.goto(demo.service.url + url)
        assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == [code, "rtl"]
        for screen in _SCREENS:
            page.set_viewport_size(screen)
            found[url, screen["width"]] = sticking_out(page)
        found[url, "axe"] = findings(page, in_the_dark=False)
        if url == "/sign-in":
            sign_in(page, demo.owner)
    context.close()
    assert {where: wrong for where, wrong in found.items() if wrong} == {}


@pytest.fixture
def arabic(alice: Person, site: Publisher) -> None:
    """Alice reads in Arabic: an English feed with two entries, the newest first."""
    alice.put(f"/v1/users/{alice.id}", {"language": "ar_SA", "entry_sorting_direction": "desc"}, status=201)
    alice.has_feed(site, ["Rain (and wind).", "Sun"])


@pytest.fixture
def wide(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as created:
        created.set_session(alice)
        yield created


@pytest.fixture
def phone(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as created:
        created.set_session(alice)
        yield created


def left_edge(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box
    return box["x"]


@pytest.mark.usefixtures("arabic")
def test_columns_and_icons_are_mirrored_and_names_keep_their_direction(wide: Reader) -> None:
    page = wide.go("/unread")
    assert left_edge(page, "#sidebar") > left_edge(page, "#column") > left_edge(page, "#pane") == 0
    assert left_edge(page, "#column .unread .feed-icon, #column .unread .no-icon") > left_edge(page, "#column time")

    page.locator(".row-title a").first.click()
    expect(page.locator("article h1")).to_be_visible()
    direction = "one => getComputedStyle(one).direction"
    for selector, expected in [("#sidebar .group-feeds .name", "ltr"), ("#pane h1", "ltr"), ("#pane .tools", "rtl")]:
        assert page.locator(selector).first.evaluate(direction) == expected, selector
    assert page.locator(".tools [rel=next] svg").evaluate("one => getComputedStyle(one).scale") == "-1 1"
    # Before the next article, where lines go to, on the left.
    assert left_edge(page, ".tools [rel=next]") < left_edge(page, ".tools [rel=prev]")


@pytest.mark.usefixtures("arabic")
def test_the_arrow_to_the_left_goes_on(wide: Reader) -> None:
    page = wide.go("/unread")
    titles = page.locator("#column .row-title").all_inner_texts()
    for key, title in [("ArrowLeft", titles[0]), ("ArrowLeft", titles[1]), ("ArrowRight", titles[0])]:
        wide.press(key)
        expect(page.locator("article h1")).to_have_text(title)
    page = wide.go("/keys")
    assert page.locator("dt").filter(has_text="j").first.inner_text().split() == ["j", "n", "←"]


@pytest.mark.usefixtures("arabic")
def test_swipes_follow_the_line(phone: Reader, alice: Person) -> None:
    page = phone.go("/unread")
    row = page.locator(".row").first
    with page.expect_response("**/entries/marks"):
        swipe(page, ".row", -120)
    expect(row).to_have_class("row")
    with page.expect_response("**/entries/marks"):
        swipe(page, ".row", 120)
    expect(row).to_have_class("row starred")
    assert sorted((one["status"], one["starred"]) for one in alice.entries()) == [("read", True), ("unread", False)]

    row.locator(".row-title a").click()
    expect(page.locator("article h1")).to_be_visible()
    page.wait_for_load_state()
    touch(page, *((300 - 25 * step, 500) for step in range(7)))
    page.wait_for_url("**/unread")


@pytest.mark.usefixtures("arabic")
def test_what_a_swipe_does_stands_where_the_row_has_left(phone: Reader) -> None:
    page = phone.go("/unread")
    box = page.locator(".row").first.bounding_box()
    assert box
    debugger = page.context.new_cdp_session(page)
    for step in range(7):
        point = {"x": 300 - 20 * step, "y": box["y"] + box["height"] / 2}
        kind = "touchMove" if step else "touchStart"
        debugger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    assert left_edge(page, ".row .swipe") > 195
    assert left_edge(page, ".row .row-title") < box["x"]
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    debugger.send("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})


def test_a_recording_runs_from_left_to_right(wide: Reader, alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"language": "ar_SA"}, status=201)
    sound = f'<enclosure url="{site.url("/talk.mp3")}" type="audio/mpeg" length="1000"/>'
    site.serve("/favicon.ico")
    site.serve("/talk.mp3", b"")
    site.serve(
        "/pod.xml",
        rss([], site.url("/pod.xml"), extra=f"<item><title>Talk</title><guid>1</guid>{sound}</item>"),
    )
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml")})
    page = wide.go(f"/unread/{alice.entries()[0]['id']}")
    assert left_edge(page, ".player [data-skip='-15']") < left_edge(page, ".player [data-skip='30']")
    assert page.locator(".player .scrub input").evaluate("one => getComputedStyle(one).direction") == "ltr"


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_and_addresses_run_from_left_to_right(wide: Reader, alice: Person, language: str) -> None:
    alice.put(f"/v1/users/{alice.id}", {"language": language}, status=201)
    page = wide.go("/settings/apps/netnewswire")
    directions = "all => all.map(one => getComputedStyle(one).direction)"
    shown = page.locator("code, .address").evaluate_all(directions)
    assert set(shown) == {"ltr"}
    page = wide.go("/feeds/add")
    assert page.locator("main [name=url]").evaluate("one => getComputedStyle(one).direction") == "ltr"


@pytest.mark.parametrize(("language", "begins"), [("en_US", "-60%"), ("ar_SA", "160%")])
def test_the_line_that_shows_waiting_runs_where_lines_go(
    wide: Reader, alice: Person, language: str, begins: str
) -> None:
    alice.put(f"/v1/users/{alice.id}", {"language": language}, status=201)
    page = wide.go("/keys")
    found = page.evaluate("""() => {
        document.documentElement.dataset.loading = "";
        const line = document.getAnimations().find(one => one.animationName === "wait");
        line.pause();
        line.currentTime = 200;
        return getComputedStyle(document.documentElement, "::after").backgroundPositionX;
    }""")
    assert found == begins


def test_the_reading_time_in_the_head_of_an_english_article_runs_from_right_to_left(
    wide: Reader, alice: Person, site: Publisher
) -> None:
    """It begins with a number, which has no direction."""
    alice.put(f"/v1/users/{alice.id}", {"language": "he_IL"}, status=201)
    feed = alice.has_feed(site, [])
    entry = {"url": site.url("/1"), "title": "Rain", "content": "<p>Rain and wind.</p>" * 400, "status": "unread"}
    path = alice.post(f"/v1/feeds/{feed['id']}/entries/import", entry)["id"]
    page = wide.go(f"/unread/{path}")
    time = page.locator("#pane .meta > span").last
    assert time.inner_text()[0].isdecimal()
    direction = "one => getComputedStyle(one.querySelector('bdi') ?? one).direction"
    assert (page.locator("#pane header").evaluate(direction), time.evaluate(direction)) == ("ltr", "rtl")
