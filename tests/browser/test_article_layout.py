"""Where the parts of an article stand: right-to-left, and on phones."""

from __future__ import annotations

import html

import pytest
from playwright.sync_api import Browser, Locator

from browser.readers import SCREENS, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def has_entry(person: Person, site: Publisher, title: str, content: str) -> str:
    """Subscribe to a feed of one entry. Returns the path of the entry."""
    item = (
        f"<item><title>{title}</title><guid>1</guid><author>كاتب</author>"
        f"<description>{html.escape(content)}</description></item>"
    )
    document = f'<rss version="2.0"><channel><title>Feed</title>{item}</channel></rss>'
    person.post("/v1/feeds", {"feed_url": site.serve("/feed.xml", document)})
    return f"/unread/{person.entries()[0]['id']}"


def edges(part: Locator) -> tuple[float, float]:
    left, right = part.evaluate("""one => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const { left, right } = range.getBoundingClientRect();
        return [left, right];
    }""")
    return left, right


def test_the_feed_and_the_author_of_a_right_to_left_article_stand_at_its_right(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    path = has_entry(alice, site, "عنوان المقال", "<p>نص المقال باللغة العربية.</p>")
    with reading(browser, service, **SCREENS["wide"]) as reader:
        reader.set_session(alice)
        page = reader.go(path)
        _, title_right = edges(page.locator("#article h1"))

        for part in (".meta > a", ".byline"):
            assert abs(edges(page.locator(f"#article {part}"))[1] - title_right) < 2, part


def test_quotes_in_quotes_leave_room_for_text_on_a_phone(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    depth = 8
    content = "<blockquote>" * depth + "<p>The innermost words of a long thread.</p>" + "</blockquote>" * depth
    path = has_entry(alice, site, "Thread", content)
    with reading(browser, service, **SCREENS["phone"]) as reader:
        reader.set_session(alice)
        page = reader.go(path)

        box = page.locator("#article").get_by_text("The innermost words").bounding_box()

    assert box
    assert box["width"] > 240


def test_large_text_of_the_browser_enlarges_articles_and_cuts_no_name_of_a_list(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    path = has_entry(alice, site, "Rain", "<p>The tide comes twice a day.</p>")
    with reading(browser, service, **SCREENS["phone"]) as reader:
        reader.set_session(alice)
        page = reader.go(path)
        # As a browser whose text is twice as large.
        enlarge = "document.documentElement.style.fontSize = '200%'"
        size = "one => parseFloat(getComputedStyle(one).fontSize)"
        before = page.locator(".content").evaluate(size)
        page.evaluate(enlarge)
        assert page.locator(".content").evaluate(size) == 2 * before

        page = reader.go("/unread")
        page.evaluate(enlarge)
        assert page.locator(".list-title a").evaluate("one => one.scrollWidth <= one.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
