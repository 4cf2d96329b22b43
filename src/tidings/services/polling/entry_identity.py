"""Switches how a feed tells its entries apart: by address instead of id, or back."""

from __future__ import annotations

from typing import Any

from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.entry_identity import rehash_by_url
from tidings.domain.polling.sources import NO_VALIDATORS
from tidings.storage.engine.database import Write
from tidings.storage.polling import feed_store


def switched(db: Write, feed: Feed, *, by_url: bool) -> dict[str, Any]:
    """Return the columns of the feed to change; its entries are changed here. The caller holds the feed's counters.

    The addresses of stored entries are known. Their ids are known again once a document names them: until then they
    go by their addresses, which is what `once_matched_by_url` is for. Either way the next document is read even if it
    is the same: it may be the last to name both.
    """
    if not by_url:
        return {**NO_VALIDATORS, "once_matched_by_url": True}
    hashes = rehash_by_url(feed_store.stored(db, feed.user_id, feed.id))
    feed_store.rename(db, feed.user_id, feed.id, hashes)
    return dict(NO_VALIDATORS)
