"""Switches how a feed identifies its entries: by URL instead of id, or back."""

from __future__ import annotations

from typing import Any

from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.entry_identity import rehash_by_url
from tidings.domain.polling.sources import NO_VALIDATORS
from tidings.engine.database import Write
from tidings.storage.polling import feed_store


def switched(db: Write, feed: Feed, *, by_url: bool) -> dict[str, Any]:
    """Change the hashes of the stored entries and return the columns of the feed to change.

    The caller has locked the counters of the feed. URLs of stored entries are known, their ids are not: until a
    document contains them again, entries are found by URL, because of `once_matched_by_url`. The validators are
    cleared so that the next document is read even if it is unchanged: it may be the last with both id and URL.
    """
    if not by_url:
        return {**NO_VALIDATORS, "once_matched_by_url": True}
    hashes = rehash_by_url(feed_store.stored(db, feed.user_id, feed.id))
    feed_store.rename(db, feed.user_id, feed.id, hashes)
    return dict(NO_VALIDATORS)
