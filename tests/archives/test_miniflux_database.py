"""Accounts move from the PostgreSQL database of Miniflux, which is only read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from support.people import Person
from support.postgres import fresh_database
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.readers.file_sources import database_source
from tidings.base.errors import InvalidInput
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

# The columns of Miniflux 2.3.4 that matter here; our own words for the same tables.
_TABLES = """
CREATE TYPE entry_status AS ENUM ('unread', 'read', 'removed');
CREATE TABLE users (
    id SERIAL PRIMARY KEY, username TEXT UNIQUE NOT NULL, password TEXT, is_admin BOOL DEFAULT false,
    theme TEXT DEFAULT 'light_serif', entry_direction TEXT DEFAULT 'asc', entry_order TEXT DEFAULT 'published_at',
    entries_per_page INT DEFAULT 100, media_playback_rate NUMERIC DEFAULT 1, google_id TEXT NOT NULL DEFAULT ''
);
CREATE TABLE categories (
    id SERIAL PRIMARY KEY, user_id INT NOT NULL, title TEXT NOT NULL, hide_globally BOOL NOT NULL DEFAULT false
);
CREATE TABLE feeds (
    id BIGSERIAL PRIMARY KEY, user_id INT NOT NULL, category_id INT NOT NULL, title TEXT NOT NULL,
    feed_url TEXT NOT NULL, site_url TEXT NOT NULL, crawler BOOL DEFAULT false, username TEXT DEFAULT '',
    password TEXT DEFAULT '', user_agent TEXT, disabled BOOL DEFAULT false, url_rewrite_rules TEXT NOT NULL DEFAULT '',
    description TEXT DEFAULT '', blocklist_rules TEXT NOT NULL DEFAULT '', ntfy_priority INT DEFAULT 3
);
CREATE TABLE entries (
    id BIGSERIAL PRIMARY KEY, user_id INT NOT NULL, feed_id BIGINT NOT NULL, hash TEXT NOT NULL,
    published_at TIMESTAMPTZ NOT NULL, title TEXT NOT NULL, url TEXT NOT NULL, author TEXT, content TEXT,
    status entry_status DEFAULT 'unread', starred BOOL DEFAULT false, comments_url TEXT DEFAULT '',
    document_vectors TSVECTOR, changed_at TIMESTAMPTZ NOT NULL, reading_time INT NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(), tags TEXT[] DEFAULT '{}'
);
CREATE TABLE enclosures (
    id BIGSERIAL PRIMARY KEY, user_id INT NOT NULL, entry_id BIGINT NOT NULL, url TEXT NOT NULL, size BIGINT DEFAULT 0,
    mime_type TEXT DEFAULT '', media_progression INT DEFAULT 0
);
INSERT INTO users (username, theme, entry_direction, media_playback_rate)
    VALUES ('ann', 'dark_serif', 'desc', 1.5), ('ben', 'light_serif', 'asc', 1);
INSERT INTO categories (user_id, title, hide_globally) VALUES (1, 'Weather', true), (2, 'Secret', false);
INSERT INTO feeds (user_id, category_id, title, feed_url, site_url, crawler, password, username, url_rewrite_rules)
    VALUES (1, 1, 'Rain', 'https://rain.example/feed', 'https://rain.example/', true, 's3cret', 'me',
            'rewrite("^a"|"b")'),
           (2, 2, 'Bens', 'https://ben.example/feed', '', false, '', '', '');
INSERT INTO entries
    (user_id, feed_id, hash, published_at, changed_at, created_at, title, url, author, content, status, starred, tags)
    SELECT 1, 1, repeat(lpad(to_hex(n), 2, '0'), 32), '2024-05-06 07:08:09.5+02', '2024-05-07', '2024-05-08',
           'Entry ' || n, 'https://rain.example/' || n, 'Ann', '<p>Rain<script>x()</script></p>',
           (CASE WHEN n % 2 = 0 THEN 'read' ELSE 'unread' END)::entry_status, n = 3, ARRAY['a', 'b']
    FROM generate_series(1, 5) AS n;
INSERT INTO entries (user_id, feed_id, hash, published_at, changed_at, title, url)
    VALUES (2, 2, repeat('ff', 32), now(), now(), 'Bens', 'https://ben.example/1');
INSERT INTO enclosures (user_id, entry_id, url, size, mime_type, media_progression)
    VALUES (1, 4, 'https://rain.example/4.mp3', 12, 'audio/mpeg', 7), (1, 2, 'https://rain.example/2.mp3', 1, '', 0),
           (1, 4, 'https://rain.example/4.png', NULL, NULL, NULL), (2, 6, 'https://ben.example/1.mp3', 1, '', 0);
"""


@pytest.fixture
def miniflux(postgres_url: str) -> Iterator[str]:
    with fresh_database(postgres_url, f"miniflux{os.getpid()}") as url:
        _execute(url, _TABLES)
        yield url


def _execute(url: str, statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statements.encode())


def _import(services: AllServices, person: Person, dsn: str, from_user: str = "ann") -> AccountImportReport:
    user = services.accounts.users.find(person.user.username)
    with database_source(dsn, "miniflux", from_user) as source:
        return services.archives.foreign_import.store(user, source, lambda _done, _total: None)


def _by_title(person: Person) -> dict[str, dict[str, Any]]:
    return {entry["title"]: entry for entry in person.entries()}


def test_one_user_of_a_database_comes_along(alice: Person, services: AllServices, miniflux: str) -> None:
    report = _import(services, alice, miniflux)

    assert (report.new_feeds, report.new_entries, report.problems) == (1, 5, [])
    (feed,) = alice.get("/v1/feeds")
    assert (feed["title"], feed["category"]["title"], feed["category"]["hide_globally"]) == ("Rain", "Weather", True)
    assert (feed["crawler"], feed["username"], feed["password"]) == (True, "me", "s3cret")
    assert feed["urlrewrite_rules"] == 'rewrite("^a"|"b")'
    me = alice.get("/v1/me")
    assert (me["theme"], me["entry_sorting_direction"], me["media_playback_rate"]) == ("dark_serif", "desc", 1.5)
    assert me["username"] == alice.user.username
    entries = _by_title(alice)
    assert [entries[f"Entry {n}"]["status"] for n in range(1, 6)] == ["unread", "read", "unread", "read", "unread"]
    assert [entry["title"] for entry in entries.values() if entry["starred"]] == ["Entry 3"]
    one = entries["Entry 1"]
    assert (one["content"], one["author"], one["tags"], one["hash"]) == ("<p>Rain</p>", "Ann", ["a", "b"], "01" * 32)
    assert datetime.fromisoformat(one["published_at"]) == datetime(2024, 5, 6, 5, 8, 9, 500_000, UTC)
    assert [each["url"] for each in entries["Entry 2"]["enclosures"]] == ["https://rain.example/2.mp3"]
    (song, picture) = entries["Entry 4"]["enclosures"]
    assert (song["size"], song["mime_type"], song["media_progression"]) == (12, "audio/mpeg", 7)
    assert (picture["url"], picture["size"]) == ("https://rain.example/4.png", 0)
    assert not one["enclosures"]


def test_a_second_import_brings_what_is_new(alice: Person, services: AllServices, miniflux: str) -> None:
    _import(services, alice, miniflux)
    _execute(miniflux, "UPDATE entries SET status = 'read', starred = true WHERE title = 'Entry 1'")
    _execute(miniflux, "UPDATE entries SET status = 'unread' WHERE title = 'Entry 2'")

    again = _import(services, alice, miniflux)

    assert (again.new_feeds, again.new_entries, again.known_entries) == (0, 0, 5)
    entries = _by_title(alice)
    assert (entries["Entry 1"]["status"], entries["Entry 1"]["starred"]) == ("read", True)
    assert entries["Entry 2"]["status"] == "read"


def test_the_database_is_not_changed(alice: Person, services: AllServices, miniflux: str) -> None:
    # Roles belong to the whole server, which other processes of the tests use.
    role = f"reader{os.getpid()}"
    _execute(miniflux, f"CREATE ROLE {role} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    try:
        assert _import(services, alice, miniflux.replace("tidings@", f"{role}@")).new_entries == 5
    finally:
        _execute(miniflux, f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_the_only_user_need_not_be_named(alice: Person, services: AllServices, miniflux: str) -> None:
    with pytest.raises(InvalidInput, match="with --from-user: the database has ann, ben"):
        _import(services, alice, miniflux, "")
    with pytest.raises(InvalidInput, match="with --from-user: the database has ann, ben"):
        _import(services, alice, miniflux, "eve")
    _execute(miniflux, "DELETE FROM users WHERE username = 'ben'")

    assert _import(services, alice, miniflux, "").new_entries == 5


def test_an_older_database_lacks_columns(alice: Person, services: AllServices, miniflux: str) -> None:
    _execute(
        miniflux,
        "ALTER TABLE entries DROP COLUMN tags, DROP COLUMN reading_time;"
        "ALTER TABLE categories DROP COLUMN hide_globally;"
        "ALTER TABLE enclosures DROP COLUMN media_progression; ALTER TABLE feeds DROP COLUMN url_rewrite_rules",
    )

    assert _import(services, alice, miniflux).new_entries == 5
    assert _by_title(alice)["Entry 1"]["tags"] == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("DROP TABLE feeds", "this is not a database of Miniflux: its table feeds lacks category_id, feed_url"),
        ("ALTER TABLE entries DROP COLUMN hash", "its table entries lacks hash"),
        ("UPDATE entries SET published_at = 'infinity' WHERE id = 5", "cannot be read: timestamp too large"),
        ("ALTER TABLE feeds ALTER title TYPE INT USING 1", r"row 1 of the table feeds is not as Miniflux writes it"),
    ],
)
def test_another_database_stores_nothing(
    alice: Person, services: AllServices, miniflux: str, change: str, problem: str
) -> None:
    _execute(miniflux, change)

    with pytest.raises(InvalidInput, match=problem):
        _import(services, alice, miniflux)
    assert alice.get("/v1/feeds") == []


def test_a_server_that_cannot_be_reached_is_named_without_the_password() -> None:
    for dsn in ("postgresql://me:s3cret@127.0.0.1:1/miniflux", "postgres://me:s3c/ret@127.0.0.1/x?y", "postgres://%zz"):
        with pytest.raises(InvalidInput, match="the database of Miniflux cannot be read: ") as raised:
            database_source(dsn, "miniflux", "ann").__enter__()
        assert "s3c" not in str(raised.value.message)


def test_other_readers_have_files() -> None:
    with pytest.raises(InvalidInput, match="from pocket reads no database, but a file"):
        database_source("postgresql://x", "pocket", "")
