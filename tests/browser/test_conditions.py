"""Rows that build queries and filters, with what they match while they are filled in."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Page, Response, expect

from browser.page_checks import findings, sticking_out
from browser.readers import TIMEOUT_MS, Reader, held_back, wait_until
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

expect.set_options(timeout=TIMEOUT_MS)


@pytest.mark.parametrize("path", ["/rules/new", "/views/new"])
def test_rows_build_a_query_and_show_what_it_finds(reader: Reader, alice: Person, site: Publisher, path: str) -> None:
    alice.has_feed(site, items=["Rain at noon", "Rain", "Snow"])
    page = reader.go(path)
    matches = page.locator(".matches")
    # Without a value, nothing is counted.
    expect(matches).to_have_text("Say what to look for.")
    expect(page.get_by_label("Field, condition 1").locator("option").first).to_have_text("Title or text")

    page.get_by_label("Field, condition 1").select_option("title")
    expect(page.get_by_label("Comparison, condition 1").locator("option")).to_have_count(4)
    page.get_by_label("Value, condition 1").press_sequentially("rain")
    expect(matches).to_contain_text("2 stored entries match")
    expect(matches.get_by_role("link")).to_have_text(["Rain at noon", "Rain"])
    assert page.get_by_label("Value, condition 1").evaluate("one => one === document.activeElement")

    # By keyboard: a new row has the focus, and a value that its field offers.
    page.get_by_role("button", name="Add a condition").press("Enter")
    expect(page.get_by_label("Field, condition 2")).to_be_focused()
    expect(matches).to_contain_text("2 stored entries match")
    page.get_by_label("Field, condition 2").select_option("is")
    expect(page.get_by_label("Value, condition 2")).to_have_value("unread")
    expect(page.get_by_label("Field, condition 2")).to_be_focused()
    page.get_by_label("Value, condition 2").select_option("starred")
    expect(matches).to_contain_text("0 stored entries match")
    page.get_by_text("Any of these").click()
    expect(matches).to_contain_text("2 stored entries match")
    assert findings(page) == []
    assert sticking_out(page) == []

    page.get_by_role("button", name="Remove condition 2").press("Enter")
    expect(page.get_by_label("Field, condition 2")).to_have_count(0)
    _text_and_back(page)
    if path == "/views/new":
        page.get_by_label("Name").fill("Rainy")
    else:
        page.get_by_label("Star").check()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(lambda url: not url.endswith("/new"))
    kept = alice.get("/v1/views" if path == "/views/new" else "/v1/rules")
    assert [one["query"] for one in kept] == ["title:rain"]


def _text_and_back(page: Page) -> None:
    page.get_by_role("button", name="Write as text").click()
    typed = page.get_by_role("textbox", name="Entries that match")
    expect(typed).to_have_value("title:rain")
    typed.fill("title:(")
    page.get_by_role("button", name="Build from rows").click()
    expect(page.locator("#error-query")).to_contain_text("Cannot be read from character")
    page.get_by_role("textbox", name="Entries that match").fill("title:rain (is:read OR title:noon)")
    page.get_by_role("button", name="Build from rows").click()
    expect(page.get_by_label("Value, condition 2")).to_have_value("is:read OR title:noon")
    expect(page.locator(".matches")).to_contain_text("1 stored entry matches")
    page.get_by_role("button", name="Remove condition 2").click()
    expect(page.get_by_label("Value, condition 2")).to_have_count(0)


# How the focused element shows that it is.
_RING: Final = """() => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
}"""


def test_rows_are_reached_filled_and_removed_with_keys_alone(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain at noon", "Rain", "Snow"])
    page = reader.go("/views/new")
    matches = page.locator(".matches")

    def tab_to(label: str, key: str = "Tab") -> None:
        page.keyboard.press(key)
        expect(page.get_by_label(label, exact=True).or_(page.get_by_title(label))).to_be_focused()
        assert page.evaluate(_RING), label

    page.get_by_label("Name").focus()
    tab_to("All of these")
    tab_to("Field, condition 1")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Comparison, condition 1").locator("option")).to_have_count(4)
    expect(page.get_by_label("Field, condition 1")).to_be_focused()
    tab_to("Comparison, condition 1")
    tab_to("Value, condition 1")
    page.keyboard.type("rain")
    expect(matches).to_contain_text("2 stored entries match")
    tab_to("Remove condition 1")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Add a condition")).to_be_focused()
    assert page.evaluate(_RING)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Field, condition 2")).to_be_focused()
    assert page.evaluate(_RING)
    tab_to("Comparison, condition 2")
    tab_to("Value, condition 2")
    page.keyboard.type("noon")
    expect(matches).to_contain_text("1 stored entry matches")
    tab_to("Remove condition 2")
    page.keyboard.press("Space")
    expect(page.get_by_label("Field, condition 2")).to_have_count(0)
    expect(page.get_by_label("Field, condition 1")).to_be_focused()
    assert page.evaluate(_RING)
    tab_to("All of these", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Any of these")).to_be_focused()
    tab_to("Name", "Shift+Tab")
    page.keyboard.type("Rainy")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: not url.endswith("/new"))
    assert [one["query"] for one in alice.get("/v1/views")] == ["title:rain"]


def test_a_wrong_value_is_told_at_its_row(reader: Reader) -> None:
    page = reader.go("/rules/new")
    page.get_by_label("Field, condition 1").select_option("words")
    value = page.get_by_label("Value, condition 1")
    expect(value).to_have_attribute("type", "number")
    page.get_by_label("Field, condition 1").select_option("title")
    page.get_by_label("Comparison, condition 1").focus()
    page.get_by_label("Comparison, condition 1").select_option("matches")
    expect(page.get_by_label("Comparison, condition 1")).to_be_focused()
    page.get_by_label("Value, condition 1").fill("(rain")
    page.get_by_label("Value, condition 1").press("Tab")
    expect(page.locator("#query-error-1")).to_contain_text("Expected an expression that RE2 can read.")
    expect(page.get_by_label("Value, condition 1")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Value, condition 1").fill("rain")
    page.get_by_label("Value, condition 1").press("Tab")
    expect(page.locator("#query-error-1")).to_be_hidden()


def test_a_wrong_value_that_was_typed_while_rows_were_built_is_told_when_it_is_left(reader: Reader) -> None:
    page = reader.go("/rules/new")
    page.get_by_label("Field, condition 1").select_option("title")
    expect(page.get_by_label("Comparison, condition 1").locator("option")).to_have_count(4)
    expect(page.locator(".matches")).to_have_text("Say what to look for.")
    value, path = page.get_by_label("Value, condition 1"), page.locator(".conditions").get_attribute("data-path")
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer) if answer.url.endswith(str(path)) else None)
    with held_back(page, f"**{path}"):
        page.get_by_label("Comparison, condition 1").select_option("matches")
        value.fill("(rain")
    # One has the rows, the other one what matches.
    wait_until(page, lambda: len(answers) == 2)
    answers[1].finished()
    expect(value).to_be_focused()

    value.press("Tab")

    expect(page.locator("#query-error-1")).to_contain_text("Expected an expression that RE2 can read.")


def test_filters_of_all_feeds_are_built_from_rows(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Buy now", "Rain", "Buy later"])
    page = reader.go("/settings/filters")
    block = page.get_by_role("group", name="Block")
    block.get_by_label("Value, condition 1").press_sequentially("buy")
    expect(block.locator(".matches")).to_contain_text("2 of the newest 3 entries match")
    block.get_by_role("button", name="Add a condition").click()
    block.get_by_label("Field, condition 2").select_option("EntryDate")
    expect(block.get_by_label("Value, condition 2")).to_have_value("12h")
    block.get_by_label("Value, condition 2").select_option("30d")
    assert findings(page) == []
    assert sticking_out(page) == []
    page.get_by_role("button", name="Save").click()
    reader.wait_for_text("Saved.")
    assert alice.get("/v1/me")["block_filter_entry_rules"] == "EntryTitle=(?i)buy\nEntryDate=max-age:30d"


def test_filters_of_a_feed_are_built_from_rows(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, items=["Buy now", "Rain", "Buy later"])
    page = reader.go(f"/feeds/{feed['id']}/edit")
    page.locator("#rules > summary").click()
    keep = page.get_by_role("group", name="Keep only")
    keep.get_by_label("Value, condition 1").press_sequentially("rain")
    expect(keep.locator(".matches")).to_contain_text("1 of the newest 3 entries matches")
    keep.get_by_role("button", name="Write as text").click()
    expect(keep.get_by_role("textbox")).to_have_value("EntryTitle=(?i)rain")
    assert findings(page) == []
    assert sticking_out(page) == []
    page.locator(".foot").get_by_role("button", name="Save").click()
    reader.wait_for_text("Saved.")
    assert alice.get(f"/v1/feeds/{feed['id']}")["keep_filter_entry_rules"] == "EntryTitle=(?i)rain"


def test_the_older_lists_of_a_feed_are_rows_with_a_preview(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, items=["Buy now", "Rain", "An advert"], blocklist_rules="(?i)buy|sponsored")
    page = reader.go(f"/feeds/{feed['id']}/edit")
    block = page.get_by_role("group", name="Block list")
    values = block.get_by_role("textbox")
    expect(values.first).to_have_value("buy")
    expect(values.nth(1)).to_have_value("sponsored")
    block.get_by_role("button", name="Add a condition").click()
    expect(block.get_by_label("Comparison, condition 3")).to_be_focused()
    values.nth(2).press_sequentially("advert")
    # What is blocked is not stored.
    expect(block.locator(".matches")).to_contain_text("1 of the newest 2 entries matches")
    expect(block.locator(".matches").get_by_role("link")).to_have_text(["An advert"])
    block.get_by_label("Comparison, condition 3").select_option("matches")
    values.nth(2).fill("(")
    values.nth(2).press("Tab")
    expect(page.locator("#blocklist-error-3")).to_be_visible()
    values.nth(2).fill("^An? ")
    assert findings(page) == []
    assert sticking_out(page) == []
    block.get_by_role("button", name="Write as text").click()
    expect(values).to_have_count(1)
    expect(values).to_have_value("(?i:buy)|(?i:sponsored)|^An?")
    block.get_by_role("button", name="Build from rows").click()
    block.get_by_role("button", name="Remove condition 2").click()
    expect(values).to_have_count(2)
    page.locator(".foot").get_by_role("button", name="Save").click()
    reader.wait_for_text("Saved.")
    assert alice.get(f"/v1/feeds/{feed['id']}")["blocklist_rules"] == "(?i:buy)|^An?"
