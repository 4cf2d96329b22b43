"""Finds what a client lacks: pages of a full listing, or of what changed since its cursor.

cursor ─► rows of the log since then ─► ids by kind ─► what follows from them ─► a page ─► the objects, as they are now
          none: everything                             folded copies, feeds of                  missing: deleted
                                                       renamed categories
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import CursorExpired
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Entry, EntryStatus, Folded
from tidings.engine.database import Database, Read, Write
from tidings.services.sync_cursor import NOTHING, Cursor, Stage, read_cursor
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import ANY, Changed, Kind
from tidings.storage.entries import entries, folded
from tidings.sync import store

# How long a client may be away and still learn what has changed.
KEPT: Final = timedelta(days=30)
# Rows of the log that a user may have, however new they are: a script that changes something each second writes these
# in a day.
KEPT_ROWS: Final = 100_000
# Rows of the log between two points to which a client goes at a time.
MAX_ROWS: Final = 2_000
# Kinds of which a client gets all when one has changed.
SMALL: Final = (Kind.SETTINGS, Kind.CATEGORY, Kind.LABEL, Kind.VIEW, Kind.RULE)

# Returns the objects of a small kind by id, in their order.
ReadAll = Callable[[Read, User], Mapping[int, Any]]


class Page(Struct):
    """What a client gets."""

    following: Cursor
    """The next one."""
    has_more: bool = False
    small: dict[Kind, Mapping[int, Any]] = {}
    """All objects of the kinds that changed, by id."""
    feed_ids: Sequence[int] = ()
    """Feeds to show, or to tell as deleted if they are missing."""
    entry_ids: Sequence[int] = ()
    """The same of entries."""
    is_of_changes: bool = False
    """What is missing was deleted. In a full listing, the client never had it."""
    removed: dict[Kind, list[int]] = {}
    """Ids of small kinds that are deleted."""


class _Run(Struct, frozen=True):
    """What is listed, in pages, for the user of a cursor."""

    user: User
    limit: int
    changed: Changed | None
    """None for everything."""

    def has(self, kind: Kind) -> bool:
        return self.changed is None or bool(self.changed.get(kind))

    def next_ids(self, db: Read, kind: Kind, after: int, limit: int) -> list[int]:
        """Return the next ids of feeds or entries."""
        if self.changed is None:
            listed = store.feed_ids if kind is Kind.FEED else store.entry_ids
            return listed(db, self.user.id, after, limit)
        return sorted(id_ for id_ in self.changed.get(kind, ()) if id_ > after)[:limit]


class Sync:
    """Answers what has changed. small: how the objects of small kinds are read."""

    def __init__(self, database: Database, small: Mapping[Kind, ReadAll]) -> None:
        self._database = database
        self._small = small

    @contextmanager
    def page(self, user: User, text: str, limit: int) -> Iterator[tuple[Read, Page]]:
        """Yield a page with the state of the database from which its objects are read.

        text: the client's cursor, "" without one. limit: of feeds and entries together.
        Raises InvalidField for what is not a cursor of the user, and CursorExpired.
        """
        sent = read_cursor(text, user.id) if text else None
        with self._database.snapshot() as db:
            yield db, self._page(db, user, sent, limit)

    def _page(self, db: Read, user: User, sent: Cursor | None, limit: int) -> Page:
        if sent is None:
            last = change_log.last_point(db, user.id)
            if last is None:
                raise _expired()
            return self._fill(db, Cursor(NOTHING, last), _Run(user, limit, None))
        if sent.since == NOTHING:
            # A full listing goes on, if what changed since it began is still known.
            until = sent.until.number
            if sent.until not in (row.point for row in change_log.rows(db, user.id, until, until, limit=1)):
                raise _expired()
            return self._fill(db, sent, _Run(user, limit, None))
        last_number = change_log.MAX_NUMBER if sent.is_complete else sent.until.number
        rows = change_log.rows(db, user.id, sent.since.number, last_number, limit=MAX_ROWS + 1)
        if not {sent.since, sent.until} <= {row.point for row in rows}:
            raise _expired()
        cursor = Cursor(sent.since, rows[-1].point) if sent.is_complete else sent
        changed: Changed = {}
        for row in rows[1:]:
            for kind, ids in row.changed.items():
                changed.setdefault(kind, set()).update(ids)
        return self._fill(db, cursor, _Run(user, limit, _with_consequences(db, user, changed)))

    def _fill(self, db: Read, cursor: Cursor, run: _Run) -> Page:
        """Return the page that begins at a cursor."""
        page = Page(following=cursor, is_of_changes=run.changed is not None)
        if cursor.stage is Stage.SMALL:
            for kind in SMALL:
                if run.has(kind):
                    page.small[kind] = present = self._small[kind](db, run.user)
                    gone = (run.changed or {}).get(kind, set()) - present.keys() - {ANY}
                    page.removed[kind] = sorted(gone)
            cursor = replace(cursor, stage=Stage.FEEDS, after=0)
        left = run.limit
        if cursor.stage is Stage.FEEDS:
            # One more than fits tells whether there are more.
            page.feed_ids = run.next_ids(db, Kind.FEED, cursor.after, left + 1)
            if len(page.feed_ids) > left:
                page.feed_ids = page.feed_ids[:left]
                return _unfinished(page, replace(cursor, after=page.feed_ids[-1]))
            left -= len(page.feed_ids)
            cursor = replace(cursor, stage=Stage.ENTRIES, after=0)
        page.entry_ids = run.next_ids(db, Kind.ENTRY, cursor.after, left + 1)
        if len(page.entry_ids) > left:
            page.entry_ids = page.entry_ids[:left]
            return _unfinished(page, replace(cursor, after=page.entry_ids[-1] if page.entry_ids else cursor.after))
        page.following = Cursor(cursor.until, cursor.until)
        # Something may have changed since the first of several pages.
        page.has_more = cursor.until != change_log.last_point(db, run.user.id)
        return page


def shown_entries(db: Read, user: User, entry_ids: Sequence[int]) -> list[tuple[Entry, int]]:
    """Return the entries that apps of the user see, in this order, each with the status that they see."""
    folded_as = Folded.for_apps(user)
    found = {entry.id: entry for entry in entries.get_many(db, user.id, entry_ids)} if entry_ids else {}
    are_folded = [id_ for id_, entry in found.items() if entry.status == EntryStatus.FOLDED]
    of_originals = folded.statuses(db, user.id, are_folded) if folded_as is Folded.ALL else {}
    shown = []
    for entry_id in entry_ids:
        entry = found.get(entry_id)
        if entry is None or entry.status == EntryStatus.REMOVED:
            continue
        if entry.status != EntryStatus.FOLDED:
            shown.append((entry, entry.status))
        elif folded_as is not Folded.HIDE:
            shown.append((entry, of_originals.get(entry_id, entry.status)))
    return shown


def remove_old(db: Write, now: Instant, limit: int) -> int:
    """Remove changes that are too long ago. Returns the number of rows."""
    return store.remove_old(db, Instant(now - KEPT // timedelta(microseconds=1)), KEPT_ROWS, limit)


def _with_consequences(db: Read, user: User, changed: Changed) -> Changed:
    """Return what changed, with what shows it although its own row is the same."""
    if renamed := changed.get(Kind.CATEGORY):
        feeds = store.feeds_of_categories(db, user.id, renamed)
        changed.setdefault(Kind.FEED, set()).update(feeds)
    if (about := changed.get(Kind.ENTRY)) and Folded.for_apps(user) is not Folded.HIDE:
        about.update(store.repeating(db, user.id, about))
    return changed


def _expired() -> CursorExpired:
    return CursorExpired(
        msg("What has changed since this cursor is not known any more. Send no cursor, and replace what you have.")
    )


def _unfinished(page: Page, following: Cursor) -> Page:
    page.following, page.has_more = following, True
    return page
