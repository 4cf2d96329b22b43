"""A tree of categories: folded and walked in the sidebar, and moved by dragging, by keyboard and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browser.readers import SCREENS, Reader, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


@pytest.fixture
def tree(alice: Person, site: Publisher) -> dict[str, int]:
    """News / Europe / France and Tech, each with a feed of two entries; the ids by name."""
    ids: dict[str, int] = {}
    for name, parent in (("News", ""), ("Europe", "News"), ("France", "Europe"), ("Tech", "")):
        body = {"title": name, "parent_id": ids.get(parent)}
        ids[name] = alice.post("/v1/categories", body)["id"]
        alice.has_feed(site, [f"{name} one", f"{name} two"], category_id=ids[name])
    return ids


def line(page: Page, name: str) -> Locator:
    return page.locator("#groups .group > a.line", has_text=re.compile(f"^{name}"))


@pytest.mark.parametrize("screen", SCREENS)
def test_a_tree_is_folded_read_and_moved(
    browser: Browser, service: RunningService, alice: Person, tree: dict[str, int], screen: str
) -> None:
    with reading(browser, service, **SCREENS[screen]) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        if screen == "phone":
            page.locator(".bottom button", has_text="Feeds").click()
        expect(line(page, "France")).to_be_visible()
        expect(line(page, "News").locator(".count")).to_have_text("6")
        with page.expect_response("**/sidebar"):
            page.locator(f'details[data-group="{tree["News"]}"] > summary').press("Enter")
        expect(line(page, "France")).to_be_hidden()
        page.reload()
        if screen == "phone":
            page.locator(".bottom button", has_text="Feeds").click()
        expect(line(page, "Europe")).to_be_hidden()

        line(page, "News").click()
        expect(page.locator(".row")).to_have_count(6)
        # Only the groups above the current one are open.
        reader.go(f"/categories/{tree['Europe']}")
        expect(page.locator(".row")).to_have_count(4)
        if screen == "wide":
            expect(line(page, "Europe")).to_have_attribute("aria-current", "page")
            # A short drag would be over before its script is there, which a first one loads.
            line(page, "Tech").dispatch_event("dragstart")
            reader.wait_for_part("drag")
            drag(reader, "Tech", "Europe", alice)
            with page.expect_response("**/move"):
                line(page, "Tech").drag_to(page.locator("#sidebar .brand"))
            expect(page.locator("#groups > .group > a.line", has_text="Tech")).to_be_visible()
            drag_feed(reader, tree, alice)
        edit(reader, tree)
        assert [one["title"] for one in alice.get("/v1/categories")] == [
            "All", "News", "News / Europe", "News / Europe / France", "News / Europe / Technology",
        ]  # fmt: skip


def drag(reader: Reader, name: str, target: str, alice: Person) -> None:
    page = reader.page
    with page.expect_response("**/move"):
        line(page, name).drag_to(line(page, target))
    expect(page.locator("#groups .group .group > a.line", has_text=name)).to_be_visible()
    assert f"News / {target} / {name}" in [one["title"] for one in alice.get("/v1/categories")]


def drag_feed(reader: Reader, tree: dict[str, int], alice: Person) -> None:
    """Drag a feed out of the category that is not its first."""
    france, everything = tree["France"], alice.get("/v1/categories")[0]["id"]
    (feed,) = alice.get(f"/v1/categories/{france}/feeds")
    alice.put(f"/v1/feeds/{feed['id']}", {"category_ids": [france, everything]}, status=201)
    page = reader.go("/unread")
    shown = page.locator(f'details[data-group="{everything}"] a.line')
    with page.expect_response("**/feeds/bulk"):
        shown.drag_to(line(page, "Tech"))
    expect(shown).to_have_count(0)
    assert alice.get(f"/v1/feeds/{feed['id']}")["category_ids"] == [france, tree["Tech"]]


def edit(reader: Reader, tree: dict[str, int]) -> None:
    """Move a category with the form, by keyboard."""
    page = reader.go("/categories")
    page.locator(f"#c{tree['Tech']}").get_by_role("link", name="Move …").press("Enter")
    # The page before has many fields with this label.
    page.wait_for_url("**/edit")
    page.get_by_label("Title").fill("Technology")
    page.get_by_label("Under").select_option("News / Europe")
    page.get_by_label("Title").press("Enter")
    reader.wait_for_text("Saved.")


def test_a_tree_works_without_scripts(
    browser: Browser, service: RunningService, alice: Person, tree: dict[str, int]
) -> None:
    with reading(browser, service, java_script_enabled=False, **SCREENS["wide"]) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        page.locator(f'details[data-group="{tree["Europe"]}"] > summary').click()
        expect(line(page, "France")).to_be_hidden()
        edit(reader, tree)
        page.locator(f"#c{tree['News']}").get_by_role("link", name="Delete …").click()
        expect(page.get_by_text("The 3 categories below it: Europe, France, Technology")).to_be_visible()
        page.get_by_role("button", name="Delete category").click()
        reader.wait_for_text("News deleted.")
        expect(page.locator("#groups > .group > a.line", has_text="Europe")).to_be_visible()
