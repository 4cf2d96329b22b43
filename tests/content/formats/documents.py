"""Small documents for tests, and readers of their results."""

from __future__ import annotations

from tidings.base.times import Instant
from tidings.content.formats import parse_feed
from tidings.content.model import ParsedEntry, ParsedFeed

ADDRESS = "https://news.example/feeds/main.xml"

_NAMESPACES = """
    xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/"
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"
    xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/"
    xmlns:googleplay="http://www.google.com/schemas/play-podcasts/1.0"
    xmlns:podcast="https://podcastindex.org/namespace/1.0"
    xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"
    xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" xmlns:thr="http://purl.org/syndication/thread/1.0"
"""


def rss(inside: str = "", *, site: str = "<link>https://site.example/</link>") -> str:
    """Return an RSS document with this content of the channel."""
    return f'<rss version="2.0" {_NAMESPACES}><channel><title>News</title>{site}{inside}</channel></rss>'


def rdf(channel: str = "", items: str = "") -> str:
    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
        f' xmlns="http://purl.org/rss/1.0/" {_NAMESPACES}>'
        f"<channel>{channel}</channel>{items}</rdf:RDF>"
    )


def atom(inside: str = "") -> str:
    return (
        f'<feed xmlns="http://www.w3.org/2005/Atom" {_NAMESPACES}>'
        f'<title>News</title><link href="https://site.example/"/>{inside}</feed>'
    )


def atom03(inside: str = "") -> str:
    return f'<feed version="0.3" xmlns="http://purl.org/atom/ns#">{inside}</feed>'


def feed(document: str | bytes, *, charset: str | None = None, now: Instant | None = None) -> ParsedFeed:
    body = document if isinstance(document, bytes) else document.encode()
    return parse_feed(body, url=ADDRESS, charset=charset, now=now)


def item(inside: str, channel: str = "") -> ParsedEntry:
    """Return the entry of one RSS item."""
    return feed(rss(f"{channel}<item>{inside}</item>")).entries[0]


def entry(inside: str, around: str = "") -> ParsedEntry:
    """Return the parsed entry of one Atom entry."""
    return feed(atom(f"{around}<entry>{inside}</entry>")).entries[0]
