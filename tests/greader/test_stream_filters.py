"""Every list of a stream, its ids, items and count, has the entries that its `s`, `it` and `xt` say."""

from __future__ import annotations

from itertools import product

import pytest

from greader.apps import KEPT_UNREAD, READ, READING_LIST, STARRED, App, label, long_id
from support.people import Person
from support.publisher import Publisher

LIKE = "user/-/state/com.google/like"
UNREAD = "user/-/state/com.google/unread"
MAIN = "user/-/state/org.freshrss/main"


@pytest.fixture
def streams(app: App, alice: Person, site: Publisher) -> dict[str, set[int]]:
    """The entries of each stream: of two folders, one below the other, three feeds, two labels, and all states."""
    (top,) = alice.get("/v1/categories")
    tech = alice.post("/v1/categories", {"title": "Tech", "parent_id": top["id"]})
    first, second = (alice.has_feed(site, [f"{number}", "b", "c", "d"]) for number in range(2))
    third = alice.has_feed(site, ["e", "f", "g"], category_id=tech["id"])
    of_feed = {
        feed["id"]: {entry["id"] for entry in alice.get(f"/v1/feeds/{feed['id']}/entries")["entries"]}
        for feed in (first, second, third)
    }
    everything = sorted(set().union(*of_feed.values()))
    read, starred, work, home = (set(everything[start::step]) for start, step in ((0, 3), (1, 4), (0, 2), (2, 5)))
    alice.put("/v1/entries", {"entry_ids": sorted(read), "status": "read"})
    alice.put("/v1/entries", {"entry_ids": sorted(starred), "starred": True})
    for name, ids in (("Work", work), ("Home", home)):
        app.post("edit-tag", [*(("i", long_id(one)) for one in ids), ("a", label(name))])
    return {
        READING_LIST: set(everything),
        MAIN: set(everything),
        READ: read,
        UNREAD: set(everything) - read,
        KEPT_UNREAD: set(everything) - read,
        STARRED: starred,
        LIKE: set(),
        **{f"feed/{number}": ids for number, ids in of_feed.items()},
        f"feed/{second['feed_url']}": of_feed[second["id"]],
        label("All"): set(everything),
        label("all / tech"): of_feed[third["id"]],
        label("Work"): work,
        label("home"): home,
    }


@pytest.mark.slow
def test_each_stream_without_each_other_has_the_same_ids_items_and_count(
    app: App, streams: dict[str, set[int]]
) -> None:
    for stream, excluded in product(streams, repeat=2):
        expected = sorted(streams[stream] - streams[excluded], reverse=True)
        query = {"s": stream, "xt": excluded}
        assert app.ids(n=3, **query) == expected, query
        assert [item["id"] for item in app.items(n="20", **query)] == [long_id(one) for one in expected], query
        assert app.call("GET", "stream/items/count", query=query).body == str(len(expected)).encode(), query


@pytest.mark.slow
def test_each_stream_within_each_other_and_without_two_has_the_same_ids_and_count(
    app: App, streams: dict[str, set[int]]
) -> None:
    names = list(streams)
    for number, (stream, included) in enumerate(product(streams, repeat=2)):
        excluded = [names[number * step % len(names)] for step in (3, 5)]
        left_out = streams[excluded[0]] | streams[excluded[1]]
        expected = sorted((streams[stream] & streams[included]) - left_out)
        query = [("s", stream), ("it", included), *(("xt", one) for one in excluded)]
        answer = app.get("stream/items/ids", [*query, ("r", "o"), ("n", "20")])
        assert [int(one["id"]) for one in answer["itemRefs"]] == expected, query
        assert app.call("GET", "stream/items/count", query=query).body == str(len(expected)).encode(), query


@pytest.mark.slow
def test_each_stream_is_marked_read(app: App, alice: Person, streams: dict[str, set[int]]) -> None:
    unread = streams[UNREAD]
    for stream, ids in streams.items():
        alice.put("/v1/entries", {"entry_ids": sorted(unread), "status": "unread"})
        assert app.post("mark-all-as-read", {"s": stream}) == "OK"
        assert {entry["id"] for entry in alice.entries(status="unread")} == unread - ids, stream


def test_what_does_not_exist_excludes_nothing(
    app: App, bob: Person, site: Publisher, streams: dict[str, set[int]]
) -> None:
    others = bob.has_feed(site)
    for excluded in (
        label("Nowhere"),
        "feed/2147483000",
        f"feed/{others['id']}",
        "feed/https://example.org/unknown",
        " ",
    ):
        assert set(app.ids(xt=excluded)) == streams[READING_LIST], excluded
