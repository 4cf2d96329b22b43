"""Lists of entries, for the API, the web pages and feed links."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from msgspec import structs

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.entries.entries import Direction, Entry, EntryFilter, Order, PageRequest, Total
from tidings.engine.database import Database, Read
from tidings.engine.statements import split_ids
from tidings.query.model import DatedQuery
from tidings.services.entries.entries import invalid_feed_id
from tidings.services.entries.labels import check_owned
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.entries import entry_lists, query_filter
from tidings.storage.entries.entry_lists import WHOLE, EntryPage, Parts
from tidings.storage.feeds import categories, feeds

# Where counting the entries of a query stops, if its list has more.
COUNTED = 10_000
# More entries than any user has.
_ALL = 2**31 - 1


def needs_index(search: str, query: DatedQuery | None) -> bool:
    """Return whether a list with this search and query looks words up in the full-text index."""
    return bool(search.strip()) or (query is not None and query_filter.needs_index(query.tree))


class EntryLists:
    """Lists of one user, all read in one transaction."""

    def __init__(self, db: Read, user_id: int) -> None:
        self.db = db
        self._user_id = user_id

    def page(self, filter_: EntryFilter, page: PageRequest, parts: Parts = WHOLE) -> EntryPage:
        """Return entries with their bodies and enclosures, and the total number on all pages."""
        return entry_lists.page(self.db, self._user_id, filter_, page, parts)

    def page_ids(self, filter_: EntryFilter, page: PageRequest) -> tuple[list[int], Total]:
        """Return the ids of a page in its order, and the total number on all pages."""
        return entry_lists.page_ids(self.db, self._user_id, filter_, page)

    def rows(self, filter_: EntryFilter, page: PageRequest) -> list[Entry]:
        """Return entries without their bodies and without the total number."""
        return entry_lists.rows(self.db, self._user_id, filter_, page)

    def ids(self, entry_filter: EntryFilter, *, direction: Direction, limit: int) -> str:
        """Return ids in their order, separated by commas. Ids rise with the time at which entries were stored."""
        if entry_filter.search or entry_filter.query:
            request = PageRequest(order=Order.ID, direction=direction, limit=limit)
            return entry_lists.found_ids(self.db, self._user_id, entry_filter, request)
        since = entry_filter.created_after
        if since is not None and entry_lists.is_older_than_all(self.db, self._user_id, since):
            entry_filter = structs.replace(entry_filter, created_after=None)
        elif since is not None:
            first = entry_lists.first_id_created_after(self.db, self._user_id, since)
            if first is None:
                return ""
            entry_filter = structs.replace(
                entry_filter, after_entry_id=max(first - 1, entry_filter.after_entry_id or 0)
            )
        return entry_lists.id_page(self.db, self._user_id, entry_filter, direction=direction, limit=limit)

    def all_ids(self, entry_filter: EntryFilter, page: PageRequest) -> list[int]:
        """Return the ids of a whole list after the cursor of a page, in its order."""
        whole = structs.replace(page, limit=_ALL, offset=0)
        return split_ids(entry_lists.found_ids(self.db, self._user_id, entry_filter, whole))

    def count(self, entry_filter: EntryFilter) -> int:
        if entry_filter.search or entry_filter.query:
            return self.page_ids(entry_filter, PageRequest(limit=1))[1].number
        return entry_lists.total(self.db, self._user_id, entry_filter)


class EntryListReader:
    def __init__(self, database: Database, search: SearchIndexer) -> None:
        self._database = database
        self._search = search

    @contextmanager
    def open(
        self,
        user_id: int,
        *,
        search: str = "",
        query: DatedQuery | None = None,
        feed_ids: Collection[int] = (),
        category_ids: Collection[int] = (),
        label_ids: Collection[int] = (),
    ) -> Iterator[EntryLists]:
        """Yield the lists of a user.

        search, query: what the filter has; if they ask for words, the index is updated first. feed_ids, category_ids,
        label_ids: the ids in the filters. Raises InvalidInput, with feed_id, category_id or label_id as its field, if
        one is not the user's.
        """
        if needs_index(search, query):
            self._search.catch_up(user_id)
        with self._database.reading() as db:
            for feed_id in feed_ids:
                if feeds.get(db, user_id, feed_id) is None:
                    raise invalid_feed_id(feed_id)
            for category_id in category_ids:
                if categories.get(db, user_id, category_id) is None:
                    raise InvalidInput(msg("There is no category {id}.", id=category_id), field="category_id")
            check_owned(db, user_id, label_ids, field="label_id")
            yield EntryLists(db, user_id)

    @contextmanager
    def of(self, user_id: int, filter_: EntryFilter) -> Iterator[EntryLists]:
        """Yield the lists of a user, as `open` does with the values of the filter."""
        feed_ids = [filter_.feed_id] if filter_.feed_id is not None else []
        category_ids = [filter_.category_id] if filter_.category_id is not None else []
        with self.open(
            user_id,
            search=filter_.search,
            query=filter_.query,
            feed_ids=feed_ids,
            category_ids=category_ids,
            label_ids=filter_.label_ids,
        ) as lists:
            yield lists
