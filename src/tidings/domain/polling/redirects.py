"""Feeds that moved for good: a publisher is believed when it says so several times in a row."""

from __future__ import annotations

from typing import Any

from tidings.domain.feeds.feeds import Feed

# A permanent redirect is set up by mistake now and then, and taken back within a day.
CONFIRMATIONS = 3


def after_answer(feed: Feed, permanent_url: str | None) -> dict[str, Any]:
    """What to remember, and the new address once it is certain; nothing where nothing changes.

    permanent_url: where the answer was found, if every step there was permanent (301, 308: RFC 9110, section 15.4).
    """
    if permanent_url is None or permanent_url == feed.feed_url:
        return {"moved_to": "", "moved_times": 0} if feed.moved_times else {}
    times = feed.moved_times + 1 if permanent_url == feed.moved_to else 1
    if times < CONFIRMATIONS:
        return {"moved_to": permanent_url, "moved_times": times}
    return {"feed_url": permanent_url, "moved_to": "", "moved_times": 0}
