"""Making a feed from a page on the pages: from the address to the subscription."""

from __future__ import annotations

import re
from typing import Any

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor

CARDS = "".join(
    f'<div class="teaser"><h3><a href="/{one}">What happened in week {one}</a></h3><p>Text.</p></div>'
    for one in range(4)
)


def test_a_page_without_a_feed_offers_to_make_one(reader: Visitor, alice: Person, site: Publisher) -> None:
    url = site.serve("/news", f"<title>Town</title>{CARDS}")
    reader.get("/feeds/add")

    found = reader.post("/feeds/find", url=url).body.decode()
    assert 'formaction="/feeds/from-page"' in found
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
