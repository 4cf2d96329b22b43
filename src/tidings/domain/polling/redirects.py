"""Permanent redirects: the URL of a feed changes after several checks in a row redirect to the same one."""

from __future__ import annotations

from typing import Any

from tidings.domain.feeds.feeds import Feed

# Some permanent redirects are mistakes that the publisher corrects within a day.
CONFIRMATIONS = 3


def redirect_columns(feed: Feed, permanent_url: str | None) -> dict[str, Any]:
    """Returns the changed columns of a feed: those that count redirects, or its new URL; {} if nothing changes.

    permanent_url: the URL of the response, if every redirect that led there was permanent (301, 308: RFC 9110,
    section 15.4).
    """
    if permanent_url is None or permanent_url == feed.feed_url:
        return {"moved_to": "", "moved_times": 0} if feed.moved_times else {}
    times = feed.moved_times + 1 if permanent_url == feed.moved_to else 1
    if times < CONFIRMATIONS:
        return {"moved_to": permanent_url, "moved_times": times}
    return {"feed_url": permanent_url, "moved_to": "", "moved_times": 0}
