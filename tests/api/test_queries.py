"""Queries of the query language in lists of entries, and their explanation."""

from __future__ import annotations

import pytest

from support.people import Person
from support.publisher import Publisher


def titles(person: Person, query: str, **more: object) -> list[str]:
    return [entry["title"] for entry in person.entries(query=query, **more)]


def test_a_list_has_the_entries_that_match_a_query(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Heavy rain", "Rain", "Snow"])
    (snow,) = alice.entries(search="snow")
    alice.put("/v1/entries", {"entry_ids": [snow["id"]], "status": "read"})

    assert titles(alice, "title:rain -heavy") == ["Rain"]
    assert sorted(titles(alice, "heavy OR is:read")) == ["Heavy rain", "Snow"]
    assert titles(alice, "title:/^S/") == ["Snow"]
    assert titles(alice, "added:1d title:snow") == ["Snow"]
    assert alice.get("/v1/entries", query="rain", limit=1)["total"] == 2
    assert alice.get("/v1/entries", query=" ")["total"] == 3


def test_a_query_applies_with_the_other_filters(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, items=["Rain here", "Snow here"])
    alice.has_feed(site, items=["Rain there"])

    assert titles(alice, "rain", feed_id=feed["id"]) == ["Rain here"]
    assert titles(alice, "rain", search="there") == ["Rain there"]
    assert titles(alice, "rain", status="read") == []
    listed = alice.get(f"/v1/feeds/{feed['id']}/entries", query="rain")
    assert [entry["title"] for entry in listed["entries"]] == ["Rain here"]
    by_category = alice.get(f"/v1/categories/{feed['category']['id']}/entries", query="here -rain")
    assert [entry["title"] for entry in by_category["entries"]] == ["Snow here"]


def test_ids_of_a_query(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain", "Snow", "More rain"])
    expected = sorted((entry["id"] for entry in alice.entries(search="rain")), reverse=True)

    assert alice.get("/v1/entries/ids", query="rain") == {"total": 2, "entry_ids": expected}
    assert alice.get("/v1/entries/ids", query="rain", limit=1, offset=1) == {"total": 2, "entry_ids": expected[1:]}
    assert alice.get("/v1/entries/ids", query="rain", status="read") == {"total": 0, "entry_ids": []}


def test_a_query_finds_nothing_of_other_users(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, items=["Rain for Alice"])
    bob.has_feed(site, items=["Rain for Bob"])

    assert titles(bob, "rain") == ["Rain for Bob"]
    assert titles(bob, f"f:{feed['id']}") == []
    assert titles(bob, "title:/Alice/ OR feed:Alice") == []


@pytest.mark.parametrize("path", ["/v1/entries", "/v1/entries/ids"])
def test_a_query_that_cannot_be_read_is_refused(alice: Person, path: str) -> None:
    answer = alice.call("GET", path, query="rain (snow")

    assert answer.status == 400
    assert answer.headers["x-error-code"] == "invalid-query"
    assert answer.json() == {
        "error_message": "query: cannot be read from character 11 on: expected a closing parenthesis for the one at "
        "character 6."
    }
    assert alice.call("GET", path, query="S:7").status == 400


def test_a_query_is_explained(alice: Person) -> None:
    explained = alice.post("/v1/query/explain", {"query": "intitle:rain (b or  !c) pubdate:P7D"}, status=200)

    assert explained == {
        "tree": {
            "type": "and",
            "terms": [
                {"type": "text", "words": "rain", "field": "title", "is_prefix": False},
                {
                    "type": "or",
                    "terms": [
                        {"type": "text", "words": "b", "field": "", "is_prefix": False},
                        {"type": "not", "term": {"type": "text", "words": "c", "field": "", "is_prefix": False}},
                    ],
                },
                {"type": "times", "field": "published", "since": "7d", "until": "", "after": "", "before": ""},
            ],
        },
        "normal_form": "title:rain (b OR -c) published:7d",
        "error": None,
    }
    assert alice.post("/v1/query/explain", {}, status=200)["tree"] == {"type": "everything"}


def test_what_is_wrong_with_a_query_is_explained(alice: Person) -> None:
    assert alice.post("/v1/query/explain", {"query": "is:new"}, status=200) == {
        "tree": None,
        "normal_form": None,
        "error": {"position": 3, "expected": "one of unread, read, starred, shared, duplicate, hidden"},
    }


@pytest.mark.parametrize("query", ['"', "-", "*", "a*b*", "(", "((a)", "a OR", "title:", "a" * 3000, "-a" * 500, "\\",
                                   "words>99999999999", "published:9999..0001", "title:/(a+)+$/", "url:/%/", "tag:'",
                                   "f:999999999", "published:99999d", "lang:x" * 20, "東"])  # fmt: skip
def test_a_hostile_query_is_no_failure(alice: Person, query: str) -> None:
    assert alice.call("GET", "/v1/entries", query=query).status in (200, 400)
