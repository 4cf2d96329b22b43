"""Entry lists, single entries, and their state."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher
from tidings.storage.accounts import users

FIELDS = {
    "id", "user_id", "feed_id", "status", "hash", "title", "url", "comments_url", "language", "published_at",
    "created_at", "changed_at", "content", "author", "share_code", "starred", "reading_time", "enclosures", "feed",
    "tags", "labels", "hidden",
}  # fmt: skip


def titles(found: Any) -> list[str]:
    return [entry["title"] for entry in (found["entries"] if isinstance(found, dict) else found)]


def ids(person: Person, **query: Any) -> list[int]:
    return [entry["id"] for entry in person.entries(**query)]


def set_state(person: Person, entry_ids: list[int], **state: Any) -> None:
    person.put("/v1/entries", {"entry_ids": entry_ids, **state})


def test_an_entry_has_every_field_of_the_contract_and_none_is_null(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    entry = alice.entries()[0]

    assert set(entry) == FIELDS
    assert None not in entry.values()
    assert entry["feed"] == alice.get(f"/v1/feeds/{feed['id']}")
    assert len(entry["hash"]) == 64
    assert (entry["enclosures"], entry["tags"]) == ([], [])
    assert alice.get(f"/v1/entries/{entry['id']}") == entry
    assert alice.get(f"/v1/feeds/{feed['id']}/entries/{entry['id']}") == entry


def test_an_entry_is_not_found_in_another_feed(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    entry, other = alice.entries()[0], alice.has_feed(site)

    assert alice.call("GET", f"/v1/feeds/{other['id']}/entries/{entry['id']}").status == 404
    assert alice.call("GET", "/v1/entries/2147483000").status == 404


def test_requesting_an_entry_does_not_mark_it_read(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    entry = alice.entries()[0]

    assert alice.get(f"/v1/entries/{entry['id']}")["status"] == "unread"
    assert alice.entries()[0]["status"] == "unread"


def test_lists_are_oldest_first_by_default(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["new", "middle", "old"])

    assert titles(alice.entries()) == ["old", "middle", "new"]
    assert titles(alice.entries(direction="desc")) == ["new", "middle", "old"]


def test_the_total_counts_all_matches_whatever_the_page(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["c", "b", "a"])

    assert alice.get("/v1/entries", limit=1)["total"] == 3
    assert alice.get("/v1/entries", offset=100) == {"total": 3, "entries": []}
    assert titles(alice.get("/v1/entries", limit=1, offset=1)) == ["b"]


@pytest.mark.parametrize("query", [{"limit": "abc"}, {"limit": -1}, {"offset": -1}, {"before": "x"}, {"starred": "?"},
                                   {"category_id": "abc"}, {"feed_id": 0}, {"after": 0}, {"order": ""},
                                   {"direction": ""}, {"status": ""}, {"whatever": 1}])  # fmt: skip
def test_a_parameter_that_cannot_be_read_counts_as_not_sent(
    alice: Person, site: Publisher, query: dict[str, Any]
) -> None:
    alice.has_feed(site)

    assert alice.get("/v1/entries", **query)["total"] == 2


@pytest.mark.parametrize("limit", [0, 10_000, 10_001, 2**31, 2**63, 10**30])
def test_every_limit_is_accepted(alice: Person, site: Publisher, limit: int) -> None:
    alice.has_feed(site)

    assert len(alice.get("/v1/entries", limit=limit)["entries"]) == 2


@pytest.mark.one_engine
@pytest.mark.parametrize("query", [{"order": "hash"}, {"direction": "up"}, {"status": "UNREAD"},
                                   {"status": "read,unread"}, {"feed_id": 2147483000}, {"category_id": 2147483000},
                                   {"before": 10**15}, {"published_after": 10**17}])  # fmt: skip
def test_an_invalid_list_query_is_400(alice: Person, query: dict[str, Any]) -> None:
    answer = alice.call("GET", "/v1/entries", **query)

    assert answer.status == 400
    assert answer.error


@pytest.mark.parametrize("path", ["/v1/feeds/2147483000/entries", "/v1/categories/2147483000/entries",
                                  "/v1/feeds/0/entries", "/v1/categories/x/entries"])  # fmt: skip
def test_the_list_of_an_unknown_feed_or_category_is_400(alice: Person, path: str) -> None:
    assert alice.call("GET", path).status == 400


def test_status_can_be_repeated_and_means_any_of_them(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["c", "b", "a"])
    first, second, _ = ids(alice)
    set_state(alice, [first], status="read")
    set_state(alice, [second], status="removed")

    assert titles(alice.get("/v1/entries", status="read")) == ["a"]
    assert titles(alice.get("/v1/entries", status=["read", "unread"])) == ["a", "c"]
    assert titles(alice.get("/v1/entries", status=" unread ")) == ["c"]
    assert titles(alice.get("/v1/entries", status=["removed", "unread"])) == ["b", "c"]


def test_a_removed_entry_is_listed_only_on_request(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["b", "a"])
    gone, kept = ids(alice)

    set_state(alice, [gone], status="removed")

    assert ids(alice) == [kept]
    assert alice.get("/v1/entries/ids")["entry_ids"] == [kept]
    assert alice.get("/v1/feeds/counters") == {"reads": {}, "unreads": {str(feed["id"]): 1}}
    removed = alice.get("/v1/entries", status="removed")
    assert (removed["total"], removed["entries"][0]["status"]) == (1, "removed")
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    alice.put(f"/v1/feeds/{feed['id']}/mark-all-as-read")
    assert alice.get("/v1/entries", status="removed")["total"] == 1


def test_feed_and_category_lists_hold_their_own_entries(alice: Person, site: Publisher) -> None:
    category = alice.has_category()
    inside = alice.has_feed(site, ["inside"], category_id=category["id"])
    alice.has_feed(site, ["outside"])

    assert titles(alice.get(f"/v1/feeds/{inside['id']}/entries")) == ["inside"]
    assert titles(alice.get(f"/v1/categories/{category['id']}/entries")) == ["inside"]
    assert titles(alice.get("/v1/entries", feed_id=inside["id"])) == ["inside"]
    assert titles(alice.get("/v1/entries", category_id=category["id"])) == ["inside"]


def test_a_feed_id_in_the_query_is_combined_with_the_path(alice: Person, site: Publisher) -> None:
    one, other = alice.has_feed(site, ["one"]), alice.has_feed(site, ["other"])

    assert alice.get(f"/v1/feeds/{one['id']}/entries", feed_id=other["id"]) == {"total": 0, "entries": []}
    category = one["category"]["id"]
    assert titles(alice.get(f"/v1/categories/{category}/entries", feed_id=other["id"])) == ["other"]


NARROWED = [
    ("unread", None, 1), ("read", None, 3), (None, True, 2),
    ("unread", True, 0), ("read", "1", 2), (None, "f", 2),
]  # fmt: skip


@pytest.mark.parametrize(("status", "starred", "total"), NARROWED)
def test_status_and_star_narrow_lists_and_their_totals_alike(
    alice: Person, site: Publisher, status: str | None, starred: Any, total: int
) -> None:
    alice.has_feed(site, ["d", "c", "b", "a"])
    every = ids(alice)
    set_state(alice, every[:3], status="read")
    set_state(alice, every[1:3], starred=True)

    query = {name: value for name, value in (("status", status), ("starred", starred)) if value is not None}
    found = alice.get("/v1/entries", **query)

    assert (found["total"], len(found["entries"])) == (total, total)


def test_time_filters_are_exclusive_bounds_in_seconds_and_combine(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["28th", "27th", "26th"])
    middle = int(datetime.fromisoformat(alice.entries()[1]["published_at"]).timestamp())

    assert titles(alice.entries(before=middle)) == ["26th"]
    assert titles(alice.entries(after=middle)) == ["28th"]
    assert titles(alice.entries(published_before=middle + 1, published_after=middle - 1)) == ["27th"]
    assert titles(alice.entries(before=middle, published_before=middle + 1)) == ["26th"]
    assert titles(alice.entries(changed_after=middle)) == ["26th", "27th", "28th"]
    assert titles(alice.entries(changed_before=middle)) == []


def test_ids_are_exclusive_bounds(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["c", "b", "a"])
    first, second, third = ids(alice, order="id")

    assert ids(alice, after_entry_id=first, before_entry_id=third) == [second]
    assert ids(alice, after_entry_id=9223372036854775807) == []
    assert alice.get("/v1/entries", after_entry_id=second)["total"] == 1


ORDERS = [
    "id",
    "status",
    "changed_at",
    "published_at",
    "created_at",
    "category_title",
    "category_id",
    "title",
    "author",
]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_pages_without_loss_and_backwards_is_the_reverse(
    alice: Person, site: Publisher, order: str
) -> None:
    for number in range(3):
        category = alice.has_category(f"{'cab'[number]}-{order}")
        alice.has_feed(site, [f"{number}{letter}" for letter in "zyx"], category_id=category["id"])
    set_state(alice, ids(alice)[::2], status="read")

    whole = alice.entries(order=order)
    paged = [entry for offset in range(0, 10, 2) for entry in alice.entries(order=order, limit=2, offset=offset)]

    assert len(whole) == 9
    assert paged == whole
    assert alice.entries(order=order, direction="desc") == whole[::-1]


def test_each_order_sorts_by_its_field(alice: Person, site: Publisher) -> None:
    for name in ("b", "A", "c"):
        alice.has_feed(site, [f"{name} title"], category_id=alice.has_category(name)["id"])
    set_state(alice, ids(alice, order="title")[:1], status="read")

    assert titles(alice.entries(order="title")) == ["A title", "b title", "c title"]
    assert titles(alice.entries(order="category_title")) == ["A title", "b title", "c title"]
    assert [entry["status"] for entry in alice.entries(order="status")] == ["unread", "unread", "read"]
    assert titles(alice.entries(order="category_id")) == ["b title", "A title", "c title"]


def test_hidden_feeds_are_left_out_only_on_request(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["shown"])
    alice.has_feed(site, ["hidden"], hide_globally=True)
    quiet = alice.post("/v1/categories", {"title": "quiet", "hide_globally": True})
    alice.has_feed(site, ["quiet"], category_id=quiet["id"])

    assert alice.get("/v1/entries")["total"] == 3
    assert alice.get("/v1/entries", globally_visible="false")["total"] == 3
    found = alice.get("/v1/entries", globally_visible="true")
    assert (found["total"], titles(found)) == (1, ["shown"])


def test_all_tags_must_match_ignoring_case(alice: Person, site: Publisher) -> None:
    item = "<item><title>{0}</title><guid>{0}</guid>{1}</item>"
    tags = {"both": ("News", "Art"), "one": ("news",)}
    items = "".join(
        item.format(title, "".join(f"<category>{tag}</category>" for tag in given)) for title, given in tags.items()
    )
    site.serve("/tags.xml", f"<rss version='2.0'><channel><title>t</title>{items}</channel></rss>")
    alice.post("/v1/feeds", {"feed_url": site.url("/tags.xml")})

    assert alice.get("/v1/entries", tags="NEWS")["total"] == 2
    assert titles(alice.get("/v1/entries", tags=["news", "art"])) == ["both"]
    assert alice.get("/v1/entries", tags="new")["total"] == 0
    assert alice.get("/v1/entries", tags=["news"] * 1_500)["total"] == 2
    assert alice.call("GET", "/v1/entries", tags=[f"tag {number}" for number in range(1_500)]).status == 400


def test_ids_come_newest_first_with_a_total(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["c", "b", "a"])
    every = ids(alice, order="id", direction="desc")
    set_state(alice, every[:1], status="read", starred=True)

    assert alice.get("/v1/entries/ids") == {"total": 3, "entry_ids": every}
    assert alice.get("/v1/entries/ids", status="unread") == {"total": 2, "entry_ids": every[1:]}
    assert alice.get("/v1/entries/ids", starred="True") == {"total": 1, "entry_ids": every[:1]}
    assert alice.get("/v1/entries/ids", limit=1, offset=1) == {"total": 3, "entry_ids": every[1:2]}
    assert alice.get("/v1/entries/ids", limit=99999, order="nonsense")["total"] == 3


@pytest.mark.parametrize("query", [{"status": ""}, {"status": "all"}, {"starred": "maybe"}, {"starred": ""}])
def test_the_list_of_ids_refuses_an_invalid_status_or_star(alice: Person, query: dict[str, Any]) -> None:
    assert alice.call("GET", "/v1/entries/ids", **query).status == 400


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "body",
    [
        {}, {"entry_ids": []}, {"entry_ids": None, "status": "read"}, {"entry_ids": ["1"], "status": "read"},
        {"entry_ids": [1]}, {"entry_ids": [1], "status": ""}, {"entry_ids": [1], "status": "seen"},
        {"entry_ids": [1], "status": "seen", "starred": True}, {"entry_ids": [1], "starred": "true"},
        {"entry_ids": [1.5], "status": "read"}, {"entry_ids": [2**63], "status": "read"},
        {"entry_ids": 1, "status": "read"},
    ],
)  # fmt: skip
def test_an_invalid_bulk_update_is_400(alice: Person, body: dict[str, Any]) -> None:
    answer = alice.call("PUT", "/v1/entries", body)

    assert answer.status == 400
    assert answer.error


def test_a_bulk_update_ignores_ids_of_other_users(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site)
    bob.has_feed(site)
    mine, theirs = ids(alice), ids(bob)

    set_state(alice, [*mine, *mine, *theirs, -5, 2147483000, 2**63 - 1], status="read", starred=True)
    set_state(alice, mine, starred=True)

    assert {(entry["status"], entry["starred"]) for entry in alice.entries()} == {("read", True)}
    assert {(entry["status"], entry["starred"]) for entry in bob.entries()} == {("unread", False)}


def test_a_bulk_update_accepts_fifty_thousand_ids(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)

    set_state(alice, [*range(2_000_000_000, 2_000_050_000), *ids(alice)], status="read")

    assert alice.get("/v1/entries", status="read")["total"] == 2


def test_every_write_of_state_sets_changed_at_even_a_repeated_one(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    entry = alice.entries()[0]

    set_state(alice, [entry["id"]], status="unread")

    assert alice.get(f"/v1/entries/{entry['id']}")["changed_at"] > entry["changed_at"]


@pytest.mark.parametrize("name", ["bookmark", "star"])
def test_a_star_is_toggled(alice: Person, site: Publisher, name: str) -> None:
    alice.has_feed(site)
    entry_id = ids(alice)[0]

    alice.put(f"/v1/entries/{entry_id}/{name}")
    assert alice.get(f"/v1/entries/{entry_id}")["starred"]
    alice.put(f"/v1/entries/{entry_id}/{name}")
    assert not alice.get(f"/v1/entries/{entry_id}")["starred"]
    assert alice.call("PUT", f"/v1/entries/2147483000/{name}").status == 404
    assert alice.call("PUT", f"/v1/entries/0/{name}").status == 400


def test_times_are_in_the_time_zone_of_the_user(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    in_utc = alice.entries()[0]["published_at"]
    with alice.service.services.database.writing() as db:
        users.change(db, alice.id, timezone="Europe/Berlin")

    assert in_utc == "2026-09-27T10:00:00Z"
    assert alice.entries()[0]["published_at"] == "2026-09-27T12:00:00+02:00"
    assert alice.get("/v1/feeds")[0]["checked_at"].endswith("+01:00")
