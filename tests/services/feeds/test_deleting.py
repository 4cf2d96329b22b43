"""Deleting a feed or category while another transaction writes to it: both end, neither by a deadlock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tidings.base.times import SECOND, Instant
from tidings.domain.accounts.users import User
from tidings.engine.database import Database
from tidings.services.accounts.users import Users
from tidings.services.feeds.categories import Categories
from tidings.services.feeds.feeds import Feeds
from tidings.services.listeners import Listeners
from tidings.storage.entries import counters
from tidings.storage.feeds import categories, feeds

NOW = Instant(1_800_000_000 * SECOND)


@pytest.fixture
def charlie(database: Database) -> User:
    return Users(database, lambda: NOW).create("charlie", "secret", is_admin=True)


@pytest.fixture
def alice(database: Database) -> User:
    return Users(database, lambda: NOW).create("alice", "secret")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["feed", "category", "user"])
def test_deleting_waits_for_a_poll_that_is_being_stored(
    database: Database, charlie: User, alice: User, what: str
) -> None:
    with database.writing() as db:
        category = categories.first(db, alice.id)
        assert category is not None
        when = {"created_at": NOW, "checked_at": NOW, "next_check_at": NOW}
        feed_id = feeds.add(db, alice.id, category_id=category.id, feed_url="https://a.example/", title="a", **when)
    # Nothing is fetched here.
    poller_database: Any = dict.fromkeys(("fetcher", "recent", "icons", "full_content", "pages", "schedule"))
    subscriptions = Feeds(database, clock=lambda: NOW, listeners=Listeners(), **poller_database)
    deletions: dict[str, Callable[[], None]] = {
        "feed": lambda: subscriptions.delete(alice.id, feed_id),
        "category": lambda: Categories(database, lambda: NOW, Listeners()).delete(alice.id, category.id),
        "user": lambda: Users(database, lambda: NOW).delete(charlie, alice.id),
    }
    held, outcome = threading.Event(), list[Exception]()

    def delete() -> None:
        held.wait()
        try:
            deletions[what]()
        except Exception as error:  # noqa: BLE001 - told by the assertion below
            outcome.append(error)

    deleting = threading.Thread(target=delete)
    deleting.start()
    with database.writing() as db:
        counters.lock(db, alice.id, [feed_id])
        held.set()
        time.sleep(0.2)  # long enough to come as far as it gets
        feeds.change(db, alice.id, feed_id, parsing_error_count=1)
    deleting.join()

    assert outcome == []
    with database.reading() as reading:
        assert feeds.get(reading, alice.id, feed_id) is None
