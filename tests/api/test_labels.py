"""Labels: created, changed, ordered and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from support.handbook import check_examples
from support.people import Person
from support.publisher import Publisher


def titles(person: Person) -> list[str]:
    return [label["title"] for label in person.get("/v1/labels")]


def has_labels(person: Person, *names: str) -> dict[str, int]:
    return {name: person.post("/v1/labels", {"title": name})["id"] for name in names}


def test_the_examples_of_the_handbook_are_true(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])
    first, second = (entry["id"] for entry in alice.entries())

    assert check_examples("Labels", alice, {1207: first, 1208: second}) >= 8


def test_labels_are_in_the_order_of_their_titles_until_the_user_orders_them(alice: Person) -> None:
    ids = has_labels(alice, "banana", "Éclair", "Apple")
    assert titles(alice) == ["Apple", "banana", "Éclair"]

    assert alice.put(f"/v1/labels/{ids['Éclair']}", {"position": 1}, status=201)["position"] == 1
    has_labels(alice, "Aardvark", "aa")
    assert titles(alice) == ["Éclair", "Apple", "banana", "aa", "Aardvark"]

    assert alice.put(f"/v1/labels/{ids['Apple']}", {"position": 2**40}, status=201)["position"] == 5
    assert titles(alice) == ["Éclair", "banana", "aa", "Aardvark", "Apple"]
    alice.delete(f"/v1/labels/{ids['banana']}")
    assert [label["position"] for label in alice.get("/v1/labels")] == [1, 2, 3, 4]


def test_an_update_changes_only_what_was_sent(alice: Person) -> None:
    label = alice.post("/v1/labels", {"title": " Later ", "color": "TEAL"})
    assert label == {"id": label["id"], "user_id": alice.id, "title": "Later", "color": "teal", "position": 1}
    path = f"/v1/labels/{label['id']}"

    assert alice.put(path, {}, status=201) == label
    assert alice.put(path, {"title": "LATER"}, status=201) == label | {"title": "LATER"}
    assert alice.put(path, {"color": ""}, status=201) == label | {"title": "LATER", "color": ""}
    assert alice.get(path) == label | {"title": "LATER", "color": "", "used_by": []}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"title": ""}, "title"),
        ({"title": " "}, "title: A label needs a name"),
        ({"title": "x" * 201}, "title: This label is too long: 200 characters at most."),
        ({"title": "other"}, "title: You already have a label called 'other'."),
        ({"title": "ALL"}, "title: You have a category called 'ALL': choose another name"),
        ({"title": "x", "color": "beige"}, "color: 'beige' is not one of the colours red, orange, yellow, green, "),
        ({"title": "x", "color": "#ff0000"}, "color: '#ff0000' is not one of the colours red"),
        ({"title": 5}, "title: Expected str"),
        ({"title": "x", "position": 0}, "The first position is 1."),
    ],
)
def test_a_label_that_is_invalid_is_refused(alice: Person, body: dict[str, Any], message: str) -> None:
    ids = has_labels(alice, "Mine", "Other")

    for method, path in (("POST", "/v1/labels"), ("PUT", f"/v1/labels/{ids['Mine']}")):
        if method == "POST" and "position" in body:
            continue
        answer = alice.call(method, path, body)
        assert (answer.status, answer.error[: len(message)]) == (400, message)
    assert titles(alice) == ["Mine", "Other"]


def test_counts_are_returned_on_request(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two", "Three"])
    has_labels(alice, "Work", "Home")
    ids = [entry["id"] for entry in alice.entries()]
    alice.service.services.entries.labels.change(alice.id, ids[:2], add=["Work"])
    alice.put("/v1/entries", {"entry_ids": ids[:1], "status": "read"})

    counted = alice.get("/v1/labels", counts="true")

    assert [(one["title"], one["entry_count"], one["total_unread"]) for one in counted] == [
        ("Home", 0, 0),
        ("Work", 2, 1),
    ]
    assert "entry_count" not in alice.get("/v1/labels")[0]


def test_deleting_a_label_keeps_its_entries(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])
    ids = has_labels(alice, "Work")
    entries = [entry["id"] for entry in alice.entries()]
    alice.service.services.entries.labels.change(alice.id, entries, add=["Work"])

    alice.delete(f"/v1/labels/{ids['Work']}")

    assert titles(alice) == []
    assert [entry["id"] for entry in alice.entries()] == entries
    assert alice.call("DELETE", f"/v1/labels/{ids['Work']}").status == 404


def test_an_unknown_label_is_404_before_the_body_is_read(alice: Person) -> None:
    (label,) = has_labels(alice, "Work").values()

    assert alice.call("PUT", "/v1/labels/2147483000", raw=b"{broken").status == 404
    assert alice.call("PUT", f"/v1/labels/{label}", raw=b"{broken").status == 400
    assert alice.call("GET", "/v1/labels/2147483000").status == 404
