"""What people do with Tidings in a browser, from the first page to the last: wide or on a phone, light or dark.

With --long each of them wide and on a phone, light and dark, and on both engines.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import Reader, reading
from support.people import Person, call, rss
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


SCREENS: Final[dict[str, dict[str, Any]]] = {
    "wide": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person, screen_name: str) -> Iterator[Reader]:
    with reading(browser, service, has_worker=True, **SCREENS[screen_name]) as created:
        created.set_session(alice)
        yield created


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.long)])
def desk(request: pytest.FixtureRequest, browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    """A wide screen, where an article opens beside its list, and a keyboard."""
    with reading(browser, service, has_worker=True, **SCREENS["wide"] | {"color_scheme": request.param}) as created:
        created.set_session(alice)
        yield created


@pytest.fixture(params=[pytest.param("light", marks=pytest.mark.long), "dark"])
def plain(request: pytest.FixtureRequest, browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    """A browser without script, on a phone."""
    screen = SCREENS["phone"] | {"color_scheme": request.param}
    with reading(browser, service, java_script_enabled=False, **screen) as created:
        created.set_session(alice)
        yield created


def statuses(person: Person) -> dict[str, str]:
    return {entry["title"]: entry["status"] for entry in person.entries()}


def test_signing_in_returns_to_the_requested_page(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain tomorrow"])
    with reading(browser, service) as reader:
        reader.page.goto(f"{service.url}/starred")
        expect(reader.page).to_have_url(re.compile("/sign-in"))
        reader.page.get_by_label("Username").fill(alice.user.username)
        reader.page.get_by_label("Password").fill(alice.password)
        reader.page.keyboard.press("Enter")
        expect(reader.page).to_have_url(f"{service.url}/starred")
        # Before its style sheet has arrived, a page shows the links of narrow screens.
        reader.page.wait_for_load_state()
        reader.page.get_by_role("link", name="Unread").first.click()
        expect(reader.page.get_by_role("link", name="Rain tomorrow")).to_be_visible()


def test_a_feed_is_found_on_a_page_and_read(reader: Reader, alice: Person, site: Publisher) -> None:
    site.serve("/feed.xml", rss(["Rain tomorrow", "Sun today"], site.url("/feed.xml"), title="The weather"))
    site.serve("/", '<link rel="alternate" type="application/rss+xml" title="The weather" href="/feed.xml">')

    page = reader.go("/feeds/add")
    page.get_by_label("Address of a site or a feed").fill(site.url("/"))
    page.get_by_role("button", name="Find feeds").click()
    expect(page.get_by_text("Rain tomorrow")).to_be_visible()
    page.get_by_role("button", name=re.compile("Subscribe")).click()
    reader.wait_for_text("Subscribed.")

    page.get_by_role("link", name="Rain tomorrow").first.click()
    expect(page.get_by_role("article").get_by_text("About Rain tomorrow.")).to_be_visible()
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["The weather"]


def test_reading_with_the_keyboard_alone(desk: Reader, alice: Person, site: Publisher) -> None:
    """j j: the second one; f: star; m: unread again; k: the first; g b: the starred ones."""
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "desc"}, status=201)
    alice.has_feed(site, ["One", "Two", "Three"])
    page = desk.go("/unread")

    desk.press("j")
    expect(page.get_by_role("heading", level=1, name="One")).to_be_visible()
    desk.press("j")
    expect(page.get_by_role("heading", level=1, name="Two")).to_be_visible()
    with desk.marking():
        desk.press("f")
    expect(page.locator("#pane button[name=unstar]").first).to_be_attached()
    with desk.marking():
        desk.press("m")
    expect(page.locator("#pane button[name=read]").first).to_be_attached()
    desk.press("k")
    expect(page.get_by_role("heading", level=1, name="One")).to_be_visible()
    desk.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    desk.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    desk.press("g", "b")
    expect(page).to_have_url(re.compile("/starred$"))
    expect(page.get_by_role("link", name="Two")).to_be_visible()

    assert statuses(alice) == {"One": "read", "Two": "unread", "Three": "unread"}
    assert [entry["title"] for entry in alice.entries(starred="true")] == ["Two"]


def test_marking_all_read_can_be_undone(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two", "Three"])
    page = reader.go("/unread")

    reader.press("A")
    expect(page.get_by_role("status")).to_contain_text("3 marked read")
    assert set(statuses(alice).values()) == {"read"}
    page.get_by_role("button", name="Undo").click()

    expect(page.locator(".row.unread")).to_have_count(3)
    assert set(statuses(alice).values()) == {"unread"}


def test_searching(desk: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain tomorrow", "Sun today"])
    page = desk.go("/unread")

    desk.press("/")
    page.keyboard.type("rain -sun")
    desk.press("Enter")

    expect(page).to_have_url(re.compile(r"/search\?"))
    expect(page.locator(".row")).to_have_count(1)
    page.get_by_role("link", name="Rain tomorrow").click()
    expect(page.get_by_role("article").get_by_text("About Rain tomorrow.")).to_be_visible()


def test_many_feeds_are_moved_at_once(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_category("Weather")
    for _ in range(3):
        alice.has_feed(site)
    page = reader.go("/feeds")

    page.get_by_label("All on this page").check()
    expect(page.locator("#bulk [name=feed]:checked")).to_have_count(3)
    page.get_by_label("With the selected feeds").select_option(label="Weather")
    with page.expect_navigation():
        page.locator("#bulk").get_by_role("button", name="Apply").click()

    expect(page.get_by_role("status")).to_contain_text("3")
    assert {feed["category"]["title"] for feed in alice.get("/v1/feeds")} == {"Weather"}


def test_an_api_key_is_created_used_and_deleted(reader: Reader, service: RunningService, alice: Person) -> None:
    page = reader.go("/settings/api-keys")
    page.get_by_label("What it is for").fill("My phone")
    page.get_by_role("button", name="Create key").click()
    key = page.locator("#new-key").inner_text()

    command = ["curl", "--silent", "--fail", "--header", f"X-Auth-Token: {key}", f"{service.url}/v1/me"]
    wait_for_text = subprocess.run(command, check=True, capture_output=True, timeout=60).stdout
    assert json.loads(wait_for_text)["id"] == alice.id

    page = reader.go("/settings/api-keys")
    expect(page.locator("#new-key")).to_have_count(0)
    page.get_by_role("button", name="Delete the key “My phone”").click()
    expect(page.get_by_role("button", name="Delete the key “My phone”")).to_have_count(0)
    assert call(service.url, "GET", "/v1/me", headers={"X-Auth-Token": key}).status == 401


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_back_button_shows_nothing_after_signing_out(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, is_shared: bool
) -> None:
    alice.has_feed(site, ["Private reading"])
    with reading(browser, service, **SCREENS["wide"]) as stranger:
        page = stranger.go("/unread")
        page.get_by_label("Username").fill(alice.user.username)
        page.get_by_label("Password").fill(alice.password)
        if is_shared:
            page.get_by_label("This is a shared device").check()
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/unread")
        expect(page.get_by_text("Private reading").first).to_be_visible()
        stranger.go("/settings")
        page.locator("[popovertarget=account]").click()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/sign-in")

        for path in ("/settings", "/unread"):
            page.go_back()
            expect(page).to_have_url(f"{service.url}/sign-in?next={path}")
            expect(page.get_by_text("Private reading")).to_have_count(0)


def test_a_webhook_is_configured_and_tested(reader: Reader, site: Publisher) -> None:
    site.serve("/hook")
    page = reader.go("/settings/integrations/webhook")
    page.get_by_label("Switched on").check()
    page.get_by_label("Address").fill(site.url("/hook"))
    page.get_by_role("button", name="Save and test").click()
    expect(page.get_by_text("The test arrived.")).to_be_visible()
    secret = page.locator("[id^=made-]").inner_text()

    (delivered,) = site.wait_for(1, "/hook")
    signature = hmac.new(secret.encode(), delivered.body, hashlib.sha256).hexdigest()
    assert delivered.headers["x-miniflux-signature"] == signature
    assert json.loads(delivered.body)


def test_another_user_does_not_see_the_feed(
    browser: Browser, service: RunningService, alice: Person, bob: Person, site: Publisher
) -> None:
    alice.has_category("Alice’s secrets")
    feed = alice.has_feed(site, ["A secret entry"])
    (entry,) = alice.entries()
    with reading(browser, service) as reader:
        reader.set_session(bob)
        for path in ("/unread", "/starred", "/history", "/feeds", "/search?query=secret", "/settings/deliveries"):
            text = reader.go(path).content()
            assert "secret entry" not in text, path
            assert "Alice" not in text, path
        for path in (
            f"/unread/{entry['id']}",
            f"/entries/{entry['id']}",
            f"/feeds/{feed['id']}",
            f"/feeds/{feed['id']}/edit",
        ):
            assert reader.context.request.get(service.url + path).status == 404, path


def test_reading_without_script(plain: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])
    page = plain.go("/unread")

    page.get_by_role("link", name="One").click()
    expect(page.get_by_role("article").get_by_text("About One.")).to_be_visible()
    page.locator(".bottom").get_by_role("button", name="Star").click()
    page.wait_for_url(re.compile("/unread/"))
    expect(page.locator(".bottom").get_by_role("button", name="Starred")).to_be_visible()
    plain.go("/unread")
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_role("status")).to_contain_text("1 marked read")

    assert set(statuses(alice).values()) == {"read"}
    assert [one["title"] for one in alice.entries(starred="true")] == ["One"]


def test_subscribing_without_script(plain: Reader, alice: Person, site: Publisher) -> None:
    site.serve("/feed.xml", rss(["Rain tomorrow"], site.url("/feed.xml"), title="The weather"))
    page = plain.go("/feeds/add")
    page.get_by_label("Address of a site or a feed").fill(site.url("/feed.xml"))
    page.get_by_role("button", name="Find feeds").click()
    page.get_by_role("button", name=re.compile("Subscribe")).click()
    plain.wait_for_text("Subscribed.")
    expect(page.get_by_text("Rain tomorrow").first).to_be_visible()
    assert len(alice.get("/v1/feeds")) == 1


def test_five_hundred_feeds_are_imported(reader: Reader, alice: Person, site: Publisher, tmp_path: Path) -> None:
    outlines = "".join(f'<outline text="Feed {n}" xmlUrl="{site.url(f"/{n}.xml")}"/>' for n in range(500))
    file = tmp_path / "feeds.opml"
    file.write_text(
        f'<opml version="2.0"><body><outline text="Many">{outlines}</outline>'
        '<outline text="Broken" xmlUrl="gopher://example.org/"/></body></opml>'
    )

    page = reader.go("/feeds/import")
    page.get_by_label("OPML file").set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()

    expect(page.get_by_text("500 feeds imported.")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("Broken"))).to_be_visible()
    assert len(alice.get("/v1/feeds")) == 500


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_word_in_a_name_makes_no_page_wider_than_the_window(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, width: int
) -> None:
    word = "Donaudampfschifffahrtsgesellschaftskapitän" * 5
    category = alice.has_category(word)
    feed = alice.has_feed(site, ["One"], category_id=category["id"])
    alice.put(f"/v1/feeds/{feed['id']}", {"title": word}, status=201)
    (entry,) = alice.entries()
    with reading(browser, service, viewport={"width": width, "height": 844}) as reader:
        reader.set_session(alice)
        for path in (
            "/feeds",
            f"/feeds/{feed['id']}",
            f"/feeds/{feed['id']}/edit",
            f"/entries/{entry['id']}",
            "/categories",
            f"/categories/{category['id']}/delete",
        ):
            page = reader.go(path)
            assert page.evaluate("document.documentElement.scrollWidth") == width, path


def test_no_label_of_the_bar_below_an_article_is_cut(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One", "Two"])
    linkding = {"enabled": True, "url": "https://links.example.org", "token": "t"}
    alice.put("/v1/integrations", {"linkding": linkding}, status=201)
    with reading(browser, service, **SCREENS["phone"]) as reader:
        reader.set_session(alice)
        page = reader.go(f"/entries/{alice.entries()[0]['id']}")
        labels = page.locator(".bottom button span")
        expect(labels).to_have_text(["Unread", "Starred", "Save"])
        for label in labels.all():
            assert label.evaluate(
                "one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 1"
            )


def test_the_help_of_the_keyboard_has_a_name_and_a_button_to_close_it(desk: Reader) -> None:
    page = desk.go("/unread")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()

    page.get_by_role("button", name="Close").click()

    expect(page.get_by_role("dialog")).to_have_count(0)
