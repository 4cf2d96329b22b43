"""The health of feeds, and one change to many of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

FINE = {"health": "fine", "error_count": 0, "failed_checks": 0, "error_message": "", "moved_to": "", "moved_times": 0}


@pytest.fixture
def ids(alice: Person, site: Publisher) -> dict[str, int]:
    """Return ids of feeds by title."""
    created = {}
    for title in ("Birds", "Apples", "Cider"):
        created[title] = int(alice.has_feed(site)["id"])
        alice.put(f"/v1/feeds/{created[title]}", {"title": title}, status=201)
    return created


def listed(person: Person, **query: Any) -> list[str]:
    return [feed["title"] for feed in person.get("/v1/feeds/health", **query)["feeds"]]


def change(person: Person, action: str, feed_ids: list[int], **more: Any) -> int:
    body = {"action": action, "feed_ids": feed_ids, **more}
    return int(person.post("/v1/feeds/bulk", body, status=200)["changed"])


def test_the_health_of_feeds_says_which_of_them_need_care(alice: Person, ids: dict[str, int], site: Publisher) -> None:
    feed = alice.get(f"/v1/feeds/{ids['Cider']}")
    site.serve(urlsplit(feed["feed_url"]).path, status=404)
    alice.call("PUT", f"/v1/feeds/{ids['Cider']}/refresh")
    alice.put(f"/v1/feeds/{ids['Birds']}", {"disabled": True}, status=201)

    found = alice.get("/v1/feeds/health")

    assert [feed["title"] for feed in found["feeds"]] == ["Cider", "Birds", "Apples"]
    assert (found["total"], found["waiting"]) == (3, 0)
    counts = {state: count for state, count in found["states"].items() if count}
    assert counts == {"failing": 1, "off": 1, "fine": 1}
    failing, off, fine = found["feeds"]
    assert (failing["health"], failing["failed_checks"], "404" in failing["error_message"]) == ("failing", 1, True)
    assert (off["health"], off["disabled"], off["next_check_at"]) == ("off", True, None)
    assert {name: fine[name] for name in FINE} == FINE
    assert sum(fine["entries_per_week"]) == 2
    assert len(fine["entries_per_week"]) == 26
    assert fine["last_entry_at"].startswith("2026-09-28")
    assert alice.get(f"/v1/feeds/{ids['Apples']}/health") == fine
    for names in ("id,title", "title,entries_per_week"):
        lean = alice.get("/v1/feeds/health", fields=names)["feeds"]
        assert lean == [{name: feed[name] for name in names.split(",")} for feed in found["feeds"]]


def test_feeds_are_chosen_by_health_category_and_words(alice: Person, ids: dict[str, int]) -> None:
    garden = alice.has_category("Garden")["id"]
    alice.put(f"/v1/feeds/{ids['Apples']}", {"category_id": garden}, status=201)
    alice.put(f"/v1/feeds/{ids['Cider']}", {"disabled": True}, status=201)

    assert listed(alice, order="title") == ["Apples", "Birds", "Cider"]
    assert listed(alice, order="title", limit=1, offset=1) == ["Birds"]
    assert listed(alice, category_id=garden) == ["Apples"]
    assert listed(alice, search="CID") == ["Cider"]
    assert listed(alice, state="off") == ["Cider"]
    assert listed(alice, state="dead") == []


def test_one_request_changes_many_feeds(alice: Person, ids: dict[str, int]) -> None:
    some, garden = [ids["Birds"], ids["Cider"], ids["Birds"]], alice.has_category("Garden")["id"]
    first = alice.get(f"/v1/feeds/{ids['Apples']}")["category"]["id"]

    def seen(member: str) -> list[Any]:
        return [alice.get(f"/v1/feeds/{ids[title]}")[member] for title in ("Birds", "Apples", "Cider")]

    assert change(alice, "disable", some) == 2
    assert seen("disabled") == [True, False, True]
    assert change(alice, "enable", some) == 2
    assert seen("disabled") == [False, False, False]
    assert change(alice, "set_interval", some, check_interval_minutes=360) == 2
    assert seen("check_interval_minutes") == [360, 0, 360]
    assert change(alice, "add_to_category", some, category_id=garden) == 2
    assert seen("category_ids") == [[first, garden], [first], [first, garden]]
    assert change(alice, "move", some, category_id=first, from_category_id=garden) == 2
    assert seen("category_ids") == [[first], [first], [first]]
    assert change(alice, "move", some, category_id=garden) == 2
    assert seen("category_ids") == [[garden], [first], [garden]]
    assert change(alice, "refresh", some) == 0  # They are due since they were enabled.
    assert change(alice, "delete", some) == 2
    assert listed(alice) == ["Apples"]


@pytest.mark.one_engine
def test_feeds_and_categories_of_others_are_neither_seen_nor_changed(
    alice: Person, bob: Person, ids: dict[str, int], site: Publisher
) -> None:
    theirs, own = list(ids.values()), bob.has_feed(site)
    category = alice.get(f"/v1/feeds/{ids['Apples']}")["category"]["id"]
    before = alice.get("/v1/feeds")

    assert bob.get("/v1/feeds/health")["total"] == 1
    assert bob.call("GET", f"/v1/feeds/{ids['Apples']}/health").status == 404
    assert bob.call("GET", f"/v1/feeds/health?category_id={category}").status == 400
    for action in ("disable", "delete", "refresh"):
        assert change(bob, action, theirs) == 0
    assert change(bob, "set_interval", theirs, check_interval_minutes=60) == 0
    for action in ("move", "add_to_category"):
        body = {"action": action, "feed_ids": [own["id"]], "category_id": category}
        assert bob.call("POST", "/v1/feeds/bulk", body).status == 404
    assert alice.get("/v1/feeds") == before
    assert bob.get(f"/v1/feeds/{own['id']}")["category_ids"] == own["category_ids"]


@pytest.mark.one_engine
def test_a_change_that_cannot_be_is_refused_before_anything_changes(alice: Person, ids: dict[str, int]) -> None:
    some, before = [ids["Birds"]], alice.get("/v1/feeds")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"action": "disable"}, "feed_ids"),
        ({"action": "disable", "feed_ids": []}, "feed_ids"),
        ({"action": "disable", "feed_ids": some * 10_001}, "feed_ids"),
        ({"feed_ids": some}, "action"),
        ({"action": "paint", "feed_ids": some}, "action"),
        ({"action": "move", "feed_ids": some}, "category_id"),
        ({"action": "set_interval", "feed_ids": some}, "check_interval_minutes"),
        ({"action": "set_interval", "feed_ids": some, "check_interval_minutes": -1}, "check_interval_minutes"),
    ]
    for body, field in wrong:
        refused = alice.call("POST", "/v1/feeds/bulk", body)
        assert (refused.status, refused.error.partition(":")[0]) == (400, field), body
    for query in ("state=lost", "order=sideways", "limit=0", "limit=1001"):
        refused = alice.call("GET", f"/v1/feeds/health?{query}")
        assert (refused.status, refused.error.partition(":")[0]) == (400, query.partition("=")[0]), query
    assert alice.get("/v1/feeds") == before
