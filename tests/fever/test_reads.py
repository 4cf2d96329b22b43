"""What queries add to the response: members, types and order."""

from __future__ import annotations

import base64

import pytest

from clients.library import Library, numbered, picture, subscribe
from fever.apps import FeverApp, ids
from support.people import Person, call
from support.publisher import Publisher
from tidings.domain.entries.entries import EntryStatus


def test_groups_are_categories_and_feeds_groups_list_their_feeds(
    alice: Person, library: Library, app: FeverApp
) -> None:
    found = app.get("&groups")

    titles = {one["id"]: one["title"] for one in alice.get("/v1/categories")}
    assert {one["id"]: one["title"] for one in found["groups"]} == titles
    assert found["feeds_groups"] == [
        {"group_id": library.category, "feed_ids": str(library.feed)},
        {"group_id": library.podcasts, "feed_ids": str(library.podcast)},
    ]
    assert set(found) == {"api_version", "auth", "last_refreshed_on_time", "groups", "feeds_groups"}


def test_the_feed_ids_of_a_group_are_one_string(
    alice: Person, library: Library, app: FeverApp, site: Publisher
) -> None:
    more = subscribe(alice, site, numbered(1), "More", category_id=library.category)

    found = {one["group_id"]: one["feed_ids"] for one in app.get("&feeds")["feeds_groups"]}

    assert found[library.category] == f"{library.feed},{more}"


def test_a_group_has_the_feeds_and_entries_of_the_categories_below_it(
    alice: Person, library: Library, app: FeverApp
) -> None:
    alice.put(f"/v1/categories/{library.podcasts}", {"parent_id": library.category}, status=201)

    found = {one["group_id"]: one["feed_ids"] for one in app.get("&feeds")["feeds_groups"]}
    assert found == {library.category: f"{library.feed},{library.podcast}", library.podcasts: str(library.podcast)}
    both = f"&items&group_ids={library.category},{library.podcasts}"
    assert app.get(both)["items"] == app.get("&items")["items"]
    app.mark(mark="group", id=library.category, **{"as": "read"})
    assert alice.entries(status="unread") == []


def test_a_feed_in_several_categories_is_in_each_group(alice: Person, app: FeverApp, site: Publisher) -> None:
    news, tech = alice.has_category("News")["id"], alice.has_category("Tech")["id"]
    feed = alice.has_feed(site, ["a"], category_ids=[news, tech])

    found = {one["group_id"]: one["feed_ids"] for one in app.get("&feeds")["feeds_groups"]}
    assert found == {news: str(feed["id"]), tech: str(feed["id"])}
    for group in (news, tech, f"{news},{tech}"):
        assert [one["title"] for one in app.get(f"&items&group_ids={group}")["items"]] == ["a"]


def test_feeds_have_the_members_that_clients_read(alice: Person, library: Library, app: FeverApp) -> None:
    found = app.get("&feeds")

    assert set(found) == {"api_version", "auth", "last_refreshed_on_time", "feeds", "feeds_groups"}
    assert [one["id"] for one in found["feeds"]] == [library.feed, library.podcast]
    known = alice.get(f"/v1/feeds/{library.feed}")
    feed = found["feeds"][0]
    assert (feed["title"], feed["url"], feed["site_url"]) == (known["title"], known["feed_url"], known["site_url"])
    assert (feed["favicon_id"], feed["is_spark"]) == (0, 0)
    assert feed["last_updated_on_time"] > 1_700_000_000


@pytest.mark.slow
def test_favicons_are_sent_without_data_prefix(alice: Person, app: FeverApp, site: Publisher) -> None:
    site.serve("/favicon.ico", picture(), headers={"Content-Type": "image/png"})
    feed = subscribe(alice, site, numbered(1), "With an icon")

    found = app.get("&favicons&feeds")

    by_id = {one["id"]: one["data"] for one in found["favicons"]}
    data = by_id[next(one["favicon_id"] for one in found["feeds"] if one["id"] == feed)]
    kind, _, encoded = data.partition(",")
    assert kind == "image/png;base64"
    assert base64.b64decode(encoded).startswith(b"\x89PNG")


def test_items_have_the_members_that_clients_read(alice: Person, library: Library, app: FeverApp) -> None:
    by_id = {one["id"]: one for one in app.items()}

    entry = alice.get(f"/v1/entries/{library.entry}")
    item = by_id[library.entry]
    assert {**item, "created_on_time": 0} == {
        "id": library.entry,
        "feed_id": library.feed,
        "title": entry["title"],
        "author": "Dr. Cloud",
        "html": entry["content"],
        "url": entry["url"],
        "is_saved": 0,
        "is_read": 0,
        "created_on_time": 0,
    }
    assert item["created_on_time"] == 1790589600  # 2026-09-28 10:00 UTC, the time of publication
    assert (by_id[library.starred]["is_saved"], by_id[library.starred]["is_read"]) == (1, 1)


def test_total_items_counts_everything_of_the_user(library: Library, app: FeverApp) -> None:
    found = app.get(f"&items&since_id={library.unknown}")

    assert found["items"] == []
    assert found["total_items"] == 4


def test_pages_above_since_id_ascend_and_below_max_id_descend(alice: Person, app: FeverApp, site: Publisher) -> None:
    subscribe(alice, site, numbered(120), "Many")
    known = sorted(one["id"] for one in alice.entries(limit=200))

    up: list[int] = []
    while page := app.items(f"&since_id={up[-1] if up else 0}"):
        assert len(page) <= 50
        up += [one["id"] for one in page]
    assert up == known

    for first in ("0", str(2**31 - 1), str(2**53 - 1), "9" * 25):
        assert [one["id"] for one in app.items(f"&max_id={first}")] == known[:-51:-1]
    down = [one["id"] for one in app.items("&max_id=0")]
    while page := app.items(f"&max_id={down[-1]}"):
        down += [one["id"] for one in page]
    assert down == known[::-1]
    assert [one["id"] for one in app.items()] == known[:50]


def test_items_can_be_requested_by_id(alice: Person, library: Library, app: FeverApp) -> None:
    text = f"{library.entry},%20{library.starred},{library.unknown},{library.entry},,99999999999999999999"

    found = app.items(f"&with_ids={text}")

    assert sorted(one["id"] for one in found) == sorted([library.entry, library.starred])
    assert app.items("&with_ids=") == []
    assert alice.id


def test_more_than_fifty_ids_may_be_requested(alice: Person, app: FeverApp, site: Publisher) -> None:
    subscribe(alice, site, numbered(70), "Many")
    known = sorted(one["id"] for one in alice.entries(limit=200))

    assert sorted(one["id"] for one in app.items(f"&with_ids={','.join(map(str, known))}")) == known


@pytest.mark.slow
def test_the_next_fifty_numbers_are_the_next_fifty_items(
    alice: Person, bob: Person, app: FeverApp, site: Publisher
) -> None:
    """elfeed-protocol asks for them, and would never see what comes after fifty entries of other users."""
    subscribe(alice, site, numbered(1), "Early")
    (first,) = (one["id"] for one in alice.entries())
    subscribe(bob, site, numbered(60), "Bob's")
    subscribe(alice, site, numbered(55), "Late")
    late = sorted(one["id"] for one in alice.entries(limit=200))[1:]

    def next_after(known: int) -> list[int]:
        numbers = ",".join(str(number) for number in range(known + 1, known + 51))
        return [one["id"] for one in app.items(f"&with_ids={numbers}")]

    assert next_after(first) == late[:50]
    assert next_after(late[49]) == late[50:]
    assert next_after(late[-1]) == []
    assert next_after(first - 1) == [first, *late[:49]]
    # Other numbers are ids.
    assert app.items(f"&with_ids={','.join(str(number) for number in range(first + 1, first + 50))}") == []


def test_items_can_be_limited_to_feeds_and_groups(library: Library, app: FeverApp) -> None:
    def feeds_in(query: str) -> set[int]:
        return {one["feed_id"] for one in app.items(query)}

    assert feeds_in(f"&feed_ids={library.feed}") == {library.feed}
    assert feeds_in(f"&feed_ids={library.feed},{library.podcast}") == {library.feed, library.podcast}
    assert feeds_in(f"&group_ids={library.podcasts}") == {library.podcast}
    assert feeds_in(f"&group_ids=0,{library.podcasts}") == {library.feed, library.podcast}
    assert feeds_in(f"&feed_ids={library.unknown}") == set()
    both = [one["id"] for one in app.items(f"&feed_ids={library.podcast},{library.feed}&max_id=0")]
    assert both == sorted(both, reverse=True)


def test_removed_entries_are_not_returned(alice: Person, library: Library, app: FeverApp) -> None:
    alice.put("/v1/entries", {"entry_ids": [library.entry], "status": "removed"})

    assert library.entry not in {one["id"] for one in app.items()}
    assert app.items(f"&with_ids={library.entry}") == []
    assert library.entry not in app.unread()


def test_id_lists_are_strings_and_may_be_empty(app: FeverApp) -> None:
    found = app.get("&unread_item_ids&saved_item_ids&items&links&favicons&feeds")

    assert (found["unread_item_ids"], found["saved_item_ids"]) == ("", "")
    assert (found["items"], found["total_items"]) == ([], 0)
    assert (found["links"], found["favicons"], found["feeds"], found["feeds_groups"]) == ([], [], [], [])


def test_all_unread_and_saved_ids_are_listed(alice: Person, library: Library, app: FeverApp) -> None:
    unread = sorted(one["id"] for one in alice.entries(status="unread"))

    assert sorted(app.unread()) == unread
    assert app.saved() == [library.starred]
    alice.put("/v1/entries", {"entry_ids": unread, "starred": True})
    assert app.saved() == sorted([*unread, library.starred])


def test_unread_ids_are_those_that_another_process_has_left(alice: Person, library: Library, app: FeverApp) -> None:
    services, unread = alice.service.services, set(app.unread())
    assert len(unread) > 1
    one = min(unread)

    for status, expected in ((EntryStatus.READ, unread - {one}), (EntryStatus.UNREAD, unread)):
        services.entries.changes.update(alice.user, [one], status=status)
        assert set(app.unread()) == expected
    services.feeds.subscriptions.delete(alice.id, alice.get(f"/v1/entries/{one}")["feed_id"])
    assert set(app.unread()) == {entry["id"] for entry in alice.entries(status="unread")} < unread


def test_several_queries_are_answered_at_once(library: Library, app: FeverApp) -> None:
    found = app.get("&groups&feeds&favicons&items&links&unread_item_ids&saved_item_ids&refresh")

    assert set(found) == {
        "api_version", "auth", "last_refreshed_on_time", "groups", "feeds", "feeds_groups", "favicons", "items",
        "total_items", "links", "unread_item_ids", "saved_item_ids",
    }  # fmt: skip
    assert ids(found["saved_item_ids"]) == [library.starred]


def test_queries_may_be_in_the_form_and_have_values(library: Library, app: FeverApp) -> None:
    assert set(app.get(fields={"groups": "", "unread_item_ids": "1"})) >= {"groups", "unread_item_ids"}
    assert app.call("=xml&saved_item_ids=").json()["saved_item_ids"] == str(library.starred)


@pytest.mark.parametrize(
    "query",
    ["&items&since_id=x", "&items&max_id=1e9", "&items&with_ids=1,two", "&items&feed_ids=a", "&x=%00", "&x=%ff"],
)
def test_invalid_numbers_and_text_get_400_with_one_line(app: FeverApp, query: str) -> None:
    answer = app.call(query)

    assert answer.status == 400
    assert answer.json()["error_message"]
    assert "\n" not in answer.json()["error_message"]


def test_large_responses_are_compressed(alice: Person, app: FeverApp, site: Publisher) -> None:
    subscribe(alice, site, numbered(50), "Many")
    body = f"api_key={app.key}".encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": "gzip"}

    answer = call(alice.service.url, "POST", "/fever/?api&items", body, headers)

    assert answer.headers["content-encoding"] == "gzip"
