"""Making a feed from a page by clicking on it: few clicks, by keyboard as well, and nothing of the page runs."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from browser.page_checks import findings, sticking_out
from browser.readers import Reader
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

# What a suggestion takes for the items, above what the reader wants.
TEASERS = "".join(
    f'<div class="teaser"><h2><a href="/story/{one}">A long story about life in quarter number {one}</a></h2></div>'
    for one in range(5)
)
NOTICES = "".join(
    f'<tr><td><a href="/notice/{one}">Notice {one} of the town</a></td><td>{one + 1} March 2026</td></tr>'
    for one in range(4)
)
TOWN = f"<title>Town</title><nav><a href='/'>Home</a></nav>{TEASERS}<table id=notices>{NOTICES}</table>"
SAFE = frozenset({"html", "head", "meta", "title", "link", "body", "main", "div", "span", "p", "a", "h1", "h2", "table",
    "tbody", "tr", "td"})  # fmt: skip
HOSTILE = """
<meta http-equiv="refresh" content="0;url=http://other.example/refreshed">
<base href="http://other.example/">
<link rel="stylesheet" href="http://other.example/style.css"><style>@import "http://other.example/more.css";</style>
<script>parent.ran = top.ran = 1; fetch("http://other.example/fetched")</script>
<script src="http://other.example/script.js"></script>
<img src="x" onerror="parent.ran = 1" alt="A picture"><img src="http://other.example/picture.png" alt="">
<svg onload="parent.ran = 1"><a xlink:href="javascript:parent.ran=1"><text>Drawing</text></a></svg>
<iframe srcdoc="<script>top.ran = 1</script>"></iframe><object data="http://other.example/object"></object>
<video src="http://other.example/video" autoplay></video><input autofocus onfocus="parent.ran = 1">
<p onclick="parent.ran = 1" onmouseover="parent.ran = 1" style="background: url(http://other.example/css)">Touch me</p>
<a href="javascript:parent.ran=1">Run me</a> <a href="http://other.example/left" target="_top">Leave me</a>
<form action="http://other.example/sent" target="_top"><input name="csrf">
<button formaction="/sign-out">Send me</button></form>
<math><mtext><table><mglyph><style><!--</style>
<img title="--&gt;&lt;img src=1 onerror=parent.ran=1&gt;">
</table></mtext></math>
"""


class Hand:
    """Clicks, or taps where the screen is touched, and counts."""

    def __init__(self, page: Page, *, taps: bool) -> None:
        self.page = page
        self._taps = taps
        self.count = 0

    def click(self, what: Locator) -> None:
        self.count += 1
        if self._taps:
            what.tap()
        else:
            what.click()


def opened(reader: Reader, url: str) -> tuple[Hand, FrameLocator]:
    """Return the page on which a feed is made, after one click: the address was typed and sent with Enter."""
    page = reader.go("/feeds/add")
    hand = Hand(page, taps=page.evaluate("matchMedia('(pointer: coarse)').matches"))
    page.get_by_label("Address of a site or a feed").fill(url)
    page.keyboard.press("Enter")
    hand.click(page.get_by_role("button", name="Make a feed from this page"))
    frame = page.frame_locator("iframe")
    frame.locator(".outline").wait_for()
    reader.wait_for_part("picking")
    return hand, frame


def test_a_page_becomes_a_feed_in_fewer_than_six_clicks(reader: Reader, alice: Person, site: Publisher) -> None:
    hand, frame = opened(reader, site.serve("/news", TOWN))
    page = reader.page
    result = page.locator("#result")
    expect(result.locator(".preview li")).to_have_count(5)
    expect(frame.locator(".is-item")).to_have_count(5)

    hand.click(frame.get_by_role("link", name="Notice 2 of the town"))
    expect(result.locator(".preview li")).to_have_count(4)
    expect(page.get_by_role("radio", name="Title")).to_be_checked()
    expect(frame.locator("tr.is-item")).to_have_count(4)
    hand.click(frame.get_by_role("link", name="Notice 1 of the town"))
    expect(page.get_by_role("radio", name="Date")).to_be_checked()
    hand.click(frame.get_by_role("link", name="2 March 2026"))
    expect(result.get_by_text("Date: 4 of 4")).to_be_visible()
    expect(frame.locator(".is-date")).to_have_count(4)
    hand.click(page.get_by_role("button", name="Subscribe"))
    reader.wait_for_text("Subscribed.")

    assert hand.count < 6
    (feed,) = alice.get("/v1/feeds")
    assert (feed["kind"], feed["selectors"]["link"]) == ("html+css", "a@href")
    entries = alice.entries()
    assert sorted(entry["title"] for entry in entries) == [f"Notice {one} of the town" for one in range(4)]
    assert {entry["url"] for entry in entries} == {site.url(f"/notice/{one}") for one in range(4)}
    assert sorted(entry["published_at"][:10] for entry in entries) == [f"2026-03-0{one}" for one in range(1, 5)]


@pytest.mark.parametrize("kind", ["html+css", "html+xpath"])
def test_a_feed_gets_other_selectors_in_five_clicks(reader: Reader, alice: Person, site: Publisher, kind: str) -> None:
    selectors = {"item": "div.teaser" if kind == "html+css" else "//div[@class='teaser']", "title": "h2"}
    fields = {"feed_url": site.serve("/news", TOWN), "kind": kind, "selectors": selectors}
    feed_id = alice.post("/v1/feeds", fields)["feed_id"]
    page = reader.go(f"/feeds/{feed_id}/edit")
    hand = Hand(page, taps=page.evaluate("matchMedia('(pointer: coarse)').matches"))
    result = page.locator("#result")

    hand.click(page.get_by_role("button", name="Choose on the page"))
    frame = page.frame_locator("iframe")
    expect(frame.locator(".is-item")).to_have_count(5)
    reader.wait_for_part("picking")
    expect(page.locator("#field-item")).to_have_value(selectors["item"])
    hand.click(frame.get_by_role("link", name="Notice 2 of the town"))
    expect(result.locator(".preview li")).to_have_count(4)
    hand.click(frame.get_by_role("link", name="Notice 1 of the town"))
    expect(page.get_by_role("radio", name="Date")).to_be_checked()
    hand.click(frame.get_by_role("link", name="2 March 2026"))
    expect(result.get_by_text("Date: 4 of 4")).to_be_visible()
    assert sticking_out(page) == []
    hand.click(page.get_by_role("button", name="Save"))
    reader.wait_for_text("Saved.")

    assert hand.count == 5
    feed = alice.get(f"/v1/feeds/{feed_id}")
    assert feed["kind"] == kind
    assert {"item", "title", "link", "date"} <= feed["selectors"].keys()
    assert feed["selectors"]["date"] == ("td:nth-of-type(2)" if kind == "html+css" else ".//td[2]")


def test_json_becomes_a_feed_by_clicking(reader: Reader, alice: Person, site: Publisher) -> None:
    posts = [{"heading": f"Post {one}", "to": f"/p/{one}", "at": f"2026-05-0{one + 1}"} for one in range(4)]
    body = json.dumps({"about": {"by": "<b>Town</b>"}, "data": {"posts": posts}})
    fields = {"feed_url": site.serve("/posts", body), "kind": "json", "selectors": {"item": "about", "title": "by"}}
    feed_id = alice.post("/v1/feeds", fields)["feed_id"]
    page = reader.go(f"/feeds/{feed_id}/edit")
    hand = Hand(page, taps=page.evaluate("matchMedia('(pointer: coarse)').matches"))
    hand.click(page.get_by_role("button", name="Choose on the page"))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("link", name="by: <b>Town</b>")).to_be_visible()
    reader.wait_for_part("picking")

    hand.click(frame.get_by_role("link", name="heading: Post 2"))
    expect(page.locator("#result .preview li")).to_have_count(4)
    expect(frame.locator(".is-item")).to_have_count(4)
    hand.click(page.locator("#parts label", has_text="Link"))
    hand.click(frame.get_by_role("link", name="to: /p/1"))
    expect(page.get_by_role("radio", name="Date")).to_be_checked()
    hand.click(frame.get_by_role("link", name="at: 2026-05-02"))
    expect(page.locator("#result").get_by_text("Date: 4 of 4")).to_be_visible()
    assert findings(page, in_the_dark=True) == []
    assert sticking_out(page) == []
    hand.click(page.get_by_role("button", name="Save"))
    reader.wait_for_text("Saved.")

    assert alice.get(f"/v1/feeds/{feed_id}")["selectors"] == {
        "item": "$.data.posts[*]", "title": "heading", "link": "to", "date": "at",
    }  # fmt: skip


def test_nothing_of_the_page_runs_or_is_asked_for(reader: Reader, site: Publisher) -> None:
    url = site.serve("/news", HOSTILE + TOWN)
    asked: list[str] = []
    reader.context.on("request", lambda request: asked.append(request.url))
    scripts: list[str] = []
    debugger = reader.context.new_cdp_session(reader.page)
    debugger.on("Debugger.scriptParsed", lambda script: scripts.append(script["url"]))
    debugger.send("Debugger.enable")
    hand, frame = opened(reader, url)
    page = reader.page
    where = page.url

    for text in ("Touch me", "Run me", "Leave me", "Send me"):
        expect(page.locator("form[aria-busy]")).to_have_count(0)
        hand.click(page.locator("#parts label").first)
        hand.click(frame.get_by_role("link", name=text))
    for _ in range(20):
        page.keyboard.press("Tab")
    expect(page.locator("form[aria-busy]")).to_have_count(0)

    assert page.evaluate("window.ran") is None
    assert page.url == where
    assert len(page.frames) == 2
    assert page.frames[1].url == f"{reader.service.url}/feeds/from-page/outline"
    assert {
        tag.lower() for tag in page.frames[1].evaluate("[...document.querySelectorAll('*')].map((e) => e.tagName)")
    } <= SAFE
    assert [one for one in asked if not one.startswith(reader.service.url)] == []
    assert [one for one in scripts if one and not one.startswith(f"{reader.service.url}/static/")] == []


def test_the_keyboard_picks_too(reader: Reader, site: Publisher) -> None:
    _hand, frame = opened(reader, site.serve("/news", TOWN))
    page = reader.page
    page.get_by_role("radio", name="Item").focus()

    frame.get_by_role("link", name="Notice 2 of the town").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#result .preview li")).to_have_count(4)
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")

    expect(page.locator("#result")).to_be_focused()


def test_a_link_that_is_followed_picks_as_well(reader: Reader, site: Publisher) -> None:
    """As in browsers that call no listeners of ours in a frame without scripts."""
    _hand, frame = opened(reader, site.serve("/news", TOWN))
    number = frame.get_by_role("link", name="Notice 2 of the town").get_attribute("href")

    reader.page.evaluate("(hash) => { document.querySelector('iframe').contentWindow.location.hash = hash }", number)

    expect(reader.page.locator("#result .preview li")).to_have_count(4)
    assert reader.page.frames[1].url == f"{reader.service.url}/feeds/from-page/outline"


def test_a_pick_outside_of_the_items_is_explained(reader: Reader, site: Publisher) -> None:
    hand, frame = opened(reader, site.serve("/news", TOWN))
    page = reader.page

    hand.click(page.locator("#parts label", has_text="Date"))
    hand.click(frame.get_by_role("link", name="2 March 2026"))

    expect(page.get_by_text("That is outside of the items.")).to_be_visible()
    expect(page.locator("#result .preview li")).to_have_count(5)


def test_the_page_for_picking_is_accessible(reader: Reader, site: Publisher) -> None:
    _hand, frame = opened(reader, site.serve("/news", TOWN))
    page = reader.page
    expect(frame.locator(".is-item")).to_have_count(5)
    page.locator("#selectors > summary").click()

    assert findings(page, in_the_dark=True) == []
    assert sticking_out(page) == []
    inside = page.frames[1].evaluate("document.documentElement.innerHTML")
    wide, window = page.frames[1].evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window

    # In the frame nothing runs, so axe looks at the same elements elsewhere.
    page = reader.go("/about")
    page.evaluate("(inside) => { document.documentElement.innerHTML = inside }", inside)
    page.locator(".outline .is-item").first.wait_for()
    page.wait_for_load_state("networkidle")
    assert findings(page) == []


def test_a_selector_that_is_wrong_is_told_after_a_pick(reader: Reader, site: Publisher) -> None:
    reader.tolerated = ("400 (Bad Request)",)
    hand, frame = opened(reader, site.serve("/news", TOWN))
    page = reader.page
    page.locator("#selectors > summary").click()
    page.get_by_label("Author", exact=True).last.fill("b[")

    hand.click(page.locator("#parts label", has_text="Title"))
    hand.click(frame.get_by_role("link", name="A long story about life in quarter number 2"))

    expect(page.get_by_text("author: The selector ends before a closing ].")).to_be_visible()
    expect(page.locator("#field-author")).to_have_value("b[")
    frame.locator(".outline").wait_for()
