"""The ids of all unread entries of a user as one text, of which each feed's part is kept in memory.

    feeds with their versions ─► parts in memory ─► parts of changed feeds, from the database ─► one text

An app of the Fever API asks for them at each synchronisation. Most feeds have not changed since the one before.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final

from tidings.domain.entries.entries import EntryFilter, EntryStatus
from tidings.engine.database import Read
from tidings.storage.entries import entry_lists, unread_ids
from tidings.storage.entries.unread_ids import UnreadFeed

# Characters of texts: 700,000 ids.
LIMIT: Final = 4 * 2**20
# A feed's ids are found among all its entries, a user's among the unread ones alone. So where much has changed,
# feed by feed is only faster with at most this many entries for each unread one of the user.
_MAX_PER_UNREAD: Final = 4
_FEW_ENTRIES: Final = 10_000


class UnreadIdTexts:
    """A cache of the unread entries' ids of each feed, as text.

    limit: maximum number of characters in memory; the texts that were not used for longest are dropped first.
    size: the characters of all texts.
    A version is written with each change of a feed's entries, in the same transaction. So a text with the version that
    the database has is never out of date, whichever process wrote last.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        # Version and text, by feed id.
        self._kept: OrderedDict[int, tuple[int, str]] = OrderedDict()
        self.size = 0
        self._lock = threading.Lock()

    def joined(self, db: Read, user_id: int) -> str:
        """Return the ids of the user's unread entries, separated by commas, not sorted."""
        feeds = unread_ids.feeds_with_unread(db, user_id)
        texts = self._current(feeds)
        missing = [feed for feed in feeds if feed.feed_id not in texts]
        if not _is_cheap(missing, sum(feed.unread for feed in feeds)):
            return entry_lists.joined_ids(db, user_id, EntryFilter(statuses=(EntryStatus.UNREAD,)))
        if missing:
            for found in unread_ids.of_feeds(db, user_id, (feed.feed_id for feed in missing)):
                texts[found.feed_id] = found.joined or ""
                self._keep(found.feed_id, found.version, texts[found.feed_id])
        # In the order of feed ids, so that the same state is always the same text.
        return ",".join(filter(None, (texts[feed_id] for feed_id in sorted(texts))))

    def _current(self, feeds: Iterable[UnreadFeed]) -> dict[int, str]:
        """Return the texts by feed id that are of the versions of these feeds."""
        found: dict[int, str] = {}
        with self._lock:
            for feed in feeds:
                kept = self._kept.get(feed.feed_id)
                if kept is not None and kept[0] == feed.version:
                    self._kept.move_to_end(feed.feed_id)
                    found[feed.feed_id] = kept[1]
        return found

    def _keep(self, feed_id: int, version: int, text: str) -> None:
        with self._lock:
            self.size += len(text) - len(self._kept.pop(feed_id, (0, ""))[1])
            self._kept[feed_id] = version, text
            while self.size > self._limit:
                self.size -= len(self._kept.popitem(last=False)[1][1])


def _is_cheap(feeds: Sequence[UnreadFeed], all_unread: int) -> bool:
    """Return whether the ids of these feeds may be read feed by feed."""
    return sum(feed.unread + feed.read for feed in feeds) <= _FEW_ENTRIES + _MAX_PER_UNREAD * all_unread
