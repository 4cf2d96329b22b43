"""The layouts of lists: a magazine with large pictures, and whole articles one after another."""

from __future__ import annotations

import time
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.page_checks import findings, sticking_out
from browser.readers import SCREENS, Reader, reading, wait_until
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def has_articles(person: Person, site: Publisher, count: int, *, text: str = "Rain and wind. ") -> None:
    """Import unread entries with long texts, the first one as the newest."""
    feed = person.has_feed(site, [])
    now = int(time.time())
    for number in range(count):
        content = f"<p>{text * 200}</p><p>End of {number}.</p>"
        site.serve(f"/{number}", "The page of the article.")
        entry = {"url": f"{site.url('/')}{number}", "title": f"Article {number}", "content": content}
        more = {"status": "unread", "published_at": now - number}
        person.post(f"/v1/feeds/{feed['id']}/entries/import", entry | more)


def top(page: Page, title: str) -> float:
    """Where the row of an entry begins, in pixels from the top of the window."""
    box = page.locator(".row", has=page.get_by_role("heading", name=title, exact=True)).bounding_box()
    assert box
    return box["y"]


@pytest.mark.parametrize("screen", ["wide", "phone"])
def test_whole_articles_are_read_while_scrolling(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, screen: str
) -> None:
    has_articles(alice, site, 25)
    alice.put("/v1/list-settings", {"list": "unread", "density": "stream"}, status=201)
    with reading(browser, service, **SCREENS[screen]) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        assert page.get_by_text("End of 0.").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert 0 < page.locator(".row").count() <= 20

        # Further pages come along while scrolling, and what has been passed is read.
        def has_last() -> bool:
            page.evaluate("scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})")
            return bool(page.get_by_text("End of 24.").count())

        wait_until(page, has_last)
        # The page may still grow: articles below the window are laid out when they come near it.
        wait_until(page, lambda: has_last() and not page.locator(".row.unread").count())
        expect(page.locator(".row")).to_have_count(25)
        wait_until(page, lambda: not alice.entries(status="unread"))


def test_keys_move_mark_and_open_whole_articles(reader: Reader, alice: Person, site: Publisher) -> None:
    has_articles(alice, site, 6)
    alice.put(f"/v1/users/{alice.id}", {"mark_read_on_view": False}, status=201)
    alice.put("/v1/list-settings", {"list": "unread", "density": "stream"}, status=201)
    page = reader.go("/unread")
    expect(page.locator("#pane")).to_be_hidden()
    current = page.locator(".row[aria-current] .row-title")

    reader.press("j")
    expect(current).to_have_text("Article 0")
    reader.press("j", "j")
    expect(current).to_have_text("Article 2")
    assert 50 < top(page, "Article 2") < 130
    reader.press("k")
    expect(current).to_have_text("Article 1")
    with page.expect_response("**/entries/marks"):
        reader.press("m")
    expect(page.locator(".row:not(.unread) .row-title")).to_have_text("Article 1")

    # After scrolling on, keys act on the article that is being read.
    page.evaluate("document.activeElement.blur()")
    page.locator(".row", has_text="End of 4.").evaluate(
        "row => scrollTo({top: row.offsetTop + row.offsetHeight / 2, behavior: 'instant'})"
    )
    with page.expect_response("**/entries/marks"):
        reader.press("f")
    expect(page.locator(".row.starred .row-title")).to_have_text("Article 4")
    reader.press("j")
    expect(current).to_have_text("Article 5")
    with page.context.expect_page() as opened:
        reader.press("v")
    expect(opened.value).to_have_url(site.url("/5"))
    opened.value.close()
    reader.press("o")
    expect(page.locator("#article h1")).to_have_text("Article 5")
    expect(page.locator("#column")).to_have_count(0)


def test_links_within_whole_articles_are_links(reader: Reader, alice: Person, site: Publisher) -> None:
    """Rows of other layouts are one link."""
    feed = alice.has_feed(site, [])
    content = f'<p><a href="#n">Note</a></p>{"<p>Rain.</p>" * 60}<p id="n">The note</p>'
    entry = {"url": site.url("/1"), "title": "Rain", "content": content, "status": "unread"}
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", entry)
    alice.put("/v1/list-settings", {"list": "unread", "density": "stream"}, status=201)
    page = reader.go("/unread")

    page.get_by_role("link", name="Note", exact=True).click()

    expect(page.get_by_text("The note", exact=True)).to_be_in_viewport()
    expect(page.locator(".row")).to_have_count(1)


def test_an_article_from_right_to_left_has_its_head_there(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, [])
    content = "<p>" + "مرحبا بالعالم " * 50 + "</p>"
    entry = {"url": site.url("/1"), "title": "مطر اليوم", "content": content, "status": "unread"}
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", entry)
    alice.put("/v1/list-settings", {"list": "unread", "density": "stream"}, status=201)
    page = reader.go("/unread")
    boxes = [page.locator(f".row {part}").bounding_box() for part in (".row-from", "time", ".content")]

    assert all(boxes)
    feed_box, time_box, content_box = (box for box in boxes if box)
    assert time_box["x"] < feed_box["x"]
    end = feed_box["x"] + feed_box["width"]
    assert abs(end - content_box["x"] - content_box["width"]) < 2


@pytest.mark.parametrize(("width", "is_beside"), [(1280, False), (390, False), (900, True)])
def test_a_magazine_has_a_large_picture_beside_or_between_the_words(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, width: int, is_beside: bool
) -> None:
    feed = alice.has_feed(site, [])
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"/>'
    site.serve("/rain.svg", drawing, headers=[("Content-Type", "image/svg+xml")])
    for name, picture in (("Rain", f'<p><img src="{site.url("/rain.svg")}"></p>'), ("Sun", "")):
        content = f"{picture}<p>{'Words about the weather. ' * 20}</p>"
        entry: dict[str, Any] = {"url": site.url(f"/{name}"), "title": name, "content": content, "status": "unread"}
        alice.post(f"/v1/feeds/{feed['id']}/entries/import", entry)
    alice.put("/v1/list-settings", {"list": "unread", "density": "magazine"}, status=201)
    with reading(browser, service, viewport={"width": width, "height": 900}) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        row = page.locator(".row", has=page.locator(".row-picture"))
        picture_box = row.locator(".row-picture").bounding_box()
        title_box = row.locator(".row-title").bounding_box()
        words_box = row.locator(".row-excerpt").bounding_box()
        assert picture_box
        assert title_box
        assert words_box

        assert picture_box["width"] >= 200
        assert (picture_box["x"] > title_box["x"] + title_box["width"]) == is_beside
        if not is_beside:
            assert title_box["y"] < picture_box["y"] < words_box["y"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        reader.press("j")
        expect(page.locator(".row[aria-current]")).to_have_count(1)


def test_the_current_article_has_a_frame_where_the_system_chooses_colours(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    has_articles(alice, site, 2)
    alice.put("/v1/list-settings", {"list": "unread", "density": "stream"}, status=201)
    with reading(browser, service, viewport={"width": 1440, "height": 900}, forced_colors="active") as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        reader.press("j")

        expect(page.locator(".row[aria-current]")).to_have_css("outline-style", "solid")


@pytest.mark.parametrize("density", ["magazine", "stream"])
def test_layouts_keep_to_the_window_and_axe_finds_nothing(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, density: str
) -> None:
    """A phone, a tablet, or magnified; whatever a publisher sends."""
    word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3
    cells, line = "<td>a cell</td>" * 40, "a line of code " * 30
    content = f"<p>{word}</p><pre>{line}</pre><table><tr>{cells}</tr></table><p><a href='/x'>{word}</a></p>"
    has_articles(alice, site, 2)
    feed = alice.entries()[0]["feed_id"]
    entry = {"url": site.url("/wide"), "title": word, "author": word, "content": content, "status": "unread"}
    alice.post(f"/v1/feeds/{feed}/entries/import", entry)
    alice.put("/v1/list-settings", {"list": "unread", "density": density}, status=201)
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        # It lets the keyboard reach the table and the code, which scroll.
        reader.wait_for_part("reach")
        assert findings(page) == []
        for width in (320, 700, 1100):
            page.set_viewport_size({"width": width, "height": 700})
            assert sticking_out(page) == [], width


@pytest.mark.parametrize("measure", ["narrow", "wide"])
def test_in_a_wide_window_the_head_is_as_wide_as_the_articles(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, measure: str
) -> None:
    has_articles(alice, site, 2)
    with reading(browser, service, viewport={"width": 1440, "height": 900}) as wide:
        wide.set_session(alice)
        cookie = {"name": "tidings_view", "value": f"density=stream&measure={measure}", "url": service.url}
        wide.context.add_cookies([cookie])  # type: ignore[list-item]
        page = wide.go("/unread")
        head, rows = page.locator("#column > .head").bounding_box(), page.locator(".rows").first.bounding_box()
        assert head
        assert rows
        assert (head["x"], head["width"]) == (rows["x"], rows["width"])
        assert page.locator(".head .tool").first.evaluate("one => getComputedStyle(one).fontSize") == "13px"
