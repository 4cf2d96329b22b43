"""What a reader has before a client comes: feeds with everything in them that a client looks at."""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from support.people import Person
from support.publisher import Publisher
from tidings.deliveries.store import webhooks

_numbers = itertools.count(1)
_NEWEST = datetime(2026, 9, 28, 10, tzinfo=UTC)


@dataclass(frozen=True)
class Article:
    """audio: the address of an enclosure, if there is one."""

    title: str
    author: str = ""
    tag: str = ""
    audio: str = ""
    text: str = "<p>All of it.</p>"


def numbered(count: int) -> list[Article]:
    return [Article(f"Number {number}") for number in range(count, 0, -1)]


def document(articles: Sequence[Article], url: str, title: str) -> str:
    """RSS 2.0: an hour lies between two articles, the first is the newest."""
    items = []
    for number, article in enumerate(articles):
        day = format_datetime(_NEWEST - timedelta(hours=number))
        more = f"<dc:creator>{escape(article.author)}</dc:creator>" if article.author else ""
        more += f"<category>{escape(article.tag)}</category>" if article.tag else ""
        more += f'<enclosure url="{article.audio}" type="audio/mpeg" length="1234567"/>' if article.audio else ""
        items.append(
            f"<item><title>{escape(article.title)}</title><link>{url}/article/{number}</link>"
            f"<guid>{url}#{escape(article.title)}</guid><pubDate>{day}</pubDate>"
            f"<description>{escape(article.text)}</description>{more}</item>"
        )
    return (
        '<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>'
        f"<title>{escape(title)}</title><link>{url}/site</link>{''.join(items)}</channel></rss>"
    )


def picture(side: int = 16) -> bytes:
    """A PNG of one colour: signature, header, pixels, end."""
    rows = (b"\0" + b"\x33\x66\x99" * side) * side
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )


def subscribe(person: Person, site: Publisher, articles: Sequence[Article], title: str, **fields: Any) -> int:
    """The id of the new feed. fields: of the request that makes it."""
    path = f"/library-{next(_numbers)}.xml"
    site.serve(path, document(articles, site.url(path), title))
    created: int = person.post("/v1/feeds", {"feed_url": site.url(path), **fields})["feed_id"]
    return created


@dataclass(frozen=True)
class Library:
    """Alice's: two categories of one feed each. Ids, under the names that the tables of requests use.

    entry: unread. starred: so, and read. listened: with an enclosure, whose id is `enclosure`.
    """

    user: int
    category: int
    podcasts: int
    feed: int
    podcast: int
    entry: int
    starred: int
    listened: int
    enclosure: int
    unknown: int = 2**31 - 1


NEWS = (Article("Rain tomorrow", author="Dr. Cloud", tag="weather"), Article("Sun today"), Article("Wind yesterday"))
TALKS = (Article("On the air", audio="http://media.example/on-the-air.mp3"),)


# What is behind the link of an entry.
_PARAGRAPH = "<p>It rained all day, and all night, and when it stopped nobody could remember why it had begun.</p>"
STORY = f"<!DOCTYPE html><html><head><title>Rain</title></head><body><article>{_PARAGRAPH * 20}</article></body></html>"


def create_library(person: Person, site: Publisher) -> Library:
    category, podcasts = person.has_category("News"), person.has_category("Podcasts")
    feed = subscribe(person, site, NEWS, "The Weather", category_id=category["id"])
    podcast = subscribe(person, site, TALKS, "The Talks", category_id=podcasts["id"])
    by_title = {entry["title"]: entry for entry in person.entries()}
    starred, listened = by_title["Sun today"]["id"], by_title["On the air"]
    site.serve(urlsplit(by_title["Rain tomorrow"]["url"]).path, STORY, headers={"Content-Type": "text/html"})
    person.put("/v1/entries", {"entry_ids": [starred], "starred": True, "status": "read"})
    return Library(
        user=person.id,
        category=category["id"],
        podcasts=podcasts["id"],
        feed=feed,
        podcast=podcast,
        entry=by_title["Rain tomorrow"]["id"],
        starred=starred,
        listened=listened["id"],
        enclosure=listened["enclosures"][0]["id"],
    )


def saves_somewhere(person: Person) -> None:
    """Switches on a service to save entries to."""
    services = person.service.services
    with services.database.writing() as db:
        webhooks.save_main(
            db, person.id, enabled=True, settings='{"url": "http://saved.example/"}', now=services.clock()
        )
