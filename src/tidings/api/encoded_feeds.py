"""Keeps the JSON of feeds, so that a feed is encoded again only when it has changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum
from typing import Final

# Bytes of texts and JSON: some 5,000 feeds.
LIMIT: Final = 8 * 2**20


class MissingIcon(Enum):
    """The value of `icon` of a feed that has none. Handlers that return feeds have a parameter of this type."""

    NULL = "null"
    """As the contract says."""
    OBJECT = "object"
    """An object with icon_id 0, as Miniflux sends it, for apps that fail at null."""


# Time zone of the user, what a missing icon is for the client, and text of the feed (`storage.feeds.feed_texts`).
Key = tuple[str, MissingIcon, str]


class EncodedFeeds:
    """The JSON of feeds by what it was made from, up to `limit` bytes; what was unused for longest goes first.

    The text of a feed is all that its JSON shows, as the database has it. So what is found for a text is never out of
    date, whichever process wrote last, and nothing has to be removed when a feed changes.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._by_key: OrderedDict[Key, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self.size_bytes = 0

    def get_many(self, keys: Iterable[Key]) -> list[bytes | None]:
        """Returns the JSON for each key, None where it is missing."""
        found: list[bytes | None] = []
        with self._lock:
            for key in keys:
                encoded = self._by_key.get(key)
                if encoded is not None:
                    self._by_key.move_to_end(key)
                found.append(encoded)
        return found

    def add(self, key: Key, encoded: bytes) -> None:
        with self._lock:
            if key not in self._by_key:
                self._by_key[key] = encoded
                self.size_bytes += _size(key, encoded)
            while self.size_bytes > self._limit:
                self.size_bytes -= _size(*self._by_key.popitem(last=False))


def _size(key: Key, encoded: bytes) -> int:
    return len(key[2]) + len(encoded)
