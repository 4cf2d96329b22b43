"""Permanent redirects: the URL of a feed changes after several checks in a row redirect to the same one.

A feed with a cookie, credentials or a user agent of its own keeps its URL if the redirects lead to another host: with
the new URL these would go there, and whoever redirects is not always who was trusted with them.
"""

from __future__ import annotations

from typing import Any

from tidings.domain.feeds.feeds import Feed

# Some permanent redirects are mistakes that the publisher corrects within a day.
CONFIRMATIONS = 3


def redirect_columns(feed: Feed, permanent_url: str | None, *, may_move: bool = True) -> dict[str, Any]:
    """Returns the changed columns of a feed: those that count redirects, or its new URL; {} if nothing changes.

    permanent_url: the URL of the response, if every redirect that led there was permanent (301, 308: RFC 9110,
    section 15.4). may_move: False keeps the URL; `moved_times` then stays at CONFIRMATIONS, and the owner is told.
    """
    if permanent_url is None or permanent_url == feed.feed_url:
        return {"moved_to": "", "moved_times": 0} if feed.moved_times else {}
    times = min(feed.moved_times + 1, CONFIRMATIONS) if permanent_url == feed.moved_to else 1
    if times < CONFIRMATIONS or not may_move:
        return {"moved_to": permanent_url, "moved_times": times}
    return {"feed_url": permanent_url, "moved_to": "", "moved_times": 0}
