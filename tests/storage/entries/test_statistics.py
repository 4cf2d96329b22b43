"""Entries are counted by the day on which they were published, read or marked in bulk."""

from __future__ import annotations

from sqlalchemy import select, update

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import DAY, HOUR, Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Database
from tidings.storage.entries import statistics
from tidings.storage.schema import entries


def test_entries_are_counted_per_day_and_user(database: Database) -> None:
    feed_fixture = FeedFixture.create(database)
    start = Instant(NOW - NOW % DAY)
    feed_fixture.add(
        *(
            ready(f"{number}", published_at=Instant(start + moment))
            for number, moment in enumerate((-1, 0, DAY - 1, DAY, 3 * DAY - 1, 3 * DAY))
        )
    )
    with database.reading() as db:
        assert statistics.published(db, feed_fixture.user_id, start, DAY, 3) == [2, 1, 1]
        assert statistics.published(db, feed_fixture.user_id, start, HOUR, 1) == [1]
        assert statistics.read(db, feed_fixture.user_id, start, DAY, 3) == [(0, 0)] * 3
        assert statistics.published(db, feed_fixture.user_id + 1, start, DAY, 3) == [0, 0, 0]


def test_what_became_read_at_one_moment_was_marked_in_bulk(database: Database) -> None:
    feed_fixture = FeedFixture.create(database)
    start, most = Instant(NOW - NOW % DAY), statistics.MAX_AT_ONCE
    feed_fixture.add(*(ready(f"{number}") for number in range(2 * most + 2)))
    with database.writing() as db:
        ids = sorted(db.scalars(select(entries.c.id)))
        # More than at most, exactly that many, and one more.
        for moment, changed in enumerate((ids[: most + 1], ids[most + 1 : -1], ids[-1:])):
            db.run(
                update(entries)
                .where(entries.c.id.in_(changed))
                .values(changed_at=start + moment, status=EntryStatus.READ.value)
            )
        assert statistics.read(db, feed_fixture.user_id, start, DAY, 2) == [(most + 1, most + 1), (0, 0)]
        assert statistics.read(db, feed_fixture.user_id + 1, start, DAY, 2) == [(0, 0), (0, 0)]
