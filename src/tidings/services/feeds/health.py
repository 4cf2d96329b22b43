"""Chooses feeds by their health, their category and words, and counts them by health."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from tidings.base.text import without_accents
from tidings.base.times import Instant
from tidings.domain.feeds.health import FeedHealth, FeedHealthSummary, FeedOrder
from tidings.engine.database import Read
from tidings.storage.feeds import feeds, health


class ChosenFeeds(Struct, frozen=True):
    """The feeds that match a choice, and their number by health."""

    ids: list[int]
    """Ids of the matching feeds, in order."""
    counts: Counter[FeedHealth]
    """Feeds by health, before the choice by health."""
    total: int
    """Sum of the counts."""
    of_user: int
    """All feeds of the user."""


def choose(
    db: Read,
    user_id: int,
    now: Instant,
    *,
    state: str = "",
    category_id: int | None = None,
    search: str = "",
    order: FeedOrder = FeedOrder.CARE,
) -> ChosenFeeds:
    """Return the feeds of the user with a health, in a category or below it, with all of some words.

    state: a value of FeedHealth; "" for all. search: words in the title or the addresses.
    """
    summaries = health.list_summaries(db, user_id, order, now)
    inside = () if category_id is None else set(feeds.ids_of_category(db, user_id, category_id))
    words = without_accents(search).split()
    matching = [feed for feed in summaries if (category_id is None or feed.id in inside) and _has_words(feed, words)]
    counts = Counter(feed.health for feed in matching)
    ids = [feed.id for feed in matching if state in ("", feed.health)]
    return ChosenFeeds(ids, counts, len(matching), len(summaries))


def _has_words(feed: FeedHealthSummary, words: Sequence[str]) -> bool:
    if not words:
        return True
    searched = without_accents(f"{feed.title} {feed.feed_url} {feed.site_url}")
    return all(word in searched for word in words)
