"""Marking a part of a list as read, and undoing exactly that."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

# Published one day after the other, the first one last.
TITLES = ("Five", "Four", "Three", "Two", "One")


@pytest.fixture
def ids(alice: Person, site: Publisher) -> dict[str, int]:
    """Return ids of the entries of a feed by title, of the feed as "feed", and of an entry of another one."""
    feed = alice.has_feed(site, TITLES)
    alice.has_feed(site, ["Elsewhere"])
    return {entry["title"]: entry["id"] for entry in alice.entries()} | {"feed": feed["id"]}


def mark(person: Person, body: dict[str, Any], **query: Any) -> dict[str, Any]:
    parameters = "&".join(f"{name}={value}" for name, value in query.items())
    answer: dict[str, Any] = person.put(f"/v1/entries/mark-as-read?{parameters}", body, status=200)
    return answer


def undo(person: Person, token: str) -> int:
    return int(person.post("/v1/entries/undo-mark-as-read", {"undo_token": token}, status=200)["marked_unread"])


def read(person: Person) -> set[str]:
    return {entry["title"] for entry in person.entries(status="read")}


@pytest.mark.parametrize(
    ("range_", "query", "expected"),
    [
        ("above", {"direction": "desc"}, {"Five", "Four"}),
        ("below", {"direction": "desc"}, {"Two", "One"}),
        ("above", {"direction": "asc"}, {"Two", "One"}),
        ("below", {"direction": "desc", "order": "published_at", "query": "title:one"}, {"One"}),
        ("below", {"direction": "desc", "starred": "true"}, {"Two"}),
        ("below", {"direction": "desc", "status": "read"}, set()),
        ("below", {"direction": "desc", "limit": 1, "offset": 1}, {"Two", "One"}),
    ],
)
def test_a_part_of_a_list_is_marked_and_unmarked(
    range_: str, query: dict[str, Any], expected: set[str], alice: Person, ids: dict[str, int]
) -> None:
    alice.put("/v1/entries", {"entry_ids": [ids["Two"], ids["Four"]], "starred": True})

    marked = mark(alice, {"range": range_, "entry_id": ids["Three"]}, feed_id=ids["feed"], **query)

    assert marked["marked"] == len(expected)
    assert read(alice) == expected
    if not expected:
        assert marked["undo_token"] is None
        return
    assert undo(alice, marked["undo_token"]) == len(expected)
    assert read(alice) == set()


def test_an_undo_leaves_alone_what_has_changed_since_and_what_was_marked_otherwise(
    alice: Person, ids: dict[str, int]
) -> None:
    alice.put("/v1/entries", {"entry_ids": [ids["Five"]], "status": "read"})
    below = mark(alice, {"range": "below", "entry_id": ids["Three"]}, feed_id=ids["feed"], direction="desc")
    rest = mark(alice, {"range": "all"}, feed_id=ids["feed"])
    alice.put("/v1/entries", {"entry_ids": [ids["One"]], "status": "unread"})
    alice.put("/v1/entries", {"entry_ids": [ids["One"]], "status": "read"})

    assert (below["marked"], rest["marked"]) == (2, 2)
    assert undo(alice, below["undo_token"]) == 1
    assert undo(alice, below["undo_token"]) == 0
    assert read(alice) == {"Five", "Four", "Three", "One"}


def test_what_was_stored_after_the_list_was_seen_stays_unread(alice: Person, ids: dict[str, int]) -> None:
    last = max(number for title, number in ids.items() if title in TITLES)

    assert mark(alice, {"range": "all", "newest_entry_id": last})["marked"] == len(TITLES)
    assert read(alice) == set(TITLES)
    assert mark(alice, {"range": "all"}, globally_visible="true")["marked"] == 1


def test_a_part_of_a_view_is_marked_in_the_order_of_the_view(alice: Person, ids: dict[str, int]) -> None:
    body = {"name": "Short", "query": f"f:{ids['feed']} -title:five", "direction": "asc"}
    path = f"/v1/views/{alice.post('/v1/views', body)['id']}/mark-as-read"

    above = alice.put(path, {"range": "above", "entry_id": ids["Three"]}, status=200)
    assert read(alice) == {"One", "Two"}
    alice.put(f"{path}?direction=desc", {"range": "above", "entry_id": ids["Three"]}, status=200)
    assert read(alice) == {"One", "Two", "Four"}
    assert undo(alice, above["undo_token"]) == 2


@pytest.mark.one_engine
def test_entries_of_others_neither_bound_a_list_nor_are_marked_or_unmarked(
    alice: Person, bob: Person, ids: dict[str, int], site: Publisher
) -> None:
    bob.has_feed(site, ["Bob's"])
    marked = mark(alice, {"range": "all"})

    refused = bob.call("PUT", "/v1/entries/mark-as-read", {"range": "above", "entry_id": ids["Three"]})
    assert refused.status == 404
    assert bob.call("PUT", f"/v1/entries/mark-as-read?feed_id={ids['feed']}", {"range": "all"}).status == 400
    assert undo(bob, marked["undo_token"]) == 0
    assert mark(bob, {"range": "all"})["marked"] == 1
    assert undo(alice, marked["undo_token"]) == 6


@pytest.mark.one_engine
def test_a_request_that_does_not_say_what_to_mark_is_refused(alice: Person, ids: dict[str, int]) -> None:
    three = ids["Three"]
    wrong = [
        ("", {}, "range"),
        ("", {"range": "around", "entry_id": three}, "range"),
        ("", {"range": "above"}, "entry_id"),
        ("", {"range": "all", "entry_id": three}, "entry_id"),
        ("?order=title", {"range": "below", "entry_id": three}, "order"),
        ("?query=title:", {"range": "all"}, "query"),
    ]
    for query, body, field in wrong:
        refused = alice.call("PUT", f"/v1/entries/mark-as-read{query}", body)
        assert (refused.status, refused.error.partition(":")[0]) == (400, field), body
    for token in ("", "x", "-1", "9" * 19, "١"):
        refused = alice.call("POST", "/v1/entries/undo-mark-as-read", {"undo_token": token})
        assert (refused.status, refused.error.partition(":")[0]) == (400, "undo_token")
    assert read(alice) == set()
