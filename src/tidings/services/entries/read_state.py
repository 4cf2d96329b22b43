"""Marks many entries read, so that it can be undone.

All entries of one call get the same time of their last change, to the microsecond, which identifies them for an undo.
Entries that were changed since have another time and stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryFilter, EntryStatus, Folded, PageRequest, Shown, UnreadLists
from tidings.engine.database import Database, Write
from tidings.services.clock import Clock
from tidings.services.entries.listing import EntryListReader
from tidings.services.listeners import Listeners
from tidings.storage.entries import entries, folded, read_state
from tidings.storage.feeds import feeds


class MarkReadResult(Struct, frozen=True):
    """How much was marked as read, and how to undo it."""

    count: int
    """Number of entries that were marked."""
    moment: Instant
    """The argument of `undo`."""


class ReadMarker:
    def __init__(self, database: Database, clock: Clock, listing: EntryListReader, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listing = listing
        self._listeners = listeners

    def mark_read(self, user_id: int, entry_ids: Sequence[int]) -> MarkReadResult:
        """Mark entries read. Ids of others and of read entries are ignored."""
        now = self._clock()
        with self._database.writing() as db:
            unread = read_state.unread_of(db, user_id, entry_ids)
            if unread:
                applied = entries.set_state(db, user_id, unread, status=EntryStatus.READ, now=now)
                self._listeners.tell_states(db, applied, now)
            return MarkReadResult(len(unread), now)

    def mark_list_read(
        self, user_id: int, filter_: EntryFilter, page: PageRequest | None = None, shown: Shown | None = None
    ) -> MarkReadResult:
        """Mark the unread entries of a list read. page: only entries after its cursor, in its order.

        shown: only these; what was stored after the page was built stays unread.

        Entries dated in the future stay unread, except those that were shown, or found by a search or a query.
        """
        now = self._clock()
        if filter_.statuses and EntryStatus.UNREAD not in filter_.statuses:
            return MarkReadResult(0, now)
        if filter_.search or filter_.query:
            return self._mark_found_read(user_id, filter_, page, shown=shown)
        published_before = filter_.published_before if shown else min(now, filter_.published_before or now)
        if not _is_marked_in_one_statement(filter_):
            dated = structs.replace(filter_, published_before=published_before)
            return self._mark_found_read(user_id, dated, page, shown=shown)
        with self._database.writing() as db:
            count = entries.mark_read(
                db,
                user_id,
                feed_id=filter_.feed_id,
                category_id=filter_.category_id,
                label_ids=filter_.label_ids,
                published_before=published_before,
                except_feed_ids=feeds.hidden_feed_ids(db, user_id) if filter_.globally_visible else (),
                except_hidden=filter_.globally_visible,
                page=page,
                shown=shown,
                for_app=filter_.folded is Folded.ALL,
                now=now,
            )
            return self._told(db, user_id, count, now)

    def mark_stored_read(self, user_id: int, entry_filter: EntryFilter, before: Instant) -> MarkReadResult:
        """Mark what an app shows as unread and was stored before a moment as read: it has seen no later entries.

        entry_filter: only its feed, category, labels and star are used, unless it has a search or a query.
        """
        if entry_filter.search or entry_filter.query:
            with self._database.reading() as db:
                seen = structs.replace(entry_filter, folded=folded.seen_by_apps(db, user_id))
            return self._mark_found_read(user_id, seen, created_before=before)
        now = self._clock()
        with self._database.writing() as db:
            count = entries.mark_read(
                db,
                user_id,
                feed_id=entry_filter.feed_id,
                category_id=entry_filter.category_id,
                label_ids=entry_filter.label_ids,
                created_before=before,
                starred=entry_filter.starred,
                for_app=True,
                now=now,
            )
            return self._told(db, user_id, count, now)

    def mark_lists_read(self, user_id: int, lists: UnreadLists, before: Instant) -> MarkReadResult:
        """As `mark_stored_read`, for the entries in any of several lists, in one statement."""
        now = self._clock()
        with self._database.writing() as db:
            count = entries.mark_read(db, user_id, lists=lists, created_before=before, for_app=True, now=now)
            return self._told(db, user_id, count, now)

    def _mark_found_read(
        self,
        user_id: int,
        entry_filter: EntryFilter,
        page: PageRequest | None = None,
        *,
        shown: Shown | None = None,
        created_before: Instant | None = None,
    ) -> MarkReadResult:
        unread = structs.replace(entry_filter, statuses=(EntryStatus.UNREAD,))
        with self._listing.of(user_id, unread) as lists:
            ids = lists.all_ids(unread, page or PageRequest())
        now = self._clock()
        with self._database.writing() as db:
            count = entries.mark_read(
                db,
                user_id,
                entry_ids=ids,
                created_before=created_before,
                shown=shown,
                for_app=entry_filter.folded is Folded.ALL,
                now=now,
            )
            return self._told(db, user_id, count, now)

    def _told(self, db: Write, user_id: int, count: int, now: Instant) -> MarkReadResult:
        self._listeners.tell_marked_read(db, user_id, count, now)
        return MarkReadResult(count, now)

    def unread_of(self, user_id: int, entry_ids: Sequence[int]) -> list[int]:
        """Return which of the first 5,000 ids are unread entries of the user."""
        with self._database.reading() as db:
            return read_state.unread_of(db, user_id, entry_ids)

    def undo(self, user_id: int, moment: Instant, *, later: Sequence[int] = ()) -> int:
        """Mark the entries of an earlier call unread again. Returns their number.

        later: ids of entries that have changed since, and become unread all the same. Those of others are ignored.
        """
        now, count = self._clock(), 0
        if later:
            with self._database.writing() as db:
                read = read_state.differing_from(db, user_id, later, status=EntryStatus.UNREAD)
                count = len(read)
                self._listeners.tell_states(
                    db, entries.set_state(db, user_id, read, status=EntryStatus.UNREAD, now=now), now
                )
        with self._database.writing() as db:
            return count + read_state.undo_mark_read(db, user_id, moment, now=now)


def _is_marked_in_one_statement(entry_filter: EntryFilter) -> bool:
    """Return whether a filter has no conditions but those for which no ids have to be read."""
    others = structs.replace(
        entry_filter,
        statuses=(),
        feed_id=None,
        category_id=None,
        label_ids=(),
        globally_visible=False,
        published_before=None,
        folded=Folded.HIDE,
    )
    return others == EntryFilter()
