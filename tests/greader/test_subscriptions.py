"""Subscriptions and folders."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest

from greader.apps import READING_LIST, STARRED, App, label
from support.people import Person, call, rss
from support.publisher import Publisher
from support.resource_factory import OPML, ResourceFactory
from tidings.greader.endpoints.subscriptions import MAX_NEW

pytestmark = pytest.mark.slow


def folders(person: Person) -> dict[str, str]:
    """The folder of each feed, by title."""
    return {feed["title"]: feed["category"]["title"] for feed in person.get("/v1/feeds")}


def a_feed(site: Publisher, path: str = "/new.xml", title: str = "Tides") -> str:
    site.serve(path, f"<rss version='2.0'><channel><title>{title}</title></channel></rss>")
    return site.url(path)


def test_a_subscription_has_the_members_that_clients_require(app: App, alice: Person, site: Publisher) -> None:
    feed = ResourceFactory(alice, site).feed
    (found,) = app.get("subscription/list")["subscriptions"]

    icon = feed["icon"]["external_icon_id"]
    assert found.pop("iconUrl") == f"{alice.service.url}/feed-icon/{icon}"
    assert found.pop("firstitemmsec").isdigit()
    assert found == {
        "id": f"feed/{feed['id']}",
        "title": "Weather notes",
        "categories": [{"id": label("All"), "label": "All"}],
        "url": feed["feed_url"],
        "htmlUrl": feed["site_url"],
        "sortid": f"{feed['id']:08X}",
        "frss:priority": "main",
    }


def test_feeds_that_lists_of_all_feeds_hide_have_the_priority_of_their_folder(
    app: App, alice: Person, site: Publisher
) -> None:
    hidden = alice.post("/v1/categories", {"title": "Hidden", "hide_globally": True})
    shown, hidden_itself = alice.has_feed(site), alice.has_feed(site)
    alice.put(f"/v1/feeds/{hidden_itself['id']}", {"hide_globally": True}, status=201)
    hidden_by_folder = alice.has_feed(site, category_id=hidden["id"])

    assert {one["id"]: one["frss:priority"] for one in app.get("subscription/list")["subscriptions"]} == {
        f"feed/{shown['id']}": "main",
        f"feed/{hidden_itself['id']}": "category",
        f"feed/{hidden_by_folder['id']}": "category",
    }


def test_the_url_of_an_icon_needs_no_credentials(app: App, alice: Person, site: Publisher) -> None:
    ResourceFactory(alice, site)
    address = app.get("subscription/list")["subscriptions"][0]["iconUrl"]
    path = address.removeprefix(alice.service.url)
    for place in (path, path.replace("/feed-icon/", "/feed/icon/")):
        answer = call(alice.service.url, "GET", place)
        assert (answer.status, answer.headers["content-type"]) == (200, "image/svg+xml")
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert b"<circle" in answer.body
    for unknown in ("0" * 40, "x", "%00", path.rpartition("/")[2].upper()):
        assert call(alice.service.url, "GET", f"/feed-icon/{unknown}").status == 404


def test_without_an_icon_its_url_is_empty(app: App, alice: Person, site: Publisher) -> None:
    """NewsFlash demands a text, and tells an empty one from an address."""
    alice.has_feed(site)

    assert app.get("subscription/list")["subscriptions"][0]["iconUrl"] == ""


def test_tags_are_the_star_and_the_folders(app: App, alice: Person, site: Publisher) -> None:
    alice.has_category("Tech / News")
    alice.has_feed(site, ["One", "Two"])

    assert app.get("tag/list") == {
        "tags": [
            {"id": STARRED},
            {"id": label("All"), "type": "folder"},
            {"id": label("Tech / News"), "type": "folder"},
        ]
    }


def test_unread_entries_are_counted_by_feed_folder_and_all(app: App, alice: Person, site: Publisher) -> None:
    tech = alice.has_category("Tech")
    one, two = alice.has_feed(site, ["a", "b"]), alice.has_feed(site, ["c"], category_id=tech["id"])
    alice.put("/v1/entries", {"entry_ids": [alice.entries(feed_id=one["id"])[0]["id"]], "status": "read"})
    found = app.get("unread-count", {"all": "true"})

    assert found["max"] == 2
    assert {part["id"]: part["count"] for part in found["unreadcounts"]} == {
        f"feed/{one['id']}": 1,
        f"feed/{two['id']}": 1,
        label("All"): 1,
        label("Tech"): 1,
        READING_LIST: 2,
    }
    assert all(len(part["newestItemTimestampUsec"]) == 16 for part in found["unreadcounts"])

    # A folder counts what is below it, too, as its stream has it.
    alice.put(f"/v1/categories/{tech['id']}", {"parent_id": one["category"]["id"]}, status=201)
    counts = {part["id"]: part["count"] for part in app.get("unread-count")["unreadcounts"]}
    assert (counts[label("All")], counts[label("All / Tech")]) == (2, 1)


def test_counts_without_entries_are_empty(app: App) -> None:
    assert app.get("unread-count") == {
        "max": 0,
        "unreadcounts": [{"id": READING_LIST, "count": 0, "newestItemTimestampUsec": "0"}],
    }


def test_a_feed_is_subscribed_to_named_and_put_into_a_new_folder(app: App, alice: Person, site: Publisher) -> None:
    fields = {"ac": "subscribe", "s": f"feed/{a_feed(site)}", "t": "My tides", "a": label("Sea"), "T": app.token}

    assert app.post("subscription/edit", fields) == "OK"
    assert folders(alice) == {"My tides": "Sea"}
    # NetNewsWire adds quickly and then subscribes.
    assert app.post("subscription/edit", fields) == "OK"
    assert app.post("subscription/edit", {**fields, "t": "Tides", "a": label("all")}) == "OK"
    assert folders(alice) == {"Tides": "All"}


def test_parameters_may_be_in_the_url(app: App, alice: Person, site: Publisher) -> None:
    query = {"ac": "subscribe", "s": f"feed/{a_feed(site)}", "a": label("Sea")}

    assert app.post("subscription/edit", query=query) == "OK"
    assert folders(alice) == {"Tides": "Sea"}


def test_several_feeds_are_edited_at_once(app: App, alice: Person, site: Publisher) -> None:
    first, second = alice.has_feed(site), alice.has_feed(site)
    pairs = [("s", f"feed/{first['id']}"), ("s", f"feed/{second['feed_url']}"), ("t", "A"), ("t", "B")]

    assert app.post("subscription/edit", [("ac", "edit"), *pairs, ("a", label("Both"))]) == "OK"
    assert folders(alice) == {"A": "Both", "B": "Both"}
    assert app.post("subscription/edit", [("ac", "unsubscribe"), *pairs]) == "OK"
    assert folders(alice) == {}


def test_a_feed_removed_from_its_folder_moves_to_the_first_one(app: App, alice: Person, site: Publisher) -> None:
    sea = alice.has_category("Sea")
    feed = alice.has_feed(site, category_id=sea["id"])
    edit = {"ac": "edit", "s": f"feed/{feed['id']}"}
    alice.has_category("Hills")

    app.post("subscription/edit", {**edit, "r": label("Hills")})
    assert folders(alice) == {"A feed": "Sea"}
    app.post("subscription/edit", {**edit, "r": label("Sea")})
    assert folders(alice) == {"A feed": "All"}
    app.post("subscription/edit", {**edit, "r": label("All"), "a": label("Hills")})
    assert folders(alice) == {"A feed": "Hills"}


def test_a_feed_in_several_folders_is_in_each_and_leaves_only_the_one_that_is_named(
    app: App, alice: Person, site: Publisher
) -> None:
    sea, sky, hills = (alice.has_category(name)["id"] for name in ("Sea", "Sky", "Hills"))
    feed = alice.has_feed(site, ["a"], category_ids=[sea, sky])
    edit = {"ac": "edit", "s": f"feed/{feed['id']}"}

    def moved(**fields: str) -> list[str]:
        assert app.post("subscription/edit", edit | {name: label(value) for name, value in fields.items()}) == "OK"
        return [one["label"] for one in app.get("subscription/list")["subscriptions"][0]["categories"]]

    for name in ("Sea", "Sky"):
        items = app.get(f"stream/contents/{label(name)}")["items"]
        assert [one["categories"][1:3] for one in items] == [[label("Sea"), label("Sky")]]
    counts = {one["id"]: one["count"] for one in app.get("unread-count")["unreadcounts"]}
    assert (counts[label("Sea")], counts[label("Sky")], counts[READING_LIST]) == (1, 1, 1)
    both = app.get(f"stream/contents/{label('Sea')}", {"it": label("Sky")})["items"]
    assert len(both) == 1
    assert app.get(f"stream/contents/{label('Sea')}", {"xt": label("Sky")})["items"] == []

    assert moved(r="Sky", a="Hills") == ["Sea", "Hills"]
    assert moved(r="Sky", a="Hills") == ["Sea", "Hills"]
    # Apps with one folder for each feed name no folder that it leaves.
    assert moved(a="Sky") == ["Sky", "Hills"]
    assert moved(r="Sky") == ["Hills"]
    assert moved(r="Hills") == ["All"]
    alice.put(f"/v1/feeds/{feed['id']}", {"category_ids": [sea, sky, hills]}, status=201)
    assert app.post("disable-tag", {"s": label("Sea")}) == "OK"
    assert alice.get(f"/v1/feeds/{feed['id']}")["category_ids"] == [sky, hills]
    app.post("mark-all-as-read", {"s": label("Hills")})
    assert alice.get("/v1/entries", status="unread")["total"] == 0


def test_a_label_may_be_escaped_twice(app: App, alice: Person, site: Publisher) -> None:
    """As RSS Guard 4.8 does it if a percent sign is in the title that it sends."""
    feed = alice.has_feed(site)
    folder = quote(quote(label("Dev & 50% Ops"), safe=""))

    answer = app.call("POST", f"subscription/edit?ac=edit&s=feed/{feed['id']}&t=100%&a={folder}")
    assert answer.status == 200
    assert folders(alice) == {"100%": "Dev & 50% Ops"}


def test_removing_a_feed_from_a_folder_twice_is_no_error(app: App, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, category_id=alice.has_category("Sea")["id"])
    edit = {"ac": "edit", "s": f"feed/{feed['id']}", "r": label("Sea")}
    assert app.post("subscription/edit", edit) == "OK"
    app.post("disable-tag", {"s": label("Sea")})

    assert app.post("subscription/edit", edit) == "OK"
    assert folders(alice) == {"A feed": "All"}


@pytest.mark.parametrize(
    "mistake", [("a", "user/-/state/com.google/starred"), ("a", label("x" * 501)), ("s", "feed/2147483000")]
)
def test_an_edit_with_a_mistake_changes_nothing(
    app: App, alice: Person, site: Publisher, mistake: tuple[str, str]
) -> None:
    known = alice.has_feed(site)
    new = a_feed(site)

    renamed = [("ac", "edit"), ("s", f"feed/{known['id']}"), ("t", "Renamed"), mistake]
    subscribed = [("ac", "subscribe"), ("s", f"feed/{new}"), mistake]
    for fields in (renamed, subscribed):
        answer = app.call("POST", "subscription/edit", fields)
        assert answer.status in (400, 404), answer
    assert folders(alice) == {"A feed": "All"}


def test_a_label_can_be_no_folder(app: App, alice: Person, site: Publisher) -> None:
    """Apps could not tell the two apart, and removing the folder twice would remove the label."""
    feed = alice.has_feed(site, ["Rain"], category_id=alice.has_category("Weather")["id"])
    (entry,) = alice.entries()
    app.post("edit-tag", {"i": str(entry["id"]), "a": label("Later")})
    edit = {"ac": "edit", "s": f"feed/{feed['id']}", "a": label("LATER")}
    for answer in (
        app.call("POST", "subscription/edit", edit),
        app.call("POST", "subscription/edit", {"ac": "subscribe", "s": f"feed/{a_feed(site)}", "a": label("later")}),
        app.call("POST", "rename-tag", {"s": label("Weather"), "dest": label("Later")}),
        alice.call("POST", "/v1/categories", {"title": "Later"}),
        alice.call("PUT", f"/v1/categories/{feed['category']['id']}", {"title": " later "}),
    ):
        assert answer.status == 400
        assert b"You have a label called" in answer.body

    assert folders(alice) == {"A feed": "Weather"}
    assert app.ids(label("Later")) == [entry["id"]]


@pytest.mark.parametrize("written", ["feed:{url}", " {url} ", "HTTP://{rest}", "feed:HTTP://{rest}", "{rest}"])
def test_an_address_is_found_however_it_is_written(app: App, alice: Person, site: Publisher, written: str) -> None:
    """The scheme may be missing, or have `feed:` before it; the site has no https."""
    url = a_feed(site)
    typed = written.format(url=url, rest=url.removeprefix("http://"))

    assert app.call("POST", "subscription/quickadd", {"quickadd": typed}).json()["numResults"] == 1
    assert [feed["feed_url"] for feed in alice.get("/v1/feeds")] == [url]
    again = app.call("POST", "subscription/quickadd", {"quickadd": f"feed/{typed}"}).json()
    assert again["error"] == f"Already subscribed! {url}"
    assert app.post("subscription/edit", {"ac": "subscribe", "s": f"feed/{typed}"}) == "OK"
    assert len(alice.get("/v1/feeds")) == 1


REFUSED: list[tuple[dict[str, str], int]] = [
    ({}, 400),
    ({"ac": "edit"}, 400),
    ({"ac": "edit", "s": "feed/{feed}", "a": "user/-/label/"}, 400),
    ({"ac": "edit", "s": "feed/{feed}", "a": "user/-/state/com.google/read"}, 400),
    ({"ac": "edit", "s": "user/-/label/All", "t": "x"}, 400),
    ({"ac": "shout", "s": "feed/{feed}"}, 400),
    ({"ac": "edit", "s": "feed/{feed}", "r": "user/-/state/com.google/read"}, 400),
    ({"ac": "edit", "s": "feed/{feed}", "t": "x" * 100_001}, 400),
    ({"ac": "edit", "s": "feed/2147483000", "t": "x"}, 404),
    ({"ac": "edit", "s": "feed/{bobs}", "t": "x"}, 404),
    ({"ac": "unsubscribe", "s": "feed/{bobs}"}, 404),
    ({"ac": "subscribe", "s": "feed/{bobs}"}, 404),
    ({"ac": "subscribe", "s": "feed/{site}/missing.xml"}, 400),
    ({"ac": "subscribe", "s": "feed/javascript:alert(1)"}, 400),
]


@pytest.mark.one_engine
def test_a_refused_edit_says_why(app: App, alice: Person, bob: Person, site: Publisher) -> None:
    feed, bobs = alice.has_feed(site), bob.has_feed(site)
    places = {"{feed}": str(feed["id"]), "{bobs}": str(bobs["id"]), "{site}": site.url("")}

    def filled(value: str) -> str:
        for name, real in places.items():
            value = value.replace(name, real)
        return value

    for fields, status in REFUSED:
        answer = app.call("POST", "subscription/edit", {name: filled(value) for name, value in fields.items()})

        assert (answer.status, answer.headers["content-type"]) == (status, "text/plain; charset=utf-8"), fields
        assert len(answer.body.splitlines()) == 1, fields
        assert folders(alice) == folders(bob) == {"A feed": "All"}, fields


def test_a_feed_may_be_named_several_times_and_in_several_ways(app: App, alice: Person, site: Publisher) -> None:
    one, two = alice.has_feed(site), alice.has_feed(site)
    named = [("s", f"feed/{one['id']}"), ("s", f"feed/{one['feed_url']}"), ("s", f"feed/{two['id']}")] * 1_000

    app.post("subscription/edit", [("ac", "edit"), ("a", label("Morning")), *named])
    assert {feed["category"]["title"] for feed in alice.get("/v1/feeds")} == {"Morning"}
    app.post("subscription/edit", [("ac", "subscribe"), ("a", label("Evening")), *named])
    assert {feed["category"]["title"] for feed in alice.get("/v1/feeds")} == {"Evening"}
    app.post("subscription/edit", [("ac", "unsubscribe"), *named])
    assert alice.get("/v1/feeds") == []


def test_a_request_subscribes_to_a_few_feeds_only(app: App, alice: Person, site: Publisher) -> None:
    addresses = [("s", f"feed/{a_feed(site, f'/new-{number}.xml')}") for number in range(MAX_NEW + 1)]

    answer = app.call("POST", "subscription/edit", [("ac", "subscribe"), *addresses])
    assert (answer.status, alice.get("/v1/feeds")) == (400, [])
    assert answer.body == b"s: subscribe to 20 feeds at most in one request, or import an OPML document."
    app.post("subscription/edit", [("ac", "subscribe"), *addresses[1:]])
    assert len(alice.get("/v1/feeds")) == MAX_NEW


MANY_LABELS = b"a, r: send 100 labels at most in one request."
LABELS = [label(str(number)) for number in range(101)]
FEEDS = [f"feed/{number}" for number in range(1, 1_002)]


@pytest.mark.parametrize(
    ("call", "fields", "message"),
    [
        (
            "subscription/edit",
            [("ac", "edit"), *(("s", feed) for feed in FEEDS), *[("t", "x")] * len(FEEDS)],
            b"t: send 1,000 titles at most in one request.",
        ),
        ("edit-tag", [("i", "1"), *(("a", name) for name in LABELS)], MANY_LABELS),
        ("edit-tag", [("a", name) for name in LABELS], MANY_LABELS),
        ("disable-tag", [("s", name) for name in LABELS], b"s: send 100 labels at most in one request."),
        ("stream/items/ids", [("it", feed) for feed in FEEDS], b"it: send 100 streams at most."),
        ("stream/items/ids", [("xt", feed) for feed in FEEDS], b"xt: send 100 streams at most."),
        ("stream/contents", [("xt", feed) for feed in FEEDS], b"xt: send 100 streams at most."),
    ],
)
def test_a_request_beyond_a_limit_names_it_and_changes_nothing(
    app: App, alice: Person, call: str, fields: list[tuple[str, str]], message: bytes
) -> None:
    before = folders(alice), alice.get("/v1/categories")

    answer = app.call("POST", call, fields)

    assert (answer.status, answer.body) == (400, message)
    assert (folders(alice), alice.get("/v1/categories")) == before


def test_a_url_is_added_quickly(app: App, alice: Person, site: Publisher) -> None:
    url = a_feed(site)
    created = app.call("POST", "subscription/quickadd", {"quickadd": url}).json()
    again = app.call("POST", "subscription/quickadd", query={"quickadd": f"feed/{url}"}).json()

    (feed,) = alice.get("/v1/feeds")
    assert created == {"numResults": 1, "query": url, "streamId": f"feed/{feed['id']}", "streamName": "Tides"}
    assert again == {"numResults": 0, "query": f"feed/{url}", "error": f"Already subscribed! {url}"}


def test_the_feed_of_a_page_is_added_quickly(app: App, alice: Person, site: Publisher) -> None:
    ResourceFactory(alice, site)
    alice.delete(f"/v1/feeds/{alice.get('/v1/feeds')[0]['id']}")

    created = app.call("POST", "subscription/quickadd", {"quickadd": site.url("/rain")}).json()

    assert (created["numResults"], created["streamName"]) == (1, "Weather notes")
    again = app.call("POST", "subscription/quickadd", {"quickadd": site.url("/rain")}).json()
    assert again["error"].startswith("Already subscribed! ")


def test_a_feed_of_comments_is_never_added_for_a_page(app: App, alice: Person, site: Publisher) -> None:
    comments, posts = a_feed(site, "/comments/feed/"), "/feed/"
    link = '<link rel="alternate" type="application/rss+xml" href="{}">'
    site.serve("/", link.format(comments))

    refused = app.call("POST", "subscription/quickadd", {"quickadd": site.url("/")}).json()

    assert refused["numResults"] == 0
    assert "only a feed of comments" in refused["error"]
    site.serve("/", link.format(comments) + link.format(a_feed(site, posts)))
    app.call("POST", "subscription/quickadd", {"quickadd": site.url("/")})
    assert [feed["feed_url"] for feed in alice.get("/v1/feeds")] == [site.url(posts)]


@pytest.mark.parametrize("address", ["", " ", "feed/", "{site}/missing", "ftp://example.org/", "http://", "\0"])
def test_the_response_says_why_a_url_was_not_added(app: App, site: Publisher, address: str) -> None:
    answer = app.call("POST", "subscription/quickadd", {"quickadd": address.replace("{site}", site.url(""))})

    if answer.status == 200:
        assert answer.json()["numResults"] == 0
        assert answer.json()["error"]
    else:
        assert (answer.status, address) == (400, "\0")


def test_a_folder_is_renamed(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site)

    assert app.post("rename-tag", {"s": label("All"), "dest": label("Everything / else")}) == "OK"
    assert folders(alice) == {"A feed": "Everything / else"}
    assert app.post("rename-tag", {"t": "everything / ELSE", "dest": "All"}) == "OK"
    assert folders(alice) == {"A feed": "All"}


def test_a_folder_cannot_have_the_name_of_another(app: App, alice: Person) -> None:
    alice.has_category("Sea")

    assert app.call("POST", "rename-tag", {"s": label("Sea"), "dest": label("ALL")}).status == 400
    assert app.call("POST", "rename-tag", {"s": label("Sea"), "dest": ""}).status == 400
    assert app.call("POST", "rename-tag", {"s": label("Nothing"), "dest": label("x")}).status == 404
    assert app.call("POST", "rename-tag", {"s": STARRED, "dest": label("x")}).status == 400


def test_feeds_of_a_removed_folder_move_to_another(app: App, alice: Person, bob: Person, site: Publisher) -> None:
    sea = alice.has_category("Sea")
    alice.has_feed(site, ["One"], category_id=sea["id"])
    bob.has_category("Bob's")

    assert app.call("POST", "disable-tag", {"s": label("Bob's")}).status == 404
    assert app.post("disable-tag", {"s": label("Sea")}) == "OK"
    assert folders(alice) == {"A feed": "All"}
    assert len(app.ids(label("All"))) == 1
    assert [one["title"] for one in alice.get("/v1/categories")] == ["All"]
    assert app.call("POST", "disable-tag", {"s": label("All")}).status == 400
    assert app.call("POST", "disable-tag").status == 400
    assert folders(alice) == {"A feed": "All"}


def test_subscriptions_are_imported_and_exported_as_opml(
    app: App, alice: Person, bobs: App, bob: Person, site: Publisher
) -> None:
    assert app.post("subscription/import", raw=OPML.encode()).startswith("OK")
    assert folders(alice) == {"Buoys": "Sea"}

    exported = app.call("GET", "subscription/export")
    assert exported.headers["content-type"] == "text/xml; charset=utf-8"
    assert exported.headers["content-disposition"].startswith("attachment; filename=")
    assert bobs.post("subscription/import", raw=exported.body).startswith("OK")
    assert folders(bob) == {"Buoys": "Sea"}


@pytest.mark.parametrize("body", [b"", b"<opml", b"\xff\xfe", b"i=1&T=x"])
def test_an_import_of_anything_but_opml_is_400(app: App, body: bytes) -> None:
    assert app.call("POST", "subscription/import", raw=body).status == 400


def test_endpoints_that_clients_only_probe_return_empty_lists(app: App) -> None:
    answers: dict[str, Any] = {path: app.get(path) for path in ("preference/list", "friend/list")}

    assert answers == {"preference/list": {"prefs": []}, "friend/list": {"friends": []}}
    assert app.get("preference/stream/list") == {"streamprefs": {}}


def test_user_info_consists_of_strings(app: App, alice: Person) -> None:
    number = str(alice.id)

    assert app.call("GET", "user-info").json() == {
        "userId": number,
        "userName": alice.user.username,
        "userProfileId": number,
        "userEmail": "",
    }


def test_requests_at_the_same_time_for_a_new_folder_and_a_new_feed_succeed(
    app: App, alice: Person, site: Publisher
) -> None:
    url = site.serve("/same.xml", rss(["One"], site.url("/same.xml")))
    feeds = [alice.has_feed(site, ["One"]) for _ in range(4)]

    with ThreadPoolExecutor(8) as pool:
        moves = [
            {"ac": "edit", "s": f"feed/{feed['id']}", "a": label(f"New {number}")}
            for number in range(3)
            for feed in feeds
        ]
        subscribed = [{"ac": "subscribe", "s": f"feed/{url}"}] * 8
        statuses = [
            answer.status for answer in pool.map(partial(app.call, "POST", "subscription/edit"), moves + subscribed)
        ]

    assert statuses == [200] * 20
    assert len(alice.get("/v1/feeds")) == 5


def test_a_new_entry_updates_the_newest_time_of_its_feed(app: App, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])

    def moment() -> str:
        parts = app.get("unread-count")["unreadcounts"]
        found: str = next(part["newestItemTimestampUsec"] for part in parts if part["id"] == f"feed/{feed['id']}")
        return found

    before = moment()
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    assert moment() == before
    site.serve(feed["feed_url"].removeprefix(site.url("")), rss(["Two", "One"], feed["feed_url"]))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    assert len(app.ids()) == 2
    assert moment() > before

    before = moment()
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", {"url": "https://a.example/three", "title": "Three"})
    (item,) = app.contents(app.ids(READING_LIST)[:1])
    assert moment() == item["timestampUsec"] > before


@pytest.mark.parametrize("fields", [{"s": ""}, {}, {"s": ["", " "]}], ids=["empty", "none", "blanks"])
def test_editing_no_feed_makes_the_folder_that_is_added(app: App, alice: Person, fields: dict[str, object]) -> None:
    """Twine makes folders so."""
    for _ in range(2):
        assert app.post("subscription/edit", {"ac": "edit", "a": label("Sea"), **fields}) == "OK"

    assert [one["title"] for one in alice.get("/v1/categories")] == ["All", "Sea"]
    for refused in ({"ac": "edit"}, {"ac": "edit", "r": label("Sea")}, {"ac": "subscribe", "a": label("Sky")}):
        answer = app.call("POST", "subscription/edit", {**refused, **fields})
        assert (answer.status, answer.body) == (400, b"s: send a feed.")
    too_long = app.call("POST", "subscription/edit", {"ac": "edit", "a": label("x" * 5_000), **fields})
    assert too_long.status == 400
    assert [one["title"] for one in alice.get("/v1/categories")] == ["All", "Sea"]
