"""Entries that everybody may read who has the link; articles fetched whole."""

from __future__ import annotations

import re

import pytest

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor


def test_a_shared_entry_is_read_without_a_session(
    reader: Visitor, visitor: Visitor, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    entry = alice.entries()[0]["id"]

    page = reader.follow(reader.post(f"/entries/{entry}/share", back=f"/entries/{entry}"))
    match = re.search(r"/share/([\w-]+)", page)
    assert match
    reader.post(f"/entries/{entry}/share")
    answer = visitor.get(match[0])

    assert answer.status == 200
    assert b"About Rain." in answer.body
    assert alice.user.username.encode() not in answer.body
    assert "set-cookie" not in answer.headers
    assert "noindex" in answer.headers["x-robots-tag"]
    assert alice.entries()[0]["share_code"] == match[1]

    reader.post(f"/entries/{entry}/unshare")
    assert visitor.get(match[0]).status == 404
    assert visitor.get("/share/x").status == 404


def test_a_user_can_share_only_their_own_entries(reader: Visitor, bob: Person, site: Publisher) -> None:
    bob.has_feed(site, ["Rain"])
    entry = bob.entries()[0]["id"]

    assert reader.post(f"/entries/{entry}/share").status == 404
    assert reader.post(f"/entries/{entry}/unshare").status == 404
    assert bob.entries()[0]["share_code"] == ""


def short_feed(alice: Person, site: Publisher, text: str = "Short.") -> int:
    """A feed whose entry has a page with the whole article. Returns the id of the entry."""
    words = "<p>" + "The whole article has many more words than its feed told. " * 60 + "</p>"
    site.serve("/page", f"<!doctype html><html><body><article><h1>Rain</h1>{words}</article></body></html>")
    item = f"<item><title>Rain</title><link>{site.url('/page')}</link><description>{text}</description></item>"
    site.serve("/short.xml", f'<rss version="2.0"><channel><title>Short</title>{item}</channel></rss>')
    if not alice.entries():
        alice.post("/v1/feeds", {"feed_url": site.url("/short.xml")})
    return int(alice.entries()[0]["id"])


@pytest.mark.slow
def test_full_content_replaces_the_content_of_the_feed(reader: Visitor, alice: Person, site: Publisher) -> None:
    entry = short_feed(alice, site)

    page = reader.follow(reader.post(f"/entries/{entry}/full", back=f"/entries/{entry}"))

    assert "many more words" in page


@pytest.mark.slow
def test_the_user_switches_to_the_content_of_the_feed_and_back(reader: Visitor, alice: Person, site: Publisher) -> None:
    entry = short_feed(alice, site)
    address = f"/entries/{entry}"
    assert f"{address}/switch" not in reader.page(address)
    assert reader.post(f"{address}/switch").status == 400

    # Fetched twice, the first content is still that of the feed.
    for _ in range(2):
        reader.post(f"{address}/full", back=address)
    assert "Show the content of the feed" in reader.page(address)
    whole_minutes = alice.entries()[0]["reading_time"]

    page = reader.follow(reader.post(f"{address}/switch", back=address))
    assert "Short." in page
    assert "many more words" not in page
    assert "Show the full article" in page
    assert alice.entries()[0]["reading_time"] < whole_minutes
    assert alice.get("/v1/entries", search="words")["total"] == 0

    page = reader.follow(reader.post(f"{address}/switch", back=address))
    assert "many more words" in page
    assert alice.entries()[0]["reading_time"] == whole_minutes


def test_the_content_of_the_feed_follows_its_publisher_while_it_is_not_shown(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    entry = short_feed(alice, site)
    address = f"/entries/{entry}"
    reader.post(f"{address}/full", back=address)

    short_feed(alice, site, "Corrected.")
    alice.put(f"/v1/feeds/{alice.entries()[0]['feed_id']}/refresh")

    assert "many more words" in reader.page(address)
    page = reader.follow(reader.post(f"{address}/switch", back=address))
    assert "Corrected." in page
    # Shown again, it follows the publisher as every entry does; the whole article stays.
    short_feed(alice, site, "Corrected again.")
    alice.put(f"/v1/feeds/{alice.entries()[0]['feed_id']}/refresh")
    assert "Corrected again." in reader.page(address)
    page = reader.follow(reader.post(f"{address}/switch", back=address))
    assert "many more words" in page


def test_the_contents_of_another_user_are_not_switched(reader: Visitor, bob: Person, site: Publisher) -> None:
    entry = short_feed(bob, site)
    reader.page("/unread")

    assert reader.post(f"/entries/{entry}/switch").status == 404


def test_a_page_that_cannot_be_fetched_is_reported_and_nothing_is_lost(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    entry = alice.entries()[0]["id"]

    page = reader.follow(reader.post(f"/entries/{entry}/full", back=f"/entries/{entry}"))

    assert "About Rain." in page
    assert re.search(r'id="notice" role="status">[^<]+<', page)


def test_players_are_loaded_after_a_click(reader: Visitor, alice: Person, site: Publisher) -> None:
    frame = "&lt;iframe src='https://www.youtube.com/embed/abc'&gt;&lt;/iframe&gt;"
    item = f"<item><title>Film</title><link>https://example.org/1</link><description>{frame}</description></item>"
    site.serve("/film.xml", f'<rss version="2.0"><channel><title>Film</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/film.xml")})

    page = reader.page(f"/entries/{alice.entries()[0]['id']}")

    assert re.search(r"<template><iframe [^>]+></iframe></template>", page)
    assert "<iframe" not in re.sub(r"<template>.*?</template>", "", page)
