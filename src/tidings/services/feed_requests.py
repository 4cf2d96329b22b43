"""Requests for what a feed links to: articles, its icon, chapters and transcripts."""

from __future__ import annotations

from tidings.domain.feeds.feeds import Feed
from tidings.net.fetch import FetchRequest
from tidings.net.targets import may_share


def linked_request(
    feed: Feed, url: str, *, accept: str, max_body_size: int | None = None, timeout_s: float | None = None
) -> FetchRequest:
    """Returns a request with the options of the feed.

    Its cookie and user agent are sent to its own publisher only, its password for its own URL only.
    """
    is_own_site, is_own_url = may_share(feed.feed_url, url), url == feed.feed_url
    return FetchRequest(
        url=url,
        accept=accept,
        user_agent=feed.user_agent if is_own_site else "",
        cookie=feed.cookie if is_own_site else "",
        username=feed.username if is_own_url else "",
        password=feed.password if is_own_url else "",
        allow_self_signed_certificates=feed.allow_self_signed_certificates,
        proxy_url=feed.proxy_url,
        fetch_via_proxy=feed.fetch_via_proxy,
        max_body_size=max_body_size,
        timeout_s=timeout_s,
    )
