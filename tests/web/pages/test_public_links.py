"""Entries that everybody may read who has the link; articles fetched whole."""

from __future__ import annotations

import re

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


def test_full_content_replaces_the_content_of_the_feed(reader: Visitor, alice: Person, site: Publisher) -> None:
    words = "<p>" + "The whole article has many more words than its feed told. " * 20 + "</p>"
    site.serve("/page", f"<!doctype html><html><body><article><h1>Rain</h1>{words}</article></body></html>")
    item = f"<item><title>Rain</title><link>{site.url('/page')}</link><description>Short.</description></item>"
    site.serve("/short.xml", f'<rss version="2.0"><channel><title>Short</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/short.xml")})
    entry = alice.entries()[0]["id"]

    page = reader.follow(reader.post(f"/entries/{entry}/full", back=f"/entries/{entry}"))

    assert "many more words" in page


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
