"""Making a feed from a page on the pages: from the address to the subscription."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

from support.people import HttpResponse, Person
from support.publisher import Publisher
from support.visitors import Visitor

CARDS = "".join(
    f'<div class="teaser"><h3><a href="/{one}">What happened in week {one}</a></h3><p>Text.</p></div>'
    for one in range(4)
)


def test_a_page_without_a_feed_offers_to_make_one(reader: Visitor, alice: Person, site: Publisher) -> None:
    url = site.serve("/news", f"<title>Town</title>{CARDS}")
    reader.get("/feeds/add")

    answer = reader.post("/feeds/find", url=url)
    assert (answer.status, 'formaction="/feeds/from-page"' in answer.body.decode()) == (200, True)
    page = reader.post("/feeds/from-page", url=url).body.decode()

    assert "What happened in week 3" in page
    fields = dict(re.findall(r'<input id="field-(\w+)"[^>]* value="([^"]*)"', page))
    assert (fields["item"], fields["title"], fields["link"]) == ("div.teaser", "h3", "h3 a@href")
    fields.pop("url")
    answer = reader.post("/feeds/from-page/add", url=url, kind="html+css", **fields)
    (feed,) = alice.get("/v1/feeds")
    assert answer.headers["location"] == f"/feeds/{feed['id']}"
    assert (feed["title"], feed["kind"], feed["selectors"]["item"]) == ("Town", "html+css", "div.teaser")
    assert len(alice.entries()) == 4


def test_a_page_with_a_feed_offers_that_alone(reader: Visitor, site: Publisher) -> None:
    site.serve("/feed.xml", "<rss version='2.0'><channel><title>A</title></channel></rss>")
    link = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    reader.get("/feeds/add")

    found = reader.post("/feeds/find", url=site.serve("/news", f"{link}{CARDS}")).body.decode()

    assert "from-page" not in found


def test_a_selector_that_cannot_be_read_is_told_with_its_field(reader: Visitor, site: Publisher) -> None:
    url = site.serve("/news", CARDS)
    reader.get("/feeds/add")

    answer = reader.post("/feeds/from-page", url=url, kind="html+css", item="div[", title="a")

    assert answer.status == 400
    assert "item: The selector ends before a closing ]." in answer.body.decode()


def test_a_selector_that_finds_nothing_is_told_what_there_is(reader: Visitor, site: Publisher) -> None:
    url = site.serve("/news", CARDS)
    reader.get("/feeds/add")

    page = reader.post("/feeds/from-page", url=url, kind="html+css", item="li", title="a").body.decode()

    assert "nothing on the page matches li. It has div.teaser (4)." in page


def test_selectors_of_a_feed_can_be_edited(reader: Visitor, alice: Person, site: Publisher) -> None:
    url = site.serve("/news", CARDS)
    selectors = {"item": "div.teaser", "title": "h3"}
    feed_id = alice.post("/v1/feeds", {"feed_url": url, "kind": "html+css", "selectors": selectors})["feed_id"]
    page = reader.get(f"/feeds/{feed_id}/edit").body.decode()
    assert "&#34;item&#34;: &#34;div.teaser&#34;" in page

    values: dict[str, Any] = {"title": "Town", "feed_url": url, "site_url": url, "kind": "html+css"}
    answer = reader.post(f"/feeds/{feed_id}/edit", **values, selectors='{"item": "div.teaser", "title": "a"}')
    refused = reader.post(f"/feeds/{feed_id}/edit", **values, selectors='{"item": "div.teaser", "title": "a["}')

    assert answer.status == 303
    assert alice.get(f"/v1/feeds/{feed_id}")["selectors"] == {"item": "div.teaser", "title": "a"}
    assert refused.status == 400


def outline_of(reader: Visitor, url: str) -> HttpResponse:
    reader.get("/feeds/add")
    return reader.post("/feeds/from-page/outline", url=url)


def test_the_page_is_shown_for_picking_with_a_policy_that_allows_nothing(reader: Visitor, site: Publisher) -> None:
    answer = outline_of(reader, site.serve("/news", f"<script>steal()</script>{CARDS}"))

    page = answer.body.decode()
    assert "What happened in week 3" in page
    assert "steal" not in page
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "sandbox allow-same-origin"
    )
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert not re.search(r"<(?:script|form|input|button|img)|csrf", page)


def test_only_the_page_that_makes_a_feed_may_show_pages_of_ours_in_a_frame(reader: Visitor, site: Publisher) -> None:
    reader.get("/feeds/add")
    making = reader.post("/feeds/from-page", url=site.serve("/news", CARDS))

    assert re.search(r"frame-src [^;]*'self'", making.headers["content-security-policy"])
    assert not re.search(r"frame-src [^;]*'self'", reader.get("/feeds/add").headers["content-security-policy"])


def test_a_page_that_cannot_be_shown_says_why_in_its_frame(reader: Visitor, site: Publisher) -> None:
    assert "There is no text on this page" in outline_of(reader, site.serve("/empty", "<div></div>")).body.decode()
    missing = outline_of(reader, site.url("/missing"))
    assert (missing.status, "404" in missing.body.decode()) == (200, True)
    assert outline_of(reader, "").status == 200


def test_a_pick_replaces_the_selectors(reader: Visitor, site: Publisher) -> None:
    table = "".join(f"<tr><td><a href=/n/{one}>Notice {one}!</a><td>{one + 1}.3.2026</tr>" for one in range(3))
    url = site.serve("/news", f"{CARDS}<table>{table}</table>")
    numbers = dict(re.findall(r'href="#e(\d+)">([^<]+)', outline_of(reader, url).body.decode()))
    number = {text: number for number, text in numbers.items()}

    page = reader.post(
        "/feeds/from-page", url=url, item="div.teaser", title="h3", pick=number["Notice 1!"], part="item"
    )
    typed = re.findall(r'<input id="field-(\w+)"[^>]* value="([^"]*)"', page.body.decode())
    fields: dict[str, Any] = {name: unescape(value) for name, value in typed}
    assert (fields["item"], fields["title"], fields["link"]) == ("tbody > tr", "a", "a@href")
    assert '<input type="radio" name="part" value="title" checked>' in page.body.decode()
    fields |= {"pick": number["2.3.2026"], "part": "date", "kind": "html+css"}
    dated = reader.post("/feeds/from-page", **fields).body.decode()

    assert "Date: 3 of 3" in dated
    assert f"&#34;date&#34;: [{number['1.3.2026']}, {number['2.3.2026']}" in dated


def test_a_pick_that_cannot_be_used_changes_nothing(reader: Visitor, site: Publisher) -> None:
    url = site.serve("/news", f"{CARDS}<footer>Imprint</footer>")
    numbers = re.findall(r'href="#e(\d+)"', outline_of(reader, url).body.decode())

    for pick, part in ((numbers[-1], "title"), ("999999", "item"), (numbers[0], "none")):
        page = reader.post("/feeds/from-page", url=url, item="div.teaser", title="h3", pick=pick, part=part)
        assert page.status == 200
        assert '<span class="error">' in page.body.decode()
        assert re.search(r'name="item"[^>]* value="div.teaser"', page.body.decode())


def test_what_becomes_of_a_value_can_be_typed(reader: Visitor, alice: Person, site: Publisher) -> None:
    items = "".join(
        f'<li><a href="/{one}">Nr {one}: Walk</a><i>on 0{one}.03.2026 18:00</i></li>' for one in range(1, 4)
    )
    url = site.serve("/walks", f"<title>Walks</title><ul>{items}</ul>")
    fields: dict[str, Any] = {
        "url": url, "kind": "html+css", "item": "li", "title": "a", "link": "a@href", "date": "i",
        # Of the title, the link, the date, the content and so on.
        "capture": [r"Nr (\d+): (\w+)", "", r"on (.*)", "", "", "", "", ""],
        "template": ["{2} no. {1}", "", "", "", "", "", "", ""],
        "format": "%d.%m.%Y %H:%M", "zone": "Europe/Berlin",
    }  # fmt: skip
    reader.get("/feeds/add")

    shown = reader.post("/feeds/from-page", **fields).body.decode()
    assert "Walk no. 3" in shown
    assert 'name="capture" value="on (.*)"' in shown
    refused = reader.post("/feeds/from-page", **fields | {"zone": "Nowhere"})
    assert (refused.status, "is not a time zone" in refused.body.decode()) == (400, True)
    reader.post("/feeds/from-page/add", **fields)

    (feed,) = alice.get("/v1/feeds")
    assert feed["selectors"]["title"] == {"selector": "a", "capture": r"Nr (\d+): (\w+)", "template": "{2} no. {1}"}
    assert feed["selectors"]["date"] == {
        "selector": "i", "capture": "on (.*)", "format": "%d.%m.%Y %H:%M", "zone": "Europe/Berlin",
    }  # fmt: skip
    assert min(entry["published_at"] for entry in alice.entries()).startswith("2026-03-01T17:00")


def shown_fields(page: str) -> dict[str, Any]:
    typed = re.findall(r'<input id="field-(\w+)"[^>]* value="([^"]*)"', page)
    return {name: unescape(value) for name, value in typed}


def test_selectors_of_a_feed_are_changed_by_picking(reader: Visitor, alice: Person, site: Publisher) -> None:
    rows = "".join(f"<tr><td><a href=/n/{one}>Notice {one}!</a><td>{one + 1}.3.2026</tr>" for one in range(3))
    url = site.serve("/news", f"<table>{rows}</table>")
    selectors = {
        "item": "//tr", "title": {"selector": ".//a", "attribute": "href", "capture": "n/(.*)"}, "feed_title": "//td",
    }  # fmt: skip
    fields = {"feed_url": url, "kind": "html+xpath", "selectors": selectors}
    feed_id = alice.post("/v1/feeds", fields)["feed_id"]
    assert 'form="picking"' in reader.get(f"/feeds/{feed_id}/edit").body.decode()

    path = f"/feeds/{feed_id}/selectors"
    page = reader.post(path).body.decode()
    shown = shown_fields(page)
    assert (shown["item"], shown["title"]) == ("//tr", ".//a@href")
    assert re.search(r'<option value="html\+xpath" selected', page)
    assert "Title: 3 of 3" in page
    outline = reader.post(f"{path}/outline", kind="html+xpath").body.decode()
    number = {text: each for each, text in re.findall(r'href="#e(\d+)">([^<]+)', outline)}
    shown |= {"kind": "html+xpath", "part": "date", "capture": ["n/(.*)", *[""] * 7]}
    picked = shown_fields(reader.post(path, **shown, pick=number["2.3.2026"]).body.decode())
    assert picked["date"] == ".//td[2]"
    answer = reader.post(f"{path}/save", **shown | {"date": picked["date"]})

    assert answer.headers["location"] == f"/feeds/{feed_id}/edit"
    saved = alice.get(f"/v1/feeds/{feed_id}")
    assert saved["kind"] == "html+xpath"
    assert saved["selectors"] == {
        "item": "//tr", "title": {"selector": ".//a@href", "capture": "n/(.*)"}, "date": ".//td[2]",
        "feed_title": "//td",
    }  # fmt: skip


def test_wrong_selectors_of_a_feed_are_not_saved(reader: Visitor, alice: Person, site: Publisher) -> None:
    url = site.serve("/news", CARDS)
    selectors = {"item": "div.teaser", "title": "h3"}
    feed_id = alice.post("/v1/feeds", {"feed_url": url, "kind": "html+css", "selectors": selectors})["feed_id"]
    reader.get(f"/feeds/{feed_id}/edit")

    answer = reader.post(f"/feeds/{feed_id}/selectors/save", kind="html+css", item="div[", title="h3")

    assert (answer.status, "item: The selector ends before a closing ]." in answer.body.decode()) == (400, True)
    assert alice.get(f"/v1/feeds/{feed_id}")["selectors"] == selectors


def test_the_page_of_a_feed_is_fetched_as_the_feed_is(reader: Visitor, alice: Person, site: Publisher) -> None:
    """With its password, which the page does not show, and from its own address, whatever is sent."""
    url = site.serve("/private", CARDS)
    fields = {"feed_url": url, "kind": "html+css", "selectors": {"item": "div.teaser", "title": "h3"}}
    feed_id = alice.post("/v1/feeds", fields | {"username": "anna", "password": "secret-of-anna"})["feed_id"]
    site.serve("/private", CARDS.replace("week", "month"))
    elsewhere = site.serve("/elsewhere", "<p>Nothing")
    reader.get(f"/feeds/{feed_id}/edit")

    page = reader.post(f"/feeds/{feed_id}/selectors", url=elsewhere).body.decode()

    assert re.search("What happened in (week|month) 3", page)
    assert site.last.path == "/private"
    assert site.last.headers["authorization"].startswith("Basic ")
    assert "secret-of-anna" not in page


def test_a_strangers_feed_is_not_found(reader: Visitor, bob: Person, site: Publisher) -> None:
    url = site.serve("/news", CARDS)
    fields = {"feed_url": url, "kind": "html+css", "selectors": {"item": "div.teaser", "title": "h3"}}
    feed_id = bob.post("/v1/feeds", fields)["feed_id"]
    reader.get("/feeds/add")

    for end in ("", "/outline", "/save"):
        assert reader.post(f"/feeds/{feed_id}/selectors{end}", item="p", title=".").status == 404
    assert bob.get(f"/v1/feeds/{feed_id}")["selectors"] == fields["selectors"]


def test_json_is_shown_for_picking(reader: Visitor, alice: Person, site: Publisher) -> None:
    posts = [{"heading": f"Post {one}", "to": f"/p/{one}", "at": f"2026-05-0{one + 1}"} for one in range(3)]
    url = site.serve(
        "/posts.json", json.dumps({"data": {"posts": posts}}), headers=[("Content-Type", "application/json")]
    )
    reader.get("/feeds/add")

    outline = reader.post("/feeds/from-page/outline", url=url, kind="json").body.decode()
    number = {text: each for each, text in re.findall(r'href="#e(\d+)">([^<]+)', outline)}
    page = reader.post(
        "/feeds/from-page", url=url, kind="json", item="x", title="y", part="item", pick=number["heading: Post 1"]
    ).body.decode()

    shown = shown_fields(page)
    assert (shown["item"], shown["title"]) == ("$.data.posts[*]", "heading")
    assert '<input type="radio" name="part" value="title" checked>' in page
    shown |= {"kind": "json", "part": "title", "pick": number["heading: Post 0"]}
    page = reader.post("/feeds/from-page", **shown).body.decode()
    assert '<input type="radio" name="part" value="link" checked>' in page
    assert "Title: 3 of 3" in page
