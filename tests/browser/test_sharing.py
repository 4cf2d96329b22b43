"""The menu of an entry: copy, share and send; what assistive technology hears of rows; code in articles."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import Reader, reading, wait_until
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow


@pytest.fixture
def reader(browser: Browser, alice: Person) -> Iterator[Reader]:
    permissions = ["clipboard-read", "clipboard-write"]
    with reading(browser, alice.service, viewport={"width": 1300, "height": 900}, permissions=permissions) as opened:
        opened.set_session(alice)
        yield opened


def test_the_public_link_is_copied_and_shared(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain & sun?"])
    reader.context.add_init_script("navigator.share = async (what) => { window.shared = what }")
    page = reader.go(f"/unread/{alice.entries()[0]['id']}")
    more = page.locator("#pane").get_by_title("More", exact=True)
    # One click makes the link and copies it. The button at the same place copies it again.
    expect(page.get_by_role("button", name="Copy public link")).to_have_count(0)
    page.locator("#pane .tools").get_by_role("button", name="Share by public link").click()
    reader.wait_for_text("Anyone can read it at")
    reader.wait_for_text("· Copied")
    link = f"{alice.service.url}/share/{alice.entries()[0]['share_code']}"
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.evaluate("navigator.clipboard.writeText('')")
    page.locator("#pane .tools").get_by_role("button", name="Copy public link").click()
    wait_until(page, lambda: page.evaluate("navigator.clipboard.readText()") == link)
    reader.wait_for_text("Copied")

    more.click()
    page.get_by_role("button", name="Share with an app").click()
    page.wait_for_function("window.shared")
    assert page.evaluate("window.shared") == {"title": "Rain & sun?", "url": link}
    mail = page.get_by_role("link", name="Send by email").get_attribute("href")
    assert mail
    assert parse_qs(urlsplit(mail).query) == {"subject": ["Rain & sun?"], "body": [link]}


def test_a_key_shares_and_the_link_stays_with_a_button_to_copy_it(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    page = reader.go(f"/unread/{alice.entries()[0]['id']}")

    reader.press("S")
    reader.wait_for_text("Anyone can read it at")
    link = f"{alice.service.url}/share/{alice.entries()[0]['share_code']}"
    page.reload()
    expect(page.locator("#pane .shared")).to_have_text(link)
    page.locator("#pane").get_by_role("button", name="Copy", exact=True).click()
    reader.wait_for_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == link


def test_unread_rows_say_so(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])
    page = reader.go("/unread")

    def heard() -> int:
        nodes = reader.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
        texts = [node for node in nodes if not node.get("ignored") and node["role"]["value"] == "StaticText"]
        rows = page.locator(".row").count()
        assert rows == 2
        return sum(text["name"]["value"] == "Unread" for text in texts)

    # Chromium changes what assistive technology hears a moment later. The sidebar and the bar below have a line with
    # this name, too, and the list its heading.
    wait_until(page, lambda: heard() == 2 + 3)
    page.locator(".row", has_text="One").get_by_title("Mark as read").click()
    expect(page.locator(".row.unread")).to_have_count(1)
    wait_until(page, lambda: heard() == 1 + 3)


@pytest.mark.parametrize(
    ("language", "text", "direction"),
    [
        ("he-IL", "Python גרסה 3.15 שוחררה", "rtl"),
        ("he-IL", "A text in English only", "ltr"),
        ("en", "גרסה חדשה של Python", "rtl"),
        ("", "Python גרסה 3.15", "ltr"),
    ],
)
def test_the_language_of_a_feed_decides_about_texts_that_begin_with_a_latin_name(
    reader: Reader, alice: Person, site: Publisher, language: str, text: str, direction: str
) -> None:
    item = f"<item><title>{text}</title><link>https://example.org/1</link><description>{text}!</description></item>"
    named = f"<language>{language}</language>"
    site.serve("/news.xml", f'<rss version="2.0"><channel><title>News</title>{named}{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/news.xml")})

    for path, parts in (
        ("/unread", (".row-title", ".row-excerpt")),
        (f"/entries/{alice.entries()[0]['id']}", ("#pane h1", ".content")),
    ):
        page = reader.go(path)
        for part in parts:
            assert page.locator(part).first.evaluate("one => getComputedStyle(one).direction") == direction, part


def test_code_is_written_from_left_to_right_in_every_article(reader: Reader, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    text = "<p>שלום עולם <code>rm -rf ./build</code></p><pre>if (x &lt; 3) { return; }</pre>"
    fields = {"title": "קוד", "url": "https://example.org/code", "content": text}
    entry = alice.post(f"/v1/feeds/{feed['id']}/entries/import", fields)["id"]
    page = reader.go(f"/entries/{entry}")

    assert page.locator(".content p").evaluate("one => getComputedStyle(one).direction") == "rtl"
    for part in ("pre", "code"):
        assert page.locator(f".content {part}").evaluate("one => getComputedStyle(one).direction") == "ltr"
