"""Subscribing from any page: a click, the address, Enter."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.page_checks import findings, sticking_out
from browser.readers import SCREENS, Reader, reading
from support.people import Person, rss
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def field_of(page: Page) -> None:
    """Open the field, in the sidebar, which on a phone is behind a button."""
    # Without its styles, a page shows the sidebar of a phone.
    page.wait_for_load_state()
    if not page.locator("#sidebar").is_visible():
        page.locator(".bottom button", has_text="Feeds").click()
    page.locator("#sidebar footer").get_by_role("button", name="Add feed").click()
    expect(page.get_by_label("Site or feed")).to_be_focused()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_site_with_one_feed_is_subscribed_with_a_click_its_address_and_enter(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, screen: str
) -> None:
    site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml"), title="The weather"))
    site.serve("/", '<link rel="alternate" type="application/rss+xml" href="/feed.xml">')
    with reading(browser, service, **SCREENS[screen]) as reader:
        reader.set_session(alice)
        page = reader.go("/starred")
        field_of(page)
        assert findings(page, in_the_dark=False) == []
        assert sticking_out(page) == []
        # Its word has room.
        button = page.locator("#add-feed").get_by_role("button", name="Subscribe")
        assert (
            button.evaluate("""one => {
            const range = document.createRange();
            range.selectNodeContents(one);
            return one.getBoundingClientRect().width - range.getBoundingClientRect().width;
        }""")
            >= 20
        )
        page.keyboard.insert_text(site.url("/").removeprefix("http://"))
        reader.press("Enter")
        reader.wait_for_text("Subscribed.")
        expect(page.locator(".row-title")).to_have_text("Rain")
        # Again, it leads to the feed.
        field_of(page)
        page.keyboard.insert_text(site.url("/feed.xml"))
        reader.press("Enter")
        reader.wait_for_text("You are already subscribed to this feed.")
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["The weather"]


def test_newsletters_are_added_where_feeds_are(reader: Reader) -> None:
    page = reader.go("/unread")
    field_of(page)

    page.locator("#add-feed").get_by_role("link", name="Newsletters").click()

    expect(page.get_by_role("heading", level=1, name="Newsletters")).to_be_visible()
    expect(page.get_by_role("button", name="Create a secret address")).to_be_visible()


def test_of_a_site_with_several_feeds_enter_takes_the_first(reader: Reader, alice: Person, site: Publisher) -> None:
    links = ""
    for name in ("Articles", "Comments"):
        site.serve(f"/{name}.xml", rss([f"Of {name}"], site.url(f"/{name}.xml"), title=name))
        links += f'<link rel="alternate" type="application/rss+xml" title="{name}" href="/{name}.xml">'
    site.serve("/", links)
    page = reader.go("/feeds/add")
    expect(page.get_by_label("Address of a site or a feed")).to_be_focused()
    page.keyboard.insert_text(site.url("/"))
    reader.press("Enter")
    expect(page.get_by_role("button", name="Subscribe Articles")).to_be_focused()
    reader.press("Enter")
    reader.wait_for_text("Subscribed.")
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["Articles"]


def test_of_an_address_that_is_wrong_the_page_says_so_and_keeps_it(reader: Reader, site: Publisher) -> None:
    # Browsers log the status of the answer.
    reader.loses_connection = True
    page = reader.go("/unread")
    field_of(page)
    page.keyboard.insert_text(site.url("/none.xml"))
    reader.press("Enter")
    expect(page).to_have_url(re.compile("/feeds/subscribe$"))
    expect(page.get_by_label("Address of a site or a feed")).to_have_value(site.url("/none.xml"))
    expect(page.locator("main .error")).to_contain_text("404")
