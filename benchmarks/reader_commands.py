"""The library `reader` as a process: executes the commands of its standard input, one a line, and prints their results.

    PYTHON benchmarks/reader_commands.py DATABASE FEEDS

PYTHON is an interpreter that has `reader`, which need not be the one of Tidings: this file imports nothing else.
FEEDS is a folder with feeds of JSON. A command is a JSON object with its name in `do`; see `library.py`.
"""

import json
import sqlite3
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from itertools import cycle
from typing import Any

import reader

FEW, LONG_TURN_S = 5, 8.0


class Commands:
    """What a benchmark asks of the library."""

    def __init__(self, database: str, folder: str) -> None:
        self.database = database
        self.reader = reader.make_reader(database, feed_root=folder)

    def version(self) -> str:
        return str(reader.__version__)

    def subscribe(self, urls: list[str], categories: list[str]) -> None:
        """Replace all feeds. categories: of each feed, or none."""
        for feed in list(self.reader.get_feeds()):
            self.reader.delete_feed(feed)
        for url in urls:
            self.reader.add_feed(url)
        for url, category in zip(urls, categories, strict=False):
            self.reader.set_tag(url, category)

    def update(self, workers: int) -> float:
        """Check all feeds. Returns the seconds."""
        started = time.monotonic()
        self.reader.update_feeds(scheduled=False, workers=workers)
        return time.monotonic() - started

    def counts(self) -> dict[str, Any]:
        found = self.reader.get_entry_counts()
        return {"total": found.total, "read": found.read, "important": found.important}

    def set_states(self, read: list[str], important: list[str]) -> None:
        """By SQL, since the library sets the state of one entry per transaction."""
        with closing(sqlite3.connect(self.database)) as db, db:
            db.executemany("UPDATE entries SET read = 1 WHERE id = ?", ([one] for one in read))
            db.executemany("UPDATE entries SET important = 1 WHERE id = ?", ([one] for one in important))

    def measure(self, case: str, seconds: float) -> float:
        """Return how many times a second a case is carried out, one after the other."""
        call = self.cases()[case]
        rate, count = self._rate(call, seconds)
        return rate if count >= FEW or seconds >= LONG_TURN_S else self._rate(call, LONG_TURN_S)[0]

    def once(self, case: str) -> float:
        """Return the seconds of a case."""
        started = time.perf_counter()
        self.cases()[case]()
        return time.perf_counter() - started

    def _rate(self, call: Callable[[], object], seconds: float) -> tuple[float, int]:
        count, started = 0, time.perf_counter()
        while (took := time.perf_counter() - started) < seconds:
            call()
            count += 1
        return count / took, count

    def cases(self) -> dict[str, Callable[[], object]]:
        entries = self.reader.get_entries
        feed = next(iter(self.reader.get_feeds(limit=1))).url
        newest = [entry.resource_id for entry in entries(limit=3)]
        switch = cycle([True, False])
        return {
            "feeds": lambda: _read(self.reader.get_feeds()),
            "unread, 100": lambda: _read(entries(read=False, limit=100)),
            "starred, 100": lambda: _read(entries(important=True, limit=100)),
            "feed, 100": lambda: _read(entries(feed=feed, limit=100)),
            "category, 100": lambda: _read(entries(feed_tags=["Category 3"], limit=100)),
            "star": lambda: self.reader.set_entry_important(newest[0], next(switch)),
            "mark 3": lambda: self._set_read(newest, next(switch)),
            "first sync": lambda: _read(entries()),
        }

    def _set_read(self, entries: list[tuple[str, str]], is_read: bool) -> None:
        for entry in entries:
            self.reader.set_entry_read(entry, is_read)


def _read(found: Any) -> None:
    """Read all, and keep none."""
    deque(found, maxlen=0)


def main() -> None:
    commands = Commands(*sys.argv[1:])
    for line in sys.stdin:
        command = json.loads(line)
        result = getattr(commands, command.pop("do"))(**command)
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
