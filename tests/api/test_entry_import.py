"""Import of single entries."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from support.people import HttpResponse, Person, call, rss
from support.publisher import Publisher

URL = "https://example.org/article"


@pytest.fixture
def feed(alice: Person, site: Publisher) -> dict[str, Any]:
    return alice.has_feed(site, ["One"])


def import_entry(person: Person, feed: dict[str, Any], **fields: Any) -> HttpResponse:
    return person.call("POST", f"/v1/feeds/{feed['id']}/entries/import", fields)


def imported_entry(person: Person, feed: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = import_entry(person, feed, **fields)
    assert answer.status in (200, 201), answer.body
    entry: dict[str, Any] = person.get(f"/v1/entries/{answer.json()['id']}")
    return entry


def test_a_new_entry_answers_201_with_its_id(alice: Person, feed: dict[str, Any]) -> None:
    answer = import_entry(alice, feed, url=URL)

    assert answer.status == 201
    assert set(answer.json()) == {"id"}
    assert answer.headers["content-type"] == "application/json"
    assert alice.get(f"/v1/entries/{answer.json()['id']}")["url"] == URL


def test_an_imported_entry_has_defaults(alice: Person, feed: dict[str, Any]) -> None:
    entry = imported_entry(alice, feed, url=URL)

    assert (entry["title"], entry["status"], entry["starred"]) == (URL, "read", False)
    assert (entry["content"], entry["author"], entry["comments_url"], entry["tags"]) == ("", "", "", [])
    assert entry["published_at"] == entry["created_at"] == entry["changed_at"]
    assert (entry["enclosures"], entry["reading_time"], entry["share_code"]) == ([], 0, "")
    assert entry["feed"]["id"] == entry["feed_id"] == feed["id"]


def test_all_sent_fields_are_stored(alice: Person, feed: dict[str, Any]) -> None:
    entry = imported_entry(
        alice,
        feed,
        url=URL,
        title="A <b>title</b>",
        author="Ada",
        content="<p>Text</p>",
        status="unread",
        starred=True,
        published_at=1_700_000_000,
        tags=["b", "a", "b", " c "],
        comments_url="https://example.org/comments",
        external_id="id-1",
    )

    assert (entry["title"], entry["author"], entry["content"]) == ("A <b>title</b>", "Ada", "<p>Text</p>")
    assert (entry["status"], entry["starred"]) == ("unread", True)
    assert entry["published_at"] == "2023-11-14T22:13:20Z"
    assert entry["tags"] == ["b", "a", "b", " c "]
    assert entry["comments_url"] == "https://example.org/comments"


def test_an_entry_is_identified_by_its_external_id_or_else_its_url(alice: Person, feed: dict[str, Any]) -> None:
    assert imported_entry(alice, feed, url=URL)["hash"] == hashlib.sha256(URL.encode()).hexdigest()
    assert imported_entry(alice, feed, url=URL, external_id="id-1")["hash"] == hashlib.sha256(b"id-1").hexdigest()
    assert import_entry(alice, feed, url=URL, external_id="").status == 200


def test_another_url_with_a_known_external_id_is_the_same_entry(alice: Person, feed: dict[str, Any]) -> None:
    first = imported_entry(alice, feed, url=URL, external_id="id-1")

    second = import_entry(alice, feed, url="https://example.org/moved", external_id="id-1")

    assert (second.status, second.json()) == (200, {"id": first["id"]})
    assert alice.get(f"/v1/entries/{first['id']}")["url"] == URL


def test_the_same_entry_can_be_imported_into_another_feed(alice: Person, site: Publisher, feed: dict[str, Any]) -> None:
    other = alice.has_feed(site)

    assert imported_entry(alice, feed, url=URL)["id"] != imported_entry(alice, other, url=URL)["id"]


def test_an_article_that_was_fetched_is_not_imported_twice(alice: Person, feed: dict[str, Any]) -> None:
    fetched = alice.entries()[0]

    second = import_entry(alice, feed, url="https://example.org/elsewhere", external_id=f"{feed['feed_url']}#One")

    assert (second.status, second.json()) == (200, {"id": fetched["id"]})
    assert alice.get("/v1/entries")["total"] == 1


def test_an_article_that_was_imported_is_not_fetched_twice(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    mine = imported_entry(alice, feed, url=URL, external_id=f"{feed['feed_url']}#Two", starred=True)

    site.serve(feed["feed_url"].removeprefix(site.url("")), rss(["Two", "One"], feed["feed_url"]))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    assert alice.get("/v1/entries")["total"] == 2
    fetched = alice.get(f"/v1/entries/{mine['id']}")
    assert (fetched["title"], fetched["content"]) == ("Two", "About Two.")
    assert (fetched["status"], fetched["starred"]) == ("read", True)
    assert fetched["published_at"] == mine["published_at"]


@pytest.mark.parametrize(
    ("sent", "state"),
    [
        ({}, ("unread", True)),
        ({"status": "read"}, ("read", True)),
        ({"status": "", "starred": None}, ("unread", True)),
        ({"starred": False}, ("unread", True)),
        ({"starred": True, "status": "unread"}, ("unread", True)),
    ],
)
def test_a_known_entry_takes_only_the_state_that_was_sent(
    alice: Person, feed: dict[str, Any], sent: dict[str, Any], state: tuple[str, bool]
) -> None:
    first = imported_entry(alice, feed, url=URL, title="Old", content="old", status="unread", starred=True)

    second = imported_entry(alice, feed, url=URL, title="New", content="new", author="x", tags=["x"], **sent)

    assert (second["status"], second["starred"]) == state
    assert second["changed_at"] > first["changed_at"]
    kept_fields = {"status", "starred", "changed_at"}
    assert {k: v for k, v in second.items() if k not in kept_fields} == {
        k: v for k, v in first.items() if k not in kept_fields
    }


def test_a_known_entry_can_be_starred(alice: Person, feed: dict[str, Any]) -> None:
    imported_entry(alice, feed, url=URL)

    assert imported_entry(alice, feed, url=URL, starred=True)["starred"]
    assert alice.get("/v1/entries", starred="true")["total"] == 1


def test_the_counters_follow_an_import(alice: Person, feed: dict[str, Any]) -> None:
    number = str(feed["id"])

    imported_entry(alice, feed, url=URL)
    assert alice.get("/v1/feeds/counters") == {"reads": {number: 1}, "unreads": {number: 1}}
    imported_entry(alice, feed, url=URL, status="unread")
    assert alice.get("/v1/feeds/counters") == {"reads": {}, "unreads": {number: 2}}
    assert alice.get("/v1/entries", status="unread", feed_id=feed["id"])["total"] == 2


@pytest.mark.parametrize(
    ("published", "imported"),
    [
        ("<link>https://a.example/1?utm_source=rss</link>", {"url": "https://a.example/1?utm_source=rss"}),
        ("<link>https://a.example/1</link>", {"url": "http://a.example/1"}),
        ("<guid>  one </guid>", {"url": "https://a.example/1", "external_id": "  one "}),
        (
            "<guid>https://a.example/1?utm_source=q</guid>",
            {"url": "https://a.example/1", "external_id": "https://a.example/1?utm_source=q"},
        ),
    ],
)
def test_an_entry_that_the_feed_has_is_recognised_however_it_is_spelt(
    alice: Person, site: Publisher, published: str, imported: dict[str, str]
) -> None:
    document = f"<rss><channel><title>Feed</title><item><title>One</title>{published}</item></channel></rss>"
    url = site.serve("/one.xml", document)
    feed = {"id": alice.post("/v1/feeds", {"feed_url": url})["feed_id"]}
    (known,) = alice.entries()

    answer = import_entry(alice, feed, **imported, status="read")
    assert (answer.status, answer.json()) == (200, {"id": known["id"]})

    alice.put("/v1/flush-history", status=202)
    assert import_entry(alice, feed, **imported).status == 400


def test_an_entry_that_was_flushed_is_not_imported_again(alice: Person, feed: dict[str, Any]) -> None:
    imported_entry(alice, feed, url=URL)
    alice.put("/v1/flush-history", status=202)

    answer = import_entry(alice, feed, url=URL, status="unread")

    assert answer.status == 400
    assert "url" in answer.error


@pytest.mark.parametrize(
    ("zone", "seconds", "shown"),
    [
        # In these zones it is the year 10000, and 44 minutes and 30 seconds behind Greenwich.
        ("Pacific/Kiritimati", 253_402_300_799, "9999-12-31T23:59:59Z"),
        ("Africa/Monrovia", 1, "1970-01-01T00:00:01Z"),
    ],
)
def test_an_extreme_date_is_shown_in_utc_where_the_zone_has_none(
    alice: Person, feed: dict[str, Any], zone: str, seconds: int, shown: str
) -> None:
    entry = imported_entry(alice, feed, url=URL, published_at=seconds)
    alice.put(f"/v1/users/{alice.id}", {"timezone": zone}, status=201)

    for listed in (alice.entries(), alice.get("/v1/entries", limit=0)["entries"]):
        assert {one["id"]: one["published_at"] for one in listed}[entry["id"]] == shown
    assert alice.put(f"/v1/entries/{entry['id']}", {"title": "New"}, status=201)["published_at"] == shown


@pytest.mark.parametrize("published_at", [None, 0, -1, -(2**63)])
def test_without_a_valid_date_an_entry_is_published_now(alice: Person, feed: dict[str, Any], published_at: Any) -> None:
    entry = imported_entry(alice, feed, url=URL, published_at=published_at)

    assert entry["published_at"] == entry["created_at"]


@pytest.mark.parametrize(("seconds", "shown"), [(1, "1970-01-01T00:00:01Z"), (253_402_300_799, "9999-12-31T23:59:59Z")])
def test_dates_reach_from_1970_to_9999(alice: Person, feed: dict[str, Any], seconds: int, shown: str) -> None:
    assert imported_entry(alice, feed, url=URL, published_at=seconds)["published_at"] == shown


def test_content_is_cleaned_and_its_reading_time_taken(alice: Person, feed: dict[str, Any]) -> None:
    entry = imported_entry(alice, feed, url=URL, content='<script>x</script><img src="a.png">' + "word " * 600)

    assert "script" not in entry["content"]
    assert 'src="https://example.org/a.png"' in entry["content"]
    assert entry["reading_time"] == 3
    alice.put(f"/v1/users/{alice.id}", {"show_reading_time": False}, status=201)
    assert imported_entry(alice, feed, url=f"{URL}/2", content="word " * 600)["reading_time"] == 0


def test_tags_find_an_imported_entry(alice: Person, feed: dict[str, Any]) -> None:
    long = "long" * 100
    entry = imported_entry(alice, feed, url=URL, tags=["News", " Blank ", long, " "])

    for tag in ("news", "blank", " BLANK", long, ["News", "blank"]):
        assert [one["id"] for one in alice.entries(tags=tag)] == [entry["id"]]
    assert alice.entries(tags="lank") == []


def test_a_blank_title_is_the_url(alice: Person, feed: dict[str, Any]) -> None:
    assert imported_entry(alice, feed, url=URL, title="")["title"] == URL
    assert imported_entry(alice, feed, url=f"{URL}/2", title="  ")["title"] == f"{URL}/2"


REFUSED = [
    *[("url", value) for value in (None, "", 5, "no address", "/relative", "javascript:alert(1)")],
    *[("url", value) for value in ("java\tscript:x", "VBScript:x", "file:///a", "blob:x")],
    *[("url", value) for value in ("data:text/html,x", "http://", "https://exa mple.org/", "https://a.example/\u0000")],
    *[("title", value) for value in (5, "a\u0000b", "x" * 100_001)],
    *[("content", value) for value in (5, "a\u0000b")],
    *[("author", value) for value in (5, ["Ada"], "a\u0000b")],
    *[("status", value) for value in ("Read", "removed", "starred", 1)],
    *[("starred", value) for value in ("true", 1)],
    *[("published_at", value) for value in ("now", 1.5, True, 253_402_300_800, 2**63 - 1, 2**63, 10**30)],
    *[("tags", value) for value in ("a", [1], [None], ["a\u0000"], ["x"] * 1001)],
    *[("external_id", value) for value in (5, "a\u0000b")],
    *[("comments_url", value) for value in (5, "a\u0000b")],
]  # fmt: skip


def test_an_invalid_import_is_400_and_names_the_field(alice: Person, feed: dict[str, Any]) -> None:
    for field, value in REFUSED:
        answer = import_entry(alice, feed, **{"url": URL, field: value})

        assert answer.status == 400, (field, value)
        assert field in answer.error, (field, value)
    assert alice.get("/v1/entries")["total"] == 1


@pytest.mark.parametrize("url", ["tag:example.org,2026:1", "ftp://example.org/a", "magnet:?xt=1", "urn:isbn:0"])
def test_a_url_that_is_not_executable_is_accepted(alice: Person, feed: dict[str, Any], url: str) -> None:
    entry = imported_entry(
        alice, feed, url=url, content='<a href="page">relative</a><img src="https://example.org/a.png">'
    )

    assert entry["url"] == url
    assert 'href="page"' not in entry["content"]
    assert "https://example.org/a.png" in entry["content"]
    assert 400 <= alice.call("GET", f"/v1/entries/{entry['id']}/fetch-content").status < 600


@pytest.mark.parametrize("address", ["javascript:alert(1)", "ftp://example.org/", "no address", "/relative"])
def test_an_unusable_comments_url_is_dropped(alice: Person, feed: dict[str, Any], address: str) -> None:
    assert imported_entry(alice, feed, url=URL, comments_url=address)["comments_url"] == ""


def test_an_unpaired_surrogate_in_an_import_is_replaced(alice: Person, feed: dict[str, Any]) -> None:
    body = b'{"url": "https://example.org/\\ud83d", "title": "\\udc00", "tags": ["\\ud83d"], "external_id": "\\ud83d"}'

    answer = alice.call("POST", f"/v1/feeds/{feed['id']}/entries/import", raw=body)

    assert answer.status == 201
    entry = alice.get(f"/v1/entries/{answer.json()['id']}")
    assert (entry["title"], entry["tags"]) == ("\ufffd", ["\ufffd"])


def test_an_unknown_or_foreign_feed_is_400_before_the_body_is_read(
    alice: Person, bob: Person, charlie: Person, feed: dict[str, Any]
) -> None:
    for stranger, feed_id in ((alice, 2147483000), (alice, 2**40), (bob, feed["id"]), (charlie, feed["id"])):
        answer = stranger.call("POST", f"/v1/feeds/{feed_id}/entries/import", raw=b"{broken")
        assert (answer.status, "feed" in answer.error) == (400, True)
        assert stranger.call("POST", f"/v1/feeds/{feed_id}/entries/import", {"url": URL}).status == 400
    assert alice.call("POST", "/v1/feeds/x/entries/import", {"url": URL}).status == 400
    assert alice.get("/v1/entries")["total"] == 1


def test_import_is_served_without_the_prefix_too(alice: Person, feed: dict[str, Any]) -> None:
    path = f"/feeds/{feed['id']}/entries/import"

    answer = alice.call("POST", path, {"url": URL})

    assert answer.status == 201
    assert answer.headers["access-control-allow-origin"] == "*"
    assert alice.call("POST", path, {"url": URL}).status == 200
    assert call(alice.service.url, "POST", path, b"{}").status == 401


def test_an_import_adds_nothing_for_other_users(alice: Person, bob: Person, feed: dict[str, Any]) -> None:
    imported_entry(alice, feed, url=URL)

    assert bob.get("/v1/entries")["total"] == 0
