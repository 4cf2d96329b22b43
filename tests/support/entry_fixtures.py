"""Writes entries directly to storage, for tests of queries."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import EntryFilter, EntryStatus, PageRequest, ReadyEntry
from tidings.engine.database import Database
from tidings.storage.accounts import users
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import entry_writes

NOW = Instant(1_790_000_000 * SECOND)
_numbers = itertools.count(1)


def ready(title: str, content: str = "", **more: Any) -> ReadyEntry:
    number = next(_numbers)
    values: dict[str, Any] = {
        "published_at": Instant(NOW + number * SECOND),
        "url": f"https://example.org/{number}",
        "hash": number.to_bytes(32, "big"),
    } | more
    return ReadyEntry(
        fingerprint=b"",
        title=title,
        content=content,
        status=EntryStatus.UNREAD,
        **values,
    )


@dataclass(frozen=True)
class FeedFixture:
    """A user with a category and a feed, in a database."""

    database: Database
    user_id: int
    category_id: int
    feed_id: int

    @classmethod
    def create(cls, database: Database) -> FeedFixture:
        number = next(_numbers)
        with database.writing() as db:
            user = users.add(db, username=f"reader-{number}", password_hash="", is_admin=False, now=NOW)
            category = categories.add(db, user, title="All", title_key="all", hide_globally=False)
            return cls(database, user, category, _feed(db, user, category))

    def another_feed(self) -> FeedFixture:
        with self.database.writing() as db:
            return FeedFixture(self.database, self.user_id, self.category_id, _feed(db, self.user_id, self.category_id))

    def add(self, *new: ReadyEntry) -> list[int]:
        with self.database.writing() as db:
            return entry_writes.add(db, self.user_id, self.feed_id, self.category_id, new, now=NOW)

    def titles(self, search: str = "", page: PageRequest | None = None, **filters: Any) -> list[str]:
        with self.database.reading() as db:
            found = entry_lists.page(db, self.user_id, EntryFilter(search=search, **filters), page or PageRequest())
        return [entry.title for entry in found.entries]

    def total(self, search: str = "", **filters: Any) -> int:
        with self.database.reading() as db:
            found = entry_lists.page(db, self.user_id, EntryFilter(search=search, **filters), PageRequest(limit=1))
        return found.total.number


def _feed(db: Any, user_id: int, category_id: int) -> int:
    number = next(_numbers)
    return feeds.add(
        db,
        user_id,
        category_id=category_id,
        feed_url=f"https://example.org/{number}.xml",
        title=f"Feed {number}",
        created_at=NOW,
        checked_at=NOW,
        next_check_at=NOW,
    )
