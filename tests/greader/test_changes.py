"""Changes of entries: repeated ones change nothing, and nobody else's entries are touched."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from greader.apps import KEPT_UNREAD, READ, READING_LIST, STARRED, App, label, long_id
from support.people import Person
from support.publisher import Publisher

TRACKING = "user/-/state/com.google/tracking-kept-unread"
TITLES = ["One", "Two", "Three", "Four"]


def states(person: Person) -> dict[str, tuple[str, bool]]:
    return {entry["title"]: (entry["status"], entry["starred"]) for entry in person.entries()}


def ids_by_title(person: Person) -> dict[str, int]:
    return {entry["title"]: entry["id"] for entry in person.entries()}


def counters(person: Person) -> Any:
    return person.get("/v1/feeds/counters")


def test_marking_read_and_starring_is_idempotent(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    mine = ids_by_title(alice)
    one, two = long_id(mine["One"]), str(mine["Two"])

    for _ in range(2):
        assert app.post("edit-tag", [("i", one), ("i", two), ("a", READ), ("a", STARRED)]) == "OK"
        assert states(alice) == {
            "One": ("read", True),
            "Two": ("read", True),
            "Three": ("unread", False),
            "Four": ("unread", False),
        }
    for _ in range(2):
        assert app.post("edit-tag", [("i", one), ("r", STARRED)]) == "OK"
        assert states(alice)["One"] == ("read", False)
    assert set(counters(alice)["unreads"].values()) == {2}


def test_newsboat_marks_read_and_unread_with_one_request(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    one = [("i", long_id(ids_by_title(alice)["One"])), ("T", app.token)]

    app.post("edit-tag", [*one, ("a", READ), ("r", KEPT_UNREAD)])
    assert states(alice)["One"][0] == "read"
    app.post("edit-tag", [*one, ("r", READ), ("a", KEPT_UNREAD), ("a", TRACKING)])
    assert states(alice)["One"][0] == "unread"


def test_of_contradictory_changes_the_last_one_sent_wins(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    one = ("i", long_id(ids_by_title(alice)["One"]))

    app.post("edit-tag", [one, ("r", READ), ("a", READ), ("r", STARRED), ("a", STARRED)])
    assert states(alice)["One"] == ("read", True)
    app.post("edit-tag", [one, ("a", READ), ("r", READ), ("a", STARRED), ("r", STARRED)])
    assert states(alice)["One"] == ("unread", False)


def test_unsupported_tags_and_unknown_items_are_ignored(app: App, alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    bob.has_feed(site, TITLES)
    before = states(alice)
    like = "user/-/state/com.google/like"
    for pairs in (
        [("i", str(one)) for one in (*ids_by_title(bob).values(), 2147483000, 0)] + [("a", READ), ("a", STARRED)],
        [("i", str(one)) for one in ids_by_title(alice).values()] + [("a", like), ("r", like), ("a", label("Later"))],
    ):
        assert app.post("edit-tag", pairs) == "OK"

    assert states(alice) == before
    assert states(bob) == before
    one = ("i", str(ids_by_title(alice)["One"]))
    assert app.post("edit-tag", [one, ("a", "user/-/state/com.newsplus/seen"), ("a", READ)]) == "OK"
    assert states(alice) == before | {"One": ("read", False)}
    assert app.get("tag/list") == App(alice).sign_in().get("tag/list")


def test_a_change_of_nothing_is_accepted(app: App, alice: Person, site: Publisher) -> None:
    """FeedFlow sends this where it means disable-tag, and stops at an error."""
    alice.has_feed(site, TITLES)
    before = states(alice)

    assert app.post("edit-tag", {"s": label("Weather")}) == "OK"

    assert states(alice) == before


@pytest.mark.parametrize("fields", [{"r": READ}, {"a": READ}, {"i": "x", "a": READ}, {"i": "1", "a": "read"}])
def test_an_invalid_change_is_400(app: App, fields: dict[str, str]) -> None:
    answer = app.call("POST", "edit-tag", fields)

    assert answer.status == 400
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert len(answer.body.splitlines()) == 1


def test_ten_thousand_items_may_be_marked_at_once(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    mine = [("i", str(number)) for number in ids_by_title(alice).values()]
    others = [("i", str(number)) for number in range(2_000_000_000, 2_000_009_996)]

    assert app.post("edit-tag", [*others, *mine, ("a", READ), ("T", app.token), ("ac", "edit-tags")]) == "OK"
    assert {status for status, _ in states(alice).values()} == {"read"}


@pytest.mark.slow
def test_a_whole_stream_is_marked_read(app: App, alice: Person, bob: Person, site: Publisher) -> None:
    tech = alice.has_category("Tech")
    first = alice.has_feed(site, ["One"])
    alice.has_feed(site, ["Two"], category_id=tech["id"])
    alice.has_feed(site, ["Three", "Four"])
    bob.has_feed(site, ["One"])
    mine = ids_by_title(alice)
    alice.put("/v1/entries", {"entry_ids": [mine["Four"]], "starred": True})

    def unread_after(stream: str) -> set[str]:
        assert app.post("mark-all-as-read", {"s": stream, "T": app.token}) == "OK"
        return {title for title, (status, _) in states(alice).items() if status == "unread"}

    assert unread_after("user/-/state/com.google/like") == {"One", "Two", "Three", "Four"}
    assert unread_after(READ) == {"One", "Two", "Three", "Four"}
    assert unread_after(f"feed/{first['id']}") == {"Two", "Three", "Four"}
    assert unread_after(label("tech")) == {"Three", "Four"}
    assert unread_after(STARRED) == {"Three"}
    assert unread_after(READING_LIST) == set()
    assert unread_after(READING_LIST) == set()
    assert counters(alice)["unreads"] == {}
    assert states(bob)["One"][0] == "unread"


@pytest.mark.parametrize("digits", [10, 13, 16, 19])
def test_entries_stored_after_the_given_time_stay_unread(app: App, alice: Person, site: Publisher, digits: int) -> None:
    alice.has_feed(site, ["Old", "New"])
    mine = ids_by_title(alice)
    with alice.service.services.database.writing() as db:
        for title, moment in (("Old", 1_700_000_000), ("New", 1_700_000_100)):
            set_stored_at = text("UPDATE entries SET created_at = :at WHERE id = :id")
            db.run(set_stored_at, at=moment * 1_000_000, id=mine[title])

    ts = "1700000050".ljust(digits, "0")
    assert app.post("mark-all-as-read", {"s": READING_LIST, "ts": ts}) == "OK"

    assert {title: status for title, (status, _) in states(alice).items()} == {"Old": "read", "New": "unread"}


@pytest.mark.parametrize("ts", ["soon", "-1", "1e9", "+1795568066"])
def test_with_a_time_that_cannot_be_read_nothing_is_marked(app: App, alice: Person, site: Publisher, ts: str) -> None:
    alice.has_feed(site, TITLES)

    answer = app.call("POST", "mark-all-as-read", {"s": READING_LIST, "ts": ts})
    assert (answer.status, answer.body) == (400, f"ts: {ts!r} is not a time: send seconds since 1970.".encode())
    assert {status for status, _ in states(alice).values()} == {"unread"}


def test_a_time_may_have_a_fraction(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)

    app.post("mark-all-as-read", {"s": READING_LIST, "ts": "1700000000.5"})
    assert {status for status, _ in states(alice).values()} == {"unread"}


def test_several_streams_are_marked_read_at_once(app: App, alice: Person, site: Publisher) -> None:
    feeds = [alice.has_feed(site, [title]) for title in TITLES[:3]]

    app.post("mark-all-as-read", [("s", f"feed/{feed['id']}") for feed in feeds[:2]])
    assert sorted(status for status, _ in states(alice).values()) == ["read", "read", "unread"]


def test_removed_entries_stay_removed(app: App, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, TITLES)
    mine = ids_by_title(alice)
    alice.put("/v1/entries", {"entry_ids": [mine["One"]], "status": "removed"})

    both = [("i", long_id(mine["One"])), ("i", long_id(mine["Two"]))]
    assert [one["id"] for one in app.contents([mine["One"], mine["Two"]])] == [long_id(mine["Two"])]
    for change in (("a", READ), ("r", READ), ("a", STARRED), ("a", label("Later"))):
        assert app.post("edit-tag", [*both, change]) == "OK"
        assert alice.get(f"/v1/entries/{mine['One']}")["status"] == "removed"
    assert app.ids(STARRED) == app.ids(label("Later")) == [mine["Two"]]
    assert alice.get(f"/v1/entries/{mine['One']}")["starred"] is False


def test_a_repeated_change_keeps_the_time_of_the_first(app: App, alice: Person, site: Publisher) -> None:
    """Other apps ask for what has changed since their last look."""
    alice.has_feed(site, TITLES)
    mine = ids_by_title(alice)
    change = [("i", str(mine["One"])), ("a", READ), ("a", STARRED)]
    app.post("edit-tag", change)
    changed_at = alice.get(f"/v1/entries/{mine['One']}")["changed_at"]

    app.post("edit-tag", [*change, ("i", str(mine["Two"]))])
    assert alice.get(f"/v1/entries/{mine['One']}")["changed_at"] == changed_at
    assert states(alice)["Two"] == ("read", True)


@pytest.mark.parametrize("ts", ["", "0", "0.0"])
def test_without_a_time_all_entries_are_marked_read(app: App, alice: Person, site: Publisher, ts: str) -> None:
    alice.has_feed(site, TITLES)

    assert app.post("mark-all-as-read", {"s": READING_LIST, "ts": ts}) == "OK"
    assert {status for status, _ in states(alice).values()} == {"read"}


def test_marking_an_unknown_stream_is_refused(app: App, bob: Person, site: Publisher) -> None:
    bobs = bob.has_feed(site)

    assert app.call("POST", "mark-all-as-read", {}).status == 400
    assert app.call("POST", "mark-all-as-read", {"s": "x"}).status == 400
    assert app.call("POST", "mark-all-as-read", {"s": f"feed/{bobs['id']}"}).status == 404
    assert set(states(bob).values()) == {("unread", False)}


@pytest.mark.slow
def test_several_streams_are_marked_read_together(app: App, alice: Person, bob: Person, site: Publisher) -> None:
    first, second = alice.has_feed(site, ["One", "Two"]), alice.has_feed(site, ["Three"])
    moved = alice.has_feed(site, ["Four"], category_id=alice.post("/v1/categories", {"title": "Folder"})["id"])
    alice.has_feed(site, ["Five", "Six", "Seven"])
    bob.has_feed(site, ["Bob's"])
    mine = ids_by_title(alice)
    app.post("edit-tag", [("i", str(mine["Five"])), ("a", label("later"))])
    app.post("edit-tag", [("i", str(mine["Six"])), ("a", STARRED)])
    named = [f"feed/{first['id']}", f"feed/{second['feed_url']}", label("folder"), label("Later"), STARRED]

    assert moved["category"]["title"] == "Folder"
    assert app.post("mark-all-as-read", [("s", stream) for stream in named * 3_000]) == "OK"

    unread = {title for title, (status, _) in states(alice).items() if status == "unread"}
    assert unread == {"Seven"}
    assert set(counters(alice)["unreads"].values()) == {1}
    assert states(bob) == {"Bob's": ("unread", False)}


def test_of_several_streams_an_unknown_one_leaves_everything_unread(
    app: App, alice: Person, bob: Person, site: Publisher
) -> None:
    feed, bobs = alice.has_feed(site, TITLES), bob.has_feed(site)
    for unknown in (f"feed/{bobs['id']}", "feed/99999999999", f"feed/{bobs['feed_url']}", label("none")):
        answer = app.call(
            "POST", "mark-all-as-read", [("s", READING_LIST), ("s", f"feed/{feed['id']}"), ("s", unknown)]
        )
        assert answer.status == 404
    assert {status for status, _ in states(alice).values()} == {"unread"}

    assert app.post("mark-all-as-read", [("s", f"feed/{feed['id']}"), ("s", READING_LIST)]) == "OK"
    assert {status for status, _ in states(alice).values()} == {"read"}
