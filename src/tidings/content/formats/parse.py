"""Parses the body of a response into a feed.

bytes | decode | find the root | build the tree | RSS, Atom, JSON Feed or CDF | ParsedFeed
"""

from __future__ import annotations

from lxml import etree
from msgspec.structs import replace

from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.content.errors import FeedUnreadable, NotAFeed
from tidings.content.formats.atom import read_atom
from tidings.content.formats.charset import DecodedText, decode_document
from tidings.content.formats.documents import DocumentRoot, find_root, limit_json, read_document
from tidings.content.formats.json_feed import read_json_feed
from tidings.content.formats.rss import read_rss
from tidings.content.model import DocumentLimit, FeedFormat, ParsedFeed


def parse_feed(body: bytes, *, url: str, charset: str | None = None, now: Instant | None = None) -> ParsedFeed:
    """Return the feed of a document.

    body: the decompressed document. url: the URL it was finally fetched from, the base of relative URLs.
    charset: the one that the Content-Type names, if any. now: the time of fetching; later dates become `now`.
    Raises NotAFeed if the document is not a feed, FeedUnreadable if it is a feed that cannot be parsed.
    """
    source = decode_document(body, charset)
    root = find_root(source.text)
    if root is None:
        raise NotAFeed(msg("The address answers, but not with a feed. Look for the feed's own address on the page."))
    if root.format is FeedFormat.JSON:
        limited = limit_json(source.text)
        feed = read_json_feed(limited, url=url, now=now)
        if feed is None:
            raise NotAFeed(msg("The address answers with JSON, but not with a JSON Feed."))
        return _with_element_limit(feed, is_limited=limited is not source.text)
    return _parse_xml(source, root, url, now)


def _parse_xml(source: DecodedText, root: DocumentRoot, url: str, now: Instant | None) -> ParsedFeed:
    try:
        document = read_document(source, root)
    except etree.LxmlError as error:
        raise FeedUnreadable(
            msg("The feed is damaged beyond reading. Tell its publisher, or try again later.")
        ) from error
    if document.root is None:
        raise FeedUnreadable(msg("The feed is damaged beyond reading. Tell its publisher, or try again later."))
    if root.format is FeedFormat.ATOM:
        feed = read_atom(document.root, url=url, is_cut_off=document.is_cut_off, now=now)
    else:
        feed = read_rss(document.root, url=url, feed_format=root.format, is_cut_off=document.is_cut_off, now=now)
    return _with_element_limit(feed, is_limited=document.is_limited)


def _with_element_limit(feed: ParsedFeed, *, is_limited: bool) -> ParsedFeed:
    return replace(feed, limits_reached=feed.limits_reached | {DocumentLimit.ELEMENTS}) if is_limited else feed
