"""Candidates for the feeds of a web page. Nothing here fetches; the caller tries the candidates.

declared_feeds    link elements of the page; trusted
known_site_feeds  feeds by the URL scheme of well-known sites
linked_feeds      links on the page that look like feeds
common_locations  usual paths of feeds; tried if nothing else was found
"""

from tidings.content.discovery.candidates import (
    FeedCandidate,
    common_locations,
    declared_feeds,
    is_comments_feed,
    linked_feeds,
)
from tidings.content.discovery.known_sites import known_site_feeds

__all__ = [
    "FeedCandidate",
    "common_locations",
    "declared_feeds",
    "is_comments_feed",
    "known_site_feeds",
    "linked_feeds",
]
