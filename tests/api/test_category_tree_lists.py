"""Lists, counts and marks of a category include what is below it."""

from __future__ import annotations

from typing import Any

from support.people import Person
from support.publisher import Publisher


def under(alice: Person, title: str, parent: dict[str, Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = alice.post("/v1/categories", {"title": title, "parent_id": parent and parent["id"]})
    return made


def test_counts_lists_marks_and_refreshes_include_what_is_below(alice: Person, site: Publisher) -> None:
    news, tech = under(alice, "News"), under(alice, "Tech")
    france = under(alice, "France", under(alice, "Europe", news))
    for category, entries in ((news, ["a", "b"]), (france, ["c"]), (tech, ["d", "e", "f"])):
        alice.has_feed(site, entries, category_id=category["id"])

    counted = {one["title"]: (one["feed_count"], one["total_unread"]) for one in alice.get("/v1/categories?counts=1")}
    assert counted == {
        "All": (0, 0), "News": (2, 3), "News / Europe": (1, 1), "News / Europe / France": (1, 1), "Tech": (1, 3),
    }  # fmt: skip
    own = f"/v1/categories/{news['id']}"
    for path in (f"{own}/entries", "/v1/entries"):
        query = {} if path.startswith(own) else {"category_id": news["id"]}
        for order in ("published_at", "id", "category_title", "category_id", "title", "changed_at"):
            found = alice.get(path, **query, order=order, direction="desc")
            assert (found["total"], len(found["entries"])) == (3, 3), order
        assert alice.get(path, **query, search="c")["total"] == 1
        assert alice.get(path, **query, starred="true") == {"total": 0, "entries": []}
    both = alice.get(f"{own}/entries", category_id=france["id"])
    assert [one["feed"]["category"]["title"] for one in both["entries"]] == ["News / Europe / France"]
    assert alice.get(f"{own}/entries", category_id=tech["id"])["total"] == 0
    entry = both["entries"][0]["id"]
    assert alice.get(f"{own}/entries/{entry}")["id"] == entry
    assert alice.call("GET", f"/v1/categories/{tech['id']}/entries/{entry}").status == 404
    assert len(alice.get(f"{own}/feeds")) == 2
    alice.put(f"{own}/refresh")

    alice.put(f"{own}/mark-all-as-read")

    assert alice.get("/v1/entries", status="unread")["total"] == 3
    assert alice.get(f"{own}/entries", status="unread")["total"] == 0


def test_pages_of_a_category_and_those_below_it_follow_each_other(alice: Person, site: Publisher) -> None:
    news = under(alice, "News")
    for name in ("a", "b", "c"):
        category = under(alice, name, news)
        alice.has_feed(site, [f"{name}{number}" for number in range(4)], category_id=category["id"])
    path = f"/v1/categories/{news['id']}/entries"

    for direction in ("asc", "desc"):
        every = [one["id"] for one in alice.get(path, direction=direction)["entries"]]
        pages = [alice.get(path, direction=direction, limit=5, offset=start)["entries"] for start in (0, 5, 10)]
        assert len(every) == 12
        assert [one["id"] for page in pages for one in page] == every


def test_hiding_a_category_hides_what_is_below(alice: Person, site: Publisher) -> None:
    news = under(alice, "News")
    alice.has_feed(site, ["a"], category_id=under(alice, "Asia", under(alice, "World", news))["id"])
    alice.has_feed(site, ["b"])

    alice.put(f"/v1/categories/{news['id']}", {"hide_globally": True}, status=201)

    assert [one["title"] for one in alice.get("/v1/entries", globally_visible="true")["entries"]] == ["b"]
    assert alice.get("/v1/entries")["total"] == 2
