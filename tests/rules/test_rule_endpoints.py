"""Rules with actions in the API."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher
from tidings.rules.services import RuleServices


def rule(query: str = "title:rain", *actions: str, **fields: Any) -> dict[str, Any]:
    return {"query": query, "actions": [{"type": one} for one in actions or ("mark_read",)], **fields}


def test_a_rule_is_created_changed_ordered_and_deleted(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    first = alice.post("/v1/rules", rule())
    second = alice.post("/v1/rules", rule("snow", "star", "star", scope="feed", feed_id=feed["id"], stop=True))

    assert first == {
        "id": first["id"], "name": "title:rain", "enabled": True, "scope": "all", "category_id": None, "feed_id": None,
        "query": "title:rain", "actions": [{"type": "mark_read"}], "stop": False, "for_changed": False,
        "matched_today": 0, "matched_total": 0, "matched_at": None, "problem": "",
    }  # fmt: skip
    assert (second["feed_id"], second["actions"], second["stop"]) == (feed["id"], [{"type": "star"}], True)

    alice.put("/v1/rules/order", {"rule_ids": [second["id"], first["id"]]})
    assert [one["id"] for one in alice.get("/v1/rules")] == [second["id"], first["id"]]

    # What is not sent stays; another scope forgets the feed.
    changed = alice.put(f"/v1/rules/{second['id']}", {"scope": "all", "name": "Snow", "enabled": False}, status=201)
    assert changed == second | {"scope": "all", "feed_id": None, "name": "Snow", "enabled": False}
    assert alice.get(f"/v1/rules/{second['id']}") == changed

    alice.delete(f"/v1/rules/{second['id']}")
    assert [one["id"] for one in alice.get("/v1/rules")] == [first["id"]]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"query": "title:(", "actions": [{"type": "star"}]}, "query: cannot be read from character 7 on: expected"),
        ({"query": "search:Morning", "actions": [{"type": "star"}]}, "query: there is no saved view Morning."),
        ({"query": "rain"}, "actions: choose at least one."),
        ({"query": "rain", "actions": [{"type": "eat"}]}, "actions: 'eat' is not one of mark_read, "),
        ({"query": "rain", "actions": [{"type": "label"}]}, "actions: choose the label to give."),
        ({"query": "rain", "actions": [{"type": "label", "label_id": 2147483000}]}, "actions: you have no label"),
        ({"query": "rain", "actions": [{"type": "star"}], "scope": "planet"}, "scope: choose one of all, category, "),
        ({"query": "rain", "actions": [{"type": "star"}], "scope": "feed"}, "feed_id: choose the feed whose"),
        ({"query": "rain", "actions": [{"type": "star"}], "scope": "feed", "feed_id": 2147483000}, "feed_id: you have"),
        ({"query": "", "actions": [{"type": "mark_read"}]}, "query: every entry of your account matches"),
        ({"query": "rain", "actions": [{"type": "star"}], "name": "x" * 201}, "name: use at most 200 characters."),
    ],
)
def test_an_invalid_rule_is_refused_with_the_reason(alice: Person, body: dict[str, Any], problem: str) -> None:
    answer = alice.call("POST", "/v1/rules", body)

    assert answer.status == 400
    assert answer.error.startswith(problem)
    assert alice.get("/v1/rules") == []


def test_a_rule_for_every_entry_is_stored_for_those_who_say_so(alice: Person) -> None:
    created = alice.post("/v1/rules", rule("", matches_everything=True))

    # It is known from then on.
    alice.put(f"/v1/rules/{created['id']}", {"name": "All"}, status=201)


def test_a_rule_names_saved_views_which_then_stay(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Heavy rain", "Snow"])
    wet = alice.post("/v1/views", {"name": "Wet", "query": "title:rain"})["id"]
    heavy = alice.post("/v1/views", {"name": "Heavy", "query": "S:wet heavy"})["id"]
    everything = alice.post("/v1/views", {"name": "All", "query": ""})["id"]

    made = alice.post("/v1/rules", rule("S:heavy OR title:snow", "star"))
    assert (made["query"], made["problem"]) == ("S:heavy OR title:snow", "")
    found = alice.post("/v1/rules/preview", rule(f"S:{heavy}", "star"), status=200)
    assert [entry["title"] for entry in found["entries"]] == ["Heavy rain"]
    # A view of every entry is asked about as an empty query; those of others do not exist.
    assert alice.call("POST", "/v1/rules", rule("S:All")).error.startswith("query: every entry of your account")
    assert bob.call("POST", "/v1/rules", rule("S:Wet")).error == "query: there is no saved view Wet."

    refused = "name: The view Heavy is used by the rule S:heavy OR title:snow: change these first."
    assert alice.call("DELETE", f"/v1/views/{heavy}").error == refused
    assert alice.call("PUT", f"/v1/views/{heavy}", {"name": "Other"}).error == refused
    # Loops of views are refused, so a rule cannot have one.
    assert "refers to itself" in alice.call("PUT", f"/v1/views/{wet}", {"query": "S:heavy"}).error
    alice.delete(f"/v1/views/{everything}")

    # The run has the views as they were when it began.
    runs = alice.service.services.of(RuleServices).runs
    assert alice.post(f"/v1/rules/{made['id']}/apply", status=202)["total"] == 2
    alice.put(f"/v1/views/{wet}", {"query": "-title:hail"}, status=201)
    alice.put(f"/v1/views/{heavy}", {"query": "S:wet"}, status=201)
    while runs.work("worker"):
        pass
    assert {entry["title"] for entry in alice.entries(starred=True)} == {"Heavy rain", "Snow"}
    # A query that has become too long says so.
    many = " OR ".join(f"word{number}" for number in range(63))
    alice.put(f"/v1/views/{wet}", {"query": many}, status=201)
    (listed,) = alice.get("/v1/rules")
    assert listed["problem"] == ""
    alice.put(f"/v1/views/{wet}", {"query": f"{many} last"}, status=201)
    (listed,) = alice.get("/v1/rules")
    assert listed["problem"].startswith("Its query cannot be used any more: ")
    assert alice.call("POST", f"/v1/rules/{made['id']}/apply").status == 400


def test_each_rule_is_named_once_in_an_order(alice: Person, bob: Person) -> None:
    first, second = (alice.post("/v1/rules", rule())["id"] for _ in range(2))
    other = bob.post("/v1/rules", rule())["id"]

    for wrong in ([first], [first, first], [first, second, other], []):
        assert alice.call("PUT", "/v1/rules/order", {"rule_ids": wrong}).error.startswith("rule_ids: name each of your")
    assert [one["id"] for one in alice.get("/v1/rules")] == [first, second]


def test_a_preview_tells_what_a_rule_would_do_to_stored_entries(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain today", "Rain tomorrow", "Rain later", "Snow"])
    bob.has_feed(site, ["Rain on Bob"])
    by_title = {entry["title"]: entry["id"] for entry in alice.entries()}
    alice.put("/v1/entries", {"entry_ids": [by_title["Rain today"]], "status": "read"})
    alice.put(f"/v1/entries/{by_title['Rain tomorrow']}/bookmark")

    found = alice.post("/v1/rules/preview", rule("rain", "mark_read", "star"), status=200)

    assert (found["matched"], found["changed"]) == (3, 3)
    assert {entry["title"]: [one["type"] for one in entry["actions"]] for entry in found["entries"]} == {
        "Rain today": ["star"], "Rain tomorrow": ["mark_read"], "Rain later": ["mark_read", "star"]
    }  # fmt: skip
    # What is starred is not dropped.
    dropped = alice.post("/v1/rules/preview", rule("", "drop", scope="feed", feed_id=feed["id"]), status=200)
    assert (dropped["matched"], dropped["changed"]) == (4, 3)
    assert [entry["actions"] for entry in dropped["entries"]].count([]) == 1
    assert alice.get("/v1/rules") == []


def test_a_rule_without_its_feed_says_that_it_does_nothing(alice: Person, site: Publisher) -> None:
    feed, label_id = alice.has_feed(site), alice.service.services.entries.labels.create(alice.id, "Later").id
    of_feed = alice.post("/v1/rules", rule(scope="feed", feed_id=feed["id"]))
    of_label = alice.post("/v1/rules", rule() | {"actions": [{"type": "label", "label_id": label_id}]})

    alice.delete(f"/v1/feeds/{feed['id']}")
    alice.service.services.entries.labels.delete(alice.id, label_id)

    problems = {one["id"]: one["problem"] for one in alice.get("/v1/rules")}
    assert problems[of_feed["id"]] == "Its feed was deleted: choose another one, or delete the rule."
    assert problems[of_label["id"]].startswith("A label that it gives was deleted")
    # It can be switched off all the same, or given another feed.
    alice.put(f"/v1/rules/{of_label['id']}", {"actions": [{"type": "star"}]}, status=201)


def test_a_rule_is_applied_and_undone_in_the_background(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    bob.has_feed(site, ["Rain"])
    rule_id = alice.post("/v1/rules", rule(enabled=False))["id"]
    runs = alice.service.services.of(RuleServices).runs
    path = f"/v1/rules/{rule_id}"
    assert alice.call("GET", f"{path}/apply").status == 404
    assert alice.call("POST", f"{path}/undo").status == 400

    begun = alice.post(f"{path}/apply", status=202)
    assert (begun["state"], begun["total"], begun["can_undo"]) == ("running", 1, True)
    assert alice.call("POST", f"{path}/apply").error.startswith("Another rule is being applied")
    while runs.work("worker"):
        pass
    assert {entry["title"]: entry["status"] for entry in alice.entries()} == {"Rain": "read", "Snow": "unread"}
    done = alice.get(f"{path}/apply")
    assert (done["state"], done["changed"], done["can_undo"]) == ("done", 1, True)

    for stranger in ("apply", "undo"):
        assert bob.call("POST", f"{path}/{stranger}").status == 404
    assert alice.post(f"{path}/undo", status=202)["state"] == "undoing"
    while runs.work("worker"):
        pass
    assert {entry["status"] for entry in alice.entries()} == {"unread"}
    assert {entry["status"] for entry in bob.entries()} == {"unread"}


def test_examples_of_the_documentation_are_accepted(alice: Person) -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    examples = re.findall(r"^ {4}POST (/v1/rules\S*)\n((?: {4}.+\n)+)", page, re.MULTILINE)

    assert len(examples) >= 2
    for path, body in examples:
        assert alice.call("POST", path, json.loads(body)).status in (200, 201), body
