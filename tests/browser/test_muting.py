"""A word is muted in few steps: filters are in the menu of the account, and the first field has the focus."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import Reader, reading
from support.people import Person
from support.running import RunningService

pytestmark = pytest.mark.slow


def mute(reader: Reader, word: str) -> None:
    page = reader.page
    page.get_by_title("Account and settings").click()
    page.locator("#account").get_by_role("link", name="Filters").click()
    expect(page.get_by_label("Value, condition 1").first).to_be_focused()
    page.keyboard.type(word)
    reader.press("Enter")
    reader.wait_for_text("Saved.")


def test_a_second_word_is_typed_where_the_first_was_saved(
    browser: Browser, service: RunningService, alice: Person
) -> None:
    with reading(browser, service, viewport={"width": 390, "height": 844}) as reader:
        reader.set_session(alice)
        reader.go("/settings/filters")
        page = reader.page
        for number, word in enumerate(("casino", "lottery"), 1):
            expect(page.get_by_label(f"Value, condition {number}").first).to_be_focused()
            page.keyboard.type(word)
            reader.press("Enter")
            reader.wait_for_text("Saved.")
            expect(page.get_by_label(f"Value, condition {number}").first).to_have_value(word)

    rules = alice.get("/v1/me")["block_filter_entry_rules"]
    assert ("casino" in rules, "lottery" in rules, rules.count("\n")) == (True, True, 1)


def test_a_word_is_muted_in_few_steps(browser: Browser, service: RunningService, alice: Person) -> None:
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as reader:
        reader.set_session(alice)
        reader.go("/unread")
        mute(reader, "casino")

    assert "casino" in alice.get("/v1/me")["block_filter_entry_rules"]
