"""Bulk inserts store any value, and raise the same errors as single inserts."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy import select

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.errors import InvalidInput
from tidings.base.times import Instant
from tidings.engine import statements
from tidings.engine.database import Database
from tidings.storage.polling import entry_writes
from tidings.storage.schema import entries, entry_contents, search_pending

AWKWARD = [
    "",
    " ",
    "\\N",
    "\\.",
    "a\tb",
    "a\nb\r\nc\rd",
    "back\\slash \\t \\n \\\\",
    'quotes " and \' and ""',
    "comma, semicolon; (brackets) {braces}",
    "%s %% ? :name $1",
    "Łódź 東京 🌧️ \u202e",
    "\x01\x1f\x7f\ufffe",
    "x" * 100_000,
]


def test_any_text_comes_out_as_it_went_in(database: Database) -> None:
    feed_fixture = FeedFixture.create(database)
    ids = feed_fixture.add(*(ready(each, content=each, author=each) for each in AWKWARD))

    with database.reading() as db:
        stored = db.tuples(
            select(entries.c.id, entries.c.title, entries.c.author, entry_contents.c.content)
            .join(entry_contents, entry_contents.c.entry_id == entries.c.id)
            .order_by(entries.c.id)
        )

    assert stored == [(id_, each, each, each) for id_, each in zip(ids, AWKWARD, strict=True)]


def test_columns_that_are_left_out_get_their_defaults(database: Database) -> None:
    (id_,) = FeedFixture.create(database).add(ready("Rain"))

    with database.reading() as db:
        row = db.row(select(entries).where(entries.c.id == id_))

    assert row is not None
    assert (row["edited"], row["share_code"], row["starred"]) == (0, "", False)


def test_a_duplicate_row_in_bulk_is_invalid_input(database: Database) -> None:
    rows = [{"entry_id": 5, "user_id": 1}, {"entry_id": 5, "user_id": 1}]

    with pytest.raises(InvalidInput, match="look again"), database.writing() as db:
        statements.insert_rows(db, search_pending, rows)

    with database.reading() as db:
        assert db.tuples(select(search_pending)) == []


def test_hashes_are_looked_up_per_feed(database: Database) -> None:
    one = FeedFixture.create(database)
    other = one.another_feed()
    rain, wind = ready("Rain"), ready("Wind")
    one.add(rain)
    other.add(wind)

    with database.reading() as db:
        known = entry_writes.look_up(
            db, {one.feed_id: [rain.hash, wind.hash], other.feed_id: [rain.hash, wind.hash], 10**6: []}
        )

    assert {feed_id: set(found.ids) for feed_id, found in known.items()} == {
        one.feed_id: {rain.hash},
        other.feed_id: {wind.hash},
        10**6: set(),
    }


def test_dates_are_looked_up_per_feed_of_each_user_in_one_statement(database: Database) -> None:
    one, stranger = FeedFixture.create(database), FeedFixture.create(database)
    other = one.another_feed()
    early, late = Instant(NOW - 5), Instant(NOW - 3)
    for feed_fixture in (one, other, stranger):
        feed_fixture.add(ready("Rain", published_at=early), ready("Wind", published_at=late), ready("Sun"))

    with database.reading() as db:
        found = entry_writes.of_dates(
            db,
            {
                (one.user_id, one.feed_id): {early, *map(Instant, range(40_000))},
                (other.user_id, other.feed_id): {late, early},
                (one.user_id, stranger.feed_id): {early},
            },
        )
        assert entry_writes.of_dates(db, {}) == {}

    titles = {feed_id: sorted(stored.title for stored in of_feed) for feed_id, of_feed in found.items()}
    assert titles == {one.feed_id: ["Rain"], other.feed_id: ["Rain", "Wind"]}
    (rain,) = found[one.feed_id]
    assert (rain.published_at, len(rain.hash)) == (early, 32)


def test_very_many_hashes_can_be_looked_up(database: Database) -> None:
    feed_fixture = FeedFixture.create(database)
    new = [ready(f"Item {number}") for number in range(3)]
    feed_fixture.add(*new)
    unknown = [bytes([7]) + number.to_bytes(31, "big") for number in range(25_000)]

    with database.reading() as db:
        if database.is_sqlite:
            connection = db.connection.connection.driver_connection
            assert isinstance(connection, sqlite3.Connection)
            # As SQLite is by itself; some who package it let it take more.
            connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
        known = entry_writes.look_up(db, {feed_fixture.feed_id: [new[0].hash, *unknown, new[2].hash]})

    assert set(known[feed_fixture.feed_id].ids) == {new[0].hash, new[2].hash}
