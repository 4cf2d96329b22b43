"""Marks that apps of the Fever API set. An app can undo its last marks as read.

Every mark names the state to set, so that a repeated one changes nothing. When an app marks entries read, the time is
stored with its API password; an undo marks what was read in the 15 seconds up to that time as unread, and clears it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import EntryFilter, EntryStatus
from tidings.domain.entries.state_changes import StateChange
from tidings.engine.database import Database
from tidings.services.accounts.app_logins import FeverLogin
from tidings.services.clock import Clock
from tidings.services.entries.entries import write_states
from tidings.services.listeners import Listeners
from tidings.storage.accounts import api_passwords
from tidings.storage.entries import entries, read_state

UNDO_WINDOW = 15 * SECOND


class AppMarks:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners

    def set_status(self, login: FeverLogin, entry_ids: Sequence[int], status: EntryStatus) -> None:
        """Mark entries read or unread. Ids that are not the user's are ignored."""
        now, user_id = self._clock(), login.user.id
        with self._database.writing() as db:
            changed = read_state.differing_from(db, user_id, entry_ids, status=status)
            if not changed:
                return
            applied = entries.set_state(db, user_id, changed, status=status, now=now)
            self._listeners.tell_states(db, applied, now)
            if status is EntryStatus.READ:
                api_passwords.set_marked_read(db, user_id, login.password_id, now)

    def set_starred(self, login: FeverLogin, entry_ids: Sequence[int], starred: bool) -> None:
        """Star entries, or remove their star. Ids that are not the user's are ignored."""
        now, user_id = self._clock(), login.user.id
        with self._database.writing() as db:
            changed = read_state.differing_from(db, user_id, entry_ids, starred=starred)
            if changed:
                write_states(db, login.user, StateChange(user_id, changed, starred=starred), now, self._listeners)

    def mark_list_read(self, login: FeverLogin, entry_filter: EntryFilter, stored_until: Instant) -> None:
        """Mark the unread entries of a feed, a category or all feeds read.

        stored_until: entries stored later stay unread, since the app has not shown them.
        """
        now, user_id = self._clock(), login.user.id
        with self._database.writing() as db:
            count = entries.mark_read(
                db,
                user_id,
                feed_id=entry_filter.feed_id,
                category_id=entry_filter.category_id,
                created_before=Instant(stored_until + 1),
                for_app=True,
                now=now,
            )
            if count:
                api_passwords.set_marked_read(db, user_id, login.password_id, now)
                self._listeners.tell_marked_read(db, user_id, count, now)

    def undo_read(self, login: FeverLogin) -> int:
        """Mark unread what was read in the 15 seconds up to the app's last mark.

        Returns how many entries; 0 if the mark is undone already.
        """
        now, user_id = self._clock(), login.user.id
        with self._database.writing() as db:
            marked_at = api_passwords.marked_read_at(db, user_id, login.password_id)
            if marked_at is None:
                return 0
            api_passwords.set_marked_read(db, user_id, login.password_id, None)
            return read_state.undo_mark_read(db, user_id, marked_at, since=Instant(marked_at - UNDO_WINDOW), now=now)
