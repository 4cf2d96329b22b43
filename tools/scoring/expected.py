"""Score against `feeds-expected`: real feeds with the fields another library resolved from them.

python -m scoring.expectedprints the table and the misses
"""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

from scoring.archives import members
from scoring.claims import Claim, misses, table
from tidings.base.times import from_datetime
from tidings.content.formats import parse_feed
from tidings.content.formats.text import html_to_text
from tidings.content.model import FeedFormat, ParsedEntry, ParsedFeed

ARCHIVE = "feeds-expected"
ADDRESS = "https://feeds.example.net/feed"

# Intended differences: the reason, by document.
REASONS = {
    "atom/atom_example_1": "we leave out the div that XHTML content is wrapped in",
    "atom/atom_example_7": "we leave out the div that XHTML content is wrapped in",
    "jsonfeed/jsonfeed_elastic": "authors of feed and item are joined, as the contract has it",
    "rss1/rss_1.0_example_1": "the expectation leaves relative links as they are",
    "rss2/rss_2.0_dbengines": "blanks at the ends",
    "rss2/rss_2.0_ilgiornale": "the expectation has the name of the element for the author",
    "rss2/rss_2.0_relurl_1": "the expectation has the name of the element for the author",
    "rss2/rss_2.0_rps": "the original link is preferred to FeedBurner's",
    "rss2/rss_2.0_spiegel": "a player of a medium that has a file is not an enclosure",
}

_FORMATS = {
    "Atom": FeedFormat.ATOM,
    "JSON": FeedFormat.JSON,
    "RSS0": FeedFormat.RSS,
    "RSS1": FeedFormat.RDF,
    "RSS2": FeedFormat.RSS,
}


def claims() -> Iterator[Claim]:
    """Yield the claims of the corpus about fields that both libraries have."""
    files = dict(members(ARCHIVE))
    for name, source in files.items():
        expectation = files.get(f"{name.rpartition('.')[0]}.serde.json")
        if expectation is not None and not name.endswith(".serde.json"):
            yield from _document(name, parse_feed(source, url=ADDRESS), json.loads(expectation))


def _document(name: str, feed: ParsedFeed, expected: dict[str, Any]) -> Iterator[Claim]:
    yield Claim(name, "feed format", _FORMATS[expected["feed_type"]], feed.format)
    yield from _feed(name, feed, expected)
    yield Claim(name, "number of entries", len(expected["entries"]), len(feed.entries))
    for entry, wanted in zip(feed.entries, expected["entries"], strict=False):
        yield from _entry(name, entry, wanted)


def _feed(name: str, feed: ParsedFeed, expected: dict[str, Any]) -> Iterator[Claim]:
    texts = (("feed title", "title", feed.title), ("feed description", "description", feed.description))
    for field, key, found in texts:
        if wanted := _text(expected[key]):
            yield Claim(name, field, html_to_text(wanted), _line(found))
    if expected["language"]:
        yield Claim(name, "feed language", expected["language"].lower().replace("_", "-"), feed.language)
    for field, rel, found in (("site url", "alternate", feed.site_url), ("self url", "self", feed.self_url)):
        if wanted := _link(expected["links"], rel):
            yield Claim(name, field, wanted, _address(found))
    if hubs := [_address(link["href"]) for link in expected["links"] if link["rel"] == "hub"]:
        yield Claim(name, "hubs", hubs, [_address(hub) for hub in feed.hubs])
    if picture := expected["icon"] or expected["logo"]:
        yield Claim(name, "icon", _address(picture["uri"]), _address(feed.icon_url))
    if expected["ttl"]:
        yield Claim(name, "ttl", expected["ttl"], feed.hints.ttl_minutes)


def _entry(name: str, entry: ParsedEntry, expected: dict[str, Any]) -> Iterator[Claim]:
    if title := _text(expected["title"]):
        yield Claim(name, "title", title, _line(entry.title))
    if url := _link(expected["links"], "alternate"):
        yield Claim(name, "url", url, _address(entry.url))
    if content := _content(expected):
        yield Claim(name, "content", content, _line(html.unescape(entry.content)))
    if moment := expected["published"] or expected["updated"]:
        yield Claim(name, "date", from_datetime(datetime.fromisoformat(moment)), entry.published_at)
    if people := _people(expected["authors"]):
        yield Claim(name, "author", people, entry.author)
    if tags := sorted({each["label"] or each["term"] for each in expected["categories"]}):
        yield Claim(name, "tags", tags, list(entry.tags))
    if enclosures := {_address(each) for each in _enclosures(expected)}:
        found = {_address(each.url) for each in entry.enclosures}
        yield Claim(name, "enclosures", sorted(enclosures), sorted(found & enclosures))
    if expected["language"]:
        yield Claim(name, "language", expected["language"].lower(), entry.language)
    if expected["base"]:
        yield Claim(name, "base", expected["base"], entry.base_url)


def _text(value: dict[str, Any] | None) -> str:
    return _line(value["content"] or "") if value else ""


def _link(links: list[dict[str, Any]], rel: str) -> str:
    """Return the URL of the first link with a relation; a link without one is an alternate."""
    for link in links:
        if (link["rel"] or "alternate") == rel:
            return _address(link["href"])
    return ""


def _content(expected: dict[str, Any]) -> str:
    body = (expected["content"] or {}).get("body")
    if body:
        return _line(html.unescape(body))
    descriptions = [media["description"] for media in expected["media"] if media["description"]]
    return html.unescape(_text(expected["summary"]) or next(map(_text, descriptions), ""))


def _people(authors: list[dict[str, Any]]) -> str:
    return ", ".join(sorted({_line(each["name"] or each["email"] or "") for each in authors} - {""}))


def _enclosures(expected: dict[str, Any]) -> Iterator[str]:
    """Return the URLs of all kinds of enclosures."""
    yield from (link["href"] for link in expected["links"] if link["rel"] == "enclosure")
    for media in expected["media"]:
        yield from (content["url"] for content in media["content"] if content["url"])
        yield from (thumbnail["image"]["uri"] for thumbnail in media["thumbnails"])


def _address(written: str) -> str:
    """Return the URL as the corpus sometimes writes it: absolute, with a lower-case host and a path."""
    parts = urlsplit(urljoin(ADDRESS, written.strip()))
    return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl()


def _line(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    found = list(claims())
    sys.stdout.write(f"{table(found)}\n\n{misses(found, REASONS)}\n")


if __name__ == "__main__":
    main()
