"""Lists of entries, for the API, the pages and the feeds of lists alike."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from tidings.domain.entries.entries import Entry, EntryFilter, PageRequest
from tidings.domain.errors import InvalidInput
from tidings.domain.messages import msg
from tidings.services.entries.entries import unknown_feed
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.engine.database import Database, Read
from tidings.storage.entries import entry_lists
from tidings.storage.entries.entry_lists import EntryPage
from tidings.storage.feeds import categories, feeds


class EntryLists:
    """The lists of one user in one view of the database."""

    def __init__(self, db: Read, user_id: int) -> None:
        self.db = db
        self._user_id = user_id

    def page(self, which: EntryFilter, page: PageRequest) -> EntryPage:
        """Return entries with their bodies and enclosures, and how many there are on all pages."""
        return entry_lists.page(self.db, self._user_id, which, page)

    def rows(self, which: EntryFilter, page: PageRequest) -> list[Entry]:
        """Return entries without their bodies; how many there are is not counted."""
        return entry_lists.rows(self.db, self._user_id, which, page)


class EntryListReader:
    def __init__(self, database: Database, search: SearchIndexer) -> None:
        self._database = database
        self._search = search

    @contextmanager
    def open(
        self, user_id: int, *, search: str = "", feed_ids: Collection[int] = (), category_ids: Collection[int] = ()
    ) -> Iterator[EntryLists]:
        """Read lists of a user.

        search: where words are looked for, the index is brought up to date first. feed_ids, category_ids: where the
        entries are looked for; InvalidInput, with feed_id or category_id as its field, for one that is not the user's.
        """
        if search.strip():
            self._search.catch_up(user_id)
        with self._database.reading() as db:
            for feed_id in feed_ids:
                if feeds.get(db, user_id, feed_id) is None:
                    raise unknown_feed(feed_id)
            for category_id in category_ids:
                if categories.get(db, user_id, category_id) is None:
                    raise InvalidInput(msg("There is no category {id}.", id=category_id), field="category_id")
            yield EntryLists(db, user_id)

    @contextmanager
    def of(self, user_id: int, which: EntryFilter) -> Iterator[EntryLists]:
        """As `open`, for what a filter asks for."""
        feed_ids = [which.feed_id] if which.feed_id is not None else []
        category_ids = [which.category_id] if which.category_id is not None else []
        with self.open(user_id, search=which.search, feed_ids=feed_ids, category_ids=category_ids) as lists:
            yield lists
