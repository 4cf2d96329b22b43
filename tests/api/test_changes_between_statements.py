"""A feed or a category that is deleted between two statements of a response is no error.

On PostgreSQL each statement of a read sees the latest state; on SQLite the response shows the state of its beginning.
"""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event

from support.people import Person
from support.publisher import Publisher
from tidings.api.endpoints.entries import serialize_entry, serialize_page
from tidings.api.endpoints.feeds import FeedSerializer
from tidings.base.errors import NotFound
from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.greader import items
from tidings.services.entries.entries import owned
from tidings.services.feeds.feeds import owned as owned_feed
from tidings.storage.feeds import feeds


def test_entries_of_a_feed_that_is_deleted_meanwhile_are_left_out(alice: Person, site: Publisher, engine: str) -> None:
    feed, kept = alice.has_feed(site, ["One"]), alice.has_feed(site, ["Two"])
    services = alice.service.services
    expected = {kept["id"]} if engine == "postgresql" else {feed["id"], kept["id"]}

    with services.entries.listing.open(alice.id) as lists:
        page = lists.page(EntryFilter(), PageRequest(limit=10))
        alice.delete(f"/v1/feeds/{feed['id']}")
        shown = serialize_page(lists.db, alice.user, page)

    assert {entry.feed_id for entry in shown} == expected


def test_items_of_a_feed_that_is_deleted_after_its_entries_were_read_are_left_out(
    alice: Person, site: Publisher, engine: str
) -> None:
    feed, kept = alice.has_feed(site, ["One"]), alice.has_feed(site, ["Two"])
    expected = {kept["id"]} if engine == "postgresql" else {feed["id"], kept["id"]}
    ids = [entry["id"] for entry in alice.entries()]

    with alice.service.services.reading() as db:

        @event.listens_for(db.connection, "after_cursor_execute")
        def delete_feed(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            if "entry_contents" in statement:
                alice.delete(f"/v1/feeds/{feed['id']}")

        found = items.read(db, alice.id, ids, newest_first=True)

    assert {item.origin.stream_id for item in found} == {f"feed/{one}" for one in expected}


def test_an_entry_whose_feed_is_deleted_meanwhile_is_not_found(alice: Person, site: Publisher, engine: str) -> None:
    if engine != "postgresql":
        pytest.skip("a read on SQLite sees one state")
    feed = alice.has_feed(site, ["One"])
    entry_id = alice.entries()[0]["id"]

    with alice.service.services.reading() as db:
        entry = owned(db, alice.id, entry_id)
        alice.delete(f"/v1/feeds/{feed['id']}")
        with pytest.raises(NotFound):
            serialize_entry(db, alice.user, entry)


def test_a_feed_that_moves_to_a_new_category_meanwhile_is_shown(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    services = alice.service.services

    with services.reading() as db:
        serializer = FeedSerializer(db, alice.user)
        category = alice.has_category()
        alice.put(f"/v1/feeds/{feed['id']}", {"category_id": category["id"]}, status=201)
        with services.reading() as later:
            moved = owned_feed(later, alice.id, feed["id"])
        # On SQLite the read still sees the old category, in which the feed was.
        shown = serializer.serialize(moved)

    assert shown.category.id in {category["id"], feed["category"]["id"]}


def test_a_feed_that_is_deleted_with_its_category_meanwhile_is_left_out(
    alice: Person, site: Publisher, engine: str
) -> None:
    category = alice.has_category()
    feed, kept = alice.has_feed(site, category_id=category["id"]), alice.has_feed(site)
    services = alice.service.services
    expected = [kept["id"]] if engine == "postgresql" else [feed["id"], kept["id"]]

    with services.reading() as db:
        read = feeds.list_all(db, alice.id)
        alice.delete(f"/v1/categories/{category['id']}")
        serializer = FeedSerializer(db, alice.user)
        shown = [one.id for one in serializer.serialize_all(read)]

    assert sorted(shown) == sorted(expected)
