"""Each key that `?` lists does what it says there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.readers import Reader, reading
from support.people import Person, rss
from support.publisher import Publisher
from support.running import RunningService
from tidings.domain.accounts.users import User
from tidings.web.shortcuts import help_groups

pytestmark = pytest.mark.slow

# Here or in test_journeys.py.
TESTED = (
    set("jknpovVcCmMfsSdAzrR/+?→←aFwGJK#")
    | {"g u", "g b", "g h", "g f", "g c", "g s", "g g", "Enter", "Esc"}
    | {"Space", "Shift+Space", "PageDown", "PageUp", "Home", "End"}
    # S in test_sharing, P in test_players, l in test_labels.
    | {"P", "l"}
)


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "desc"}, status=201)
    with reading(browser, service, viewport={"width": 1280, "height": 800}) as created:
        created.set_session(alice)
        yield created


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
    created = alice.post("/v1/feeds", {"feed_url": site.url("/talks.xml")})
    return f"/feeds/{created['feed_id']}"


@pytest.fixture
def long_reads(alice: Person, site: Publisher) -> str:
    """The path of a feed of three entries, each several windows long; the second has a recording."""
    recording = f'<enclosure url="{site.url("/talk.mp3")}" type="audio/mpeg" length="1000"/>'
    items = "".join(
        f"<item><title>{title}</title><link>{site.url('/page')}?{title}</link><guid>{title}</guid>"
        f"<pubDate>{20 - day} Sep 2026 10:00:00 GMT</pubDate>{recording if title == 'Second' else ''}"
        f"<description>{'&lt;p&gt;A line of a long article.&lt;/p&gt;' * 80}</description></item>"
        for day, title in enumerate(("First", "Second", "Third"))
    )
    site.serve("/long.xml", f'<rss version="2.0"><channel><title>Long reads</title>{items}</channel></rss>')
    created = alice.post("/v1/feeds", {"feed_url": site.url("/long.xml")})
    return f"/feeds/{created['feed_id']}"


def scrolled(page: Page, selector: str = "#pane") -> float:
    position: float = page.locator(selector).evaluate("box => box.scrollTop")
    return position


def statuses(person: Person) -> dict[str, str]:
    return {entry["title"]: entry["status"] for entry in person.entries()}


def shows(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()


def test_every_listed_key_is_tested() -> None:
    groups = help_groups(User(1, "alice", is_admin=False, last_login_at=None))

    assert {key for _title, lines in groups for line in lines for key in line.keys} == TESTED


def test_keys_go_to_places(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go("/starred")
    places = {"u": "/unread", "b": "/starred", "h": "/history", "f": "/feeds", "c": "/categories", "s": "/settings"}

    for key, path in places.items():
        reader.press("g", key)
        expect(page).to_have_url(re.compile(f"{path}$"))
        page.wait_for_load_state()
    reader.press("+")
    expect(page).to_have_url(re.compile("/feeds/add$"))
    # In a text field letters are letters; Esc leaves it.
    page.get_by_label("Address of a site or a feed").fill("example.org")
    reader.press("j", "g", "u")
    expect(page.get_by_label("Address of a site or a feed")).to_have_value("example.orgjgu")
    reader.press("Escape", "/")
    page.keyboard.type("rain")
    reader.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?.*query=rain"))
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
    reader.wait_for_text("no third-party integration enabled")
    assert set(statuses(alice).values()) == {"read"}


def test_undo_takes_back_one_change_after_the_other(reader: Reader, alice: Person, talks: str) -> None:
    page = reader.go(talks)
    rows = page.locator(".row")
    expect(rows).to_have_count(3)

    def changes_to(*, unread: int, starred: int, key: str) -> None:
        with reader.marking():
            reader.press(key)
        expect(page.locator(".row.unread")).to_have_count(unread)
        expect(page.locator(".row.starred")).to_have_count(starred)

    rows.nth(1).locator(".row-title a").focus()
    changes_to(unread=2, starred=0, key="m")
    changes_to(unread=3, starred=0, key="m")
    changes_to(unread=3, starred=1, key="f")
    changes_to(unread=3, starred=0, key="z")
    reader.wait_for_text("Undone.")
    changes_to(unread=2, starred=0, key="z")
    changes_to(unread=3, starred=0, key="z")
    reader.press("z")
    reader.wait_for_text("There was nothing to undo.")

    assert set(statuses(alice).values()) == {"unread"}
    assert not alice.entries(starred="1")


def test_undo_after_a_star_takes_back_what_a_list_has_marked(reader: Reader, alice: Person, talks: str) -> None:
    page = reader.go(talks)
    rows = page.locator(".row")
    expect(rows).to_have_count(3)
    first, second = (rows.nth(at).get_attribute("id") for at in (0, 1))

    rows.nth(2).hover()
    rows.nth(2).get_by_title("Mark above as read").click()
    reader.wait_for_text("2 marked read")
    expect(page.locator(".row.unread")).to_have_count(1)
    for key in ("f", "z"):
        page.locator(f"#{first} .row-title a").focus()
        with reader.marking():
            reader.press(key)
        expect(page.locator(".row.starred")).to_have_count(1 if key == "f" else 0)
    alice.put("/v1/entries", {"entry_ids": [int((second or "")[1:])], "starred": True})
    reader.press("z")

    # Another device has changed the second one.
    reader.wait_for_text("1 unread again")
    expect(page.locator(".row.unread")).to_have_count(2)
    expect(page.locator(f"#{second}.unread")).to_have_count(0)


def test_keys_refresh_mark_read_and_undo(reader: Reader, alice: Person, talks: str, site: Publisher) -> None:
    page = reader.go(talks)
    rows = page.locator(".row")
    expect(rows).to_have_count(3)
    site.serve("/talks.xml", rss(["New"], site.url("/talks.xml")))

    reader.press("r")
    reader.wait_for_text("Checked.")
    expect(rows).to_have_count(4)
    reader.press("R")
    reader.wait_for_text("Nothing to check")

    reader.press("n", "n")
    shows(page, "One")
    reader.press("ArrowRight")
    shows(page, "Two")
    reader.press("ArrowLeft")
    shows(page, "One")
    with reader.marking():
        reader.press("M")
    shows(page, "New")
    expect(page.locator(".row.unread .row-title")).to_have_text(["One", "Three"])
    # What was read stays in the list until it is asked for anew; the article stays open.
    expect(rows).to_have_count(4)
    reader.press("r")
    expect(rows).to_have_count(2)
    shows(page, "New")
    reader.press("A")
    reader.wait_for_text("2 marked read")
    expect(page.locator(".row.unread")).to_have_count(0)
    reader.press("z")
    reader.wait_for_text("2 unread again")
    expect(page.locator(".row.unread")).to_have_count(2)
    assert statuses(alice) == {"New": "read", "One": "unread", "Two": "read", "Three": "unread"}


def test_a_key_refreshes_all_lists_as_their_button_does(
    reader: Reader, alice: Person, talks: str, site: Publisher
) -> None:
    page = reader.go("/unread")
    expect(page.locator(".row")).to_have_count(3)
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/feeds/refresh")):
        reader.press("r")


def test_a_setting_makes_keys_open_the_original(reader: Reader, alice: Person, talks: str, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"always_open_external_links": True}, status=201)
    page = reader.go(talks)

    with reader.context.expect_page() as opened:
        page.get_by_role("link", name="One").click()
    expect(opened.value).to_have_url(site.url("/page?One"))
    opened.value.close()
    reader.press("j")
    expect(page.locator(".row-title a", has_text="Two")).to_be_focused()
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


def test_an_open_article_has_the_keys_that_scroll(reader: Reader, long_reads: str) -> None:
    page = reader.go(long_reads)
    page.get_by_role("link", name="First", exact=True).click()
    shows(page, "First")
    expect(page.locator("#pane")).to_be_focused()
    end = page.locator("#pane").evaluate("box => box.scrollHeight - box.clientHeight")
    assert end > 2000

    # The first key may have to wait for its script.
    reader.press("PageDown")
    page.wait_for_function("() => document.querySelector('#pane').scrollTop > 0")
    reader.press("Home")
    # Wherever the focus is: on the article, on a row, on a link of the sidebar, or on nothing.
    places = ("#pane", "#column .row-title a", "#sidebar a", "")
    for place in places:
        page.locator(place).first.focus() if place else page.evaluate("document.activeElement.blur()")
        found = [scrolled(page)]
        for key in ("PageDown", "Space", "PageUp", "Shift+Space", "End", "Home"):
            reader.press(key)
            found.append(scrolled(page))
        assert found[0] == 0 < found[1] < 800 - 56, place
        assert found == [0, found[1], 2 * found[1], found[1], 0, end, 0], place
    assert scrolled(page, "#column") == 0
    assert page.evaluate("scrollY") == 0
    # A button keeps the key that presses it.
    page.locator("#pane .tools [name=star]").focus()
    reader.press("Space")
    expect(page.locator("#pane .tools [name=unstar]")).to_be_visible()
    assert scrolled(page) == 0


def test_repeated_key_presses_add_up_while_the_article_scrolls(reader: Reader, long_reads: str) -> None:
    page = reader.go(long_reads)
    page.emulate_media(reduced_motion="no-preference")
    reader.press("j")
    shows(page, "First")
    expect(page.locator("#pane")).to_be_focused()

    reader.press("Space", "Space", "Space")
    page.wait_for_function("() => document.querySelector('#pane').scrollTop > 1500")
    reader.press("Home")
    page.wait_for_function("() => document.querySelector('#pane').scrollTop === 0")


def test_at_the_end_of_an_article_space_opens_the_next_unread_one(
    reader: Reader, alice: Person, long_reads: str
) -> None:
    second = next(entry["id"] for entry in alice.entries() if entry["title"] == "Second")
    alice.put("/v1/entries", {"entry_ids": [second], "status": "read"})
    page = reader.go(f"{long_reads}?show=all")

    reader.press("Space")
    shows(page, "First")
    reader.press("End", "Space")
    # The second was read before.
    shows(page, "Third")
    assert scrolled(page) == 0
    reader.press("End", "Space")
    reader.wait_for_text("Nothing unread further down.")
    shows(page, "Third")
    assert set(statuses(alice).values()) == {"read"}


def test_escape_returns_to_the_row_of_the_open_article(reader: Reader, long_reads: str) -> None:
    page = reader.go(long_reads)
    page.get_by_role("link", name="First", exact=True).click()
    shows(page, "First")
    page.locator("#pane .tools [rel=next]").click()
    shows(page, "Second")
    expect(page.locator("#pane")).to_be_focused()

    reader.press("Escape")
    expect(page.get_by_role("link", name="Second", exact=True).and_(page.locator("#column a"))).to_be_focused()
    # From there arrows, Tab and letters go on; the article still scrolls.
    reader.press("Space")
    page.wait_for_function("() => document.querySelector('#pane').scrollTop > 0")
    reader.press("j")
    shows(page, "Third")


def test_keys_go_to_first_and_last_entry_layout_enclosure_and_feed(
    reader: Reader, alice: Person, site: Publisher, long_reads: str
) -> None:
    site.serve("/weather.xml", rss(["Rain"], site.url("/weather.xml")))
    weather = alice.post("/v1/feeds", {"feed_url": site.url("/weather.xml")})["feed_id"]
    page = reader.go(long_reads)
    rows = page.locator("#column .row-title a")
    reader.press("Shift+G")
    expect(rows.last).to_be_focused()
    reader.press("g", "g")
    expect(rows.first).to_be_focused()
    reader.press("j")
    shows(page, "Second")
    reader.wait_for_part("player")

    reader.press("a")
    play = page.locator("#pane .player").get_by_role("button", name="Play", exact=True)
    expect(play).to_be_in_viewport()
    expect(play).to_be_focused()
    reader.press("a")
    expect(page.locator("#pane")).to_be_focused()
    assert scrolled(page) == 0
    with page.expect_response("**/view"):
        reader.press("w")
    expect(page.locator("html")).to_have_attribute("data-measure", "wide")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-measure", "wide")

    reader.go("/unread")
    page.locator("#column .row-title a", has_text="Third").focus()
    reader.press("Shift+F")
    expect(page).to_have_url(re.compile(f"{long_reads}$"))
    page.wait_for_load_state()
    # "A feed" comes before "Long reads".
    reader.press("Shift+K")
    expect(page).to_have_url(re.compile(f"/feeds/{weather}$"))
    page.wait_for_load_state()
    reader.press("Shift+J")
    expect(page).to_have_url(re.compile(f"{long_reads}$"))


def test_a_key_unsubscribes_after_asking(reader: Reader, alice: Person, long_reads: str) -> None:
    page = reader.go(long_reads)
    reader.press("j")
    shows(page, "First")

    reader.press("#")
    expect(page.get_by_text("This feed will be deleted, with all of its entries:")).to_be_visible()
    expect(page.locator(".deleted-feeds")).to_have_text("Long reads")
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["Long reads"]
    page.get_by_role("button", name="Delete feed").click()
    reader.wait_for_text("1 feed deleted.")
    assert alice.get("/v1/feeds") == []
