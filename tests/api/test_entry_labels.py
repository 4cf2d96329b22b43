"""Labels of entries: in every response with entries, given, taken, and as a filter."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow


@pytest.fixture
def ids(alice: Person, site: Publisher) -> dict[str, int]:
    """Return ids of three entries and of two labels, A and B, by title."""
    alice.has_feed(site, ["One", "Two", "Three"])
    made = [alice.post("/v1/labels", body) for body in ({"title": "B"}, {"title": "A", "color": "red"})]
    return {one["title"]: one["id"] for one in [*alice.entries(), *made]}


def labels_of(person: Person, **query: Any) -> dict[str, list[str]]:
    return {entry["title"]: [label["title"] for label in entry["labels"]] for entry in person.entries(**query)}


def give(person: Person, entries: list[int], labels: list[int]) -> None:
    person.put("/v1/entries", {"entry_ids": entries, "add_labels": labels})


def test_every_response_with_an_entry_has_its_labels(alice: Person, ids: dict[str, int]) -> None:
    give(alice, [ids["One"]], [ids["A"], ids["B"]])
    expected = [{"id": ids["A"], "title": "A", "color": "red"}, {"id": ids["B"], "title": "B", "color": ""}]
    entry = alice.get(f"/v1/entries/{ids['One']}")
    feed, category = entry["feed_id"], entry["feed"]["category"]["id"]

    assert list(entry)[-3:] == ["feed", "labels", "hidden"]
    assert entry["labels"] == expected
    assert alice.get(f"/v1/feeds/{feed}/entries/{ids['One']}") == entry
    assert alice.get(f"/v1/categories/{category}/entries/{ids['One']}") == entry
    expected_of_all = {"One": ["A", "B"], "Two": [], "Three": []}
    assert labels_of(alice) == expected_of_all
    # More than 1,000 are streamed in parts.
    assert labels_of(alice, limit=0) == expected_of_all
    assert labels_of(alice, search="one") == {"One": ["A", "B"]}
    assert labels_of(alice, query="label:a") == {"One": ["A", "B"]}
    alice.put(f"/v1/labels/{ids['B']}", {"position": 1}, status=201)
    assert labels_of(alice, search="one") == {"One": ["B", "A"]}


def test_labels_are_given_to_many_entries_with_their_state(alice: Person, ids: dict[str, int]) -> None:
    entries = [ids["One"], ids["Two"]]
    alice.put("/v1/entries", {"entry_ids": entries, "add_labels": [ids["A"]], "status": "read", "starred": True})

    assert labels_of(alice, status="read", starred="true") == {"One": ["A"], "Two": ["A"]}
    body = {"entry_ids": [*entries, ids["Three"]], "add_labels": [ids["B"]], "remove_labels": [ids["A"], ids["A"]]}
    for _again in range(2):
        alice.put("/v1/entries", body)
        assert labels_of(alice) == {"One": ["B"], "Two": ["B"], "Three": ["B"]}


def test_an_entry_gets_exactly_these_labels(alice: Person, ids: dict[str, int]) -> None:
    path = f"/v1/entries/{ids['One']}"

    changed = alice.put(path, {"labels": [ids["B"], ids["A"]], "title": "First"}, status=201)
    assert (changed["title"], [label["title"] for label in changed["labels"]]) == ("First", ["A", "B"])
    assert alice.put(path, {"title": "One"}, status=201)["labels"] == changed["labels"]
    assert [label["title"] for label in alice.put(path, {"labels": [ids["B"]]}, status=201)["labels"]] == ["B"]
    assert alice.put(path, {"labels": []}, status=201)["labels"] == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"add_labels": ["A", "UNKNOWN"]}, "add_labels: There is no label UNKNOWN."),
        ({"remove_labels": ["UNKNOWN"], "status": "read"}, "remove_labels: There is no label UNKNOWN."),
        ({"add_labels": ["A"], "remove_labels": ["A"]}, "remove_labels: label A is in add_labels as well."),
        ({"add_labels": "A"}, "add_labels: Expected array"),
        ({"add_labels": [], "remove_labels": []}, "Nothing to change: send status, starred, hidden, add_labels or"),
        ({"add_labels": ["A", "B"], "more": 50_000}, "entry_ids: 100,000 at most, divided by the number of labels;"),
    ],
)
def test_a_change_of_labels_that_is_invalid_changes_nothing(
    alice: Person, bob: Person, ids: dict[str, int], body: dict[str, Any], message: str
) -> None:
    ids["UNKNOWN"] = bob.post("/v1/labels", {"title": "Bob's"})["id"]
    before = alice.entries()

    def real(value: Any) -> Any:
        return [ids[name] for name in value] if isinstance(value, list) else ids.get(value, value)

    entry_ids = [ids["One"], *range(10**6, 10**6 + body.get("more", 0))]
    answer = alice.call(
        "PUT", "/v1/entries", {name: real(value) for name, value in body.items()} | {"entry_ids": entry_ids}
    )

    for name in ("UNKNOWN", "A"):
        message = message.replace(f"label {name}", f"label {ids[name]}")
    assert (answer.status, answer.error[: len(message)]) == (400, message)
    assert alice.entries() == before


def test_a_label_of_another_user_cannot_be_given_taken_or_asked_for(
    alice: Person, bob: Person, ids: dict[str, int]
) -> None:
    theirs, unknown = bob.post("/v1/labels", {"title": "Bob's"})["id"], 2147483000
    before = alice.entries()
    requests: list[tuple[str, str, Any, int]] = [
        ("PUT", f"/v1/entries/{ids['One']}", {"labels": [ids["A"], "LABEL"], "title": "New"}, 400),
        ("PUT", "/v1/entries", {"entry_ids": [ids["One"]], "add_labels": ["LABEL"]}, 400),
        ("PUT", "/v1/entries", {"entry_ids": [ids["One"]], "remove_labels": ["LABEL"]}, 400),
        ("GET", "/v1/entries?label_id=LABEL", None, 400),
        ("GET", f"/v1/entries?label_id={ids['A']}&label_id=LABEL", None, 400),
        ("GET", "/v1/entries/ids?label_id=LABEL", None, 400),
        ("GET", "/v1/entries/ids?query=one&label_id=LABEL", None, 400),
    ]
    for method, path, body, status in requests:
        answers = [
            alice.call(method, path.replace("LABEL", str(label)), _with(body, label)) for label in (theirs, unknown)
        ]
        assert [answer.status for answer in answers] == [status, status], path
        assert answers[0].error.replace(str(theirs), str(unknown)) == answers[1].error
        assert "There is no label" in answers[0].error
    # Entries of others are ignored, as with their status.
    alices = alice.get(f"/v1/entries/{ids['One']}")
    bob.put("/v1/entries", {"entry_ids": [ids["One"]], "add_labels": [theirs]})
    assert bob.call("PUT", f"/v1/entries/{ids['One']}", {"labels": [theirs]}).status == 404
    assert alice.get(f"/v1/entries/{ids['One']}") == alices
    assert alice.entries() == before


def _with(body: Any, label: int) -> Any:
    if body is None:
        return None
    return {
        name: [label if one == "LABEL" else one for one in value] if isinstance(value, list) else value
        for name, value in body.items()
    }


def test_lists_are_filtered_by_labels(alice: Person, ids: dict[str, int]) -> None:
    give(alice, [ids["One"], ids["Two"]], [ids["A"]])
    give(alice, [ids["Two"], ids["Three"]], [ids["B"]])
    alice.put("/v1/entries", {"entry_ids": [ids["Two"]], "status": "read"})
    feed = alice.entries()[0]["feed_id"]

    def found(query: str, path: str = "/v1/entries") -> list[str]:
        listed = alice.get(f"{path}?{query}")
        assert listed["total"] == len(listed["entries"])
        return sorted(entry["title"] for entry in listed["entries"])

    a, b = f"label_id={ids['A']}", f"label_id={ids['B']}"
    assert found(a) == ["One", "Two"]
    assert found(f"{a}&{b}") == found(f"{a}&{a}&{b}") == ["Two"]
    assert found(f"{a}&status=unread") == ["One"]
    assert found(f"{b}&search=three") == found(f"{b}&query=title:three") == ["Three"]
    assert found(f"{a}&limit=0", f"/v1/feeds/{feed}/entries") == ["One", "Two"]
    assert found("label_id=0") == found("label_id=x") == ["One", "Three", "Two"]
    listed = alice.get(f"/v1/entries/ids?{a}&{b}&label_id=")
    assert listed == {"total": 1, "entry_ids": [ids["Two"]]}
    assert alice.get(f"/v1/entries/ids?{b}&query=three")["entry_ids"] == [ids["Three"]]
    assert alice.get(f"/v1/entries/ids?{b}&status=read")["total"] == 1
    many = "&".join(f"label_id={number}" for number in range(1, 102))
    assert alice.call("GET", f"/v1/entries?{many}").error == "label_id: 100 at most."
