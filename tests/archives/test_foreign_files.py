"""Files of other readers are imported: the database of FreshRSS, and lists of saved pages."""

from __future__ import annotations

import base64
import json
import sqlite3
import struct
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.readers.foreign_file import ForeignFile
from tidings.archives.readers.freshrss_database import FreshRssSource
from tidings.archives.readers.saved_pages import SavedPagesSource
from tidings.archives.records import ArchivedEntry
from tidings.base.errors import InvalidInput
from tidings.engine.sqlite_file import UnreadableFile
from tidings.storage.entries import labels
from tidings.wiring.services import AllServices

# The columns that FreshRSS 1.25 has; our own words for the same tables.
_TABLES = """
CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind INT, attributes TEXT);
CREATE TABLE feed (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, kind INT DEFAULT 0, category INT DEFAULT 0, name TEXT NOT NULL,
    website TEXT, description TEXT, lastUpdate BIGINT DEFAULT 0, priority INT NOT NULL DEFAULT 10, pathEntries TEXT,
    httpAuth TEXT, error INT DEFAULT 0, ttl INT NOT NULL DEFAULT 0, attributes TEXT
);
CREATE TABLE entry (
    id BIGINT PRIMARY KEY, guid TEXT NOT NULL, title TEXT NOT NULL, author TEXT, content TEXT, link TEXT NOT NULL,
    date BIGINT, lastSeen BIGINT, hash BLOB, is_read INT NOT NULL DEFAULT 0, is_favorite INT NOT NULL DEFAULT 0,
    id_feed INT, tags TEXT, attributes TEXT
);
CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL, attributes TEXT);
CREATE TABLE entrytag (id_tag INT, id_entry BIGINT);
"""


def _freshrss(path: Path, feed_url: str = "https://example.org/feed?a=1&amp;b=2") -> Path:
    secret = base64.b64encode(b"me:se:cret").decode()
    enclosures = json.dumps({"enclosures": [{"url": "https://example.org/1.mp3", "type": "audio/mpeg", "length": 12}]})
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(_TABLES)
        db.executemany("INSERT INTO category (id, name) VALUES (?, ?)", [(1, "Uncategorized"), (2, "Tech &amp; more")])
        columns = "id, url, kind, category, name, website, priority, httpAuth, ttl"
        db.executemany(
            f"INSERT INTO feed ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (1, feed_url, 0, 2, "Rain &lt;b&gt;", "https://example.org/", 10, secret, 7200),
                (2, "https://example.org/page", 10, 1, "Scraped", "", 0, "", 0),
                (3, "https://example.org/muted", 0, None, "Muted", None, 10, None, -3600),
            ],
        )
        columns = "id, guid, title, author, content, link, date, is_read, is_favorite, id_feed, tags, attributes"
        db.executemany(
            f"INSERT INTO entry ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (1_700_000_000_000_001, "tag:1", "One &amp; two", "; Ann", "<p>Rain<script>x()</script></p>",
                 "https://example.org/1?a=1&amp;b=2", 1_600_000_000, 1, 1, 1, "#weather #two words", enclosures),
                (1_700_000_000_000_002, "tag:2", "Snow", "", "", "https://example.org/2", None, 0, 0, 1, "", None),
            ],
        )  # fmt: skip
        too_long = "x" * 201
        names = [(1, "Later &amp; more"), (2, "Of no entry"), (3, too_long)]
        db.executemany("INSERT INTO tag (id, name) VALUES (?, ?)", names)
        db.execute("INSERT INTO entrytag VALUES (1, 1700000000000001), (3, 1700000000000001)")
    return path


def _import(services: AllServices, person: Person, source: Any) -> AccountImportReport:
    user = services.accounts.users.find(person.user.username)
    with source:
        return services.archives.foreign_import.store(user, source, lambda _done, _total: None)


def test_an_account_moves_from_freshrss(alice: Person, services: AllServices, tmp_path: Path) -> None:
    report = _import(services, alice, FreshRssSource(_freshrss(tmp_path / "user.sqlite")))

    assert (report.new_feeds, report.new_entries) == (3, 2)
    assert [problem.startswith("label xxx") for problem in report.problems] == [True]
    feeds = {feed["title"]: feed for feed in alice.get("/v1/feeds")}
    rain = feeds["Rain <b>"]
    assert (rain["feed_url"], rain["category"]["title"]) == ("https://example.org/feed?a=1&b=2", "Tech & more")
    assert (rain["username"], rain["password"], rain["check_interval_minutes"]) == ("me", "se:cret", 120)
    assert [feeds[title]["disabled"] for title in ("Rain <b>", "Scraped", "Muted")] == [False, True, True]
    assert feeds["Scraped"]["hide_globally"] is True
    assert feeds["Muted"]["category"]["title"] == "All"
    one, snow = sorted(alice.entries(), key=lambda entry: entry["title"])
    assert (one["title"], one["url"], one["author"]) == ("One & two", "https://example.org/1?a=1&b=2", "Ann")
    assert (one["status"], one["starred"], one["content"]) == ("read", True, "<p>Rain</p>")
    assert one["tags"] == ["weather", "two words"]
    with services.reading() as db:
        assert [label.name for label in labels.of_entries(db, alice.id, [one["id"]])[one["id"]]] == ["Later & more"]
        assert [label.name for label in labels.list_all(db, alice.id)] == ["Later & more", "Of no entry"]
    assert datetime.fromisoformat(one["published_at"]) == datetime.fromtimestamp(1_600_000_000, UTC)
    assert datetime.fromisoformat(one["created_at"]) == datetime.fromtimestamp(1_700_000_000.000001, UTC)
    assert [(each["url"], each["size"]) for each in one["enclosures"]] == [("https://example.org/1.mp3", 12)]
    assert (snow["status"], snow["starred"], snow["hash"]) == ("unread", False, sha256(b"tag:2").hexdigest())


def test_the_next_check_recognises_entries_of_freshrss(
    alice: Person, site: Publisher, services: AllServices, tmp_path: Path
) -> None:
    item = "<item><guid isPermaLink='false'>tag:1</guid><title>One</title><link>/1</link></item>"
    site.serve("/feed.xml", f'<rss version="2.0"><channel><title>Rain</title><link>/</link>{item}</channel></rss>')
    _import(services, alice, FreshRssSource(_freshrss(tmp_path / "user.sqlite", site.url("/feed.xml"))))
    feed = next(feed for feed in alice.get("/v1/feeds") if feed["feed_url"] == site.url("/feed.xml"))

    alice.put(f"/v1/feeds/{feed['id']}/refresh", status=204)

    assert alice.get(f"/v1/feeds/{feed['id']}/entries")["total"] == 2


def test_another_database_is_no_freshrss(tmp_path: Path) -> None:
    text, other = tmp_path / "text", tmp_path / "other.sqlite"
    text.write_text("not a database " * 100)
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE category (id INT)")

    with pytest.raises(InvalidInput, match="not an SQLite database"), FreshRssSource(text):
        pass
    with pytest.raises(InvalidInput, match="its table category lacks name"), FreshRssSource(other):
        pass


def test_a_damaged_database_of_freshrss_is_refused(tmp_path: Path) -> None:
    path = _freshrss(tmp_path / "user.sqlite")
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entry'").fetchone()
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(content)

    with pytest.raises(InvalidInput, match=r"damaged|can be read"), FreshRssSource(path):
        pass


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("feed", "name", b"\xff"),
        ("feed", "priority", "high"),
        ("feed", "ttl", "often"),
        ("entry", "id", 2**62),
        ("entry", "date", "soon"),
        ("entry", "date", 2**60),
        ("entry", "title", b"\xff"),
        ("entry", "content", b"<p>Rain"),
        ("entry", "author", b"Ann"),
        ("entry", "guid", b"tag:1"),
        ("entry", "tags", b"#a"),
        ("entry", "attributes", b"{}"),
        ("entry", "id_feed", b"1"),
        ("entry", "id_feed", "one"),
        ("feed", "website", b"https://example.org/"),
        ("feed", "httpAuth", b"bWU6c2U="),
        ("category", "name", b"\xff"),
        ("tag", "name", b"\xff"),
    ],
)
def test_a_row_of_freshrss_that_cannot_be_read_is_named(
    alice: Person, services: AllServices, tmp_path: Path, table: str, column: str, value: object
) -> None:
    path = _freshrss(tmp_path / "user.sqlite")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"UPDATE {table} SET {column} = ? WHERE id = (SELECT max(id) FROM {table})", [value])

    with pytest.raises(InvalidInput, match=f"row [0-9]+ of its table {table}"):
        _import(services, alice, FreshRssSource(path))

    assert alice.get("/v1/feeds") == []


@pytest.mark.parametrize("table", ["category", "feed", "entry", "tag", "entrytag"])
def test_a_view_in_place_of_a_table_of_freshrss_is_refused(tmp_path: Path, table: str) -> None:
    path = _freshrss(tmp_path / "user.sqlite")
    endless = "WITH RECURSIVE n (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n LIMIT 3)"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"ALTER TABLE {table} RENAME TO stored")
        db.execute(f"CREATE VIEW {table} AS {endless} SELECT stored.* FROM stored, n")

    with pytest.raises(InvalidInput, match=f"{table} is not a table"), FreshRssSource(path):
        pass


_ENTRY_COLUMNS = "id, guid, title, author, link, date, is_read, is_favorite, id_feed, tags, content"


@pytest.mark.parametrize(
    "definition",
    [
        f"CREATE TABLE entry ({_ENTRY_COLUMNS} AS (hex(zeroblob(100))))",
        f"CREATE VIRTUAL TABLE entry USING fts5({_ENTRY_COLUMNS})",
    ],
)
def test_a_computed_table_of_freshrss_is_refused(tmp_path: Path, definition: str) -> None:
    path = _freshrss(tmp_path / "user.sqlite")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE entry")
        db.execute(definition)

    with pytest.raises(InvalidInput, match="entry"), FreshRssSource(path):
        pass


@pytest.mark.slow
def test_reading_a_foreign_database_has_a_limit_of_processor_time(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE many (x)")
        db.executemany("INSERT INTO many VALUES (?)", [[number] for number in range(3_000)])
    product = "SELECT count(*) AS total FROM many AS a, many AS b, many AS c, many AS d"

    with closing(ForeignFile(path, cpu_s=0.2)) as file:
        assert len(list(file.rows("SELECT x FROM many"))) == 3_000
        with pytest.raises(UnreadableFile, match=r"takes more than 0\.2 s"):
            list(file.rows(product))


def test_statements_of_a_foreign_database_only_read(tmp_path: Path) -> None:
    path = _freshrss(tmp_path / "user.sqlite")
    other = tmp_path / "other.sqlite"
    with closing(ForeignFile(path)) as file:
        for statement in ("DELETE FROM entry", f"ATTACH '{other}' AS other", "PRAGMA writable_schema = ON"):
            with pytest.raises(UnreadableFile):
                list(file.rows(statement))
    assert not other.exists()


def test_ids_of_freshrss_that_are_not_unique_do_not_multiply_rows(tmp_path: Path) -> None:
    path = _freshrss(tmp_path / "user.sqlite")
    with closing(sqlite3.connect(path)) as db, db:
        for table in ("category", "tag"):
            db.execute(f"DROP TABLE {table}")
            db.execute(f"CREATE TABLE {table} (id INT, name TEXT, attributes TEXT)")
            db.executemany(f"INSERT INTO {table} VALUES (1, ?, NULL)", [[f"name {number}"] for number in range(50)])

    with FreshRssSource(path) as source:
        assert len(source.feeds()) == 3
        assert max(len(entry.labels) for entry in source.entries()) == 1


POCKET = (
    "title,url,time_added,cursor,tags,status\r\n"
    '"Rain, and more",https://example.org/1,1600000000,7,a|two words,unread\r\n'
    ",https://example.org/2,1600000001,8,,archive\r\n"
)
INSTAPAPER = (
    "URL,Title,Selection,Folder,Timestamp\n"
    'https://example.org/1,"Rain, and more",Some words,Unread,1600000000\n'
    "https://example.org/2,Snow,,Archive,1600000001\n"
    "https://example.org/3,Wind,,Recipes,1600000002\n"
)
OMNIVORE = [
    {
        "id": "x", "slug": "rain-1", "title": "Rain", "description": "Short", "author": None,
        "url": "https://example.org/1", "state": "Active", "readingProgress": 5, "thumbnail": None, "labels": ["a"],
        "savedAt": "2024-10-30T12:39:28.023Z", "updatedAt": "2024-10-30T12:39:28.023Z", "publishedAt": None,
    },
    {
        "id": "y", "slug": "snow", "title": "Snow", "url": "https://example.org/2", "state": "Archived", "labels": [],
        "savedAt": "2024-10-30T12:39:28.023Z", "publishedAt": "2020-01-02T03:04:05.000Z",
    },
]  # fmt: skip
FEEDBIN = [
    {
        "id": 1, "title": None, "author": "Ann", "content": "<p>Rain</p>", "url": "https://example.org/1",
        "published": "2013-02-03T01:00:19.000000Z", "created_at": "2013-02-04T01:00:19.127893Z",
    },
]  # fmt: skip


def _entries(path: Path, service: str) -> list[ArchivedEntry]:
    with SavedPagesSource(path, service) as source:
        return list(source.entries())


def _zipped(path: Path, members: dict[str, str], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def test_pages_saved_in_pocket_become_starred_entries(alice: Person, services: AllServices, tmp_path: Path) -> None:
    path = _zipped(tmp_path / "pocket.zip", {"part_000000.csv": "\ufeff" + POCKET, "readme.txt": "x"})

    report = _import(services, alice, SavedPagesSource(path, "Pocket"))

    assert (report.new_feeds, report.new_entries, report.problems) == (1, 2, [])
    (feed,) = alice.get("/v1/feeds")
    assert (feed["title"], feed["disabled"], feed["keep_read_days"]) == ("Pocket", True, -1)
    rain, untitled = sorted(alice.entries(), key=lambda entry: entry["published_at"])
    assert (rain["title"], rain["status"], rain["tags"]) == ("Rain, and more", "unread", ["a", "two words"])
    assert (untitled["title"], untitled["status"]) == ("https://example.org/2", "read")
    assert (rain["starred"], untitled["starred"]) == (True, True)
    assert datetime.fromisoformat(rain["published_at"]) == datetime.fromtimestamp(1_600_000_000, UTC)


def test_folders_of_instapaper_become_states_and_tags(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text(INSTAPAPER)

    rain, snow, wind = _entries(path, "Instapaper")

    assert (rain.title, rain.content, rain.status, rain.tags) == ("Rain, and more", "Some words", "unread", [])
    assert (snow.status, snow.tags) == ("read", [])
    assert (wind.status, wind.tags) == ("unread", ["Recipes"])


def test_items_of_omnivore_have_their_content(tmp_path: Path) -> None:
    members = {"metadata_0_to_20.json": json.dumps(OMNIVORE), "content/snow.html": "<p>White</p>"}

    rain, snow = _entries(_zipped(tmp_path / "export.zip", members), "Omnivore")

    assert (rain.status, rain.tags, rain.content) == ("unread", ["a"], "Short")
    assert (snow.status, snow.content, snow.published_at.year) == ("read", "<p>White</p>", 2020)


def test_starred_entries_of_feedbin_have_their_content(tmp_path: Path) -> None:
    path = tmp_path / "starred.json"
    path.write_text(json.dumps(FEEDBIN))

    (entry,) = _entries(path, "Feedbin")

    assert (entry.title, entry.author, entry.content) == ("https://example.org/1", "Ann", "<p>Rain</p>")
    assert (entry.starred, entry.status, entry.published_at.year) == (True, "read", 2013)


@pytest.mark.parametrize(
    ("exporter", "content", "problem"),
    [
        ("Pocket", INSTAPAPER, "line 1: expected are the columns title, url"),
        ("Pocket", "", "line 1: expected are the columns"),
        ("Pocket", POCKET + "a,b\r\n", "line 4: expected are 6 fields instead of 2"),
        ("Pocket", POCKET + "a,b,yesterday,1,,unread\r\n", "line 4: expected a time in seconds"),
        ("Pocket", POCKET + '"a', "line 4: expected CSV"),
        ("Instapaper", POCKET, "line 1: expected are the columns URL, Title"),
        ("Omnivore", '[\n{"slug": x}]', r"metadata\.txt: line 2: JSON is malformed"),
        ("Omnivore", '[{"slug": 1}]', r"\$\[0\]\.slug"),
        ("Omnivore", "", "metadata.txt"),
        ("Feedbin", '{"items": []}', "Expected `array`"),
        ("Feedbin", "\ufffd", "starred|metadata"),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_stores_nothing_and_names_the_line(
    alice: Person, services: AllServices, tmp_path: Path, exporter: str, content: str, problem: str
) -> None:
    path = tmp_path / "metadata.txt"
    path.write_text(content, newline="")

    with pytest.raises(InvalidInput, match=problem):
        _import(services, alice, SavedPagesSource(path, exporter))

    assert alice.get("/v1/feeds") == []


def test_a_damaged_or_foreign_zip_file_is_refused(tmp_path: Path) -> None:
    empty = _zipped(tmp_path / "empty.zip", {"readme.txt": "x"})

    with pytest.raises(InvalidInput, match=r"has no \.csv in it"):
        _entries(empty, "Pocket")
    # The end alone, which says that 400 bytes of directory come before it.
    cut = tmp_path / "cut.zip"
    cut.write_bytes(b"PK\5\6" + struct.pack("<4H2LH", 0, 0, 1, 1, 400, 0, 0))
    with pytest.raises(InvalidInput, match=r"cut\.zip is damaged"):
        _entries(cut, "Pocket")
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        damaged = _zipped(tmp_path / "damaged.zip", {"part.csv": POCKET}, compression)
        content = bytearray(damaged.read_bytes())
        content[60] ^= 0xFF
        damaged.write_bytes(content)
        with pytest.raises(InvalidInput, match=r"part\.csv in the ZIP file is damaged"):
            _entries(damaged, "Pocket")
