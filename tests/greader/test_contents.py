"""Streams and items: which, in which order, page by page, and what an item looks like."""

from __future__ import annotations

import socket
from urllib.parse import quote, urlsplit

import pytest
from sqlalchemy import text

from greader.apps import FORM, READ, READING_LIST, STARRED, App, label, long_id
from support.people import Person, call
from support.publisher import Publisher
from support.resource_factory import ResourceFactory

TITLES = [f"Entry {number}" for number in range(9)]


def newest(alice: Person) -> list[int]:
    return sorted((entry["id"] for entry in alice.entries()), reverse=True)


@pytest.mark.slow
def test_ids_are_sorted_by_storing_time_on_pages_of_any_size(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    alice.has_feed(site, ["Later"])

    assert app.ids() == app.ids("") == newest(alice)
    assert app.ids(r="o") == newest(alice)[::-1]
    for size in (1, 3, 10, 11):
        assert app.ids(n=size) == newest(alice)
        assert app.ids(n=size, r="o") == newest(alice)[::-1]


def test_a_page_has_a_cursor_of_digits_unless_it_is_the_last(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)

    page = app.get("stream/items/ids", {"s": READING_LIST, "n": 4})
    assert page["continuation"].isdigit()
    assert set(page["itemRefs"][0]) == {"id"}
    assert isinstance(page["itemRefs"][0]["id"], str)
    last = app.get("stream/items/ids", {"s": READING_LIST, "n": 9})
    assert "continuation" not in last
    assert "continuation" not in app.get("stream/contents", {"n": 9})


def test_pages_neither_repeat_nor_lose_entries_while_they_are_marked_read(
    app: App, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, TITLES)
    unread, continuation = [], ""
    for _ in range(5):
        page = app.get("stream/items/ids", {"s": READING_LIST, "xt": READ, "n": 2, "c": continuation})
        unread += [int(one["id"]) for one in page["itemRefs"]]
        alice.put("/v1/entries", {"entry_ids": unread, "status": "read"})
        continuation = page.get("continuation", "")

    assert unread == newest(alice)


def test_streams_are_states_feeds_and_folders(app: App, alice: Person, site: Publisher) -> None:
    tech = alice.has_category("Tech / News")
    feed = alice.has_feed(site, TITLES[:3], category_id=tech["id"])
    other = alice.has_feed(site, TITLES[3:5])
    mine = [entry["id"] for entry in alice.get(f"/v1/feeds/{feed['id']}/entries")["entries"]]
    theirs = [entry["id"] for entry in alice.get(f"/v1/feeds/{other['id']}/entries")["entries"]]
    read, starred = mine[0], theirs[0]
    alice.put("/v1/entries", {"entry_ids": [read], "status": "read"})
    alice.put("/v1/entries", {"entry_ids": [starred], "starred": True})
    everything = {*mine, *theirs}

    def found(stream: str, **query: object) -> set[int]:
        return set(app.ids(stream, **query))

    assert found(f"feed/{feed['id']}") == found(f"feed/{feed['feed_url']}") == set(mine)
    assert found(label("tech / news")) == found(f"user/{alice.id}/label/Tech / News") == set(mine)
    assert found(READ) == {read}
    assert found(STARRED) == {starred}
    assert (
        found("user/-/state/com.google/unread") == found("user/-/state/com.google/kept-unread") == everything - {read}
    )
    assert found("user/-/state/org.freshrss/main") == everything
    assert found("user/-/state/com.google/like") == set()
    # Included and excluded.
    assert found(READING_LIST, xt=READ) == everything - {read}
    assert found(READING_LIST, xt=[READ, STARRED]) == everything - {read, starred}
    assert found(READING_LIST, xt=f"feed/{feed['id']}") == found(READING_LIST, xt=label("Tech / News")) == set(theirs)
    assert found(READING_LIST, xt=READING_LIST) == set()
    assert found(READING_LIST, it=STARRED) == {starred}
    assert found(f"feed/{feed['id']}", it=STARRED) == set()
    assert found(f"feed/{feed['id']}", it=f"feed/{other['id']}") == set()
    assert found(READ, xt=READ) == found(STARRED, xt=STARRED) == set()
    assert found(READING_LIST, xt=["feed/2147483000", label("None")]) == everything
    # Several at once.
    assert app.call("GET", "stream/items/ids", query=[("s", STARRED), ("s", READ), ("s", STARRED)]).json() == {
        "itemRefs": [{"id": str(number)} for number in sorted((read, starred), reverse=True)]
    }


def test_streams_are_understood_as_scripts_for_freshrss_and_easyrss_write_them(
    app: App, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One"])
    feed = alice.has_feed(site, ["Two", "Three"])
    alice.put(f"/v1/entries/{newest(alice)[0]}/bookmark")

    for path, query, count in (
        ("stream/contents/reading-list", {}, 3),
        ("stream/contents/starred", {}, 1),
        ("stream/contents/", {"s": f"feed/{feed['id']}"}, 2),
        ("stream/contents/", {}, 3),
    ):
        assert len(app.get(path, query)["items"]) == count, (path, query)


def test_time_limits_compare_when_an_entry_was_stored(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES[:6])
    old, recent = newest(alice)[3:], newest(alice)[:3]
    with alice.service.services.database.writing() as db:
        for ids, moment in ((old, 1_000_000_000), (recent, 2_000_000_000)):
            for number in ids:
                db.run(text("UPDATE entries SET created_at = :at WHERE id = :id"), at=moment * 1_000_000, id=number)

    for stream in (READING_LIST, label("All")):
        assert app.ids(stream, ot=1_500_000_000) == recent
        assert app.ids(stream, ot=1_500_000_000_000_000) == recent
        assert app.ids(stream, nt=1_500_000_000) == old
        assert app.ids(stream, ot=0, nt=0) == app.ids(stream)
        assert app.ids(stream, ot=1_000_000_000, nt=1_000_000_000) == old
        assert app.ids(stream, ot=2_000_000_001) == []
        assert app.ids(stream, ot="soon", n=2) == recent + old
        assert [item["id"] for item in app.items(stream, ot=1_999_999_999, n=2)] == [long_id(one) for one in recent[:2]]


def test_an_item_has_the_members_that_clients_require(app: App, alice: Person, site: Publisher) -> None:
    resources = ResourceFactory(alice, site)
    (entry,) = alice.entries()
    alice.put("/v1/entries", {"entry_ids": [entry["id"]], "starred": True, "status": "read"})
    (item,) = app.items()

    assert item["id"] == long_id(entry["id"])
    assert item["title"] == "Rain tomorrow"
    assert item["author"] == entry["author"]
    assert item["published"] == item["updated"] == 1795159800
    assert item["crawlTimeMsec"] == item["timestampUsec"][:-3]
    assert len(item["timestampUsec"]) == 16
    assert item["canonical"] == [{"href": entry["url"]}]
    assert item["alternate"] == [{"href": entry["url"], "type": "text/html"}]
    assert item["summary"] == {"content": entry["content"]}
    assert item["categories"] == [READING_LIST, label("All"), READ, STARRED, label("Umbrellas"), *entry["tags"]]
    feed = resources.feed
    assert item["origin"] == {"streamId": f"feed/{feed['id']}", "title": "Weather notes", "htmlUrl": feed["site_url"]}
    sound = site.url("/rain.mp3")
    assert item["enclosure"] == [{"href": sound, "url": sound, "type": "audio/mpeg", "length": 1830400}]


def test_tags_of_the_publisher_are_categories_unless_they_look_like_states(
    app: App, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, [])
    tags = ["Weather", STARRED, "user/1/label/Other", "r&d"]
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", {"url": "https://example.org/1", "tags": tags})

    assert app.items()[0]["categories"] == [READING_LIST, label("All"), READ, "Weather", "r&d"]


def test_a_date_beyond_32_bits_is_limited(app: App, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, [])
    for number, moment in enumerate((4_000_000_000, 1)):
        given = {"url": f"https://example.org/{number}", "published_at": moment}
        alice.post(f"/v1/feeds/{feed['id']}/entries/import", given)

    assert [item["published"] for item in app.items(r="o")] == [2**31 - 1, 1]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_stream_may_be_in_the_path_escaped_or_not(app: App, alice: Person, site: Publisher, method: str) -> None:
    category = alice.has_category("Über / mich?")
    feed = alice.has_feed(site, TITLES[:2], category_id=category["id"])
    alice.has_feed(site, TITLES[2:3])

    for stream in (label("Über / mich?"), f"feed/{feed['id']}", f"feed/{feed['feed_url']}"):
        for path in (quote(stream, safe=""), quote(stream), quote(stream, safe="/:")):
            answer = app.call(method, f"stream/contents/{path}", query={"n": 1})
            assert answer.status == 200, path
            page = answer.json()
            assert (page["id"], len(page["items"])) == (stream, 1)
            assert page["items"][0]["origin"]["streamId"] == f"feed/{feed['id']}"
            assert page["continuation"].isdigit()
    answer = app.call(method, "stream/contents/")
    assert len(answer.json()["items"]) == 3


def test_items_are_read_by_id_in_any_form_without_unknown_ones(
    app: App, alice: Person, bobs: App, bob: Person, site: Publisher
) -> None:
    alice.has_feed(site, TITLES[:3])
    bob.has_feed(site, TITLES[:3])
    first, second, third = newest(alice)
    sent = [long_id(third), f"{first:016x}", str(second), "0", "-5", str(newest(bob)[0]), "2147483000", str(first)]

    for path in ("stream/items/contents", "stream/items/contents?r=n"):
        answer = app.call("POST", path, [("i", one) for one in sent])
        assert [item["id"] for item in answer.json()["items"]] == [long_id(one) for one in (first, second, third)]
    answer = app.call("POST", "stream/items/contents", [("i", one) for one in sent], query={"r": "o"})
    assert [item["id"] for item in answer.json()["items"]] == [long_id(one) for one in (third, second, first)]
    answer = app.call("GET", "stream/items/contents", query=[("i", one) for one in sent[:2]])
    assert len(answer.json()["items"]) == 2
    assert bobs.contents([first]) == []
    assert app.contents([]) == []
    assert app.call("POST", "stream/items/contents", {"i": "x"}).status == 400


@pytest.mark.slow
def test_ten_thousand_items_may_be_requested_at_once(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    pairs = [("i", long_id(number)) for number in range(2_000_000_000, 2_000_009_991)]
    mine = [("i", long_id(number)) for number in newest(alice)]

    for edit_token in ("", app.token):
        answer = app.call("POST", "stream/items/contents", [*pairs, *mine, ("T", edit_token), ("n", "200000")])
        assert [item["title"] for item in answer.json()["items"]] == [item["title"] for item in app.items()]


def test_an_unknown_stream_is_404_and_an_invalid_one_400(app: App, alice: Person, bob: Person, site: Publisher) -> None:
    bobs_feed = bob.has_feed(site)
    bob.has_category("Bob's")
    unknown = ["feed/2147483000", f"feed/{bobs_feed['id']}", f"feed/{bobs_feed['feed_url']}", label("Bob's")]
    for stream in [*unknown, "feed/0", "feed/99999999999999999999", "feed/x"]:
        for path in ("stream/items/ids", "stream/contents", "stream/items/count"):
            answer = app.call("GET", path, query={"s": stream})
            assert (answer.status, answer.headers["content-type"]) == (404, "text/plain; charset=utf-8"), stream
    for stream in ("x", "feed/", "user/-/label/"):
        assert app.call("GET", "stream/items/ids", query={"s": stream}).status == 400
    assert app.call("GET", "stream/items/ids", query=[("s", READ)] * 101).status == 400


def test_items_are_counted(app: App, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, TITLES)
    alice.put("/v1/entries", {"entry_ids": newest(alice)[:2], "status": "read"})

    def count(**query: str) -> str:
        return app.call("GET", "stream/items/count", query=query).body.decode()

    assert count(s=READING_LIST) == count(s=f"feed/{feed['id']}") == "9"
    assert count(s=READ) == "2"
    assert count(s=READING_LIST, xt=READ) == "7"
    assert count(s="user/-/state/com.google/like") == "0"


def test_words_narrow_any_stream(app: App, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Red fox", "Grey fox", "Red deer", "Red fox again"])
    by_title = {entry["title"]: entry["id"] for entry in alice.entries()}
    foxes = sorted((by_title[title] for title in ("Red fox", "Grey fox", "Red fox again")), reverse=True)
    alice.put("/v1/entries", {"entry_ids": [by_title["Grey fox"]], "status": "read"})

    assert app.ids(q="fox") == foxes
    assert app.ids(q="fox", n=1) == foxes
    assert app.ids(q="fox", n=1, r="o") == foxes[::-1]
    assert app.ids(f"feed/{feed['id']}", q="red fox") == [one for one in foxes if one != by_title["Grey fox"]]
    assert app.ids(q="fox", xt=READ) == [one for one in foxes if one != by_title["Grey fox"]]
    assert app.ids(q='wolf OR "grey fox"') == app.ids(q="wolf or grey") == [by_title["Grey fox"]]
    assert app.ids(q="fox", ot=2**31) == app.ids(q="wolf") == []
    assert [item["title"] for item in app.get("stream/contents", {"q": "deer"})["items"]] == ["Red deer"]
    assert app.call("GET", "stream/items/count", query={"s": READING_LIST, "q": "fox"}).body == b"3"
    assert app.call("GET", "stream/items/ids", query={"s": READING_LIST, "q": "a\0b"}).status == 400


def test_a_response_is_compressed_if_the_client_accepts_it(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    headers = {"Authorization": f"GoogleLogin auth={app.token}", "Accept-Encoding": "gzip"}
    answer = call(alice.service.url, "GET", f"{app.mount}/reader/api/0/stream/contents", headers=headers)

    assert answer.headers["content-encoding"] == "gzip"
    assert len(answer.body) < 1_500


def test_the_entries_of_several_streams_are_counted_once(app: App, alice: Person, site: Publisher) -> None:
    first, second = alice.has_feed(site, TITLES[:4]), alice.has_feed(site, TITLES[4:])
    both = [("s", f"feed/{first['id']}"), ("s", f"feed/{second['id']}")]

    assert app.call("GET", "stream/items/count", query=both).body == b"9"
    assert app.call("GET", "stream/items/count", query=[*both, ("s", READING_LIST)]).body == b"9"
    assert app.call("GET", "stream/items/count", query=both[:1]).body == b"4"
    assert app.call("GET", "stream/items/count").body == b"9"


def test_an_empty_stream_is_the_reading_list(app: App) -> None:
    assert app.get("stream/contents", {"s": ""})["id"] == app.get("stream/contents")["id"] == READING_LIST


def test_bytes_that_are_not_escaped_are_utf_8(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES[:1])
    (entry,) = alice.entries()
    sent = f"i={entry['id']}&a={label('Über')}".encode()
    assert app.call("POST", "edit-tag", raw=sent, headers={"Content-Type": FORM}).status == 200
    assert app.ids(label("Über")) == [entry["id"]]

    (address,) = {urlsplit(alice.service.url).netloc}
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), 30) as connection:
        path = f"{app.mount}/reader/api/0/stream/items/ids?s={label('Über')}"
        headers = f"Host: {address}\r\nAuthorization: GoogleLogin auth={app.token}\r\nConnection: close"
        connection.sendall(f"GET {path} HTTP/1.1\r\n{headers}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(2**16), b""))
    assert f'{{"itemRefs":[{{"id":"{entry["id"]}"}}]}}'.encode() in answer


def test_too_many_fields_are_refused_as_what_they_are(app: App) -> None:
    many = [("i", "1")] * 20_001
    answer = app.call("POST", "stream/items/contents", many)
    assert (answer.status, answer.body) == (400, b"This request has too many fields: 20,000 at most.")
    answer = app.call("GET", "stream/items/contents", query=many[:2_001])
    assert (answer.status, answer.body) == (400, b"This request has too many fields: 2,000 at most.")
    login = app.login(Email="x" * 17_000)
    assert (login.status, login.body) == (400, b"This request is too large: 16 kB at most.")
