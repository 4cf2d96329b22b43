"""Pages change while they are open: counts, and what is new in a list. One connection for all tabs of a browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.readers import Reader
from support.people import Person, rss
from support.publisher import Publisher

pytestmark = pytest.mark.slow

# What pages do a second after they were loaded.
_JOIN = """() => {
    const { src } = document.querySelector("script[src$='/reading.js']");
    return import(src.replace("reading.js", "live.js")).then(({ join }) => join());
}"""


class Feed:
    """A feed of a user that publishes more."""

    def __init__(self, person: Person, site: Publisher) -> None:
        self._person, self._site = person, site
        self._titles = ["Rain"]
        self.id = person.has_feed(site, self._titles)["id"]
        self._path = person.get(f"/v1/feeds/{self.id}")["feed_url"].removeprefix(site.url(""))

    def publish(self, title: str) -> None:
        """Publish an entry, and let the service store it."""
        self._titles.insert(0, title)
        self._site.serve(self._path, rss(self._titles, self._site.url(self._path)))
        self._person.put(f"/v1/feeds/{self.id}/refresh")


@pytest.fixture
def feed(alice: Person, site: Publisher) -> Feed:
    return Feed(alice, site)


@pytest.fixture
def streams(reader: Reader) -> list[str]:
    """The requests for events of all tabs."""
    seen: list[str] = []
    reader.context.on("request", lambda request: seen.append(request.url) if "/events?" in request.url else None)
    return seen


def go_live(reader: Reader, path: str) -> Page:
    """Open a page, and wait until it has a connection for events."""
    with reader.page.expect_response(re.compile(r"/events\?")):
        return reader.go(path)


def unread(page: Page) -> Any:
    return page.locator("[data-count=unread]").first


def test_counts_and_news_appear_without_moving_anything(reader: Reader, feed: Feed) -> None:
    page = go_live(reader, "/unread")
    before = page.locator(".row").first.bounding_box()

    feed.publish("Sun")

    news = page.get_by_role("status").get_by_role("button", name="1 new")
    expect(news).to_be_visible()
    expect(unread(page)).to_have_text("2")
    expect(page).to_have_title(re.compile(r"^\(2\) "))
    expect(page.locator(".row")).to_have_count(1)
    assert page.locator(".row").first.bounding_box() == before

    news.click()

    expect(page.locator(".row")).to_have_count(2)
    expect(news).to_have_count(0)
    expect(page.locator(".row-title a").first).to_be_focused()


def test_only_the_first_news_is_announced(reader: Reader, feed: Feed) -> None:
    page = go_live(reader, "/unread")
    feed.publish("Sun")
    holder = page.locator("#news")
    expect(holder).to_have_text("1 new")
    assert holder.get_attribute("aria-live") is None

    feed.publish("Wind")

    expect(holder).to_have_text("2 new")
    expect(holder).to_have_attribute("aria-live", "off")


def test_a_list_tells_only_of_what_belongs_to_it(reader: Reader, alice: Person, feed: Feed, site: Publisher) -> None:
    other = Feed(alice, site)
    page = go_live(reader, f"/feeds/{feed.id}")

    other.publish("Elsewhere")
    expect(unread(page)).to_have_text("3")
    feed.publish("Here")

    expect(page.locator("#news")).to_have_text("1 new")


def test_two_tabs_share_a_connection_which_passes_on_when_one_is_closed(
    reader: Reader, feed: Feed, streams: list[str]
) -> None:
    first, second = go_live(reader, "/unread"), reader.context.new_page()
    second.goto(f"{reader.service.url}/unread")
    second.evaluate(_JOIN)

    feed.publish("Sun")
    for page in (first, second):
        expect(page.locator("#news")).to_have_text("1 new")
        expect(unread(page)).to_have_text("2")
    assert len(streams) == 1

    with second.expect_response(re.compile(r"/events\?since=.")):
        first.close()
    feed.publish("Wind")

    expect(second.locator("#news")).to_have_text("2 new")
    assert len(streams) == 2


def test_without_events_counts_are_asked_for_every_minute(reader: Reader, feed: Feed) -> None:
    reader.loses_connection = True
    page = reader.page
    page.clock.install()
    page.route(re.compile(r"/events\?"), lambda route: route.abort())
    reader.go("/unread")
    with page.expect_event("requestfailed", lambda request: "/events?" in request.url):
        page.clock.run_for(2_000)
    feed.publish("Sun")

    with page.expect_response(re.compile("/counts")):
        page.clock.run_for(61_000)

    expect(unread(page)).to_have_text("2")
