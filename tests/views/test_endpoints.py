"""Saved views in the API: their settings, entries and counts."""

from __future__ import annotations

from typing import Any

import pytest

from support.handbook import check_examples
from support.people import Person
from support.publisher import Publisher


def has_view(person: Person, name: str, query: str, **more: object) -> int:
    return int(person.post("/v1/views", {"name": name, "query": query, **more})["id"])


def unread(person: Person) -> dict[str, int]:
    counts: dict[str, int] = person.get("/v1/views/counters")["unreads"]
    return counts


def titles(person: Person, view_id: int, **more: object) -> list[str]:
    return [entry["title"] for entry in person.get(f"/v1/views/{view_id}/entries", **more)["entries"]]


def test_the_examples_of_the_handbook_are_true(alice: Person) -> None:
    assert check_examples("Saved views", alice) == 7


def test_a_view_has_the_entries_of_its_query(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, items=["Heavy rain", "Rain", "Snow"])
    view = has_view(alice, "Wet", "rain", order="created_at", direction="asc")
    listed = alice.get(f"/v1/views/{view}/entries")

    assert listed["total"] == 2
    assert titles(alice, view, direction="desc") == [*reversed([entry["title"] for entry in listed["entries"]])]
    assert titles(alice, view, query="heavy") == ["Heavy rain"]
    assert titles(alice, view, feed_id=feed["id"], search="-heavy") == ["Rain"]
    ids = sorted((entry["id"] for entry in listed["entries"]), reverse=True)
    assert alice.get(f"/v1/views/{view}/ids") == {"total": 2, "entry_ids": ids}
    assert alice.get(f"/v1/views/{view}/ids", status="read")["entry_ids"] == []


def test_views_are_counted_together(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, items=["Heavy rain", "Rain", "Snow"])
    alice.put(f"/v1/feeds/{feed['id']}", {"title": "Weather"}, status=201)
    queries = {
        "feed:weather": 3, "-feed:weather": 0, "is:starred": 1, "-is:starred feed:weather": 2, "is:read": 0, "": 3,
        "rain": 2, "-rain": 1, "rain OR snow": 3, "S:Rainy heavy": 1, "title:/^S/": 1, "added:1d": 3, "label:x": 0,
        f"f:{feed['id']}": 3, "author:nobody": 0, "url:/%/ is:unread": 0, "category:all (rain OR is:starred)": 3,
    }  # fmt: skip
    rainy = has_view(alice, "Rainy", "rain")
    views = {has_view(alice, f"View {number}", query): query for number, query in enumerate(queries)}
    (snow,) = alice.entries(search="snow")
    alice.put("/v1/entries", {"entry_ids": [snow["id"]], "starred": True})

    counts = unread(alice)

    assert {query: counts[str(view)] for view, query in views.items()} == queries
    alice.put("/v1/entries", {"entry_ids": [snow["id"]], "status": "read"})
    assert unread(alice) == {
        str(view): alice.get(f"/v1/views/{view}/entries", status="unread")["total"] for view in [rainy, *views]
    }


def test_marking_a_view_read_leaves_what_came_later(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain", "Snow"])
    view = has_view(alice, "Wet", "rain")

    alice.put(f"/v1/views/{view}/mark-all-as-read?before=1000000000", status=204)
    assert unread(alice) == {str(view): 1}
    alice.put(f"/v1/views/{view}/mark-all-as-read", status=204)

    assert unread(alice) == {str(view): 0}
    assert [entry["title"] for entry in alice.entries(status="unread")] == ["Snow"]
    assert alice.call("PUT", f"/v1/views/{view}/mark-all-as-read?before={10**17}").status == 400


def test_views_are_changed_and_ordered(alice: Person) -> None:
    first, second, third = (has_view(alice, name, "rain") for name in ("One", "Two", "Three"))

    changed = alice.put(f"/v1/views/{third}", {"position": 1, "icon": "star", "density": "cards"}, status=201)

    assert (changed["position"], changed["icon"], changed["density"], changed["name"]) == (1, "star", "cards", "Three")
    assert [view["id"] for view in alice.get("/v1/views")] == [third, first, second]
    alice.call("DELETE", f"/v1/views/{third}")
    assert [(view["id"], view["position"]) for view in alice.get("/v1/views")] == [(first, 1), (second, 2)]
    alice.put(f"/v1/views/{first}", {"is_home": True}, status=201)
    alice.put(f"/v1/views/{second}", {"is_home": True, "name": "TWO"}, status=201)
    assert [(view["name"], view["is_home"]) for view in alice.get("/v1/views")] == [("One", False), ("TWO", True)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"query": "rain"}, "name: a view needs one."),
        ({"name": "New"}, "query: a view needs one; send an empty text for all entries."),
        ({"name": "known", "query": "rain"}, "name: You already have a view called 'known'."),
        ({"name": " ", "query": "rain"}, "A view needs a name: give a text with at least one visible character."),
        ({"name": "a" * 201, "query": ""}, "This name is too long: 200 characters at most."),
        (
            {"name": "New", "query": "rain ("},
            "query: cannot be read from character 7 on: expected a word, a field or an opening parenthesis.",
        ),
        ({"name": "New", "query": "S:other"}, "query: there is no saved view other."),
        ({"name": "New", "query": "S:new"}, "query: the saved view New refers to itself."),
        (
            {"name": "New", "query": "", "order": "title"},
            "order: 'title' is not one of published_at, created_at, changed_at.",
        ),
        ({"name": "New", "query": "", "icon": "cat"}, "icon: 'cat' is not one of filter, search"),
    ],
)
def test_what_cannot_be_saved_is_refused(alice: Person, body: dict[str, Any], message: str) -> None:
    has_view(alice, "Known", "rain")

    answer = alice.call("POST", "/v1/views", body)

    assert (answer.status, len(alice.get("/v1/views"))) == (400, 1)
    assert answer.error.startswith(message)


def test_a_query_refers_to_views_by_name_and_number(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Heavy rain", "Rain", "Snow"])
    wet = has_view(alice, "Wet things", "rain OR snow")
    heavy = has_view(alice, "Heavy", 'search:"wet THINGS" heavy')

    assert titles(alice, heavy) == ["Heavy rain"]
    assert [entry["title"] for entry in alice.entries(query=f"-S:{wet} OR S:heavy")] == ["Heavy rain"]
    loop = alice.call("PUT", f"/v1/views/{wet}", {"query": "S:heavy"})
    assert (loop.status, loop.error) == (400, "query: the saved view Wet things refers to itself.")
    used = "name: The view Wet things is used by the view Heavy: change these first."
    for answer in (
        alice.call("DELETE", f"/v1/views/{wet}"),
        alice.call("PUT", f"/v1/views/{wet}", {"name": "Rainy"}),
    ):
        assert (answer.status, answer.error) == (400, used)
    alice.put(f"/v1/views/{wet}", {"name": "WET things"}, status=201)
    assert alice.call("DELETE", f"/v1/views/{heavy}").status == 204
    assert alice.call("DELETE", f"/v1/views/{wet}").status == 204


def test_views_within_views_have_a_limit(alice: Person) -> None:
    has_view(alice, "v0", "a OR b OR c OR d")
    for number in range(1, 3):
        has_view(alice, f"v{number}", " ".join([f"(S:v{number - 1} x)"] * 3))
    answer = alice.call("POST", "/v1/views", {"name": "v3", "query": "S:v2 S:v2"})
    assert (answer.status, answer.error) == (
        400, "query: with its saved views it has more than 64 words and fields."
    )  # fmt: skip
    has_view(alice, "w0", "")
    for number in range(1, 8):
        has_view(alice, f"w{number}", f"S:w{number - 1}")
    answer = alice.call("POST", "/v1/views", {"name": "w8", "query": "S:w7"})
    assert (answer.status, answer.error) == (400, "query: saved views refer to each other at most 8 deep.")


@pytest.mark.slow
def test_a_user_has_at_most_a_hundred_views(alice: Person) -> None:
    for number in range(100):
        has_view(alice, f"View {number}", "")

    answer = alice.call("POST", "/v1/views", {"name": "One more", "query": ""})

    assert (answer.status, answer.error) == (400, "You have 100 views, which is the maximum: delete one first.")


def test_views_of_others_do_not_exist(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain for Alice"])
    bob.has_feed(site, items=["Rain for Bob"])
    view = has_view(alice, "Wet", "rain")

    assert bob.get("/v1/views") == []
    assert unread(bob) == {}
    for query in ("S:wet", f"S:{view}"):
        assert bob.call("GET", "/v1/entries", query=query).status == 400
    for path in (f"/v1/views/{view}", f"/v1/views/{view}/entries", f"/v1/views/{view}/ids"):
        assert bob.call("GET", path).status == 404
    assert has_view(bob, "Wet", "rain") != view
