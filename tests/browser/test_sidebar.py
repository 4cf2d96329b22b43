"""The sidebar with three thousand feeds, on a wide screen and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browser.readers import SCREENS, Reader, reading
from support.many_feeds import add_feeds
from support.people import Cast, Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

CATEGORIES, FEEDS = 60, 50


@pytest.fixture(scope="module")
def owner(service: RunningService) -> Person:
    """One for all tests, which change only what a device remembers."""
    return Cast(service).person("ada")


@pytest.fixture(scope="module")
def feeds(owner: Person) -> dict[str, int]:
    """The ids of 3,000 feeds by title: "Feed 7-3" is the third of "Category 07". Each tenth has an unread entry."""
    return add_feeds(owner, CATEGORIES, FEEDS, unread_every=10)


@pytest.fixture
def reader(browser: Browser, service: RunningService, owner: Person, screen_name: str) -> Iterator[Reader]:
    """The owner of the feeds on a wide screen, or on a phone."""
    with reading(browser, service, **SCREENS[screen_name]) as created:
        created.set_session(owner)
        yield created


def sidebar_of(page: Page) -> Locator:
    """The sidebar, opened if the screen is narrow."""
    sidebar = page.locator("#sidebar")
    if not sidebar.is_visible():
        page.locator(".bottom button", has_text="Feeds").click()
    return sidebar


def group_of(page: Page, title: str) -> Locator:
    return sidebar_of(page).locator(".group", has=page.get_by_role("link", name=re.compile(f"^{title}")))


def test_groups_open_with_any_number_of_feeds_and_this_device_remembers_them(
    reader: Reader, feeds: dict[str, int]
) -> None:
    page = reader.go("/unread")
    group = group_of(page, "Category 02")
    with page.expect_response("**/sidebar"):
        group.locator("summary").click()
    expect(group.get_by_role("link", name="Feed 2-49")).to_be_attached()
    assert group.locator(".group-feeds a").count() == FEEDS

    page.reload()
    expect(group_of(page, "Category 02").get_by_role("link", name="Feed 2-49")).to_be_visible()
    assert sidebar_of(page).locator("details[open]").count() == 1
    with page.expect_response("**/sidebar"):
        group_of(page, "Category 02").locator("summary").click()
    page.reload()
    assert sidebar_of(page).locator("details[open]").count() == 0
    # The group of the current feed is open all the same.
    reader.go(f"/feeds/{feeds['Feed 2-3']}?show=all")
    expect(group_of(page, "Category 02").get_by_role("link", name="Feed 2-3", exact=True)).to_be_visible()


def test_groups_changed_at_once_are_all_remembered(reader: Reader, feeds: dict[str, int]) -> None:
    assert feeds
    page = reader.go("/unread")
    groups = [group_of(page, f"Category 0{number}") for number in (1, 2, 3)]
    # They are sent one after the other.
    last = f"open={groups[-1].locator('xpath=descendant-or-self::details').get_attribute('data-group')}&"
    with page.expect_response(lambda response: last in (response.request.post_data or "")):
        for group in groups:
            group.locator("summary").evaluate("summary => summary.click()")

    page.reload()
    assert sidebar_of(page).locator("details[open]").count() == len(groups)


def test_the_sidebar_keeps_its_position_and_shows_the_current_feed(reader: Reader, feeds: dict[str, int]) -> None:
    page = reader.go("/unread")
    sidebar_of(page)
    groups = page.locator("#groups")
    groups.evaluate("box => box.scrollTo(0, 900)")
    reader.go("/starred")
    sidebar_of(page)
    page.wait_for_function("() => document.getElementById('groups').scrollTop === 900")

    reader.go(f"/feeds/{feeds['Feed 55-40']}?show=all")
    current = sidebar_of(page).locator("[aria-current]")
    expect(current).to_be_in_viewport(ratio=1)
    expect(current).to_contain_text("Feed 55-40")
    # The foot stays where it is, and the page does not scroll for the sidebar.
    foot = page.locator("#sidebar footer")
    expect(foot.get_by_role("button", name="Add feed", exact=True)).to_be_in_viewport(ratio=1)
    expect(foot.get_by_role("link", name="Queue", exact=True)).to_be_in_viewport(ratio=1)
    foot.locator("[popovertarget=account]").click()
    for name in ("Feeds", "Appearance", "Settings"):
        expect(page.locator("#account").get_by_role("link", name=name, exact=True)).to_be_in_viewport(ratio=1)
    expect(page.locator("#account").get_by_role("button", name="Sign out")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar .line", has_text="Unread").first).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("width", "height"), [(1280, 600), (390, 667)])
def test_the_foot_stays_in_view_with_many_labels_too(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, width: int, height: int
) -> None:
    alice.has_feed(site, ["Rain"])
    for number in range(20):
        service.services.entries.labels.create(alice.id, f"Label {number}")
    with reading(browser, service, viewport={"width": width, "height": height}) as made:
        made.set_session(alice)
        page = made.go("/unread")
        sidebar_of(page)
        foot = page.locator("#sidebar footer").get_by_role("button", name="Add feed", exact=True)
        expect(foot).to_be_in_viewport(ratio=1)
        page.locator("#sidebar").evaluate("sidebar => sidebar.scrollTo(0, 300)")
        expect(foot).to_be_in_viewport(ratio=1)


def test_the_switch_for_unread_feeds_stays_where_it_is_on(reader: Reader, alice: Person, site: Publisher) -> None:
    """Another account of this device, with few feeds, would miss those without unread entries."""
    reader.set_session(alice)
    feed = alice.has_feed(site, ["Rain"])["id"]
    alice.put(f"/v1/feeds/{feed}/mark-all-as-read", status=204)
    reader.context.add_cookies([{"name": "tidings_sidebar", "value": "unread=1", "url": reader.service.url}])
    page = reader.go("/starred")
    sidebar_of(page)
    links = page.locator("#groups .group-feeds a")
    expect(links).to_have_count(0)
    page.get_by_role("button", name="Only feeds with unread entries").click()
    expect(page.locator("#groups .group").first).to_be_visible()


def test_feeds_without_unread_entries_can_be_left_out(reader: Reader, owner: Person, feeds: dict[str, int]) -> None:
    category = owner.get(f"/v1/feeds/{feeds['Feed 7-0']}")["category"]["id"]
    page = reader.go(f"/categories/{category}")
    links = group_of(page, "Category 07").locator(".group-feeds a")
    expect(links).to_have_count(FEEDS)
    switch = page.get_by_role("button", name="Only feeds with unread entries")

    switch.click()
    expect(links).to_have_count(FEEDS // 10)
    expect(switch).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(group_of(page, "Category 07").locator(".group-feeds a")).to_have_count(FEEDS // 10)
    page.get_by_role("button", name="Only feeds with unread entries").click()
    expect(links).to_have_count(FEEDS)


def test_the_filter_finds_feeds_while_one_types(reader: Reader, feeds: dict[str, int]) -> None:
    page = reader.go("/unread")
    sidebar = sidebar_of(page)
    field = sidebar.get_by_label("Filter feeds")

    field.press_sequentially("feed 33-1")
    expect(sidebar.locator("#found a")).to_have_count(11)
    expect(sidebar.locator("#groups")).to_be_hidden()
    field.fill("nothing like it")
    expect(sidebar.locator("#found")).to_have_text("No feed has this name.")
    field.fill("")
    expect(sidebar.locator("#groups")).to_be_visible()
    field.fill("33-14")
    expect(sidebar.locator("#found a")).to_have_count(1)
    field.press("Enter")
    expect(page).to_have_url(re.compile(f"/feeds/{feeds['Feed 33-14']}$"))


def test_a_group_of_three_thousand_feeds_is_loaded_when_one_scrolls(
    browser: Browser, service: RunningService, alice: Person
) -> None:
    feeds = add_feeds(alice, 1, 3_000)
    with reading(browser, service, **SCREENS["wide"]) as created:
        created.set_session(alice)
        page = created.go(f"/feeds/{feeds['Feed 0-1500']}?show=all")
        current = page.locator("#sidebar [aria-current]")
        expect(current).to_be_in_viewport(ratio=1)
        lines = page.locator("#groups .group-feeds a")
        assert lines.count() < 200
        page.locator("#groups .more").last.scroll_into_view_if_needed()
        expect(lines).to_have_count(3_000)
        expect(page.locator("#sidebar [aria-current]")).to_have_count(1)


@pytest.mark.parametrize("screen", SCREENS)
def test_the_position_deep_in_a_long_group_is_kept(
    browser: Browser, service: RunningService, alice: Person, screen: str
) -> None:
    add_feeds(alice, 1, 1_000)
    visible = """() => [...document.querySelectorAll("#groups .group-feeds .name")].find(
        (one) => one.getBoundingClientRect().top > document.getElementById("groups").getBoundingClientRect().top
    )?.textContent"""
    with reading(browser, service, **SCREENS[screen]) as created:
        created.set_session(alice)
        page = created.go("/unread")
        with page.expect_response("**/sidebar"):
            sidebar_of(page).locator("#groups summary").click()
        expect(page.locator("#groups .group-feeds a")).to_have_count(1_000)
        page.locator("#groups").evaluate("box => box.scrollTo(0, 18_000)")
        first = page.evaluate(visible)
        assert first.startswith("Feed 0-")

        for path in ("/starred", "/unread"):
            created.go(path)
            sidebar_of(page)
            expect(page.locator("#groups .group-feeds a")).to_have_count(1_000)
            page.wait_for_function("() => document.getElementById('groups').scrollTop === 18_000")
            assert page.evaluate(visible) == first


def test_the_sidebar_works_without_scripts(
    browser: Browser, service: RunningService, owner: Person, feeds: dict[str, int]
) -> None:
    with reading(browser, service, java_script_enabled=False, **SCREENS["wide"]) as created:
        created.set_session(owner)
        page = created.go("/unread")
        group_of(page, "Category 02").locator("summary").click()
        group_of(page, "Category 02").get_by_role("link", name="50 more feeds").click()
        expect(page.get_by_role("heading", level=1, name="Category 02")).to_be_visible()
        page.locator("#main").get_by_role("link", name="Feed 2-7", exact=True).click()
        expect(page).to_have_url(re.compile(f"/feeds/{feeds['Feed 2-7']}$"))
        expect(group_of(page, "Category 02").locator(".group-feeds a")).to_have_count(FEEDS)

        page.get_by_label("Filter feeds").fill("33-14")
        page.get_by_label("Filter feeds").press("Enter")
        expect(page.locator("#main").get_by_role("link", name="Feed 33-14")).to_be_visible()
        created.go("/unread")
        page.get_by_role("button", name="Only feeds with unread entries").click()
        expect(page).to_have_url(re.compile("/unread$"))
        expect(page.get_by_role("button", name="Only feeds with unread entries")).to_have_attribute(
            "aria-pressed", "true"
        )


def test_categories_sorted_by_unread_entries_keep_their_place_while_someone_reads(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.put(f"/v1/users/{alice.id}", {"categories_sorting_order": "unread_count"}, status=201)
    for name, count in (("Few", 2), ("Many", 3)):
        category = alice.has_category(name)
        alice.has_feed(site, [f"{name} {number}" for number in range(count)], category_id=category["id"])
    with reading(browser, service, **SCREENS["wide"]) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        names = page.locator("#groups > .group > a .name")
        expect(names).to_have_text(["Many", "Few", "All"])
        many = [entry["id"] for entry in alice.entries() if entry["title"].startswith("Many")]
        alice.put("/v1/entries", {"entry_ids": many, "status": "read"}, status=204)
        names.get_by_text("Few").click()
        page.wait_for_url("**/categories/*")
        expect(names).to_have_text(["Many", "Few", "All"])
        # A new one has its place behind them.
        alice.has_category("New")
        reader.go("/starred")
        expect(names).to_have_text(["Many", "Few", "All", "New"])
        page.locator("#sidebar .brand").click()
        page.wait_for_url("**/unread")
        expect(names).to_have_text(["Few", "All", "Many", "New"])
