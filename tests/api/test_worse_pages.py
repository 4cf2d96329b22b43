"""A page that is no article never replaces the text of the feed, and the feed says so."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person
from support.publisher import Answer, Publisher
from support.running import RunningService
from support.visitors import Visitor

SENTENCE = "The rain of the whole article came late, lasted long, and left by the evening. "
WHOLE = f"<p>{SENTENCE * 30}</p>"
TEASER = "<p>Rain came late.</p>"
NOTE = "Pages of new entries have far less text than the feed"


def page(inside: str) -> str:
    return f"<!DOCTYPE html><html><head><title>Rain</title></head><body>{inside}</body></html>"


ARTICLE = page(f"<article><h1>Rain</h1>{f'<p>{SENTENCE * 2}</p>' * 12}</article>")
NO_ARTICLES = {
    "consent": page(
        "<main><h1>We value your privacy</h1><p>We and our partners store information on a device, such as cookies, and"
        " process personal data.</p><p>You may accept, or manage your choices by clicking below.</p></main>"
    ),
    "log-in": page("<main><h1>Log in</h1><form><input><button>Log in</button></form><p>For subscribers.</p></main>"),
    "outage": page("<h1>Error 503 Backend fetch failed</h1><p>Backend fetch failed</p><p>Varnish cache server</p>"),
    "challenge": page("<h1>example.org</h1><p>Checking if the site connection is secure</p>"),
    "teaser": page(f"<article><h1>Rain</h1><p>{SENTENCE * 2}</p><p>Subscribe to read on.</p></article>"),
    "list": page("<ul>" + "".join(f"<li><a href='/{n}'>Story {n}</a></li>" for n in range(20)) + "</ul>"),
    "script": page("<div id=app></div><noscript>You need to enable JavaScript.</noscript>"),
}


def subscribe(alice: Person, site: Publisher, text: str, reply: str | Answer, **fields: Any) -> dict[str, Any]:
    """Subscribe to a feed with this text, whose entry leads to a page with this reply, and return the entry."""
    url = site.script("/story", reply if isinstance(reply, Answer) else Answer(reply))
    return add(alice, site, text, url, **fields)


def add(alice: Person, site: Publisher, text: str, url: str, **fields: Any) -> dict[str, Any]:
    site.serve(
        "/whole.xml",
        '<?xml version="1.0"?><rss version="2.0"><channel><title>Rain</title>'
        f"<item><title>Rain</title><link>{url}</link><guid>1</guid>"
        f"<description><![CDATA[{text}]]></description></item></channel></rss>",
    )
    alice.post("/v1/feeds", {"feed_url": site.url("/whole.xml"), **fields})
    return alice.entries()[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", NO_ARTICLES)
def test_a_page_without_the_article_does_not_replace_the_text_of_the_feed(
    alice: Person, site: Publisher, service: RunningService, kind: str
) -> None:
    entry = subscribe(alice, site, WHOLE, NO_ARTICLES[kind], crawler=True)

    assert entry["content"].count("whole article") == 30
    reader = Visitor(service, alice)
    reader.sign_in()
    assert NOTE in reader.page(f"/feeds/{entry['feed_id']}/edit")


def test_a_refresh_keeps_the_text_of_the_feed_and_notes_it(
    alice: Person, site: Publisher, service: RunningService
) -> None:
    site.serve("/whole.xml", '<?xml version="1.0"?><rss version="2.0"><channel><title>Rain</title></channel></rss>')
    feed_id = alice.post("/v1/feeds", {"feed_url": site.url("/whole.xml"), "crawler": True})["feed_id"]
    item = "<item><title>{0}</title><link>{1}</link><guid>{0}</guid><description><![CDATA[{2}]]></description></item>"
    url = site.script("/story", Answer(NO_ARTICLES["consent"]))
    document = '<?xml version="1.0"?><rss version="2.0"><channel><title>Rain</title>{}</channel></rss>'
    wall = item.format("Wall", url, WHOLE)
    reader = Visitor(service, alice)
    reader.sign_in()

    site.serve("/whole.xml", document.format(wall))
    alice.put(f"/v1/feeds/{feed_id}/refresh")
    assert alice.entries()[0]["content"].count("whole article") == 30
    assert NOTE in reader.page(f"/feeds/{feed_id}/edit")

    site.serve("/whole.xml", document.format(wall) + "<!-- nothing new -->")
    alice.put(f"/v1/feeds/{feed_id}/refresh")
    assert NOTE in reader.page(f"/feeds/{feed_id}/edit")

    good = item.format("Good", site.script("/good", Answer(ARTICLE)), TEASER)
    site.serve("/whole.xml", document.format(good + wall))
    alice.put(f"/v1/feeds/{feed_id}/refresh")
    assert NOTE not in reader.page(f"/feeds/{feed_id}/edit")


def test_a_whole_article_replaces_a_teaser(alice: Person, site: Publisher, service: RunningService) -> None:
    entry = subscribe(alice, site, TEASER, ARTICLE, crawler=True)

    assert entry["content"].count("whole article") == 24
    reader = Visitor(service, alice)
    reader.sign_in()
    assert NOTE not in reader.page(f"/feeds/{entry['feed_id']}/edit")


def test_an_article_that_is_somewhat_shorter_replaces_a_text_with_additions(alice: Person, site: Publisher) -> None:
    additions = "".join(f"<p>Share this story with friend number {n}, or read another.</p>" for n in range(10))

    entry = subscribe(alice, site, f"<p>{SENTENCE * 24}</p>{additions}", ARTICLE, crawler=True)

    assert "Share this story" not in entry["content"]


def test_a_picture_replaces_its_caption(alice: Person, site: Publisher) -> None:
    comic = page('<article><h1>Comic</h1><img src="/comic.png" width="800" height="600"><p>It rains.</p></article>')

    entry = subscribe(alice, site, f"<p>{SENTENCE}</p>", comic, crawler=True)

    assert "/comic.png" in entry["content"]


def test_what_the_scraper_rule_finds_replaces_any_text(alice: Person, site: Publisher) -> None:
    short = page("<article><p class=wanted>Only this.</p></article>")

    entry = subscribe(alice, site, WHOLE, short, crawler=True, scraper_rules=".wanted")

    assert "Only this." in entry["content"]
    assert "whole article" not in entry["content"]


@pytest.mark.parametrize("kind", NO_ARTICLES)
def test_fetching_by_request_returns_and_keeps_what_is_stored(alice: Person, site: Publisher, kind: str) -> None:
    entry = subscribe(alice, site, WHOLE, NO_ARTICLES[kind])

    found = alice.get(f"/v1/entries/{entry['id']}/fetch-content", update_content="true")

    assert found["content"] == entry["content"]
    assert alice.get(f"/v1/entries/{entry['id']}") == entry


def test_a_wall_does_not_replace_an_article_that_was_stored_for_a_teaser(alice: Person, site: Publisher) -> None:
    entry = subscribe(alice, site, TEASER, ARTICLE)
    stored = alice.get(f"/v1/entries/{entry['id']}/fetch-content", update_content="true")["content"]
    site.serve("/story", NO_ARTICLES["consent"])

    alice.get(f"/v1/entries/{entry['id']}/fetch-content", update_content="true")

    assert alice.get(f"/v1/entries/{entry['id']}")["content"] == stored


def test_the_page_of_an_entry_says_that_no_article_was_found(
    alice: Person, site: Publisher, service: RunningService
) -> None:
    entry = subscribe(alice, site, WHOLE, NO_ARTICLES["consent"])
    reader = Visitor(service, alice)
    reader.sign_in()

    answer = reader.post(f"/entries/{entry['id']}/full")

    assert "far less text than the feed" in reader.page(answer.headers["location"])


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown"])
def test_a_page_of_text_is_shown_as_text(alice: Person, site: Publisher, kind: str) -> None:
    text = "# Rain & <sun>\n\nIt rained.\nIt stopped.\n\n- one\n" * 5
    reply = Answer(text, headers={"Content-Type": f"{kind}; charset=utf-8"})

    entry = subscribe(alice, site, TEASER, reply, crawler=True)

    assert "<p># Rain &amp; &lt;sun&gt;</p><p>It rained.<br>It stopped.</p><p>- one" in entry["content"]


def test_other_files_that_are_sent_as_text_are_no_articles(alice: Person, site: Publisher) -> None:
    reply = Answer(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"word " * 400, headers={"Content-Type": "text/plain"})

    assert "Rain came late." in subscribe(alice, site, TEASER, reply, crawler=True)["content"]
