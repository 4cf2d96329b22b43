"""The page of an article next to its list: the article comes first, and stands at the end of the line."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def test_the_article_comes_before_its_list_which_stands_before_it(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One", "Two", "Three"])
    path = next(f"/unread/{entry['id']}" for entry in alice.entries() if entry["title"] == "Two")
    with reading(browser, service, viewport={"width": 1440, "height": 900}) as reader:
        reader.set_session(alice)
        page = reader.go(path)
        answer = reader.context.request.get(service.url + path).text()
        assert answer.index('id="article"') < answer.index('id="column"')

        column, pane = page.locator("#column").bounding_box(), page.locator("#pane").bounding_box()
        assert column
        assert pane
        assert column["x"] + column["width"] <= pane["x"]
        assert column["y"] == pane["y"] == 0
        assert pane["width"] > column["width"]
        # Keys step through the list all the same.
        reader.press("j")
        expect(page.locator("#pane h1")).not_to_have_text("Two")
        expect(page.locator(".row[aria-current]")).to_have_count(1)


def test_the_list_and_the_feeds_are_painted_with_the_article(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    """Without them, the first frame would be painted sooner, and they would flash on each page."""
    alice.has_feed(site, ["One", "Two"])
    path = f"/unread/{alice.entries()[0]['id']}"
    with reading(browser, service, viewport={"width": 1440, "height": 900}) as reader:
        reader.set_session(alice)
        reader.page.emulate_media(reduced_motion="no-preference")
        reader.context.add_init_script(
            "globalThis.late = []; addEventListener('animationend', ({ target }) => late.push(target.className))"
        )
        page = reader.go(path)

        expect(page.locator(".beside .row")).to_have_count(2)
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("late") == []
