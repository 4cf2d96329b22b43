"""A client that keeps what events have told it, as docs/events.md describes it, and asks only for what they name."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sync.device import SMALL, Ask, Device
from tidings.http.event_stream import Stream
from tidings.live import positions
from tidings.live.hub import Hub
from tidings.services.accounts.grants import Grant

# Returns one of the lists that an event names.
Get = Callable[[str], Any]
STATE = ("status", "starred", "feed_id")
OF_CHECK = ("disabled", "parsing_error_count", "parsing_error_message")


class Listener:
    """ask: a sync. get: returns a list that an event names, or "counters". The hub is another one after a restart."""

    def __init__(self, ask: Ask, get: Get, user_id: int) -> None:
        self._device, self._get, self._user_id = Device(ask), get, user_id
        self._connection: _Connection | None = None
        self._begin()

    def hear(self, hub: Hub, last: str) -> None:
        """Take events until the one with the id `last`."""
        if self._connection is None:
            self._connection = _Connection(hub, self._user_id, self.cursor)
        while self.cursor != last or not self._connection.is_ready:
            for event in self._connection.take():
                self._apply(event)

    def leave(self) -> None:
        """Close the connection, as when the server restarts or the network is lost."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _begin(self) -> None:
        """Get everything."""
        self._device.begin()
        self._device.sync()
        self.cursor = self._device.cursor
        self.entries = {id_: members_of(entry, STATE) for id_, entry in self._device.entries.items()}
        self.feeds = {id_: members_of(feed, OF_CHECK) for id_, feed in self._device.feeds.items()}
        self.counts: dict[int, tuple[int, int]] = dict(self._get("counters"))
        self.lists = {name: self._get(name) for name in (*SMALL, "settings")}

    def _apply(self, event: dict[str, str]) -> None:
        if event["event"] == "reset":
            self._begin()
            return
        self.cursor = event["id"]
        told = json.loads(event["data"])
        for feed in told.get("feeds", {}).get("listed", ()):
            if feed.get("removed"):
                self.feeds.pop(feed["id"], None)
                self.counts.pop(feed["id"], None)
                self.entries = {id_: one for id_, one in self.entries.items() if one["feed_id"] != feed["id"]}
            else:
                self.feeds[feed["id"]] = members_of(feed, OF_CHECK)
                self.counts.setdefault(feed["id"], (0, 0))
        changed = told.get("entries", {"count": 0, "listed": []})
        for entry in changed["listed"]:
            if entry["status"] == "removed":
                self.entries.pop(entry["id"], None)
            else:
                self.entries[entry["id"]] = members_of(entry, STATE)
        self.counts |= {one["id"]: (one["unread"], one["read"]) for one in told.get("counts", ())}
        self.lists |= {name: self._get(name) for name in told.get("lists", ()) if name in self.lists}
        if changed["count"] > len(changed["listed"]):
            # More than are listed.
            self._begin()


class _Connection:
    """A stream of events, in a thread of its own."""

    def __init__(self, hub: Hub, user_id: int, since: str) -> None:
        self.is_ready = False
        self._events: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._stream = Stream()
        self._loop = asyncio.new_event_loop()
        source = hub.subscribed(self._stream, Grant(user_id), positions.decode(since, user_id))

        async def listen() -> None:
            async with source:
                while chunk := await self._stream.take(comment_after_s=60):
                    self._events.put(chunk)

        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(listen(),))
        self._thread.start()

    def take(self) -> list[dict[str, str]]:
        """Wait for events and return them, except that everything so far was sent."""
        events = []
        for text in self._events.get(timeout=60).decode().split("\n\n"):
            event = dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith(":"))
            self.is_ready = self.is_ready or event.get("event") == "ready"
            if event.get("event") in ("changes", "reset"):
                events.append(event)
        return events

    def close(self) -> None:
        with suppress(RuntimeError):  # The loop has ended.
            self._loop.call_soon_threadsafe(self._stream.end)
        self._thread.join()
        self._loop.close()


def members_of(one: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return members; those that an event leaves out are false, zero or empty."""
    return {name: one.get(name) or None for name in names}
