"""From the bytes of a response to a feed.

bytes | decode | find the root | read the tree | RSS, Atom, JSON Feed or CDF | ParsedFeed
"""

from __future__ import annotations

from lxml import etree
from msgspec.structs import replace

from tidings.domain.errors import FeedUnreadable, NotAFeed
from tidings.domain.feeds import FeedFormat, ParsedFeed
from tidings.domain.formats.atom import read_atom
from tidings.domain.formats.charset import Source, read_source
from tidings.domain.formats.detect import Root, find_root
from tidings.domain.formats.json_feed import read_json_feed
from tidings.domain.formats.rss import read_rss
from tidings.domain.formats.size import readable_json
from tidings.domain.formats.xml import read_document
from tidings.domain.times import Instant


def parse(body: bytes, *, url: str, charset: str | None = None, now: Instant | None = None) -> ParsedFeed:
    """The feed a document holds.

    body: decompressed. url: the address it was finally fetched from; relative addresses start there.
    charset: from the Content-Type, if it named one. now: when it was fetched; later dates are taken for it.
    NotAFeed when there is no feed in it; FeedUnreadable when there is one that cannot be read. Nothing else.
    """
    source = read_source(body, charset)
    root = find_root(source.text)
    if root is None:
        raise NotAFeed("The address answers, but not with a feed. Look for the feed's own address on the page.")
    if root.format is FeedFormat.JSON:
        feed = read_json_feed(readable_json(source.text), url=url, now=now)
        if feed is None:
            raise NotAFeed("The address answers with JSON, but not with a JSON Feed.")
        return feed
    return _parse_xml(source, root, url, now)


def _parse_xml(source: Source, root: Root, url: str, now: Instant | None) -> ParsedFeed:
    try:
        document = read_document(source, root)
    except etree.LxmlError as error:
        raise FeedUnreadable("The feed is damaged beyond reading. Tell its publisher, or try again later.") from error
    if document.root is None:
        raise FeedUnreadable("The feed is damaged beyond reading. Tell its publisher, or try again later.")
    if root.format is FeedFormat.ATOM:
        feed = read_atom(document.root, url=url, is_cut_off=document.is_cut_off, now=now)
    else:
        feed = read_rss(document.root, url=url, form=root.format, is_cut_off=document.is_cut_off, now=now)
    return replace(feed, is_plain=False) if document.is_damaged else feed
