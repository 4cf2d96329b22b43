"""Requests at the same time change the tree of categories one after the other."""

from __future__ import annotations

import threading
from contextlib import suppress

from support.entry_fixtures import NOW, FeedFixture
from tidings.base.errors import InvalidInput
from tidings.domain.feeds.categories import CategoryTree
from tidings.engine.database import Database
from tidings.engine.errors import ConcurrentChange
from tidings.services.feeds.categories import Categories
from tidings.services.listeners import Listeners
from tidings.storage.feeds import categories


def test_categories_moved_under_each_other_at_once_make_no_loop(database: Database) -> None:
    user_id = FeedFixture.create(database).user_id
    service = Categories(database, lambda: NOW, Listeners())
    one, two = (service.create(user_id, name).id for name in ("one", "two"))

    def move(category_id: int, parent_id: int, ready: threading.Barrier) -> None:
        ready.wait(30)
        with suppress(InvalidInput, ConcurrentChange):
            service.update(user_id, category_id, parent_id=parent_id)

    for _ in range(10):
        ready = threading.Barrier(2)
        threads = [threading.Thread(target=move, args=(*pair, ready)) for pair in ((one, two), (two, one))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        with database.reading() as db:
            tree = CategoryTree(categories.list_all(db, user_id))
        assert len(list(tree.walk())) == 3
        for category_id in (one, two):
            service.update(user_id, category_id, parent_id=None)
