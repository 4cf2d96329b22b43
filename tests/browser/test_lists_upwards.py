"""Lists that a page shows from their middle: what comes before is added above, and nothing that is seen moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.readers import Reader, reading
from browser.test_long_lists import add_entries
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

# Rows of a page; there are 400 entries.
PAGE: Final = 60
# Scrolls the list to its top, and from then on remembers how far the row that is first there has moved in any frame.
_SCROLL_UP: Final = """column => {
    column.scrollTo({ top: 0, behavior: "instant" });
    const row = column.querySelector(".row");
    const top = row.getBoundingClientRect().top;
    globalThis.moved = 0;
    const look = () => {
        globalThis.moved = Math.max(globalThis.moved, Math.abs(row.getBoundingClientRect().top - top));
        globalThis.looking = requestAnimationFrame(look);
    };
    cancelAnimationFrame(globalThis.looking);
    look();
}"""
_AFTER_FRAMES: Final = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(moved))))"


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person, site: Publisher) -> Iterator[Reader]:
    """Alice with 400 entries, the newest first."""
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": PAGE, "entry_sorting_direction": "desc"}, status=201)
    add_entries(alice, alice.has_feed(site, []))
    with reading(browser, service, viewport={"width": 1440, "height": 900}) as created:
        created.set_session(alice)
        yield created


def path_of(alice: Person, number: int) -> str:
    """Return the address of an entry in the list of unread ones."""
    found = alice.entries(direction="desc", order="published_at", limit=1, offset=number)
    assert found[0]["title"] == f"Entry {number}"
    return f"/unread/{found[0]['id']}"


def titles(page: Page) -> list[str]:
    return page.locator("#column .row-title").all_text_contents()


def heads(page: Page) -> list[str]:
    return page.locator("#column .day").all_text_contents()


def scroll_up(page: Page, first: str) -> None:
    """Scroll to the first row and wait for another one to be the first."""
    page.locator("#column").evaluate(_SCROLL_UP)
    expect(page.locator("#column .row-title").first).to_have_text(first)
    assert page.evaluate(_AFTER_FRAMES) < 2, first


def test_scrolling_up_leads_to_the_beginning_of_the_list_and_moves_no_row(reader: Reader, alice: Person) -> None:
    page = reader.go(path_of(alice, 150))
    expect(page.locator(".row[aria-current]")).to_be_in_viewport()
    assert titles(page)[0] == "Entry 142"

    for first in (142 - PAGE, 142 - 2 * PAGE, 0):
        scroll_up(page, f"Entry {first}")

    expect(page.locator("#column .above")).to_have_count(0)
    assert titles(page)[:160] == [f"Entry {number}" for number in range(160)]
    # One head for each day, with the first of its rows.
    assert len(heads(page)) == len(set(heads(page)))
    # What is below comes as it did, one page or two of it.
    page.locator("#column").evaluate("column => column.scrollTo({ top: column.scrollHeight, behavior: 'instant' })")
    expect(page.get_by_text(f"Entry {150 + 12 + PAGE}", exact=True)).to_be_attached()
    below = titles(page)
    assert len(below) in {150 + 13 + PAGE, 150 + 13 + 2 * PAGE}
    assert below == [f"Entry {number}" for number in range(len(below))]


def test_the_key_to_the_previous_entry_goes_on_above_the_first_row(reader: Reader, alice: Person) -> None:
    page = reader.go(path_of(alice, 60))
    expect(page.locator(".row[aria-current]")).to_be_in_viewport()

    for number in range(59, 48, -1):
        reader.press("k")
        expect(page.locator("#pane h1")).to_have_text(f"Entry {number}")
        expect(page.locator(".row[aria-current] .row-title")).to_have_text(f"Entry {number}")


def test_a_page_from_the_middle_of_a_list_goes_up_too(reader: Reader, alice: Person) -> None:
    """Without scripts its link leads to the page before."""
    # As the server sends it: the script adds rows below, and changes the link.
    answer = reader.context.request.get(reader.service.url + path_of(alice, 90)).text()
    (later,) = re.findall(r'<nav class="pager"[^>]*><a[^>]* rel="next" href="([^"]+)"', answer)
    page = reader.go(unescape(later))
    # The link is near the top of the window. Entry 90 has been read.
    expect(page.locator("#column .row-title").first).to_have_text("Entry 42")
    scroll_up(page, "Entry 0")
    assert titles(page)[:120] == [f"Entry {number}" for number in range(121) if number != 90]
