"""A document that is cut at a limit says at which."""

from __future__ import annotations

import json

import pytest

from tidings.content.cleaning.sanitize import MAX_CHARS
from tidings.content.formats import parse_feed
from tidings.content.formats.entry_builder import MAX_ENTRIES
from tidings.content.model import DocumentLimit, ParsedFeed

URL = "https://blog.example/feed"


def rss(*items: str) -> bytes:
    inside = "".join(f"<item>{item}</item>" for item in items)
    return f"<rss version='2.0'><channel><title>T</title>{inside}</channel></rss>".encode()


def json_feed(count: int, **fields: object) -> bytes:
    return json.dumps({"version": "1.1", "items": [{"id": str(n)} | fields for n in range(count)]}).encode()


def atom(count: int) -> bytes:
    entries = "".join(f"<entry><id>{number}</id></entry>" for number in range(count))
    return f"<feed xmlns='http://www.w3.org/2005/Atom'>{entries}</feed>".encode()


def numbered(count: int) -> list[str]:
    return [f"<guid>{number}</guid><title>Entry {number} of this document</title>" for number in range(count)]


def parsed(body: bytes) -> ParsedFeed:
    return parse_feed(body, url=URL)


@pytest.mark.slow
@pytest.mark.parametrize("over", [0, 1])
def test_too_many_entries(over: int) -> None:
    for body in (rss(*numbered(MAX_ENTRIES + over)), json_feed(MAX_ENTRIES + over), atom(MAX_ENTRIES + over)):
        feed = parsed(body)
        assert len(feed.entries) == MAX_ENTRIES
        assert feed.limits_reached == ({DocumentLimit.ENTRIES} if over else set())


@pytest.mark.parametrize("over", [0, 1])
def test_too_long_an_entry(over: int) -> None:
    text = "a" * (MAX_CHARS + over)
    for body in (rss(f"<guid>1</guid><description>{text}</description>"), json_feed(1, content_html=text)):
        assert parsed(body).limits_reached == ({DocumentLimit.TEXT} if over else set())


@pytest.mark.slow
def test_too_many_elements() -> None:
    short = "<b/>" * 200_000
    crowded = rss(f"<guid>1</guid><title>One</title>{short}")

    assert parsed(crowded).limits_reached == {DocumentLimit.ELEMENTS}
    assert parsed(crowded.replace(b"<title>One", b"<title>One & <b")).limits_reached == {DocumentLimit.ELEMENTS}
    assert parsed(json_feed(1, x=[[]] * 200_000)).limits_reached == {DocumentLimit.ELEMENTS}
    assert parsed(rss(*numbered(200))).limits_reached == set()
