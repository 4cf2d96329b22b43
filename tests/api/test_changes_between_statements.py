"""A feed or a category that is deleted between two statements of a response is no error.

On PostgreSQL each statement of a read sees the latest state; on SQLite the response shows the state of its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from sqlalchemy import event

from support.people import Person
from support.publisher import Publisher
from tidings.api.endpoints.feeds import encoded_feed, encoded_feeds
from tidings.api.entry_lists import serialize_entry, serialize_page
from tidings.api.feed_style import PLAIN
from tidings.base.errors import NotFound
from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.engine.database import Read
from tidings.greader import items
from tidings.storage.feeds import feeds


@contextmanager
def when_contents_are_read(db: Read, act: Callable[[], None]) -> Iterator[None]:
    """Act after each statement of this connection that reads bodies. The connection may be used again afterwards."""

    def look(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if "entry_contents" in statement:
            act()

    event.listen(db.connection, "after_cursor_execute", look)
    try:
        yield
    finally:
        event.remove(db.connection, "after_cursor_execute", look)


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

    with (
        alice.service.services.reading() as db,
        when_contents_are_read(db, lambda: alice.delete(f"/v1/feeds/{feed['id']}")),
    ):
        found = items.read(db, alice.id, ids, newest_first=True)

    assert {item.origin.stream_id for item in found} == {f"feed/{one}" for one in expected}


def test_an_entry_whose_feed_is_deleted_meanwhile_is_not_found(alice: Person, site: Publisher, engine: str) -> None:
    if engine != "postgresql":
        pytest.skip("a read on SQLite sees one state")
    feed = alice.has_feed(site, ["One"])
    entry_id = alice.entries()[0]["id"]

    deleted = []

    def delete_feed() -> None:
        alice.delete(f"/v1/feeds/{feed['id']}")
        deleted.append(feed["id"])

    with alice.service.services.reading() as db, when_contents_are_read(db, delete_feed), pytest.raises(NotFound):
        serialize_entry(db, alice.user, entry_id)
    assert deleted == [feed["id"]]


def test_a_feed_that_is_deleted_after_the_list_of_its_category_is_left_out(
    alice: Person, site: Publisher, engine: str
) -> None:
    category = alice.has_category()
    feed, kept = (alice.has_feed(site, category_id=category["id"]) for _ in range(2))
    expected = [kept["id"]] if engine == "postgresql" else [feed["id"], kept["id"]]

    with alice.service.services.reading() as db:
        feed_ids = feeds.ids_of_category(db, alice.id, category["id"])
        alice.delete(f"/v1/feeds/{feed['id']}")
        shown = encoded_feeds(db, alice.user, feed_ids)

    assert sorted(shown) == expected


def test_a_feed_that_is_deleted_meanwhile_is_not_found(alice: Person, bob: Person, site: Publisher) -> None:
    feed_id = alice.has_feed(site)["id"]
    with alice.service.services.reading() as db:
        assert msgspec.json.decode(encoded_feed(db, alice.user, feed_id, PLAIN))["id"] == feed_id
        with pytest.raises(NotFound):
            encoded_feed(db, bob.user, feed_id, PLAIN)
    alice.delete(f"/v1/feeds/{feed_id}")
    with alice.service.services.reading() as db, pytest.raises(NotFound):
        encoded_feed(db, alice.user, feed_id, PLAIN)
