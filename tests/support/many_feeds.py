"""Accounts with thousands of feeds, written straight into the database."""

from __future__ import annotations

from support.people import Person
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes


def add_feeds(person: Person, categories: int, feeds_each: int, *, unread_every: int = 0) -> dict[str, int]:
    """Return the ids of new feeds by title: "Feed 7-3" is the fourth of "Category 07".

    unread_every: each feed with such a number has an unread entry; 0 for none.
    """
    services = person.service.services
    now, created = services.clock(), {}
    for number in range(categories):
        category = services.feeds.categories.create(person.id, f"Category {number:02}").id
        rows = [
            {
                "category_id": category,
                "feed_url": f"http://127.0.0.1:1/{number}/{place}",
                "title": f"Feed {number}-{place}",
                "created_at": now,
                "checked_at": now,
                "next_check_at": now,
            }
            for place in range(feeds_each)
        ]
        with services.database.writing() as db:
            for place, feed_id in enumerate(feeds.add_many(db, person.id, rows)):
                title = f"Feed {number}-{place}"
                created[title] = feed_id
                if unread_every and place % unread_every == 0:
                    entry = ReadyEntry(
                        hash=feed_id.to_bytes(32, "big"), fingerprint=b"", title=f"Entry of {title}",
                        url=f"https://example.org/{feed_id}", comments_url="", content="<p>Rain.</p>",
                        published_at=now, status=EntryStatus.UNREAD,
                    )  # fmt: skip
                    entry_writes.add(db, person.id, feed_id, category, [entry], now=now)
    return created
