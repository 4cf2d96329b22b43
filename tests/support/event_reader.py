"""Reads a stream of server-sent events."""

from __future__ import annotations

import http.client
import json
import select
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

WAIT_S = 180.0


@dataclass(frozen=True)
class Event:
    """An event as it was received."""

    name: str
    id: str
    data: Any


class EventReader:
    """A client that reads one event after the other from a response that stays open."""

    def __init__(self, url: str, path: str, headers: Mapping[str, str]) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=WAIT_S)
        self._connection.request("GET", path, headers=dict(headers))
        self.socket = self._connection.sock
        self.answer = self._connection.getresponse()

    def next(self) -> Event | None:
        """Return the next event, and None at the end of the stream. Comments alone are an AssertionError."""
        fields: dict[str, str] = {}
        deadline = time.monotonic() + WAIT_S
        for line in self.answer:
            assert time.monotonic() < deadline, "no event came"
            name, colon, value = line.decode().rstrip("\n").partition(": ")
            if colon and name:
                fields[name] = value
            elif not name and "event" in fields:
                return Event(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
        return None

    def until(self, name: str) -> Event:
        """Return the next event of a name, without those before it."""
        while (event := self.next()) is not None:
            if event.name == name:
                return event
        raise AssertionError(f"the stream ended without {name}")

    def changes(self) -> Any:
        """Return the data of the next event that tells of changes."""
        return self.until("changes").data

    def is_silent(self) -> bool:
        """Return whether nothing has arrived."""
        return not select.select([self.socket], [], [], 0)[0]

    def close(self) -> None:
        self._connection.close()


@contextmanager
def reading_events(
    url: str, headers: Mapping[str, str], *, path: str = "/v1/events", since: str = ""
) -> Iterator[EventReader]:
    """Yield a client of a stream that is ready. since: sent as Last-Event-ID."""
    reader = EventReader(url, path, {**headers, **({"Last-Event-ID": since} if since else {})})
    try:
        assert reader.answer.status == 200, reader.answer.read()
        yield reader
    finally:
        reader.close()
