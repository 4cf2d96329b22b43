"""Each key that `?` lists does what it says there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.readers import LIMIT_MS, Reader, reading
from support.people import Person, rss
from support.publisher import Publisher
from support.running import RunningService
from tidings.web.live import KEYS

expect.set_options(timeout=LIMIT_MS)

# Here or in test_journeys.py.
TRIED = set("jknpovVcCmMfsdAzrR/+?→←") | {"g u", "g b", "g h", "g f", "g c", "g s", "Enter", "Esc"}


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "desc"}, status=201)
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as made:
        made.is_known(alice)
        yield made


@pytest.fixture
def talks(alice: Person, site: Publisher) -> str:
    """The path of a feed of three entries, whose pages and comments are there."""
    site.serve("/page", "<article><h1>Page</h1>" + "<p>The whole article, from its own page.</p>" * 20 + "</article>")
    site.serve("/talk", "<p>Comments</p>")
    # Browsers ask for it on their own.
    site.serve("/favicon.ico")
    items = "".join(
        f"<item><title>{title}</title><link>{site.url('/page')}?{title}</link><comments>{site.url('/talk')}?{title}"
        f"</comments><guid>{title}</guid><pubDate>{20 - day} Sep 2026 10:00:00 GMT</pubDate>"
        "<description>Short.</description></item>"
        for day, title in enumerate(("One", "Two", "Three"))
    )
    site.serve("/talks.xml", f'<rss version="2.0"><channel><title>Talks</title>{items}</channel></rss>')
    made = alice.post("/v1/feeds", {"feed_url": site.url("/talks.xml")})
    return f"/feeds/{made['feed_id']}"


def statuses(person: Person) -> dict[str, str]:
    return {entry["title"]: entry["status"] for entry in person.entries()}


def shows(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()


def test_no_key_is_listed_that_is_not_tried() -> None:
    assert {key for _name, keys in KEYS for pressed, _what in keys for key in pressed} == TRIED


def test_keys_go_to_places(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go("/unread")
    places = {"u": "/unread", "b": "/starred", "h": "/history", "f": "/feeds", "c": "/categories", "s": "/settings"}

    for key, path in places.items():
        reader.press("g", key)
        expect(page).to_have_url(re.compile(f"{path}$"))
        page.wait_for_load_state()
    reader.press("+")
    expect(page).to_have_url(re.compile("/feeds/add$"))
    # Where somebody types, letters are letters; Esc ends that.
    page.get_by_label("Address of a site or a feed").fill("example.org")
    reader.press("j", "g", "u")
    expect(page.get_by_label("Address of a site or a feed")).to_have_value("example.orgjgu")
    reader.press("Escape", "/")
    page.keyboard.type("rain")
    reader.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?.*q=rain"))
    shows(page, "Search")


def test_keys_open_what_belongs_to_an_entry(reader: Reader, alice: Person, talks: str, site: Publisher) -> None:
    page = reader.go(talks)
    for key, path in (("v", "/page?Two"), ("c", "/talk?Two")):
        page.locator(".row-title a", has_text="Two").focus()
        with reader.context.expect_page() as opened:
            reader.press(key)
        expect(opened.value).to_have_url(site.url(path))
        opened.value.close()
    # Who saw the original has read it.
    expect(page.locator(".row.unread")).to_have_count(2)
    for key, path in (("V", "/page?Three"), ("C", "/talk?Three")):
        page.locator(".row-title a", has_text="Three").focus()
        reader.press(key)
        expect(page).to_have_url(site.url(path))
        page.go_back()
        page.wait_for_load_state()

    reader.go(talks)
    page.locator(".row-title a", has_text="One").focus()
    reader.press("Enter")
    shows(page, "One")
    reader.press("d")
    expect(page.get_by_role("article").get_by_text("The whole article, from its own page.").first).to_be_visible()
    reader.press("s")
    reader.told("No service to save entries to is switched on")
    assert set(statuses(alice).values()) == {"read"}


def test_keys_refresh_mark_and_take_back(reader: Reader, alice: Person, talks: str, site: Publisher) -> None:
    page = reader.go(talks)
    rows = page.locator(".row")
    expect(rows).to_have_count(3)
    site.serve("/talks.xml", rss(["New"], site.url("/talks.xml")))

    reader.press("r")
    reader.told("Checked.")
    expect(rows).to_have_count(4)
    reader.press("R")
    reader.told("Nothing to check")

    reader.press("n", "n")
    shows(page, "One")
    reader.press("ArrowRight")
    shows(page, "Two")
    reader.press("ArrowLeft")
    shows(page, "One")
    reader.press("M")
    shows(page, "New")
    expect(page.locator(".row.unread .row-title")).to_have_text(["One", "Three"])
    # What was read stays in the list until it is asked for anew; the article stays open.
    expect(rows).to_have_count(4)
    reader.press("r")
    expect(rows).to_have_count(2)
    shows(page, "New")
    reader.press("A")
    reader.told("2 marked read")
    expect(page.locator(".row.unread")).to_have_count(0)
    reader.press("z")
    reader.told("2 unread again")
    expect(page.locator(".row.unread")).to_have_count(2)
    assert statuses(alice) == {"New": "read", "One": "unread", "Two": "read", "Three": "unread"}


def test_whoever_wants_originals_at_once_gets_them(reader: Reader, alice: Person, talks: str, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"always_open_external_links": True}, status=201)
    page = reader.go(talks)

    with reader.context.expect_page() as opened:
        page.get_by_role("link", name="One").click()
    expect(opened.value).to_have_url(site.url("/page?One"))
    opened.value.close()
    reader.press("j")
    with reader.context.expect_page() as opened:
        reader.press("o")
    expect(opened.value).to_have_url(site.url("/page?Two"))

    expect(page.locator(".row.unread")).to_have_count(1)
    expect(page).to_have_url(re.compile(f"{talks}$"))


def test_in_a_list_alone_keys_go_from_page_to_page(reader: Reader, alice: Person, talks: str) -> None:
    alice.put(f"/v1/users/{alice.id}", {"mark_read_on_view": False}, status=201)
    cookie = {"name": "tidings_view", "value": "columns=list", "url": reader.service.url}
    reader.context.add_cookies([cookie])  # type: ignore[list-item]
    page = reader.go(talks)

    reader.press("k", "j", "o")
    shows(page, "Two")
    page.wait_for_load_state()
    reader.press("n")
    shows(page, "Three")
    page.wait_for_load_state()
    reader.press("p")
    shows(page, "Two")
    page.wait_for_load_state()
    reader.press("Escape")
    expect(page).to_have_url(re.compile(f"{talks}$"))
    assert set(statuses(alice).values()) == {"unread"}
