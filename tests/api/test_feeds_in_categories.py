"""Feeds in several categories: the first is the contract's `category_id`, the others are ours."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher


def under(alice: Person, title: str, parent: dict[str, Any] | None = None) -> int:
    return int(alice.post("/v1/categories", {"title": title, "parent_id": parent and parent["id"]})["id"])


def places(alice: Person, feed: dict[str, Any]) -> tuple[int, list[int]]:
    shown = alice.get(f"/v1/feeds/{feed['id']}")
    return shown["category"]["id"], shown["category_ids"]


def change(alice: Person, feed: dict[str, Any], **values: Any) -> tuple[int, list[int]]:
    shown = alice.put(f"/v1/feeds/{feed['id']}", values, status=201)
    return shown["category"]["id"], shown["category_ids"]


def counted(alice: Person) -> dict[str, tuple[int, int]]:
    return {one["title"]: (one["feed_count"], one["total_unread"]) for one in alice.get("/v1/categories?counts=1")}


def test_a_feed_is_added_to_several_categories_and_its_list_of_them_replaced(alice: Person, site: Publisher) -> None:
    one, two, three = (under(alice, title) for title in ("one", "two", "three"))
    feed = alice.has_feed(site, ["a"], category_ids=[two, one, two])

    assert places(alice, feed) == (two, [two, one])
    assert alice.get("/v1/entries")["entries"][0]["feed"]["category_ids"] == [two, one]
    assert change(alice, feed, category_ids=[one, three]) == (one, [one, three])
    assert change(alice, feed, category_id=three, category_ids=[one, two, three]) == (three, [three, one, two])
    assert change(alice, feed, title="Other") == (three, [three, one, two])
    assert change(alice, feed, category_ids=[two]) == (two, [two])
    assert change(alice, feed, category_id=one, category_ids=[]) == (one, [one])


def test_an_app_that_knows_one_category_replaces_the_first_and_drops_no_other(alice: Person, site: Publisher) -> None:
    one, two, three = (under(alice, title) for title in ("one", "two", "three"))
    feed = alice.has_feed(site, category_ids=[one, two])

    assert change(alice, feed, category_id=three) == (three, [three, two])
    assert change(alice, feed, category={"id": one}) == (one, [one, two])
    # What was its second category becomes the first.
    assert change(alice, feed, category_id=two) == (two, [two])


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_categories_that_a_feed_cannot_be_in_are_refused(
    method: str, alice: Person, bob: Person, site: Publisher
) -> None:
    one, theirs = under(alice, "one"), under(bob, "theirs")
    feed = alice.has_feed(site, category_ids=[one])
    site.serve("/new.xml", '<rss version="2.0"><channel><title>New</title></channel></rss>')
    path = "/v1/feeds" if method == "POST" else f"/v1/feeds/{feed['id']}"
    body = {"feed_url": site.url("/new.xml")} if method == "POST" else {}

    for given, message in (
        ({"category_ids": [one, theirs]}, f"there is no category {theirs}"),
        ({"category_ids": [2147483000]}, "there is no category 2147483000"),
        ({"category_ids": [2**60]}, f"there is no category {2**60}"),
        ({"category_ids": [0]}, "choose at least one category"),
        ({"category_ids": []}, "choose at least one category"),
        ({"category_ids": list(range(1, 102))}, "100 categories at most"),
        ({"category_ids": ["one"]}, "category_ids"),
    ):
        answer = alice.call(method, path, body | given)
        assert (answer.status, message in answer.error) == (400, True), (given, answer.error)
    assert places(alice, feed) == (one, [one])
    assert len(alice.get("/v1/feeds")) == 1


def test_lists_counts_and_marks_of_each_category_have_the_feed_once(alice: Person, site: Publisher) -> None:
    news = alice.post("/v1/categories", {"title": "News"})
    world, tech = under(alice, "World", news), under(alice, "Tech")
    both = alice.has_feed(site, ["a", "b"], category_ids=[world, news["id"], tech])
    alice.has_feed(site, ["c"], category_id=tech)
    alice.has_feed(site, ["d"], category_id=news["id"])

    assert counted(alice) == {"All": (0, 0), "News": (2, 3), "News / World": (1, 2), "Tech": (2, 3)}
    for category, titles in ((news["id"], "abd"), (world, "ab"), (tech, "abc")):
        own = f"/v1/categories/{category}"
        for order in ("published_at", "id", "category_title", "category_id", "title", "changed_at"):
            found = alice.get(f"{own}/entries", order=order, direction="desc")
            assert (found["total"], sorted(one["title"] for one in found["entries"])) == (len(titles), [*titles]), order
        assert alice.get("/v1/entries", category_id=category, search="a")["total"] == 1
        assert alice.get("/v1/entries", category_id=category, starred="false")["total"] == len(titles)
        assert alice.get("/v1/entries", query=f"c:{category}")["total"] == len(titles)
        assert alice.get("/v1/entries", query=f"-c:{category}")["total"] == 4 - len(titles)
        assert len(alice.get(f"{own}/feeds")) == len(set(titles) - {"b"})
        listed = alice.get(f"{own}/entries")["entries"]
        entry = next(one["id"] for one in listed if one["title"] == "a")
        assert alice.get(f"{own}/entries/{entry}")["id"] == entry
    shared = alice.get(f"/v1/categories/{tech}/entries", category_id=news["id"])
    assert sorted(one["title"] for one in shared["entries"]) == ["a", "b"]
    assert alice.get(f"/v1/categories/{world}/entries", category_id=alice.get("/v1/categories")[0]["id"])["total"] == 0
    assert alice.get("/v1/feeds/counters")["unreads"][str(both["id"])] == 2

    alice.put(f"/v1/categories/{tech}/mark-all-as-read")

    assert counted(alice) == {"All": (0, 0), "News": (2, 1), "News / World": (1, 0), "Tech": (2, 0)}
    assert alice.get("/v1/entries", status="unread")["total"] == 1
    alice.put(f"/v1/categories/{tech}/refresh")


def test_pages_of_a_category_follow_each_other(alice: Person, site: Publisher) -> None:
    news, other = under(alice, "News"), under(alice, "Other")
    alice.has_feed(site, [f"a{number}" for number in range(4)], category_id=news)
    for name in ("b", "c"):
        alice.has_feed(site, [f"{name}{number}" for number in range(4)], category_ids=[other, news])
    path = f"/v1/categories/{news}/entries"

    for direction in ("asc", "desc"):
        every = [one["id"] for one in alice.get(path, direction=direction)["entries"]]
        pages = [alice.get(path, direction=direction, limit=5, offset=start)["entries"] for start in (0, 5, 10)]
        assert len(every) == 12
        assert [one["id"] for page in pages for one in page] == every


def test_a_feed_is_hidden_only_if_all_of_its_categories_are(alice: Person, site: Publisher) -> None:
    news, tech = under(alice, "News"), under(alice, "Tech")
    alice.has_feed(site, ["a"], category_ids=[news, tech])

    def visible() -> int:
        return int(alice.get("/v1/entries", globally_visible="true")["total"])

    for category, left in ((news, 1), (tech, 0)):
        alice.put(f"/v1/categories/{category}", {"hide_globally": True}, status=201)
        assert visible() == left
    alice.put(f"/v1/categories/{news}", {"hide_globally": False}, status=201)
    assert visible() == 1


def test_a_feed_of_a_deleted_category_stays_in_its_others(alice: Person, site: Publisher) -> None:
    news = alice.post("/v1/categories", {"title": "News"})
    world, tech, art = under(alice, "World", news), under(alice, "Tech"), under(alice, "Art")
    kept = alice.has_feed(site, ["a"], category_ids=[world, news["id"], tech])
    also = alice.has_feed(site, ["b"], category_ids=[art, world])
    gone = alice.has_feed(site, ["c"], category_id=world)
    gone_too = alice.has_feed(site, ["d"], category_ids=[news["id"], world])

    alice.delete(f"/v1/categories/{news['id']}?with_below=true")

    assert places(alice, kept) == (tech, [tech])
    assert places(alice, also) == (art, [art])
    for feed in (gone, gone_too):
        assert alice.call("GET", f"/v1/feeds/{feed['id']}").status == 404
    assert alice.get(f"/v1/categories/{tech}/entries")["total"] == 1
    assert counted(alice) == {"All": (0, 0), "Art": (1, 1), "Tech": (1, 1)}


def test_a_deleted_feed_leaves_all_categories(alice: Person, site: Publisher) -> None:
    news, tech = under(alice, "News"), under(alice, "Tech")
    feed = alice.has_feed(site, ["a"], category_ids=[news, tech])

    alice.delete(f"/v1/feeds/{feed['id']}")

    assert counted(alice) == {"All": (0, 0), "News": (0, 0), "Tech": (0, 0)}
    assert alice.get(f"/v1/categories/{tech}/entries")["total"] == 0


def test_categories_of_a_stranger_have_nothing_of_it(alice: Person, bob: Person, site: Publisher) -> None:
    for person in (alice, bob):
        person.has_feed(site, ["a"], category_ids=[under(person, "News"), under(person, "Tech")])

    assert alice.get("/v1/entries")["total"] == 1
    assert counted(alice) == counted(bob) == {"All": (0, 0), "News": (1, 1), "Tech": (1, 1)}
