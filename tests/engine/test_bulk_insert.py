"""Bulk inserts store any value, and raise the same errors as single inserts."""

from __future__ import annotations

import contextlib
import shutil
import socket
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import and_, select, text

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.errors import InvalidInput, StoreUnavailable
from tidings.base.times import Instant
from tidings.engine import postgresql, statements
from tidings.engine.database import Database
from tidings.storage.entries import search_index
from tidings.storage.feeds import feeds
from tidings.storage.ownership import of_same_user
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

    is_body = and_(entry_contents.c.entry_id == entries.c.id, of_same_user(entries, entry_contents))
    with database.reading() as db:
        stored = db.tuples(
            select(entries.c.id, entries.c.title, entries.c.author, entry_contents.c.content)
            .join(entry_contents, is_body)
            .order_by(entries.c.id)
        )

    assert stored == [(id_, each, each, each) for id_, each in zip(ids, AWKWARD, strict=True)]


def test_columns_that_are_left_out_get_their_defaults(database: Database) -> None:
    (id_,) = FeedFixture.create(database).add(ready("Rain"))

    with database.reading() as db:
        row = db.row(select(entries).where(entries.c.id == id_))

    assert row is not None
    assert (row["edited"], row["share_code"], row["starred"]) == (0, "", False)


@pytest.mark.parametrize("number", [9, 10])
def test_references_of_many_rows_are_planned_once(database: Database, number: int) -> None:
    """Planning them again for each row takes several times as long as storing it."""
    if database.kind == "sqlite":
        pytest.skip("SQLite has no plans for other values")
    feed_fixture = FeedFixture.create(database)
    with database.writing() as db:
        if not postgresql.may_plan_once(db.connection.dialect):
            pytest.skip("statements of this database are planned each time")
        for statement in NOTE_MODES:
            db.run(text(statement))

    feed_fixture.add(*(ready(str(place)) for place in range(number)))
    with database.writing() as db:
        feeds.remove(db, feed_fixture.user_id, feed_fixture.feed_id)
        after = db.scalar(text("SHOW plan_cache_mode"))

    with database.reading() as db:
        added, removed = db.tuples(text("SELECT what, mode FROM modes ORDER BY what DESC"))
    assert added == ("INSERT", "force_generic_plan" if number == 10 else "force_custom_plan")
    assert removed == ("DELETE", "force_generic_plan")
    assert after == "force_custom_plan"


def test_a_transaction_that_plans_once_goes_on_doing_so(database: Database) -> None:
    if database.kind == "sqlite":
        pytest.skip("SQLite has no plans for other values")
    user_id = FeedFixture.create(database).user_id

    with database.writing(by_key=True) as db:
        before = db.scalar(text("SHOW plan_cache_mode"))
        search_index.note_new(db, [(entry_id, user_id) for entry_id in range(20)])
        after = db.scalar(text("SHOW plan_cache_mode"))

    assert before == after


NOTE_MODES = (
    "CREATE TABLE modes (what text, mode text)",
    """CREATE FUNCTION note_mode() RETURNS trigger AS $$ BEGIN
        INSERT INTO modes VALUES (TG_OP, current_setting('plan_cache_mode'));
        RETURN NULL;
    END $$ LANGUAGE plpgsql""",
    "CREATE TRIGGER inserted AFTER INSERT OR DELETE ON entries FOR EACH STATEMENT EXECUTE FUNCTION note_mode()",
)


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

    wanted = {one.feed_id: [rain.hash, wind.hash], other.feed_id: [rain.hash, wind.hash], 10**6: []}
    with database.reading() as db:
        known = entry_writes.look_up(db, wanted)
        assert entry_writes.look_up(db, wanted, [one.user_id]) == known

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


def test_a_client_that_stops_in_the_middle_of_a_bulk_insert_loses_its_locks(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has no connection that could be cut off")
    feed_fixture = FeedFixture.create(database)
    small = [{"entry_id": 10**9 + number, "user_id": feed_fixture.user_id} for number in range(5)]
    large = [{"entry_id": 10**9 + number, "user_id": feed_fixture.user_id} for number in range(5, 300_000)]

    def insert_all(through: Database) -> None:
        with through.writing() as db:
            db.run(text("SET LOCAL idle_in_transaction_session_timeout = '300ms'"))
            # The driver prepares a statement when it is executed for the sixth time.
            for row in small:
                statements.insert_rows(db, search_pending, [row])
            statements.insert_rows(db, search_pending, large)

    with (
        _stalling_after(200_000, database) as url,
        contextlib.closing(Database(url)) as stalled,
        pytest.raises(StoreUnavailable),
    ):
        insert_all(stalled)

    with database.writing() as db:
        statements.limit_waits(db, 5)
        statements.insert_rows(db, search_pending, small)


@contextlib.contextmanager
def _stalling_after(size: int, database: Database) -> Iterator[str]:
    """Yield the URL of a socket in front of the server, which passes on so many bytes of each client, then none."""
    folder = tempfile.mkdtemp(prefix="tidings-")  # The address of a socket has at most 107 bytes.
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/.s.PGSQL.{database.url.port or 5432}")
    listener.listen()
    opened = [listener]
    threads: list[threading.Thread] = []

    def start(target: Callable[..., None], *arguments: object) -> None:
        threads.append(threading.Thread(target=target, args=arguments))
        threads[-1].start()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = _connected(database)
                opened.extend((client, server))
                start(_pass_on, client, server, size)
                start(_pass_on, server, client, None)

    start(accept)
    try:
        yield database.url.update_query_dict({"host": folder}).render_as_string(hide_password=False)
    finally:
        for one in opened:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for one in opened:
            one.close()
        shutil.rmtree(folder)


def _connected(database: Database) -> socket.socket:
    """Return a connection to the server."""
    if (folder := database.url.query.get("host")) is None:
        assert database.url.host
        return socket.create_connection((database.url.host, database.url.port))
    server = socket.socket(socket.AF_UNIX)
    server.connect(f"{folder}/.s.PGSQL.5432")
    return server


def _pass_on(source: socket.socket, sink: socket.socket, left: int | None) -> None:
    """left: after so many bytes nothing is read any more; None: all is passed on, and the end, too."""
    with contextlib.suppress(OSError):
        while left != 0 and (data := source.recv(65_536 if left is None else min(left, 65_536))):
            sink.sendall(data)
            left = None if left is None else left - len(data)
        if left != 0:
            sink.shutdown(socket.SHUT_RDWR)
