"""The lists of feeds that a user follows, as archives have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tidings.base.errors import InvalidInput
from tidings.base.times import Instant
from tidings.domain.feeds import feed_changes
from tidings.engine.database import Read, Write
from tidings.live_opml import store
from tidings.live_opml.model import MAX_FEEDS
from tidings.live_opml.subscriptions import ensure_room, validate_url
from tidings.services.clock import Clock


class ListArchiver:
    """Lists what a user follows for an archive, and adds what an archive has."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def list_all(self, db: Read, user_id: int) -> list[dict[str, Any]]:
        """Return the lists of a user: url, category_id, and feeds: their URL, id, and since when they are missing."""
        return [
            {
                "url": one.url,
                "category_id": one.category_id,
                "feeds": [(row.url, row.feed_id, row.missing_since) for row in store.listed(db, user_id, one.id)],
            }
            for one in store.list_all(db, user_id)
        ]

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a list, which is checked soon. Raises InvalidInput."""
        url, now = validate_url(values["url"]), self._clock()
        ensure_room(len(store.list_all(db, user_id)))
        times = {"created_at": now, "checked_at": now, "next_check_at": now}
        subscription_id = store.add(db, user_id, url=url, category_id=values["category_id"], **times)
        feed_ids: dict[str, int | None] = {}
        missing: defaultdict[Instant, list[str]] = defaultdict(list)
        for address, feed_id, since in values["feeds"][:MAX_FEEDS]:
            with suppress(InvalidInput):
                feed_ids[feed_changes.validate_web_url(address, field="url")] = feed_id
                if since is not None and feed_id is not None:
                    missing[since].append(address)
        store.add_listed(db, user_id, subscription_id, feed_ids)
        for since, urls in missing.items():
            store.set_missing(db, user_id, subscription_id, urls, since)
