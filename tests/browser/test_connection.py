"""A lost connection and an ended session: the page stays, and marks are sent later."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from browser.readers import Reader, held_back, reading, wait_until
from cli.commands import eventually
from support.many_feeds import add_feeds
from support.people import PASSWORD, Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person, site: Publisher) -> Iterator[Reader]:
    alice.has_feed(site, ["Rain", "Sun"])
    # What a service worker has kept by then would be shown; tests/browser/test_offline.py is about that.
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as made:
        made.loses_connection = True
        made.set_session(alice)
        yield made


# A star and one that was taken back, of different entries, as a page stores what it could not send.
KEPT = r'^\[\["star","\d+"\],\["unstar","\d+"\]\]$'


def starred(person: Person) -> list[str]:
    return [entry["title"] for entry in person.entries(starred="true")]


def star(page: Page, title: str) -> None:
    row = page.locator(".row", has_text=title)
    row.hover()
    row.locator("button[name=star]").click()


def test_a_star_set_without_a_connection_stays_and_is_sent_later(reader: Reader, alice: Person) -> None:
    page = reader.go("/unread")
    reader.context.set_offline(True)

    star(page, "Rain")

    expect(page.locator("#notice")).to_contain_text("No connection")
    expect(page.locator(".row.starred")).to_have_count(1)
    assert starred(alice) == []
    reader.context.set_offline(False)
    assert eventually(lambda: starred(alice) == ["Rain"], within_s=60)
    expect(page.locator(".row.starred")).to_have_count(1)


def test_of_two_marks_without_a_connection_the_later_one_counts_also_on_another_page(
    reader: Reader, alice: Person
) -> None:
    page = reader.go("/unread")
    reader.context.set_offline(True)
    for name in ("star", "unstar", "star"):
        row = page.locator(".row", has_text="Sun")
        row.hover()
        row.locator(f"button[name={name}]").click()
    star(page, "Rain")
    page.locator(".row", has_text="Rain").locator("button[name=unstar]").click()
    page.wait_for_function("kept => Object.values(localStorage).some(one => RegExp(kept).test(one))", arg=KEPT)

    # The tab leaves the page before it notices the connection.
    reader.context.set_offline(False)
    reader.go("/starred")

    assert eventually(lambda: starred(alice) == ["Sun"], within_s=60)


def test_a_star_that_could_not_be_set_is_not_sent_after_it_was_taken_back(reader: Reader, alice: Person) -> None:
    page = reader.go("/unread")
    page.route("**/entries/marks", lambda route: route.fulfill(status=503))
    star(page, "Rain")
    expect(page.locator("#notice")).to_contain_text("No connection")
    page.unroute("**/entries/marks")

    with reader.marking():
        page.locator(".row", has_text="Rain").locator("button[name=unstar]").click()
    reader.go("/unread")
    with reader.marking():
        star(page, "Sun")

    assert starred(alice) == ["Sun"]


def test_a_star_that_is_taken_back_at_once_is_sent_before_that(reader: Reader, alice: Person) -> None:
    page = reader.go("/unread")
    sent: list[str] = []
    page.on("request", lambda request: sent.append((request.post_data or "").partition("=")[0]))
    with held_back(page, "**/entries/marks"):
        star(page, "Rain")
        page.locator(".row", has_text="Rain").locator("button[name=unstar]").click()
        # Marks of other entries do not wait.
        star(page, "Sun")
        wait_until(page, lambda: sent.count("star") == 2)
        assert "unstar" not in sent

    wait_until(page, lambda: "unstar" in sent and starred(alice) == ["Sun"])


def test_a_star_set_without_a_connection_is_not_lost_when_the_page_is_left_at_once(
    reader: Reader, alice: Person
) -> None:
    page = reader.go("/unread")
    reader.context.set_offline(True)
    # No request has failed when the page is left: Chromium tells offline pages too quickly.
    page.evaluate("() => (window.fetch = () => new Promise(() => {}), null)")
    star(page, "Rain")
    reader.context.set_offline(False)

    reader.go("/starred")

    wait_until(page, lambda: starred(alice) == ["Rain"])


def test_an_ended_session_keeps_the_page_and_the_star_is_set_after_signing_in(reader: Reader, alice: Person) -> None:
    page = reader.go("/unread")
    reader.context.clear_cookies()

    star(page, "Rain")

    expect(page.locator("#notice")).to_contain_text("Your session has ended.")
    assert page.url.endswith("/unread")
    assert starred(alice) == []
    page.locator("#notice").get_by_role("button", name="Sign in").click()
    page.get_by_label("Username").fill(alice.user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/unread")
    assert eventually(lambda: starred(alice) == ["Rain"], within_s=60)
    expect(page.locator(".row.starred")).to_have_count(1)


def test_an_entry_that_cannot_be_loaded_leaves_the_page_and_offers_to_try_again(reader: Reader) -> None:
    page = reader.go("/unread")
    reader.context.set_offline(True)

    page.get_by_role("link", name="Rain").first.click()

    notice = page.locator("#notice")
    expect(notice).to_contain_text("No connection.")
    expect(page.locator(".row")).to_have_count(2)
    reader.context.set_offline(False)
    notice.get_by_role("button", name="Retry").click()
    expect(page.locator("#pane h1")).to_have_text("Rain")


def test_waiting_for_an_entry_is_shown(reader: Reader) -> None:
    page = reader.go("/unread")
    waiting: list[Route] = []

    def wait(route: Route) -> None:
        waiting.append(route)

    reader.context.route("**/unread/*", wait)

    page.get_by_role("link", name="Rain").first.click()

    expect(page.locator("#pane[aria-busy=true]")).to_have_count(1)
    wait_until(page, lambda: waiting)
    waiting[0].continue_()
    expect(page.locator("#pane h1")).to_have_text("Rain")
    expect(page.locator("#pane[aria-busy=true]")).to_have_count(0)


def test_a_list_that_cannot_go_on_says_so_and_goes_on_later(reader: Reader, alice: Person, site: Publisher) -> None:
    # So many that the next page is not loaded before one scrolls.
    per_page = 60
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": per_page}, status=201)
    alice.has_feed(site, [f"Cloud {number}" for number in range(3 * per_page)])
    page = reader.go("/unread")
    rows = page.locator(".row")
    expect(rows).to_have_count(per_page)
    reader.context.set_offline(True)
    page.locator("#column").evaluate("column => column.scrollTo(0, column.scrollHeight)")

    notice = page.locator("#notice")
    expect(notice).to_contain_text("No connection")
    expect(rows).to_have_count(per_page)
    reader.context.set_offline(False)
    notice.get_by_role("button", name="Retry").click()
    expect(rows).to_have_count(2 * per_page)

    alice.put(f"/v1/users/{alice.id}", {"password": f"{PASSWORD}-new"}, status=201)
    page.locator("#column").evaluate("column => column.scrollTo(0, column.scrollHeight)")
    expect(notice).to_contain_text("session has ended")
    expect(page.locator("#list .pager")).to_have_count(1)


def test_retry_of_marking_a_list_marks_its_rows_and_offers_undo(reader: Reader) -> None:
    page = reader.go("/unread")
    reader.context.set_offline(True)
    reader.press("A")
    notice = page.locator("#notice")
    expect(notice).to_contain_text("No connection")
    expect(page.locator(".row.unread")).to_have_count(2)
    reader.context.set_offline(False)

    notice.get_by_role("button", name="Retry").click()

    expect(notice).to_contain_text("2 marked read")
    expect(notice.get_by_role("button", name="Undo")).to_be_visible()
    expect(page.locator(".row.unread")).to_have_count(0)


def test_waiting_for_a_whole_article_is_shown_and_it_is_fetched_once(reader: Reader) -> None:
    page = reader.go("/unread")
    page.get_by_role("link", name="Rain").first.click()
    expect(page.locator("#pane h1")).to_have_text("Rain")
    waiting: list[Route] = []

    def wait(route: Route) -> None:
        waiting.append(route)

    reader.context.route("**/full*", wait)

    with page.expect_request("**/full*"):
        reader.press("d")
    expect(page.locator("html[data-loading]")).to_have_count(1)
    reader.press("d")
    # Keys are handled in their order.
    reader.press("?")
    expect(page.locator("#keys")).to_be_visible()
    wait_until(page, lambda: waiting)
    waiting[0].continue_()
    expect(page.locator("html[data-loading]")).to_have_count(0)
    assert len(waiting) == 1


def fill_rules(reader: Reader) -> Page:
    """Return the page of the filters, with a rule that is not saved."""
    page = reader.go("/settings/filters")
    page.locator("#conditions-block").get_by_role("button", name="Write as text").click()
    page.locator("#field-block_filter_entry_rules").fill("EntryTitle=Rain")
    return page


def saved_rules(person: Person) -> str:
    return str(person.get("/v1/me")["block_filter_entry_rules"])


def test_what_was_typed_without_a_connection_stays_and_is_saved_by_retry(reader: Reader, alice: Person) -> None:
    page = fill_rules(reader)
    reader.context.set_offline(True)

    page.get_by_role("button", name="Save").click()

    notice = page.locator("#notice")
    expect(notice).to_contain_text("No connection")
    expect(page.locator("#field-block_filter_entry_rules")).to_have_value("EntryTitle=Rain")
    reader.context.set_offline(False)
    with page.expect_navigation():
        notice.get_by_role("button", name="Retry").click()
    assert saved_rules(alice) == "EntryTitle=Rain"


def test_what_was_typed_when_the_session_ended_is_saved_after_signing_in_in_another_tab(
    reader: Reader, alice: Person
) -> None:
    page = fill_rules(reader)
    reader.context.clear_cookies()

    page.get_by_role("button", name="Save").click()

    notice = page.locator("#notice")
    expect(notice).to_contain_text("Your session has ended.")
    with reader.context.expect_page() as opened:
        notice.get_by_role("button", name="Sign in").click()
    other = opened.value
    other.get_by_label("Username").fill(alice.user.username)
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_role("heading", name="Filters")).to_be_visible()
    other.close()
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    assert saved_rules(alice) == "EntryTitle=Rain"


def test_what_was_typed_is_not_saved_for_another_user_who_signed_in(reader: Reader, alice: Person, bob: Person) -> None:
    page = fill_rules(reader)
    reader.context.clear_cookies()
    reader.set_session(bob)

    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()

    expect(page.get_by_text("This form is too old")).to_be_visible()
    assert saved_rules(bob) == saved_rules(alice) == ""


def test_without_a_connection_the_list_of_keys_and_a_group_of_feeds_say_so(reader: Reader, alice: Person) -> None:
    add_feeds(alice, 3, 50)
    page = reader.go("/unread")
    retry = page.locator("#notice").get_by_role("button", name="Retry")
    reader.context.set_offline(True)

    reader.press("?")
    expect(page.locator("#notice")).to_contain_text("No connection")
    reader.context.set_offline(False)
    retry.click()
    expect(page.locator("#keys")).to_contain_text("Add feed")
    reader.press("Escape")

    # The notice of the list of keys would be taken for the next one.
    page.locator("#notice").evaluate("notice => notice.replaceChildren()")
    reader.context.set_offline(True)
    group = page.locator(".group", has=page.get_by_role("link", name=re.compile("^Category 01")))
    group.locator("summary").click()
    expect(page.locator("#notice")).to_contain_text("No connection")
    reader.context.set_offline(False)
    # Its answer sets the cookie that the page is built with.
    with page.expect_response("**/sidebar"):
        retry.click()
    expect(group.get_by_role("link", name="Feed 1-49")).to_be_attached()
    page.reload()
    expect(group.locator("details")).to_have_attribute("open", "")
