"""No URL that runs something gets in, from whatever document; one that is stored already is not linked to."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import text

import tidings
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor

SPELLINGS = [
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "  java\tscript:alert(1)",
    "vbscript:MsgBox(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "blob:https://example.org/1",
]
# XML cannot hold these.
IN_JSON = [*SPELLINGS, "\x01javascript:alert(1)", "\x1fjava\nscript:alert(1)", "\x00javascript:alert(1)"]


def _attribute(address: str) -> str:
    return html.escape(address).replace("\t", "&#9;")


def _rss(addresses: Sequence[str]) -> str:
    items = "".join(_rss_item(number, _attribute(address)) for number, address in enumerate(addresses))
    bad = _attribute(addresses[0])
    return f"""<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"
 xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0"
 xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title><link>{bad}</link><image><url>{bad}</url></image>
 {items}</channel></rss>"""


def _rss_item(number: int, bad: str) -> str:
    return f"""<item><title>{number}</title><link>{bad}</link><guid isPermaLink="true">{bad}{number}</guid>
<comments>{bad}</comments>
<enclosure url="{bad}" type="audio/mpeg"/><media:content url="{bad}"/><media:thumbnail url="{bad}"/>
<media:group><media:content url="{bad}"><media:player url="{bad}"/></media:content></media:group>
<media:peerLink href="{bad}"/><itunes:image href="{bad}"/><podcast:chapters url="{bad}"/>
<podcast:transcript url="{bad}"/><atom:link rel="enclosure" href="{bad}"/>
<enclosure url="https://example.org/good.mp3" type="audio/mpeg"/></item>"""


def _atom(addresses: Sequence[str]) -> str:
    entries = "".join(_atom_entry(number, _attribute(address)) for number, address in enumerate(addresses))
    bad = _attribute(addresses[0])
    return f"""<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"><title>T</title>
<id>tag:example.org,2026:feed</id><link href="{bad}"/><icon>{bad}</icon>{entries}</feed>"""


def _atom_entry(number: int, bad: str) -> str:
    return f"""<entry><title>{number}</title><id>{bad}{number}</id><link href="{bad}"/>
<link rel="replies" type="text/html" href="{bad}"/>
<link rel="enclosure" href="{bad}"/><media:thumbnail url="{bad}"/><media:content url="{bad}"/>
<link rel="enclosure" href="https://example.org/good.mp3" type="audio/mpeg"/></entry>"""


def _json(addresses: Sequence[str]) -> str:
    good = {"url": "https://example.org/good.mp3", "mime_type": "audio/mpeg"}
    items = [
        {"id": str(number), "title": str(number), "url": bad, "external_url": bad, "attachments": [{"url": bad}, good]}
        for number, bad in enumerate(addresses)
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "T", "home_page_url": addresses[0]}
    return json.dumps(feed | {"favicon": addresses[0], "icon": addresses[0], "items": items})


@pytest.mark.parametrize("written", [_rss, _atom, _json], ids=["RSS and Media RSS", "Atom", "JSON Feed"])
def test_executable_urls_of_a_feed_are_not_stored(
    alice: Person, site: Publisher, written: Callable[[Sequence[str]], str]
) -> None:
    addresses = IN_JSON if written is _json else SPELLINGS
    path = "/feed.json" if written is _json else "/feed.xml"
    site.serve(path, written(addresses))
    feed_id = alice.post("/v1/feeds", {"feed_url": site.url(path)})["feed_id"]

    feed, entries = alice.get(f"/v1/feeds/{feed_id}"), alice.entries()

    assert len(entries) == len(addresses)
    assert feed["site_url"] == site.url(path)
    for entry in entries:
        assert [enclosure["url"] for enclosure in entry["enclosures"]] == ["https://example.org/good.mp3"]
        assert entry["url"] in ("https://example.org/good.mp3", site.url(path), "")
        assert entry["comments_url"] == ""


def test_executable_urls_of_opml_are_not_stored(alice: Person, site: Publisher) -> None:
    outlines = "".join(
        f'<outline text="A" xmlUrl="{site.url(f"/{number}.xml")}" htmlUrl="{_attribute(bad)}"/>'
        f'<outline text="B" xmlUrl="{_attribute(bad)}"/><outline text="C" xmlUrl="feed:{_attribute(bad)}"/>'
        for number, bad in enumerate(SPELLINGS)
    )
    opml = f'<opml version="2.0"><body>{outlines}</body></opml>'

    assert alice.call("POST", "/v1/import", raw=opml.encode()).status == 201

    feeds = alice.get("/v1/feeds")
    assert {feed["feed_url"] for feed in feeds} == {site.url(f"/{number}.xml") for number in range(len(SPELLINGS))}
    assert all(feed["site_url"] == feed["feed_url"] for feed in feeds)
    assert "script:" not in alice.call("GET", "/v1/export").body.decode().lower()


def test_executable_urls_of_api_requests_are_refused(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)

    for address in SPELLINGS:
        for field in ("feed_url", "site_url"):
            assert alice.call("PUT", f"/v1/feeds/{feed['id']}", {field: address}).status == 400
        assert alice.call("POST", "/v1/feeds", {"feed_url": address}).status == 400

    assert alice.get(f"/v1/feeds/{feed['id']}")["site_url"] == feed["site_url"]


@pytest.mark.parametrize("address", ["  java\tscript:alert(1)", "data:text/html,<b>", "magnet:?xt=1"])
def test_a_stored_executable_url_is_no_link_on_any_page(
    alice: Person, site: Publisher, reader: Visitor, address: str
) -> None:
    site.serve("/cast.xml", _cast())
    feed_id = alice.post("/v1/feeds", {"feed_url": site.url("/cast.xml")})["feed_id"]
    alice.put(f"/v1/users/{alice.id}", {"always_open_external_links": True}, status=201)
    (entry,) = alice.entries()
    with alice.service.services.database.writing() as db:
        db.run(text("UPDATE enclosures SET url = :bad WHERE user_id = :user"), bad=address, user=alice.id)
        db.run(
            text("UPDATE entries SET url = :bad, comments_url = :bad WHERE user_id = :user"), bad=address, user=alice.id
        )
        db.run(text("UPDATE feeds SET site_url = :bad WHERE user_id = :user"), bad=address, user=alice.id)

    for path in ("/unread", f"/feeds/{feed_id}", f"/entries/{entry['id']}", "/feeds", f"/feeds/{feed_id}/edit"):
        page = reader.page(path)
        assert not re.search(rf'(?<!value)="[^"]*{re.escape(html.escape(address.strip()))}', page), path
    assert "<audio" not in reader.page(f"/entries/{entry['id']}")


def _cast(files: int = 1) -> str:
    enclosures = "".join(f'<enclosure url="https://example.org/{n}.mp3" type="audio/mpeg"/>' for n in range(files))
    item = f"<item><title>One</title><link>https://example.org/1</link>{enclosures}</item>"
    return f'<rss version="2.0"><channel><title>T</title>{item}</channel></rss>'


TEMPLATES = [*Path(tidings.__file__).parent.glob("*/templates/**/*.html")]
_ADDRESS = re.compile(r'(?:href|src|action|formaction|poster|data-url|data-comments)="\{\{ *([^}]+?) *\}\}')
# Made by us; `row.path` (`path` in a macro), `one.address`, `one.media` and `attached.poster` went through the filter
# in Python, `row.picture` comes from cleaned HTML.
_INTERNAL_URLS = {
    "next_url",
    "previous_url",
    "more_url",
    "list_url",
    "before",
    "after",
    "share_url",
    "row.path",
    "path",
    "one.address",
    "one.media",
    "attached.poster",
    "row.picture",
    # Made here, with a scheme that authenticator apps open.
    "app_address",
}


def test_templates_apply_the_url_filter_to_external_urls() -> None:
    written = {
        expression
        for template in TEMPLATES
        for expression in _ADDRESS.findall(template.read_text())
        if not expression.startswith(("url(", "asset("))
    }

    assert {one for one in written if not one.endswith("|page_link")} <= _INTERNAL_URLS
    assert "entry.url|page_link" in written
