"""Labels of entries: given, listed, counted, renamed and removed by apps."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from greader.apps import READ, READING_LIST, STARRED, App, label, long_id
from support.people import Person
from support.publisher import Publisher

TITLES = ["One", "Two", "Three", "Four"]


@pytest.fixture
def ids(alice: Person, site: Publisher) -> dict[str, int]:
    """Entries of Alice, by title: three in the folder All, and one in Tech."""
    tech = alice.has_category("Tech")
    alice.has_feed(site, TITLES[:3])
    alice.has_feed(site, TITLES[3:], category_id=tech["id"])
    return {entry["title"]: entry["id"] for entry in alice.entries()}


def give(app: App, name: str, *entry_ids: int) -> None:
    assert app.post("edit-tag", [*(("i", long_id(one)) for one in entry_ids), ("a", label(name))]) == "OK"


def take(app: App, name: str, *entry_ids: int) -> None:
    assert app.post("edit-tag", [*(("i", str(one)) for one in entry_ids), ("r", label(name))]) == "OK"


def tags(app: App) -> dict[str, Any]:
    """Return the unread counts of labels by name."""
    return {
        tag["id"].removeprefix(label("")): tag["unread_count"]
        for tag in app.get("tag/list")["tags"]
        if tag.get("type") == "tag"
    }


def labels_of(app: App, entry_id: int) -> list[str]:
    (item,) = app.contents([entry_id])
    return [name.removeprefix(label("")) for name in item["categories"] if name.startswith(label(""))]


def test_giving_and_taking_a_label_is_idempotent(app: App, ids: dict[str, int]) -> None:
    for _ in range(2):
        give(app, "To do", ids["One"], ids["Four"])
        assert app.ids(label("To do")) == sorted((ids["One"], ids["Four"]), reverse=True)
        assert tags(app) == {"To do": 2}
    for _ in range(2):
        take(app, "To do", ids["One"])
        assert app.ids(label("To do")) == [ids["Four"]]

    assert labels_of(app, ids["One"]) == ["All"]
    assert labels_of(app, ids["Four"]) == ["Tech", "To do"]


def test_one_request_sets_states_and_labels(app: App, alice: Person, ids: dict[str, int]) -> None:
    give(app, "Old", ids["Two"])

    pairs = [("i", str(ids["Two"])), ("a", READ), ("a", STARRED), ("a", label("New")), ("r", label("Old"))]
    assert app.post("edit-tag", [*pairs, ("a", label("B/C, D: é")), ("r", label("Unknown"))]) == "OK"

    assert labels_of(app, ids["Two"]) == ["All", "B/C, D: é", "New"]
    assert app.ids(label("B/C, D: é")) == [ids["Two"]]
    two = alice.get(f"/v1/entries/{ids['Two']}")
    assert (two["status"], two["starred"]) == ("read", True)
    assert sorted(tags(app)) == ["B/C, D: é", "New", "Old"]


def test_of_contradictory_changes_the_last_one_sent_wins(app: App, ids: dict[str, int]) -> None:
    one = ("i", str(ids["One"]))
    app.post("edit-tag", [one, ("r", label("Later")), ("a", label("later"))])
    assert labels_of(app, ids["One"]) == ["All", "later"]
    app.post("edit-tag", [one, ("a", label("LATER")), ("r", label("Later"))])
    assert labels_of(app, ids["One"]) == ["All"]


def test_a_label_is_a_stream_with_all_filters(app: App, alice: Person, ids: dict[str, int]) -> None:
    mine = [ids[title] for title in ("One", "Two", "Four")]
    give(app, "Work", *mine)
    give(app, "Home", ids["Two"], ids["Three"])
    alice.put("/v1/entries", {"entry_ids": [ids["One"]], "status": "read"})
    alice.put("/v1/entries", {"entry_ids": [ids["Four"]], "starred": True})
    work, descending = label("Work"), sorted(mine, reverse=True)

    assert app.ids(work) == app.ids(f"user/{alice.id}/label/work") == descending
    assert app.ids(work, r="o") == sorted(mine)
    for size in (1, 2, 3, 4):
        assert app.ids(work, n=size) == descending
        assert app.ids(work, n=size, r="o") == sorted(mine)
    assert [item["id"] for item in app.items(work)] == [long_id(number) for number in descending]
    assert set(app.ids(work, xt=READ)) == {ids["Two"], ids["Four"]}
    assert app.ids(work, it=STARRED) == app.ids(STARRED, it=work) == [ids["Four"]]
    assert app.ids(work, it=label("Home")) == [ids["Two"]]
    assert set(app.ids(work, xt=label("Home"))) == {ids["One"], ids["Four"]}
    assert app.ids(label("Tech"), it=work) == [ids["Four"]]
    assert set(app.ids(READING_LIST, xt=work)) == {ids["Three"]}
    assert app.get("stream/items/ids", [("s", work), ("s", label("Home"))])["itemRefs"] == [
        {"id": str(number)} for number in sorted(ids.values(), reverse=True)
    ]
    assert app.call("GET", "stream/items/count", query={"s": work}).body == b"3"
    assert app.call("GET", "stream/items/count", query={"s": work, "xt": READ}).body == b"2"
    assert app.call("GET", "stream/items/ids", query={"s": label("Nowhere")}).status == 404


def test_unread_entries_are_counted_by_label(app: App, alice: Person, ids: dict[str, int]) -> None:
    give(app, "Work", ids["One"], ids["Two"])
    alice.put("/v1/entries", {"entry_ids": [ids["One"]], "status": "read"})

    assert tags(app) == {"Work": 1}
    (count,) = [each for each in app.get("unread-count")["unreadcounts"] if each["id"] == label("Work")]
    assert count["count"] == 1
    assert count["newestItemTimestampUsec"].isdigit()
    assert app.get("unread-count")["max"] == 3


def test_the_entries_of_a_label_are_marked_read(app: App, alice: Person, ids: dict[str, int]) -> None:
    give(app, "Work", ids["One"], ids["Four"])

    for _ in range(2):
        assert app.post("mark-all-as-read", {"s": label("Work")}) == "OK"
        assert {entry["title"] for entry in alice.entries(status="unread")} == {"Two", "Three"}
    assert sum(alice.get("/v1/feeds/counters")["unreads"].values()) == 2


def test_labels_are_in_the_order_of_their_user(app: App, alice: Person, ids: dict[str, int]) -> None:
    for name in ("Alpha", "Beta", "Gamma"):
        give(app, name, ids["One"])
    (gamma,) = (one["id"] for one in alice.get("/v1/labels") if one["title"] == "Gamma")

    alice.put(f"/v1/labels/{gamma}", {"position": 1}, status=201)

    assert list(tags(app)) == ["Gamma", "Alpha", "Beta"]
    assert labels_of(app, ids["One"]) == ["All", "Gamma", "Alpha", "Beta"]


def test_a_label_is_renamed(app: App, ids: dict[str, int]) -> None:
    give(app, "Old", ids["One"])
    give(app, "Other", ids["One"])

    assert app.post("rename-tag", {"s": label("old"), "dest": label("New")}) == "OK"
    assert labels_of(app, ids["One"]) == ["All", "New", "Other"]
    assert app.post("rename-tag", {"s": label("New"), "dest": label("NEW")}) == "OK"
    assert app.ids(label("new")) == [ids["One"]]
    for taken in ("Other", "Tech", " "):
        answer = app.call("POST", "rename-tag", {"s": label("NEW"), "dest": label(taken)})
        assert (answer.status, len(answer.body.splitlines())) == (400, 1)
    assert labels_of(app, ids["One"]) == ["All", "NEW", "Other"]


def test_a_label_is_removed_and_its_entries_stay(app: App, alice: Person, ids: dict[str, int]) -> None:
    give(app, "Gone", ids["One"], ids["Two"])
    give(app, "Stays", ids["One"])

    assert app.post("disable-tag", [("s", label("Gone")), ("s", label("gone")), ("t", "Gone")]) == "OK"

    assert tags(app) == {"Stays": 1}
    assert len(alice.entries()) == 4
    assert app.call("POST", "disable-tag", {"s": label("Gone")}).status == 404


def test_the_name_of_a_folder_is_not_a_label_of_an_entry(app: App, alice: Person, ids: dict[str, int]) -> None:
    pairs = [("i", str(ids["One"])), ("a", label("tech")), ("a", label("Work")), ("a", STARRED)]
    assert app.post("edit-tag", pairs) == "OK"
    assert app.post("edit-tag", [("i", str(ids["Four"])), ("r", label("Tech"))]) == "OK"

    assert tags(app) == {"Work": 1}
    assert labels_of(app, ids["One"]) == ["All", "Work"]
    assert labels_of(app, ids["Four"]) == ["Tech"]
    assert alice.get(f"/v1/entries/{ids['One']}")["starred"] is True


def test_a_folder_that_is_imported_with_the_name_of_a_label_hides_it(
    app: App, alice: Person, ids: dict[str, int]
) -> None:
    give(app, "Work", ids["One"])
    assert app.post("edit-tag", {"a": label("Work")}) == "OK"
    assert tags(app) == {"Work": 1}

    outline = '<outline text="work"><outline type="rss" text="x" xmlUrl="http://127.0.0.1:1/x"/></outline>'
    document = f'<opml version="2.0"><body>{outline}</body></opml>'
    assert app.post("subscription/import", raw=document.encode()).startswith("OK")
    assert tags(app) == {}
    assert app.ids(label("Work")) == []
    assert labels_of(app, ids["One"]) == ["All"]
    assert [each["id"] for each in app.get("unread-count")["unreadcounts"]].count(label("Work")) == 0

    (folder,) = (one for one in alice.get("/v1/categories") if one["title"] == "work")
    alice.put(f"/v1/categories/{folder['id']}", {"title": "Elsewhere"}, status=201)
    assert app.ids(label("Work")) == [ids["One"]]


@pytest.mark.parametrize("name", ["a\nb", "50% & more", "a/b", "“Ünïcode” 🙂", "x?y#z"])
def test_a_label_is_listed_by_its_name_in_the_path(app: App, ids: dict[str, int], name: str) -> None:
    give(app, name, ids["One"])

    (listed,) = tags(app)
    assert listed == name.replace("\n", " ")
    found = app.get(f"stream/contents/{quote(label(listed), safe='')}")
    assert [item["id"] for item in found["items"]] == [long_id(ids["One"])]


def test_labels_of_others_are_theirs(app: App, bobs: App, bob: Person, site: Publisher, ids: dict[str, int]) -> None:
    give(app, "Work", ids["One"])
    bob.has_feed(site, ["Bob's"])
    (theirs,) = (entry["id"] for entry in bob.entries())

    give(bobs, "Work", ids["One"], ids["Two"])
    take(bobs, "Work", ids["One"])
    assert tags(bobs) == {}
    assert app.ids(label("Work")) == [ids["One"]]

    give(bobs, "Work", theirs)
    assert bobs.ids(label("Work")) == [theirs]
    assert app.ids(label("Work")) == [ids["One"]]
    bobs.post("disable-tag", {"s": label("Work")})
    assert app.ids(label("Work")) == [ids["One"]]


@pytest.mark.parametrize("name", ["x" * 201, "a\0b", "  "])
def test_a_name_that_cannot_be_stored_is_400(app: App, ids: dict[str, int], name: str) -> None:
    answer = app.call("POST", "edit-tag", [("i", str(ids["One"])), ("a", label(name))])

    assert (answer.status, len(answer.body.splitlines())) == (400, 1)
    assert tags(app) == {}


def test_ten_thousand_items_may_be_labelled_at_once(app: App, ids: dict[str, int]) -> None:
    mine = [("i", str(number)) for number in ids.values()]
    others = [("i", str(number)) for number in range(2_000_000_000, 2_000_009_996)]

    assert app.post("edit-tag", [*others, *mine, ("a", label("All of them"))]) == "OK"
    assert len(app.ids(label("All of them"))) == 4
