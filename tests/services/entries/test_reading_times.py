"""Reading times follow the user's reading speed, in the background."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import select

from support.entry_fixtures import FeedFixture, ready
from tidings.base.times import Instant
from tidings.content.model import ParsedEnclosure
from tidings.domain.accounts.users import User
from tidings.engine.database import Database
from tidings.services.accounts.users import Users
from tidings.services.entries import reading_times
from tidings.services.entries.reading_times import ReadingTimes
from tidings.storage.accounts import users
from tidings.storage.schema import entries as entry_table
from tidings.storage.schema import users as user_table
from tidings.worker.reading_times import ReadingTimeWorker

WORDS = "<p>" + "word " * 530 + "</p>"
CHARACTERS = "雨" * 1_000


@pytest.fixture
def work(database: Database, monkeypatch: pytest.MonkeyPatch) -> ReadingTimes:
    monkeypatch.setattr(reading_times, "BATCH_SIZE", 2)
    return ReadingTimes(database)


def change_speed(feed: FeedFixture, **values: Any) -> None:
    with feed.database.reading() as db:
        user = users.get(db, feed.user_id)
    assert isinstance(user, User)
    Users(feed.database, lambda: Instant(1)).update(user, user.id, values)


def minutes(feed: FeedFixture) -> list[int]:
    wanted = select(entry_table.c.reading_time).where(entry_table.c.user_id == feed.user_id).order_by(entry_table.c.id)
    with feed.database.reading() as db:
        return db.scalars(wanted)


def finish(work: ReadingTimes) -> None:
    while work.work():
        pass


def test_reading_times_follow_a_new_speed(database: Database, work: ReadingTimes) -> None:
    feed, stranger = FeedFixture.create(database), FeedFixture.create(database)
    for each in (feed, stranger):
        each.add(*(ready("Rain", WORDS, reading_time=2) for _ in range(4)), ready("雨", CHARACTERS, reading_time=2))
    assert not work.work()

    change_speed(feed, default_reading_speed=53)
    finish(work)
    assert minutes(feed) == [10, 10, 10, 10, 2]

    change_speed(feed, cjk_reading_speed=100)
    finish(work)
    assert minutes(feed) == [10, 10, 10, 10, 10]
    assert minutes(stranger) == [2, 2, 2, 2, 2]


def test_the_duration_of_an_episode_stays(database: Database, work: ReadingTimes) -> None:
    feed = FeedFixture.create(database)
    audio = (ParsedEnclosure("https://example.org/a.mp3", "audio/mpeg"),)
    feed.add(
        ready("Episode", WORDS, reading_time=42, enclosures=audio),
        # Stored while reading times were hidden, when they were not computed.
        ready("Old episode", WORDS, reading_time=0, enclosures=audio),
        ready("With a picture", WORDS, reading_time=2, enclosures=(ParsedEnclosure("https://example.org/a.png"),)),
    )

    change_speed(feed, default_reading_speed=53)
    finish(work)

    assert minutes(feed) == [42, 10, 10]


def test_a_speed_changed_in_between_starts_anew(database: Database, work: ReadingTimes) -> None:
    feed = FeedFixture.create(database)
    feed.add(*(ready("Rain", WORDS, reading_time=2) for _ in range(5)))
    change_speed(feed, default_reading_speed=53)
    assert work.work()
    assert minutes(feed) == [10, 10, 2, 2, 2]

    change_speed(feed, default_reading_speed=530)
    finish(work)

    assert minutes(feed) == [1, 1, 1, 1, 1]


def test_settings_other_than_the_speed_recompute_nothing(database: Database, work: ReadingTimes) -> None:
    feed = FeedFixture.create(database)
    feed.add(ready("Rain", WORDS, reading_time=9))

    change_speed(feed, default_reading_speed=265, show_reading_time=False)

    assert not work.work()
    assert minutes(feed) == [9]


def test_the_worker_recomputes_by_itself(database: Database, work: ReadingTimes) -> None:
    feed = FeedFixture.create(database)
    feed.add(*(ready("Rain", WORDS, reading_time=2) for _ in range(5)))
    change_speed(feed, default_reading_speed=53)

    asyncio.run(_run_until_done(work, database))

    assert minutes(feed) == [10, 10, 10, 10, 10]


async def _run_until_done(work: ReadingTimes, database: Database) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(ReadingTimeWorker(work).run(stop))
    async with asyncio.timeout(120):
        while await asyncio.to_thread(_is_outdated, database):  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.01)
    stop.set()
    async with asyncio.timeout(60):
        await running


def _is_outdated(database: Database) -> bool:
    with database.reading() as db:
        return any(value is not None for value in db.scalars(select(user_table.c.reading_times_after)))
