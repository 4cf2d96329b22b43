"""Categories."""

from __future__ import annotations

import re

import pytest

from support.people import Person
from support.publisher import Publisher


def test_a_new_user_starts_with_one_category(alice: Person) -> None:
    assert [one["title"] for one in alice.get("/v1/categories")] == ["All"]


# In the order of every list of names: neither case nor accents separate.
IN_ORDER = [
    "2 things",
    "Ábaco",
    "apple",
    "árbol",
    "banana",
    "éclair",
    "Łódź",
    "Manzana",
    "Öl",
    "Zorro",
    "Ёлка",
    "яблоко",
]


@pytest.mark.slow
def test_names_are_sorted_without_case_and_accents_everywhere(alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"categories_sorting_order": "alphabetical"}, status=201)
    news = alice.has_category("News")
    for title in sorted(IN_ORDER):
        alice.has_category(title)
        feed_url = site.serve(f"/{title.encode().hex()}.xml", f"<rss><channel><title>{title}</title></channel></rss>")
        alice.post("/v1/feeds", {"feed_url": feed_url, "category_id": news["id"]})
        alice.post("/v1/api-keys", {"description": title})

    for path, name in (("/v1/categories", "title"), ("/v1/categories?counts=true", "title"), ("/v1/feeds", "title")):
        assert [one[name] for one in alice.get(path) if one[name] in IN_ORDER] == IN_ORDER, path
    assert [one["description"] for one in alice.get("/v1/api-keys") if one["description"] in IN_ORDER] == IN_ORDER
    exported = alice.call("GET", "/v1/export").body.decode()
    assert re.findall(r' title="([^"]+)"', exported) == IN_ORDER


def test_creating_a_category_returns_201_with_it(alice: Person) -> None:
    created = alice.post("/v1/categories", {"title": "News", "hide_globally": True})

    assert created == {
        "id": created["id"],
        "title": "News",
        "user_id": alice.id,
        "hide_globally": True,
        "parent_id": None,
        "keep_duplicates": False,
    }


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"title": ""},
        {"title": None},
        {"title": "  "},
        {"title": "all"},
        {"title": 5},
        {"title": "x", "hide_globally": "on"},
    ],
)
def test_an_invalid_category_is_400(alice: Person, body: object) -> None:
    answer = alice.call("POST", "/v1/categories", body)

    assert answer.status == 400
    assert answer.error


def test_an_update_answers_201_and_an_empty_one_changes_nothing(alice: Person) -> None:
    category = alice.has_category("Old")

    assert alice.put(f"/v1/categories/{category['id']}", {}, status=201) == category
    assert alice.put(f"/v1/categories/{category['id']}", {"title": "OLD"}, status=201)["title"] == "OLD"
    assert alice.put(f"/v1/categories/{category['id']}", {"hide_globally": True}, status=201)["hide_globally"]


def test_an_unknown_category_is_404_before_the_body_is_read(alice: Person) -> None:
    assert alice.call("PUT", "/v1/categories/2147483000", raw=b"{broken").status == 404
    assert alice.call("PUT", f"/v1/categories/{alice.has_category()['id']}", raw=b"{broken").status == 400


@pytest.mark.parametrize("body", [{"title": ""}, {"title": "ALL"}, {"title": " "}])
def test_a_category_keeps_its_title_when_the_new_one_is_refused(alice: Person, body: object) -> None:
    category = alice.has_category("Mine")

    assert alice.call("PUT", f"/v1/categories/{category['id']}", body).status == 400
    assert "Mine" in [one["title"] for one in alice.get("/v1/categories")]


def test_a_category_says_what_deleting_it_deletes_and_what_uses_it(alice: Person, bob: Person, site: Publisher) -> None:
    news, tech = alice.has_category("News"), alice.has_category("Tech")
    below = alice.post("/v1/categories", {"title": "Europe", "parent_id": news["id"]})
    own = alice.has_feed(site, ["a"], category_id=news["id"])
    deep = alice.has_feed(site, ["b"], category_id=below["id"])
    alice.has_feed(site, ["c"], category_ids=[news["id"], tech["id"]])
    alice.post("/v1/views", {"name": "Fresh", "query": "category:news"})
    alice.post("/v1/views", {"name": "Far", "query": f"feed:{deep['id']} OR f:{deep['id']}"})
    path = f"/v1/categories/{news['id']}"

    (listed,) = [one for one in alice.get("/v1/categories") if one["id"] == news["id"]]
    shown = alice.get(path)
    assert shown == listed | {"deleted_feed_ids": [own["id"]], "used_by": ["the view Fresh"]}
    with_below = alice.get(path, with_below="true")
    assert with_below["deleted_feed_ids"] == [own["id"], deep["id"]]
    assert with_below["used_by"] == ["the view Fresh", "the view Far"]
    assert bob.call("GET", path).status == 404
    kept = {feed["id"] for feed in alice.get("/v1/feeds")} - set(with_below["deleted_feed_ids"])
    alice.delete(f"{path}?with_below=true")
    assert {feed["id"] for feed in alice.get("/v1/feeds")} == kept
    assert len(alice.get("/v1/views")) == 2


def test_deleting_a_category_deletes_its_feeds_and_entries(alice: Person, site: Publisher) -> None:
    category = alice.has_category()
    feed = alice.has_feed(site, category_id=category["id"])

    alice.delete(f"/v1/categories/{category['id']}")

    assert alice.call("GET", f"/v1/feeds/{feed['id']}").status == 404
    assert alice.get("/v1/entries")["total"] == 0
    assert alice.call("DELETE", f"/v1/categories/{category['id']}").status == 404


def test_without_a_category_a_feed_cannot_be_added(alice: Person, site: Publisher) -> None:
    alice.delete(f"/v1/categories/{alice.get('/v1/categories')[0]['id']}")
    site.serve("/feed.xml", "<rss><channel/></rss>")

    assert alice.call("POST", "/v1/feeds", {"feed_url": site.url("/feed.xml")}).status == 400


def test_counts_are_returned_on_request_with_most_unread_first(alice: Person, site: Publisher) -> None:
    busy = alice.has_category("Busy")
    alice.has_feed(site, ["a", "b", "c"], category_id=busy["id"])
    alice.has_feed(site, ["d"])

    found = alice.get("/v1/categories", counts="true")

    assert [(one["title"], one["feed_count"], one["total_unread"]) for one in found] == [("Busy", 1, 3), ("All", 1, 1)]
    assert "feed_count" not in alice.get("/v1/categories", counts="maybe")[0]


def test_marking_a_category_read_leaves_other_feeds_alone(alice: Person, site: Publisher) -> None:
    category = alice.has_category()
    inside = alice.has_feed(site, category_id=category["id"])
    outside = alice.has_feed(site)

    alice.put(f"/v1/categories/{category['id']}/mark-all-as-read")

    counters = alice.get("/v1/feeds/counters")
    assert counters == {"reads": {str(inside["id"]): 2}, "unreads": {str(outside["id"]): 2}}


def test_refreshing_an_unknown_category_is_404(alice: Person) -> None:
    assert alice.call("PUT", "/v1/categories/2147483000/refresh").status == 404
    assert alice.call("PUT", f"/v1/categories/{alice.has_category()['id']}/refresh").status == 204


def test_a_category_cannot_be_posted_to(alice: Person) -> None:
    answer = alice.call("POST", f"/v1/categories/{alice.has_category()['id']}")

    assert answer.status == 405
    assert answer.headers["allow"] == "DELETE, GET, HEAD, PUT"


@pytest.mark.parametrize("title", ["n" * 500, "".join(map(chr, range(0x4E00, 0x4E00 + 500)))])
def test_a_long_title_is_not_cut(alice: Person, title: str) -> None:
    assert alice.has_category(title)["title"] == title


@pytest.mark.parametrize("title", ["n" * 501, "".join(map(chr, range(0x10000, 0x10000 + 501))), "\u0390" * 500])
def test_a_title_beyond_what_can_be_indexed_is_400(alice: Person, title: str) -> None:
    answer = alice.call("POST", "/v1/categories", {"title": title})

    assert answer.status == 400
    assert "too long" in answer.error
