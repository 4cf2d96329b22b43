"""A client that keeps what it has synced, as docs/sync.md describes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Of which a page has all or nothing.
SMALL = ("categories", "labels", "views", "rules")

# Sends a cursor, "" for none. Returns the response, None for 410.
Ask = Callable[[str], dict[str, Any] | None]


class Device:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.begin()

    def begin(self) -> None:
        """Forget everything."""
        self.cursor = ""
        self.settings: dict[str, Any] = {}
        self.small: dict[str, list[dict[str, Any]]] = {}
        self.feeds: dict[int, dict[str, Any]] = {}
        self.entries: dict[int, dict[str, Any]] = {}
        self.received = 0
        self.times_begun = getattr(self, "times_begun", -1) + 1

    def sync(self) -> None:
        """Read all pages."""
        while self.read_page():
            pass

    def read_page(self) -> bool:
        """Read a page. Returns whether there is another one."""
        page = self._ask(self.cursor)
        if page is None:
            self.begin()
            return True
        removed = page["removed"]
        for feed_id in removed["feeds"]:
            self.feeds.pop(feed_id, None)
            self.entries = {id_: entry for id_, entry in self.entries.items() if entry["feed_id"] != feed_id}
        for entry_id in removed["entries"]:
            self.entries.pop(entry_id, None)
        for kind in SMALL:
            if page[kind] is not None:
                gone = {one["id"] for one in self.small.get(kind, ())} - {one["id"] for one in page[kind]}
                assert gone <= set(removed[kind]) or not self.cursor, "what is deleted is named"
                self.small[kind] = page[kind]
        self.settings = page["settings"] or self.settings
        self.feeds |= {feed["id"]: feed for feed in page["feeds"]}
        for entry in page["entries"]:
            # With `fields`, a page has some members of an entry.
            self.entries[entry["id"]] = self.entries.get(entry["id"], {}) | entry
        self.received += len(page["feeds"]) + len(page["entries"])
        self.cursor = page["next_cursor"]
        return bool(page["has_more"])
