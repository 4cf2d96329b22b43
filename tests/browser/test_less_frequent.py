"""What is needed less often: tags, sharing, saved pages, OPML from an address, deleting the history, failing feeds."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.readers import Reader
from support.people import Person, rss
from support.publisher import Publisher

pytestmark = pytest.mark.slow

CATALOGUES = sum(one.name.endswith(".po") for one in files("tidings.web").joinpath("locale").iterdir())
ARTICLE = "<p>Clouds form where air rises, cools, and can no longer hold its water as vapour.</p>" * 12


def open_menu(page: Page) -> None:
    page.locator("#pane .tools").get_by_title("More", exact=True).click()
    expect(page.locator("#entry-menu")).to_be_visible()


def is_refused(reader: Reader, field: Locator, button: str, missing: str) -> None:
    """Submits an address where nothing is. The form says so, and keeps what was typed."""
    reader.tolerated = ("400 (Bad Request)",)
    field.fill(missing)
    reader.page.get_by_role("button", name=button).click()
    expect(reader.page.get_by_text("has nothing at this address (404)")).to_be_visible()
    expect(field).to_have_value(missing)


def test_a_tag_leads_to_the_entries_that_have_it(reader: Reader, alice: Person, site: Publisher) -> None:
    document = rss(["Rain", "Sun"], site.url("/tags.xml"))
    site.serve("/tags.xml", document.replace("<title>Rain</title>", "<title>Rain</title><category>Wet</category>"))
    alice.post("/v1/feeds", {"feed_url": site.url("/tags.xml")})
    page = reader.go("/unread")
    page.get_by_role("link", name="Rain").first.click()

    page.get_by_role("list", name="Tags").get_by_role("link", name="Wet").click()

    expect(page).to_have_url(re.compile("/tagged"))
    expect(page.locator(".row-title")).to_have_text(["Rain"])


def test_what_is_shared_is_listed_until_it_is_shared_no_more(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    page = reader.go("/unread")
    page.get_by_role("link", name="Sun").first.click()
    open_menu(page)
    page.get_by_role("button", name="Share by public link").click()
    expect(page.locator("#pane .shared")).to_be_visible()

    reader.go("/shared")
    expect(page.locator(".row-title")).to_have_text(["Sun"])
    page.get_by_role("link", name="Sun").first.click()
    open_menu(page)
    page.get_by_role("button", name="Stop sharing").click()
    expect(page.locator("#pane .shared")).to_have_count(0)
    reader.go("/shared")
    expect(page.locator(".row")).to_have_count(0)


def test_a_page_in_no_feed_is_saved_and_one_that_cannot_be_keeps_what_was_typed(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    site.serve("/clouds", f"<html><head><title>Clouds</title></head><body><article>{ARTICLE}</article></body></html>")
    page = reader.go("/feeds/add")
    address = page.get_by_label("Address of a site or a feed")
    is_refused(reader, address, "Save this page", site.url("/none"))
    address.fill(site.url("/clouds"))
    page.get_by_role("button", name="Save this page").click()
    expect(page.locator("#article h1")).to_have_text("Clouds")
    assert [entry["title"] for entry in alice.entries(starred="true")] == ["Clouds"]


def test_the_bookmark_opens_the_form_with_the_address_of_the_page(reader: Reader) -> None:
    page = reader.go("/feeds/add")
    page.get_by_text("Add from your browser").click()
    script = page.locator("#bookmarklet").inner_text()
    assert script.startswith("javascript:")
    target = re.search(r"https?://[^'\"`]+", script)
    assert target

    page.goto(f"{target[0]}https://example.org/post")
    expect(page.get_by_label("Address of a site or a feed")).to_have_value("https://example.org/post")


def test_feeds_are_imported_from_the_address_of_an_opml_file(reader: Reader, alice: Person, site: Publisher) -> None:
    site.serve("/weather.xml", rss(["Rain"], site.url("/weather.xml")))
    outline = f'<outline text="Weather" xmlUrl="{site.url("/weather.xml")}"/>'
    site.serve("/blogroll.opml", f'<opml version="2.0"><body>{outline}</body></opml>')
    page = reader.go("/feeds/import")
    address = page.get_by_label("Or its web address")
    is_refused(reader, address, "Fetch and import", site.url("/none.opml"))
    address.fill(site.url("/blogroll.opml"))
    page.get_by_role("button", name="Fetch and import").click()
    expect(page.get_by_text("1 feed imported").or_(page.get_by_text("One feed imported"))).to_be_visible()
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["Weather"]


def test_the_history_is_deleted_after_asking(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain", "Sun"])
    kept = next(entry for entry in alice.entries() if entry["title"] == "Sun")["id"]
    alice.put(f"/v1/entries/{kept}/bookmark", status=204)
    alice.put(f"/v1/feeds/{feed['id']}/mark-all-as-read", status=204)
    page = reader.go("/history/delete")
    expect(page.get_by_text("will be deleted for good")).to_be_visible()

    page.get_by_role("button", name="Delete history").click()

    expect(page.get_by_role("button", name="Delete history")).to_have_count(0)
    assert [entry["title"] for entry in alice.entries()] == ["Sun"]


def test_the_list_of_a_failing_feed_says_what_failed(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain"])
    site.serve(feed["feed_url"].removeprefix(site.url("")), "gone", status=410)
    page = reader.go(f"/feeds/{feed['id']}?show=all")

    page.locator("#refresh button").click()

    expect(page.locator(".trouble")).to_contain_text("410")
    page.locator(".trouble").get_by_role("link", name="Edit feed").click()
    expect(page).to_have_url(re.compile(f"/feeds/{feed['id']}/edit"))


def test_a_site_on_plain_http_is_found_without_its_scheme(reader: Reader, site: Publisher) -> None:
    site.serve("/weather.xml", rss(["Rain"], site.url("/weather.xml")))
    page = reader.go("/feeds/add")
    page.get_by_label("Address of a site or a feed").fill(site.url("/weather.xml").removeprefix("http://"))

    page.get_by_role("button", name="Find feeds").click()

    expect(page.get_by_role("button", name=re.compile("^Subscribe"))).to_be_visible()


def test_only_languages_that_exist_are_offered_and_a_chosen_one_is_spoken(reader: Reader) -> None:
    page = reader.go("/settings")
    language = page.locator("select[name=language]")
    for name, spoken in (("fr_FR", "fr"), ("ja_JP", "ja")):
        language.select_option(name)
        page.locator("form:has(select[name=language]) .buttons button").last.click()
        expect(page.locator("html")).to_have_attribute("lang", spoken)
    choices = language.locator("option").evaluate_all("all => all.map(one => one.value)")
    assert len(choices) == len(set(choices)) == 1 + CATALOGUES
