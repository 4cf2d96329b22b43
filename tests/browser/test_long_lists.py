"""What a key costs in a long list: as much as in a short one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.readers import Reader, held_back, reading, wait_until
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService
from tidings.base.times import MINUTE, Instant
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.storage.polling import entry_writes

pytestmark = pytest.mark.slow

ROWS = 400
# Counts what makes the browser lay out the page while a script waits, and notes what is looked for in the whole page.
COUNTED = """(() => {
    globalThis.styleQueries = 0;
    const ask = getComputedStyle;
    globalThis.getComputedStyle = (...all) => (styleQueries++, ask(...all));
    globalThis.searches = [];
    const search = Document.prototype.querySelectorAll;
    Document.prototype.querySelectorAll = function (selector) {
        searches.push(selector);
        return search.call(this, selector);
    };
})()"""
# What browsers watch, in each frame.
WATCHED = "[...document.querySelectorAll('*')].filter(one => getComputedStyle(one).contentVisibility === 'auto').length"


def add_entries(person: Person, feed: dict[str, Any]) -> None:
    services = person.service.services
    now = services.clock()
    added = [
        ReadyEntry(
            hash=number.to_bytes(32, "big"),
            fingerprint=b"",
            title=f"Entry {number}",
            url=f"https://a.example/{number}",
            content="<p>A text of an entry.</p>",
            published_at=Instant(now - number * MINUTE),
            status=EntryStatus.UNREAD,
        )
        for number in range(ROWS)
    ]
    with services.database.writing() as db:
        entry_writes.add(db, person.id, feed["id"], feed["category"]["id"], added, now=now)


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person, site: Publisher) -> Iterator[Reader]:
    """Alice with a list of many rows on one page."""
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": ROWS, "entry_sorting_direction": "desc"}, status=201)
    add_entries(alice, alice.has_feed(site, ["One"]))
    with reading(browser, service, viewport={"width": 1440, "height": 900}) as created:
        created.set_session(alice)
        created.context.add_init_script(COUNTED)
        yield created


@contextmanager
def traced(reader: Reader, page: Page) -> Iterator[list[dict[str, Any]]]:
    """Yield a list, which has the events of the browser's timeline at the end."""
    events: list[dict[str, Any]] = []
    ends: list[object] = []
    session = reader.context.new_cdp_session(page)
    session.on("Tracing.dataCollected", lambda found: events.extend(found["value"]))
    session.on("Tracing.tracingComplete", lambda found: ends.append(found))  # noqa: PLW0108 - Playwright marks it
    session.send(
        "Tracing.start",
        {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": ["devtools.timeline"]}},
    )
    yield events
    session.send("Tracing.end")
    wait_until(page, lambda: ends)


def test_the_next_entry_of_a_long_list_restyles_no_other_rows(reader: Reader) -> None:
    page = reader.go("/unread")
    expect(page.locator(".row")).to_have_count(ROWS)
    reader.press("j")
    expect(page.locator("#pane h1")).to_have_text("Entry 0")
    reader.wait_for_part("scroll")
    page.evaluate("styleQueries = 0; searches.length = 0")

    with traced(reader, page) as events:
        reader.press("j")
        expect(page.locator("#pane h1")).to_have_text("Entry 1")

    restyled = [event["args"].get("elementCount", 0) for event in events if event["name"] == "UpdateLayoutTree"]
    assert restyled
    assert max(restyled) < ROWS
    assert page.evaluate("styleQueries") == 0
    # Counts are asked for later.
    assert set(page.evaluate("searches")) <= {"[data-count]"}


@pytest.mark.parametrize(("density", "parts"), [("comfortable", ["13"]), ("compact", [])])
def test_the_part_below_the_window_is_laid_out_after_the_first_paint(
    reader: Reader, alice: Person, density: str, parts: list[str]
) -> None:
    """Rows of one line are so low that the window shows some of it."""
    reader.context.add_init_script(
        "globalThis.late = []; addEventListener('animationend', ({ target }) => late.push(target.dataset.rows))"
    )
    alice.put("/v1/list-settings", {"list": "unread", "density": density}, status=201)
    page = reader.go("/unread")

    second = page.locator(".rows").nth(1)
    expect(second).to_have_css("content-visibility", "auto")
    assert page.evaluate("late") == parts


def test_nothing_fades_when_the_styles_arrive_after_the_page(reader: Reader) -> None:
    reader.context.add_init_script(
        "globalThis.fading = []; addEventListener('transitionrun', ({ target }) => fading.push(target.outerHTML))"
    )
    page = reader.page
    page.emulate_media(reduced_motion="no-preference")
    with held_back(page, "**/tidings.css"):
        # `goto` and locators would wait for scripts, which wait for the styles.
        page.evaluate("url => { location.href = url }", f"{reader.service.url}/unread")
        page.wait_for_function("() => document.querySelector('nav.bottom')", polling=50)
        # As input does. Rows below the window keep the browser's colours until they are laid out again.
        page.evaluate("document.body.offsetHeight")
    page.wait_for_load_state()
    expect(page.locator(".rows").nth(1)).to_have_css("content-visibility", "auto")

    assert page.evaluate("fading") == []


def test_rows_far_below_the_window_are_not_laid_out(reader: Reader) -> None:
    page = reader.go("/unread")

    shown = "one => one.querySelector('.row-title a').checkVisibility({ contentVisibilityAuto: true })"
    assert page.locator(".row").first.evaluate(shown)
    assert not page.locator(".row").last.evaluate(shown)
    # After the first window a few rows, and a hundred each.
    assert page.evaluate(WATCHED) == 1 + ROWS // 100
    # Keys reach them all the same, from one part of the list to the next.
    page.locator(".row").nth(98).evaluate("row => row.querySelector('a').focus()")
    for key, title in (("j", "Entry 99"), ("j", "Entry 100"), ("k", "Entry 99")):
        reader.press(key)
        expect(page.locator("#pane h1")).to_have_text(title)
    reader.press("G")
    expect(page.locator(".row").last).to_be_in_viewport()
    assert page.locator(".row").last.evaluate(shown)
