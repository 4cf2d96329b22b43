"""An article of several feeds is one row, and its other feeds are links."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browser.readers import Reader
from duplicates.test_api import choose, subscribe_twice
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow


def test_a_folded_article_is_opened_and_read_with_its_row(reader: Reader, alice: Person, site: Publisher) -> None:
    for _feed in subscribe_twice(
        alice, site, ("Rain tomorrow, and the wind turns to the north in the evening", "Snow")
    ):
        pass
    choose(alice, "fold")
    page = reader.go("/unread")
    expect(page.locator(".row")).to_have_count(2)
    row = page.locator(".row", has_text="Rain")
    expect(row.get_by_text("Also in Planet")).to_be_visible()
    row.get_by_role("link", name="Planet").click()
    page.wait_for_url("**/entries/*")
    expect(page.locator(".article .also")).to_have_text("Also in News")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page = reader.go("/unread")
    expect(page.locator(".row")).to_have_count(1)
