"""Counts the unread entries of saved views, for the sidebar of every page and for apps.

Counts that took long are kept in this process: for a minute while no entry of the user changes, and pages, whose
scripts ask again, show them even after a change.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from tidings.base.errors import InvalidField
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Total
from tidings.domain.entries.saved_views import SavedView
from tidings.engine.database import Database
from tidings.query.model import DatedQuery
from tidings.services.clock import Clock
from tidings.services.entries.queries import Resolver
from tidings.services.entries.search_index import SearchIndexer
from tidings.services.listeners import Listeners
from tidings.storage.entries import query_filter, unread_counts

# Counts that take longer are kept.
SLOW_S: Final = 0.05
# Where counting a view stops: nobody reads so many entries one after the other.
COUNTED: Final = 1_000
KEPT_S: Final = 60
MAX_KEPT: Final = 1_000


class ViewCounts(Struct, frozen=True):
    """The saved views of a user with their numbers of unread entries, in the order of the sidebar."""

    views: Sequence[tuple[SavedView, Total | None]] = ()
    """The number is None for a view whose query cannot be answered, and not exact if there are more than COUNTED."""
    is_old: bool = False
    """Entries have changed since they were counted."""


class _Kept(Struct, frozen=True):
    """Counts of a user's views, and for which state of views and entries they hold."""

    views: Sequence[SavedView]
    """All of the user: their queries may refer to each other."""
    state: tuple[int, int]
    counted_at: float
    counts: dict[int, Total]


class ViewCounter:
    def __init__(self, database: Database, clock: Clock, search: SearchIndexer, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._search = search
        self._listeners = listeners
        self._kept: OrderedDict[tuple[int, bool], _Kept] = OrderedDict()

    def count(self, user: User, *, may_be_old: bool = False, in_apps: bool = False) -> ViewCounts:
        """Return the views of a user with their counts.

        may_be_old: slow ones may be up to a minute old. in_apps: only the views that apps see.
        """
        with self._database.reading() as db:
            views = self._listeners.views_of(db, user.id)
            shown = [view for view in views if view.in_apps or not in_apps]
            if not shown:
                return ViewCounts()
            key = user.id, in_apps
            kept, state = self._kept.get(key), unread_counts.state(db, user.id)
        if kept is not None and kept.views == views and time.monotonic() < kept.counted_at + KEPT_S:
            is_old = kept.state != state
            if may_be_old or not is_old:
                return ViewCounts([(view, kept.counts.get(view.id)) for view in shown], is_old)
        started = time.monotonic()
        counts = self._count(user, shown, Resolver(views))
        took = time.monotonic() - started
        self._kept.pop(key, None)
        if took > SLOW_S:
            self._kept[key] = _Kept(views, state, started, counts)
            while len(self._kept) > MAX_KEPT:
                with suppress(KeyError):
                    self._kept.popitem(last=False)
        return ViewCounts([(view, counts.get(view.id)) for view in shown])

    def _count(self, user: User, views: Sequence[SavedView], resolver: Resolver) -> dict[int, Total]:
        now = self._clock()
        queries: dict[int, DatedQuery] = {}
        for view in views:
            with suppress(InvalidField):
                queries[view.id] = DatedQuery(resolver.tree_of(view), now, user.timezone)
        if any(query_filter.needs_index(query.tree) for query in queries.values()):
            self._search.catch_up(user.id)
        with self._database.reading() as db:
            return unread_counts.count(db, user.id, queries, up_to=COUNTED)
