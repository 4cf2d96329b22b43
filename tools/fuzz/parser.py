"""Any bytes are read as a feed or refused, and what is read can be stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fuzz.limits import MAX_INPUT_BYTES, in_time
from scoring.archives import members
from tidings.base.times import DAY, Instant
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed
from tidings.content.model import ParsedEntry, ParsedFeed

ADDRESS: Final = "https://feeds.example/feed"
NOW: Final = Instant(1_795_000_000_000_000)
# The first byte says what the Content-Type would.
CHARSETS: Final = (None, "utf-8", "iso-8859-1", "utf-16", "shift_jis", "x-nonsense", "", "windows-1252")

WORDS: Final = tuple(
    b"""<rss> <rss </rss> <channel> </channel> <item> </item> <feed </feed> <entry> </entry> <rdf:RDF <title> </title>
    <link> </link> <guid> isPermaLink="false" <description> <content:encoded> <pubDate> <dc:date> <dc:creator> <author>
    <name> <email> <category <enclosure url=" length=" type=" rel=" href=" xml:base=" xml:lang=" xmlns=" xmlns:a="
    <media:group> <media:content <media:thumbnail <itunes:duration> <itunes:image <updated> <published> <id> <summary
    <content type="xhtml" type="html" type="text" mode="base64" src=" <source> <ttl> <skipHours> <sy:updatePeriod>
    <![CDATA[ ]]> <!-- --> <?xml ?> <!DOCTYPE <!ENTITY [ ]> encoding=" &amp; &lt; &#x0; &#160; &nbsp; &foo; http://
    {"version": "items":[ "id": "url": "content_html": "date_published": "attachments": "authors": "tags": null 1e999
    Mon, 2006-01-02T15:04:05Z 1136214245000 GMT +25:00 http://www.w3.org/2005/Atom http://purl.org/rss/1.0/
    \xef\xbb\xbf \xff\xfe \xfe\xff \\ud800""".split()
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    yield b"\0<rss><channel><title>A</title><item><title>B</title><guid>1</guid></item></channel></rss>"
    yield b'\0<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>urn:1</id><title>B</title></entry></feed>'
    yield b'\0{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","content_text":"B"}]}'
    yield from (finding.read_bytes() for finding in sorted(FINDINGS.glob("parser-*/input")))
    try:
        for archive in ("feeds-expected", "feeds-expressions", "feeds-real"):
            yield from (b"\0" + body[: MAX_INPUT_BYTES - 1] for _, body in members(archive))
    except FileNotFoundError:
        return


FINDINGS: Final = Path(__file__).parents[2] / "tests" / "corpus" / "findings"


def check(data: bytes) -> None:
    with in_time():
        found = read(data)
    if found is not None:
        assert found == read(data), "the same bytes are not the same feed"
        _check_feed(found)


def read(data: bytes) -> ParsedFeed | None:
    try:
        return parse_feed(data[1:], url=ADDRESS, charset=CHARSETS[(data[:1] or b"\0")[0] % len(CHARSETS)], now=NOW)
    except FeedError:
        return None


def _check_feed(feed: ParsedFeed) -> None:
    _check_text(feed.title, feed.description, feed.language, feed.icon_url, feed.self_url, *feed.hubs)
    _check_address(feed.site_url)
    hashes = [entry.hash for entry in feed.entries]
    assert len(set(hashes)) == len(hashes), "two entries are one"
    for entry in feed.entries:
        _check_entry(entry)


def _check_entry(entry: ParsedEntry) -> None:
    assert len(bytes.fromhex(entry.hash)) == 32
    assert entry.title, "an entry without a name"
    _check_text(entry.title, entry.content, entry.author, entry.language, *entry.tags)
    _check_address(entry.url, entry.comments_url)
    assert entry.published_at is None or 0 <= entry.published_at <= NOW + DAY
    assert list(entry.tags) == sorted(set(entry.tags))
    assert 0 <= entry.duration_minutes < 2**31
    for enclosure in entry.enclosures:
        _check_text(enclosure.url, enclosure.mime_type)
        assert enclosure.url
        assert 0 <= enclosure.size < 2**63


def _check_text(*texts: str) -> None:
    for text in texts:
        assert "\0" not in text
        text.encode()


def _check_address(*addresses: str) -> None:
    for address in addresses:
        _check_text(address)
        assert address == "" or address.startswith(("http://", "https://")), address
