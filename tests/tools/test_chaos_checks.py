"""What `make chaos` looks for is found: each check sees the damage that it is there for, made by hand."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import urllib.request
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from chaos import checks
from chaos.ledger import ABSENT, Change, Ledger
from chaos.reading import reader
from chaos.storm import KINDS, heard
from chaos.writers import Api, make_session
from loopback.receiver import Receiver

pytestmark = pytest.mark.slow

NOW_S = 1_790_000_000
NOW = NOW_S * 1_000_000
DAY = 86_400 * 1_000_000

CONSISTENT_DATA = f"""
INSERT INTO users (id, username, password_hash, created_at) VALUES (7, 'ada', 'x', {NOW});
INSERT INTO categories (id, user_id, title, title_key) VALUES (7, 7, 'Weather', 'weather');
INSERT INTO sources (id, fetch_key, host, next_check_at) VALUES (7, <7>, 'weather.example', {NOW});
INSERT INTO feeds (id, user_id, category_id, source_id, feed_url, title, title_key, created_at, checked_at,
                   next_check_at)
VALUES (7, 7, 7, 7, 'http://weather.example/', 'Weather', 'weather', {NOW}, {NOW}, {NOW});
INSERT INTO feed_counters (feed_id, user_id, unread, read, starred_unread, starred_read) VALUES (7, 7, 1, 1, 0, 1);
INSERT INTO entries (id, user_id, feed_id, category_id, status, starred, published_at, created_at, changed_at, hash,
                     title, url, tags)
VALUES (1, 7, 7, 7, 0, FALSE, {NOW}, {NOW}, {NOW}, <1>, 'Rain', 'http://weather.example/1', '["rain"]'),
       (2, 7, 7, 7, 1, TRUE, {NOW}, {NOW}, {NOW}, <2>, 'Sun', 'http://weather.example/2', '[]');
INSERT INTO entry_contents (entry_id, user_id, content) VALUES (1, 7, <0>), (2, 7, <0>);
INSERT INTO entry_tags (user_id, tag, entry_id) VALUES (7, 'rain', 1);
INSERT INTO api_keys (id, user_id, description, description_key, token, token_hash, created_at)
VALUES (7, 7, 'Tablet', 'tablet', 'secret', <7>, {NOW});
INSERT INTO receivers (id, user_id, integration, address_digest) VALUES (7, 7, 'webhook', <7>);
INSERT INTO deliveries (id, user_id, delivery_id, integration, event_type, receiver, created_at, receiver_id, state,
                        size)
VALUES (7, 7, 'd7', 'webhook', 'save_entry', 'http://hook.example/', {NOW}, 7, 'delivered', 10);
INSERT INTO delivery_bodies (delivery_id, body) VALUES (7, <0>);
"""
INDEX = {
    "sqlite": "INSERT INTO search_documents (id, entry_id, user_id, words) VALUES (1, 1, 7, <0>), (2, 2, 7, <0>);",
    "postgresql": "INSERT INTO search_vectors (entry_id, user_id, words) VALUES (1, 7, 'rain'), (2, 7, 'sun');",
}
# What is done by hand: the check that has to see it.
DAMAGE = {
    "UPDATE feed_counters SET unread = 2": "counters",
    "UPDATE feed_counters SET starred_read = 0": "counters",
    "DELETE FROM feed_counters": "counters",
    "UPDATE entries SET status = 1 WHERE id = 1": "counters",
    "UPDATE entries SET starred = FALSE WHERE id = 2": "counters",
    "UPDATE receivers SET pending = 1": "counters",
    "UPDATE receivers SET pending_bytes = 10": "counters",
    "DELETE FROM entry_contents WHERE entry_id = 2": "half-written",
    "INSERT INTO entry_contents (entry_id, user_id, content) VALUES (99, 7, <0>)": "half-written",
    "UPDATE entry_contents SET shared_id = 99 WHERE entry_id = 2": "half-written",
    "UPDATE entries SET feed_id = 99 WHERE id = 1": "half-written",
    "UPDATE entries SET category_id = 99 WHERE id = 1": "half-written",
    "UPDATE entries SET user_id = 99 WHERE id = 1": "half-written",
    "DELETE FROM entry_tags": "half-written",
    "INSERT INTO entry_tags (user_id, tag, entry_id) VALUES (7, 'gone', 99)": "half-written",
    "INSERT INTO enclosures (user_id, entry_id, url) VALUES (7, 99, 'http://weather.example/a')": "half-written",
    "UPDATE feeds SET source_id = NULL": "half-written",
    "UPDATE feeds SET category_id = 99": "half-written",
    "DELETE FROM delivery_bodies; UPDATE deliveries SET state = 'pending'": "half-written",
    "UPDATE entries SET url = 'http://weather.example/2' WHERE id = 1": "double",
    "UPDATE deliveries SET state = 'pending'": "delivery stuck",
    "UPDATE deliveries SET state = 'failed', last_error = 'no'": "delivery stuck",
    "INSERT INTO search_pending (entry_id, user_id) VALUES (1, 7)": "search index",
    "DELETE FROM search_<index> WHERE entry_id = 1": "search index",
    f"UPDATE sources SET claimed_by = 'w', claimed_until = {NOW + DAY}": "lease stuck",
    f"UPDATE receivers SET claimed_by = 'w', claimed_until = {NOW + DAY}": "lease stuck",
    f"UPDATE sources SET next_check_at = {NOW - DAY}": "lease stuck",
    f"UPDATE sources SET next_check_at = {NOW + 3 * DAY}": "lease stuck",
    f"UPDATE receivers SET next_attempt_at = {NOW - DAY}": "lease stuck",
    f"INSERT INTO hosts (host, closed_until) VALUES ('h', {NOW + 3 * DAY})": "lease stuck",
}
# Facts that were acknowledged of that database, and what takes each of them away.
FACTS: list[tuple[Change, str]] = [
    (Change("star", 2, True), "UPDATE entries SET starred = FALSE"),
    (Change("status", 2, 1), "UPDATE entries SET status = 0"),
    (Change("imported entry", "http://weather.example/1", 1), "DELETE FROM entries WHERE id = 1"),
    (Change("published entry", "7 http://weather.example/ http://weather.example/2", 1), "DELETE FROM entries"),
    (
        Change("published entry", "7 http://weather.example/ http://weather.example/2", 1),
        "UPDATE entries SET url = 'http://weather.example/2'",
    ),
    (Change("category", 7, "Weather"), "UPDATE categories SET title = 'Sea'"),
    (Change("category title", "Weather", 1), "UPDATE categories SET title = 'Sea'"),
    (Change("category", 8, ABSENT), "UPDATE categories SET id = 8"),
    (Change("feed", 7, "Weather"), "UPDATE feeds SET title = 'Sea'"),
    (Change("feed address", "http://weather.example/", 1), "DELETE FROM feeds"),
    (Change("API key", "secret", "Tablet"), "DELETE FROM api_keys"),
    (Change("API key name", "Tablet", 1), "UPDATE api_keys SET description = 'Phone'"),
]


@pytest.fixture
def consistent_url(database_url: str, engine: str) -> str:
    """A database in which everything fits together."""
    change(database_url, CONSISTENT_DATA + INDEX[engine])
    return database_url


def change(database_url: str, statements: str) -> None:
    """Past all constraints, as a crash would. <7> is a blob; <index> ends the name of the engine's search table."""
    if database_url.startswith("sqlite"):
        with closing(sqlite3.connect(database_url.removeprefix("sqlite:///"))) as connection:
            connection.executescript(_spelled(statements, "x'{:02x}'", "documents"))
        return
    with psycopg.connect(database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(_spelled(statements, "'\\x{:02x}'::bytea", "vectors").encode())


def _spelled(statements: str, blob: str, index: str) -> str:
    for number in range(10):
        statements = statements.replace(f"<{number}>", blob.format(number))
    return statements.replace("<index>", index)


def found_inconsistencies(database_url: str) -> set[str]:
    with reader(database_url) as database:
        return {loss.check for loss in checks.inconsistencies(database, NOW_S)}


def test_a_consistent_database_has_no_findings(consistent_url: str) -> None:
    assert found_inconsistencies(consistent_url) == set()


@pytest.mark.parametrize(("damage", "check"), DAMAGE.items())
def test_damage_is_found_by_its_check(consistent_url: str, damage: str, check: str) -> None:
    change(consistent_url, damage)

    assert check in found_inconsistencies(consistent_url)


def test_an_index_that_misses_a_row_is_found(consistent_url: str, engine: str) -> None:
    row = "INSERT INTO categories (user_id, title, title_key) VALUES (7, 'Sea', 'sea')"
    if engine == "sqlite":
        index = "FROM sqlite_master WHERE name = 'ix_categories_user_title'"
        change(consistent_url, f"CREATE TABLE kept AS SELECT * {index}; PRAGMA writable_schema = ON; DELETE {index};")
        change(consistent_url, row)
        change(consistent_url, "PRAGMA writable_schema = ON; INSERT INTO sqlite_master SELECT * FROM kept;")
    else:
        index = "WHERE indexrelid = 'ix_categories_user_title'::regclass"
        change(consistent_url, f"UPDATE pg_index SET indisready = FALSE, indisvalid = FALSE {index}")
        change(consistent_url, row)
        change(consistent_url, f"UPDATE pg_index SET indisready = TRUE, indisvalid = TRUE {index}")

    assert found_inconsistencies(consistent_url) == {"integrity"}


def test_a_file_with_a_broken_page_is_found(tmp_path: Path) -> None:
    path = tmp_path / "broken.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(20000));")
    content = bytearray(path.read_bytes())
    content[4096:4200] = b"\xff" * 104
    path.write_bytes(content)

    with reader(f"sqlite:///{path}") as database:
        assert database.damage()


@pytest.mark.parametrize(("fact", "damage"), FACTS, ids=lambda one: str(one)[:60])
def test_an_acknowledged_fact_that_is_gone_is_found(
    consistent_url: str, tmp_path: Path, fact: Change, damage: str
) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.acknowledge(fact)
    assert lost(ledger, consistent_url) == []

    change(consistent_url, damage)

    assert lost(ledger, consistent_url) == [fact.kind]


def lost(ledger: Ledger, database_url: str) -> list[str]:
    with reader(database_url) as database:
        return [loss.check for loss in ledger.losses(checks.facts(database))]


def test_a_fact_in_doubt_may_have_either_value_and_no_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.acknowledge(Change("category", 1, "old"))
    ledger.doubt(Change("category", 1, "new"))

    outcomes = {title: bool(list(ledger.losses({"category": {1: title}}))) for title in ("old", "new", "other")}

    assert outcomes == {"old": False, "new": False, "other": True}
    assert list(ledger.losses({"category": {}}))
    assert not ledger.is_settled("category", 1)


def test_half_of_a_request_in_doubt_is_found(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.acknowledge(*(Change("status", entry, 0) for entry in (1, 2, 3)))
    ledger.doubt(*(Change("status", entry, 1) for entry in (1, 2, 3)))

    assert list(ledger.losses({"status": {1: 0, 2: 0, 3: 0}})) == []
    assert list(ledger.losses({"status": {1: 1, 2: 1, 3: 1}})) == []
    assert [loss.check for loss in ledger.losses({"status": {1: 1, 2: 0, 3: 1}})] == ["half-written"]


def test_a_refusal_is_a_loss_since_writers_ask_only_for_what_they_may(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.refuse("404 PUT /v1/entries/1/star", Change("star", 1, True))

    assert [loss.check for loss in ledger.losses({kind: {} for kind in KINDS})] == ["refused"]


def test_an_outcome_is_in_the_file_before_the_writer_goes_on(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.acknowledge(Change("star", 1, True))

    assert json.loads((tmp_path / "ledger").read_text())["facts"] == [["star", 1, True]]


def test_an_entry_that_is_announced_twice_or_never_is_found(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.acknowledge(Change("announced entry", "7 http://weather.example/1", 1))
    event = {
        "event_type": "new_entries",
        "feed": {"user_id": 7},
        "entries": [{"url": "http://weather.example/1"}],
    }
    receiver = Receiver(random.Random(1))

    assert [loss.check for loss in ledger.losses(heard(receiver))] == ["announced entry"]
    receiver.seen["a"] = event
    assert list(ledger.losses(heard(receiver))) == []
    receiver.seen["b"] = event
    assert [loss.check for loss in ledger.losses(heard(receiver))] == ["announced entry"]


def test_the_receiver_counts_only_what_it_accepted() -> None:
    async def deliver() -> Receiver:
        receiver = Receiver(random.Random(1))
        await receiver.start()
        for delivery, body in (("a", b'{"n": 1}'), ("a", b'{"n": 2}')):
            await asyncio.to_thread(post, receiver.url, delivery, body)
        await receiver.stop()
        return receiver

    receiver = asyncio.run(deliver())

    assert (list(receiver.accepted), receiver.repeats, receiver.changed) == (["a"], 1, ["a"])


def post(url: str, delivery: str, body: bytes) -> None:
    request = urllib.request.Request(url, data=body, headers={"X-Service-Delivery": delivery})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("answers_again", [False, True], ids=["stopped", "started again"])
def test_a_change_that_was_sent_twice_is_in_doubt(answers_again: bool, tmp_path: Path) -> None:
    """The service carries out a change and is killed before it answers; aiohttp sends the PUT again."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    change = Change("star", 1, value=True)

    async def star() -> int:
        async with make_session() as session, await _cutting_server(answers_again=answers_again) as server:
            host, port = server.sockets[0].getsockname()
            api = Api(f"http://{host}:{port}", 1, "token", ledger, session)
            await api.write("PUT", "/v1/entries/1/star", None)
            await api.write("PUT", "/v1/entries/1/star", None, change)
            return api.statuses["204"]

    assert asyncio.run(star()) == (2 if answers_again else 1)
    assert not ledger.is_settled("star", 1)
    assert ledger.doubtful["star"] == 1


def test_a_change_that_was_never_sent_is_not_in_doubt(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")

    async def star() -> Counter[str]:
        async with make_session() as session:
            api = Api("http://127.0.0.9:9", 1, "token", ledger, session)
            await api.write("PUT", "/v1/entries/1/star", None, Change("star", 1, value=True))
            return api.statuses

    assert asyncio.run(star()) == {"not reached": 1}
    assert ledger.is_settled("star", 1)


async def _cutting_server(*, answers_again: bool) -> asyncio.Server:
    """Return a server that answers the first request of a connection and cuts it at the second one.

    answers_again: whether it accepts connections after that.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        with suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
        if not answers_again:
            server.close()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1")
    return server
