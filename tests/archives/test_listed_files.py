"""Exports with OPML and lists of entries are imported: Google Takeout, Inoreader, the ZIP file of FreshRSS."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.readers.file_sources import file_source
from tidings.base.errors import InvalidInput
from tidings.storage.entries import labels
from tidings.wiring.services import AllServices

NOW = datetime(2024, 6, 1, tzinfo=UTC)
RAIN = "https://rain.example/feed?a=1&b=2"
STARRED, READ = "user/123/state/com.google/starred", "user/123/state/com.google/read"


def opml(*feeds: tuple[str, str, str], kind: str = "rss") -> str:
    """Return a document. feeds: folder, title and URL of each, which need no escaping."""
    outlines = (
        f'<outline text="{folder}"><outline type="{kind}" text="{title}" xmlUrl="{escape(url)}"/></outline>'
        for folder, title, url in feeds
    )
    return f'<opml version="2.0"><head/><body>{"".join(outlines)}</body></opml>'


def item(number: int, *categories: str, feed: str = RAIN, **members: Any) -> dict[str, Any]:
    return {
        "id": f"tag:google.com,2005:reader/item/{number:016x}",
        "crawlTimeMsec": "1600000001000",
        "timestampUsec": "1600000001234567",
        "published": 1_600_000_000,
        "title": f"Entry {number}",
        "alternate": [{"href": f"https://rain.example/{number}", "type": "text/html"}],
        "categories": list(categories),
        "origin": {"streamId": f"feed/{feed}", "title": "Rain &amp; Co", "htmlUrl": "https://rain.example/"},
        "content": {"direction": "ltr", "content": f"<p>Text {number}</p>"},
        **members,
    }


def stream(*items: dict[str, Any], id_: str = STARRED) -> str:
    return json.dumps({"direction": "ltr", "id": id_, "title": "x", "updated": 1_600_000_000, "items": items}, indent=1)


def folder(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name.replace("_", ".")).write_text(content)
    return path


def import_from(
    services: AllServices, person: Person, path: Path, reader: str = "google-reader"
) -> AccountImportReport:
    user = services.accounts.users.find(person.user.username)
    with file_source(path, reader, now=NOW) as source:
        return services.archives.foreign_import.store(user, source, lambda _done, _total: None)


def labels_of(services: AllServices, person: Person, entry: dict[str, Any]) -> list[str]:
    with services.database.reading() as db:
        return sorted(label.name for label in labels.of_entries(db, person.id, [entry["id"]])[entry["id"]])


def titles(person: Person, **wanted: Any) -> list[str]:
    return sorted(
        entry["title"] for entry in person.entries() if all(entry[name] == value for name, value in wanted.items())
    )


def test_stars_and_labels_of_google_reader_come_along(alice: Person, services: AllServices, tmp_path: Path) -> None:
    one = item(
        1, READ, STARRED, "user/1/label/Weather", "user/1/label/Read later", "user/1/state/com.google/like", "rain",
        title="One &amp; two", author="Ann", content={"content": "<p>Rain<script>x()</script></p>"},
        enclosure=[{"href": "https://rain.example/1.mp3", "type": "audio/mpeg", "length": "12"}, {"href": ""}],
    )  # fmt: skip
    path = folder(
        tmp_path / "Takeout",
        subscriptions_xml=opml(("Weather", "Rain", RAIN)),
        starred_json=stream(one),
        label_json=stream(item(2), one, id_="user/123/label/Snow"),
        followers_json='{"friends": []}',
    )

    report = import_from(services, alice, path)

    assert (report.new_feeds, report.new_entries, report.known_entries) == (1, 2, 0)
    assert report.problems == ["followers.json: this is not a list of entries"]
    (feed,) = alice.get("/v1/feeds")
    assert (feed["title"], feed["feed_url"], feed["category"]["title"]) == ("Rain", RAIN, "Weather")
    assert feed["disabled"] is False
    two, first = sorted(alice.entries(), key=lambda entry: str(entry["title"]))
    assert (first["title"], first["author"], first["url"]) == ("One & two", "Ann", "https://rain.example/1")
    assert (first["status"], first["starred"], first["content"]) == ("read", True, "<p>Rain</p>")
    assert first["tags"] == ["rain"]
    assert labels_of(services, alice, first) == ["Liked", "Read later", "Snow"]
    assert [(each["url"], each["size"]) for each in first["enclosures"]] == [("https://rain.example/1.mp3", 12)]
    assert datetime.fromisoformat(first["published_at"]) == datetime.fromtimestamp(1_600_000_000, UTC)
    assert datetime.fromisoformat(first["created_at"]) == datetime.fromtimestamp(1_600_000_001.234567, UTC)
    assert (two["title"], two["starred"], labels_of(services, alice, two)) == ("Entry 2", False, ["Snow"])


def test_a_feed_in_several_folders_is_in_several_categories(
    alice: Person, services: AllServices, tmp_path: Path
) -> None:
    document = opml(("Sky", "Rain", RAIN), ("Weather", "Rain", RAIN), ("Sky", "Rain", RAIN))
    path = folder(tmp_path / "export", subscriptions_xml=document, starred_json=stream(item(1, STARRED)))

    import_from(services, alice, path)

    names = {one["id"]: one["title"] for one in alice.get("/v1/categories")}
    assert [names[id_] for id_ in alice.get("/v1/feeds")[0]["category_ids"]] == ["Sky", "Weather"]


def test_a_second_import_doubles_nothing(alice: Person, services: AllServices, tmp_path: Path) -> None:
    path = folder(tmp_path / "x", starred_json=stream(item(1), item(2)), feeds_opml=opml(("", "Rain", RAIN)))

    import_from(services, alice, path, "inoreader")
    again = import_from(services, alice, path, "inoreader")

    assert (again.new_feeds, again.known_feeds, again.new_entries, again.known_entries) == (0, 1, 0, 2)
    assert titles(alice, starred=True) == ["Entry 1", "Entry 2"]


def test_a_feed_that_only_entries_name_is_disabled(alice: Person, services: AllServices, tmp_path: Path) -> None:
    path = tmp_path / "starred.json"
    path.write_text(stream(item(1), item(2, origin={}), item(3, feed="file:///etc/passwd")))

    report = import_from(services, alice, path, "inoreader")

    assert (report.new_entries, report.problems) == (3, [])
    feeds = {feed["title"]: feed for feed in alice.get("/v1/feeds")}
    assert sorted(feeds) == ["Inoreader", "Rain & Co"]
    assert all(feed["disabled"] for feed in feeds.values())
    assert feeds["Rain & Co"]["site_url"] == "https://rain.example/"
    assert feeds["Inoreader"]["feed_url"] == "https://inoreader.invalid/saved"


def test_a_feed_of_the_user_receives_its_entries(
    alice: Person, site: Publisher, services: AllServices, tmp_path: Path
) -> None:
    alice.has_feed(site, ["Wind"])
    path = tmp_path / "starred.json"
    path.write_text(stream(item(1, feed=alice.get("/v1/feeds")[0]["feed_url"])))

    report = import_from(services, alice, path)

    assert (report.new_feeds, report.known_feeds) == (0, 1)
    assert alice.get("/v1/feeds")[0]["disabled"] is False
    assert titles(alice) == ["Entry 1", "Wind"]


def test_old_entries_without_a_state_are_read(alice: Person, services: AllServices, tmp_path: Path) -> None:
    recent = str(int((NOW - timedelta(days=2)).timestamp() * 1_000_000))
    path = tmp_path / "starred.json"
    path.write_text(
        stream(
            item(1),
            item(2, timestampUsec=recent),
            item(3, READ, timestampUsec=recent),
            item(4, "user/-/state/com.google/kept-unread"),
        )
    )

    import_from(services, alice, path)

    assert titles(alice, status="read") == ["Entry 1", "Entry 3"]
    assert titles(alice, status="unread") == ["Entry 2", "Entry 4"]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"published": None, "updated": "1500000000"}, {"published_at": "2017-07-14T02:40:00Z"}),
        ({"published": 10**30, "updated": -5, "timestampUsec": "x"}, {"published_at": "2020-09-13T12:26:41Z"}),
        (
            {"published": None, "timestampUsec": None, "crawlTimeMsec": True, "updated": []},
            {"published_at": "2024-06-01T00:00:00Z"},
        ),
        ({"title": None}, {"title": "https://rain.example/1"}),
        ({"alternate": [], "canonical": [{"href": "https://rain.example/c"}]}, {"url": "https://rain.example/c"}),
        ({"alternate": [{"href": "javascript:alert(1)"}]}, {"url": ""}),
        ({"content": None, "summary": {"content": "Short"}}, {"content": "Short"}),
        ({"author": None, "guid": "tag:1"}, {"author": "", "hash": sha256(b"tag:1").hexdigest()}),
        ({"enclosure": [{"href": "data:x", "length": -1}, {"href": "javascript:x()"}]}, {"enclosures": []}),
    ],
)
def test_odd_values_are_replaced(
    alice: Person, services: AllServices, tmp_path: Path, members: dict[str, Any], expected: dict[str, Any]
) -> None:
    path = tmp_path / "starred.json"
    path.write_text(stream(item(1, **members)))

    import_from(services, alice, path)

    (entry,) = alice.entries()
    found = {name: entry[name] or ([] if name == "enclosures" else entry[name]) for name in expected}
    assert found == expected


def freshrss(path: Path, feed_url: str = RAIN) -> Path:
    """Write a ZIP file as the export page of FreshRSS does: starred entries are in two of its lists."""
    origin = {"streamId": "feed/2", "htmlUrl": "https://rain.example/", "title": "Rain", "feedUrl": feed_url}
    state = "user/-/state/com.google/"
    one = item(1, f"{state}reading-list", f"{state}read", f"{state}starred", "user/-/label/Later", "rain")
    two = item(2, f"{state}reading-list", f"{state}unread")
    for number, each in enumerate((one, two), 1):
        each |= {"guid": f"tag:{number}", "origin": origin}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "feeds_2024-05-06.opml.xml", opml(("Tech", "Rain", feed_url), ("Tech", "Page", "https://p.example"))
        )
        file.writestr("starred_2024-05-06.json", stream(one, id_="user/ann/state/org.freshrss/starred"))
        file.writestr("feed_2024-05-06_1_2.json", stream(two, one, id_="user/ann/state/org.freshrss/feed/2"))
    return path


def test_the_zip_file_of_freshrss_comes_along(alice: Person, services: AllServices, tmp_path: Path) -> None:
    report = import_from(services, alice, freshrss(tmp_path / "export.zip"), "freshrss")

    assert (report.new_feeds, report.new_entries, report.known_entries, report.problems) == (2, 2, 0, [])
    assert titles(alice, starred=True, status="read", tags=["rain"]) == ["Entry 1"]
    assert [labels_of(services, alice, entry) for entry in alice.entries() if entry["starred"]] == [["Later"]]
    assert titles(alice, starred=False, status="unread") == ["Entry 2"]
    assert {entry["hash"] for entry in alice.entries()} == {sha256(b"tag:1").hexdigest(), sha256(b"tag:2").hexdigest()}


def test_the_next_check_recognises_entries_of_the_zip_file(
    alice: Person, site: Publisher, services: AllServices, tmp_path: Path
) -> None:
    guid = "<item><guid isPermaLink='false'>tag:1</guid><title>One</title><link>/1</link></item>"
    site.serve("/feed.xml", f'<rss version="2.0"><channel><title>Rain</title><link>/</link>{guid}</channel></rss>')
    import_from(services, alice, freshrss(tmp_path / "export.zip", site.url("/feed.xml")), "freshrss")
    feed = next(feed for feed in alice.get("/v1/feeds") if feed["feed_url"] == site.url("/feed.xml"))

    alice.put(f"/v1/feeds/{feed['id']}/refresh", status=204)

    assert alice.get(f"/v1/feeds/{feed['id']}/entries")["total"] == 2


def test_feeds_that_freshrss_takes_from_pages_are_disabled(
    alice: Person, services: AllServices, tmp_path: Path
) -> None:
    path = tmp_path / "feeds.opml.xml"
    path.write_text(opml(("", "Scraped", "https://example.org/"), kind="HTML+XPath"))

    import_from(services, alice, path, "freshrss")

    assert alice.get("/v1/feeds")[0]["disabled"] is True


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"readme_txt": "hello"}, "this is nothing that Google Reader exported: expected OPML, or a list"),
        ({"a_json": "{}"}, "this is nothing that Google Reader exported"),
        ({"a_json": "hello"}, "a.json: line 1: expected a JSON document"),
        ({"a_json": '{"items": [\n{"title": 1}]}'}, r"a.json: line 2: Expected `str . null`, got `int`"),
        ({"a_json": stream(item(1))[:-9]}, "a.json: line [0-9]+: the document breaks off"),
        ({"a_json": stream(item(1)), "b_xml": "<rss/>"}, "b.xml: Line 1: this is not an OPML document"),
        ({"a_json": stream(item(1)), "b_json": '{"items": [\n{"published": }]}'}, "b.json: line 2: JSON is malformed"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_and_nothing_stored(
    alice: Person, services: AllServices, tmp_path: Path, files: dict[str, str], problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        import_from(services, alice, folder(tmp_path / "x", **files))

    assert alice.get("/v1/feeds") == []


def test_a_damaged_zip_file_stores_nothing(alice: Person, services: AllServices, tmp_path: Path) -> None:
    path = freshrss(tmp_path / "export.zip")
    content = bytearray(path.read_bytes())
    content[content.index(b"Text 2")] ^= 0xFF
    path.write_bytes(content)

    with pytest.raises(InvalidInput, match=r"feed_2024-05-06_1_2\.json in the ZIP file is damaged"):
        import_from(services, alice, path, "freshrss")

    assert alice.get("/v1/feeds") == []


STORY: dict[str, Any] = {
    "id": "tag:1", "story_hash": "7:abcdef", "story_feed_id": 7, "story_title": "One &amp; two",
    "story_permalink": "https://rain.example/1", "story_content": "<p>Rain<script>x()</script></p>",
    "story_authors": "Ann", "story_tags": ["weather"], "user_tags": ["Later"], "story_timestamp": "1600000000",
    "starred_timestamp": 1_600_000_100, "read_status": 1, "starred": True,
}  # fmt: skip


def test_saved_stories_of_newsblur_become_starred_entries(alice: Person, services: AllServices, tmp_path: Path) -> None:
    odd = STORY | {
        "story_permalink": None, "story_hash": "7:2", "story_title": None, "story_timestamp": "soon", "user_tags": None,
        "starred_timestamp": None, "story_tags": None,
    }  # fmt: skip
    path = folder(
        tmp_path / "x",
        sites_opml=opml(("Weather", "Rain", RAIN))
        .replace("<body>", '<body><outline text="Sky">')
        .replace("</body>", "</outline></body>"),
        stories_json=json.dumps({"authenticated": True, "stories": [STORY, odd], "feeds": []}),
        last_json=json.dumps({"stories": []}),
    )

    report = import_from(services, alice, path, "newsblur")
    again = import_from(services, alice, path, "newsblur")

    assert (report.new_feeds, report.new_entries, report.problems) == (2, 2, [])
    assert (again.new_feeds, again.new_entries, again.known_entries) == (0, 0, 2)
    feeds = {feed["title"]: feed["disabled"] for feed in alice.get("/v1/feeds")}
    assert feeds == {"Rain": False, "NewsBlur": True}
    above = {one["title"]: one["parent_id"] for one in alice.get("/v1/categories")}
    sky = next(one["id"] for one in alice.get("/v1/categories") if one["title"] == "Sky")
    assert above == {"All": None, "Sky": None, "Sky / Weather": sky}
    entry = next(entry for entry in alice.entries() if entry["title"] == "One & two")
    assert (entry["starred"], entry["status"], entry["author"], entry["tags"]) == (True, "read", "Ann", ["weather"])
    assert (entry["content"], entry["url"]) == ("<p>Rain</p>", "https://rain.example/1")
    assert labels_of(services, alice, entry) == ["Later"]
    assert datetime.fromisoformat(entry["published_at"]) == datetime.fromtimestamp(1_600_000_000, UTC)
    assert datetime.fromisoformat(entry["created_at"]) == datetime.fromtimestamp(1_600_000_100, UTC)


def test_a_page_of_newsblur_that_breaks_off_stores_nothing(
    alice: Person, services: AllServices, tmp_path: Path
) -> None:
    path = tmp_path / "stories.json"
    path.write_text('{"stories": [\n{"story_title": "x"},')

    with pytest.raises(InvalidInput, match=r"stories\.json: line 2: the document breaks off"):
        import_from(services, alice, path, "newsblur")

    assert alice.get("/v1/feeds") == []
