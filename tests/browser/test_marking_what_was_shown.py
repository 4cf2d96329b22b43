"""Marking many entries read, with scripts: what the open page has not shown stays unread."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


def arrives(person: Person, feed_id: int, title: str, published_at: int | None = None) -> None:
    entry = {"url": f"https://a.example/{title}", "title": title, "status": "unread"}
    moment = {} if published_at is None else {"published_at": published_at}
    person.post(f"/v1/feeds/{feed_id}/entries/import", {**entry, **moment})


def unread(person: Person) -> set[str]:
    return {entry["title"] for entry in person.entries(status="unread", limit=100)}


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
@pytest.mark.parametrize("width", [390, 1440])
def test_an_entry_that_arrives_while_the_list_is_open_stays_unread(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, width: int, scripts: bool
) -> None:
    feed = alice.has_feed(site, ["One", "Two"])
    with reading(browser, service, java_script_enabled=scripts, viewport={"width": width, "height": 900}) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        arrives(alice, feed["id"], "Late")
        page.locator("#mark-all button").first.click()
        reader.wait_for_text("2 marked read")
        # The list that is shown then has the late one.
        expect(page.locator(".row-title")).to_have_text(["Late"])
        assert unread(alice) == {"Late"}

        page.locator("#notice button").click()
        reader.wait_for_text("2 unread again")

    assert unread(alice) == {"One", "Two", "Late"}


@pytest.mark.parametrize("path", ["/starred", "/search?query=is%3Astarred"])
def test_every_list_can_be_marked_as_it_was_shown(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, path: str
) -> None:
    feed = alice.has_feed(site, ["One", "Two"])
    for entry in alice.entries():
        alice.put(f"/v1/entries/{entry['id']}/bookmark", status=204)
    with reading(browser, service) as reader:
        reader.set_session(alice)
        page = reader.go(path)
        arrives(alice, feed["id"], "Late")
        alice.put(f"/v1/entries/{alice.entries(search='Late')[0]['id']}/bookmark", status=204)
        reader.press("A")
        reader.wait_for_text("2 marked read")
        expect(page.locator(".row")).to_have_count(3)
        expect(page).to_have_url(service.url + path)

        assert unread(alice) == {"Late"}


def test_rows_above_one_are_marked_as_they_were_shown(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "desc"}, status=201)
    feed = alice.has_feed(site, ["One", "Two", "Three"])
    titles = [entry["title"] for entry in alice.entries(order="published_at", direction="desc")]
    with reading(browser, service) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        arrives(alice, feed["id"], "Late")
        page.locator(".row").nth(2).hover()
        page.get_by_role("button", name="Mark above as read").click()
        reader.wait_for_text("2 marked read")

        assert unread(alice) == {titles[2], "Late"}

        # The list is read anew: now it shows the late one.
        page.reload()
        page.locator(".row", has_text=titles[2]).hover()
        page.get_by_role("button", name="Mark above as read").click()
        reader.wait_for_text("1 marked read")

    assert unread(alice) == {titles[2]}


def test_an_endless_list_marks_what_was_appended_but_nothing_that_came_to_its_beginning(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    wishes = {"entries_per_page": 5, "entry_sorting_direction": "asc"}
    alice.put(f"/v1/users/{alice.id}", wishes, status=201)
    feed = alice.has_feed(site, ["First"])
    # Many more than the page loads before somebody scrolls.
    for number in range(60):
        arrives(alice, feed["id"], f"Entry {number}", 1_700_000_000 + number)
    with reading(browser, service, viewport={"width": 390, "height": 500}) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        arrives(alice, feed["id"], "Late, at the end")
        arrives(alice, feed["id"], "Late, at the beginning", 1_500_000_000)
        page.wait_for_function("""() => {
            [...document.querySelectorAll('.row')].at(-1).scrollIntoView();
            return !document.querySelector('#list .pager [rel=next]');
        }""")
        expect(page.locator(".row-title", has_text="Late, at the end")).to_have_count(1)
        reader.press("A")
        reader.wait_for_text("62 marked read")

    assert unread(alice) == {"Late, at the beginning"}
