"""What a designer measures: what belongs together has one height, one edge and room for its words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browser.readers import SCREENS, Reader, reading
from browser.test_players import item, serve_podcast
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

# What would have to be added to a field that its words fit, in pixels.
_MISSING: Final = """(field) => {
    const { width } = field.getBoundingClientRect();
    field.style = "field-sizing: content; flex: none; max-width: none; width: auto";
    const missing = field.getBoundingClientRect().width - width;
    field.removeAttribute("style");
    return Math.max(0, Math.ceil(missing - 0.5));
}"""

_TEXT_LEFT: Final = """(element) => {
    const range = new Range();
    range.selectNodeContents(element);
    return Math.round(range.getBoundingClientRect().left);
}"""
_IS_LAID_OUT: Final = "(element) => element.checkVisibility()"


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, **SCREENS["wide"]) as created:
        created.set_session(alice)
        yield created


def edges(found: Locator, name: str) -> list[int]:
    """Return a side of the boxes of elements, each value once. name: x, width, height, right and so on."""
    return sorted(set(found.evaluate_all(f"all => all.map((one) => Math.round(one.getBoundingClientRect().{name}))")))


def play(page: Page, entry: int) -> None:
    page.locator(f"#pane[data-entry='{entry}'] .player [data-play]").click()
    expect(page.locator("#playing")).to_be_visible()


def test_main_buttons_keep_their_height_while_something_plays(reader: Reader, alice: Person, site: Publisher) -> None:
    (entry,) = serve_podcast(alice, site, item(site, 1))

    page = reader.go("/feeds/add")
    before = edges(page.locator("main .buttons > .button"), "height")
    reader.go(f"/entries/{entry}")
    reader.wait_for_part("player")
    play(page, entry)
    reader.go("/feeds/add")
    expect(page.locator("#playing")).to_be_visible()
    assert edges(page.locator("main .buttons > .button"), "height") == before


def test_fields_of_a_line_have_room_for_their_words(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])

    page = reader.page
    for name in SCREENS:
        page.set_viewport_size(SCREENS[name]["viewport"])
        reader.go("/search?query=one")
        assert page.get_by_label("In", exact=True).evaluate(_MISSING) == 0, name
        reader.go("/feeds")
        assert page.get_by_label("With the selected feeds").evaluate(_MISSING) == 0, name
    assert edges(page.locator(".feeds [type=checkbox], .bulk-actions [type=checkbox]"), "x") == [20]


def test_the_form_of_a_feed_stands_below_its_head(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])

    parts = reader.go(f"/feeds/{feed['id']}/edit").locator(".health, form.groups")
    assert [len(edges(parts, side)) for side in ("left", "right")] == [1, 1]


def test_titles_of_one_line_are_targets_of_24_pixels_and_take_no_room_for_it(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One", "Two"])

    page = reader.go("/unread")
    assert edges(page.locator(".row-title a"), "height") == [25]
    assert edges(page.locator(".row-title"), "height") == [21]


def test_buttons_of_a_row_have_their_icons_where_they_are_seen(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go("/unread")
    row = page.locator("#list .row")
    # Their names are there all the time.
    star, icon = row.get_by_role("button", name="Star"), row.locator("button[name=star] svg")
    sizes = edges(star, "width"), edges(star, "height")
    assert not icon.evaluate(_IS_LAID_OUT)

    row.hover()
    assert icon.evaluate(_IS_LAID_OUT)
    assert (edges(star, "width"), edges(star, "height")) == sizes
    page.mouse.move(0, 0)
    assert not icon.evaluate(_IS_LAID_OUT)
    star.focus()
    assert icon.evaluate(_IS_LAID_OUT)


def test_choices_have_one_height(reader: Reader) -> None:
    page = reader.go("/views/new")
    assert len(edges(page.locator(".choice span"), "height")) == 1


def test_lines_of_categories_have_their_numbers_one_below_the_other(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One"])
    alice.has_category("Empty")

    page = reader.go("/categories")
    assert len(edges(page.locator(".under > a:not(.extra, .tool)"), "right")) == 1


def test_the_first_rule_cannot_be_moved_up_and_the_last_one_not_down(reader: Reader, alice: Person) -> None:
    for name in ("One", "Two"):
        alice.post("/v1/rules", {"name": name, "query": "rain", "actions": [{"type": "star"}]}, status=201)
        alice.post("/v1/views", {"name": name, "query": "rain"}, status=201)

    for path in ("/rules", "/views"):
        lines = reader.go(path).locator(".item-list").first.locator("li")
        for line, name in ((lines.first, "Move down"), (lines.last, "Move up")):
            shown = line.get_by_title("Move").locator("visible=true")
            expect(shown).to_have_count(1)
            expect(shown).to_have_attribute("title", name)


def test_a_phone_shows_whole_titles_in_the_queue_and_the_navigation_from_its_beginning(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    first, _second = serve_podcast(alice, site, item(site, 1), item(site, 2))
    for entry in alice.entries():
        alice.post("/v1/queue", {"enclosure_id": entry["enclosures"][0]["id"]}, status=204)

    with reading(browser, service, **SCREENS["phone"]) as created:
        created.set_session(alice)
        page = created.go("/queue")
        created.wait_for_part("player")
        assert edges(page.locator(".queue .name"), "width") == edges(page.locator(".queue li"), "width")
        created.go("/categories")
        assert page.locator(".places").evaluate("one => one.scrollLeft") == 0
        created.go(f"/entries/{first}")
        assert len(edges(page.locator(".bottom .icon"), "y")) == 1


def test_words_below_the_search_field_begin_at_one_edge(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go("/search?query=rain")
    lines = page.locator(".search-form :is(label, .plain, .help)")
    expect(lines).to_have_count(3)
    # Of the words, whatever is around them.
    assert len({line.evaluate(_TEXT_LEFT) for line in lines.all()}) == 1
