"""Snoozes entries, and brings them back.

    snooze: read, with a row in `snoozed_entries` ──► due: unread, without the row

So every list, counter and app treats a snoozed entry as what it is until then: a read one. Whatever makes an entry no
longer read (its user, in pages or in an app) ends the snooze in the same transaction (`storage.entries.snoozed`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.domain.entries.state_changes import StateChange
from tidings.engine.database import Database, Read
from tidings.services.clock import Clock
from tidings.services.entries.entries import lock_entries, unknown_entry
from tidings.services.listeners import Listeners
from tidings.snooze import store
from tidings.snooze.store import Snoozed, SnoozedRow
from tidings.snooze.times import parse_until
from tidings.storage.entries import entries, snoozed

# Entries in one request.
MAX_ENTRIES = 1_000
# Entries in one transaction of the worker: other writers wait about 50 ms for it.
BATCH = 500


class Snooze:
    """What users have put off."""

    def __init__(self, database: Database, clock: Clock, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners

    def snooze(self, user: User, entry_ids: Sequence[int], until: str) -> tuple[list[Snoozed], Instant]:
        """Mark entries read until a time, as `parse_until` reads it. Entries that are snoozed get the new time.

        Returns the snoozed entries, and the moment with which `read_marker.undo` brings them back. Removed entries and
        those of others are left out. Raises InvalidInput for a wrong time, and for too many entries.
        """
        now = self._clock()
        at = parse_until(until, user.timezone, now)
        if len(entry_ids) > MAX_ENTRIES:
            raise InvalidField("entry_ids", msg("at most {max} entries; send them in parts.", max=MAX_ENTRIES))
        with self._database.writing() as db:
            ids = _present(db, user.id, lock_entries(db, user.id, entry_ids))
            if ids:
                applied = entries.change_states(db, [StateChange(user.id, ids, EntryStatus.READ)], now=now)
                snoozed.put(db, user.id, dict.fromkeys(ids, at))
                self._listeners.tell_states(db, applied, now)
        return [Snoozed(id_, at) for id_ in ids], now

    def snooze_one(self, user: User, entry_id: int, until: str) -> tuple[Snoozed, Instant]:
        """As `snooze`, for one entry. Raises NotFound as well."""
        found, moment = self.snooze(user, [entry_id], until)
        if not found:
            raise unknown_entry(entry_id)
        return found[0], moment

    def end(self, user: User, entry_id: int) -> None:
        """Mark a snoozed entry unread now; one that is not snoozed stays as it is. Raises NotFound."""
        now = self._clock()
        with self._database.writing() as db:
            ids = lock_entries(db, user.id, [entry_id])
            if not ids:
                raise unknown_entry(entry_id)
            if snoozed.until(db, user.id, ids):
                change = StateChange(user.id, ids, EntryStatus.UNREAD, is_repeatable=True)
                self._listeners.tell_states(db, entries.change_states(db, [change], now=now), now)

    def list_all(self, user_id: int) -> list[Snoozed]:
        """Return the snoozed entries of a user, in the order in which they come back."""
        with self._database.reading() as db:
            return store.list_all(db, user_id)

    def page(self, user_id: int, *, offset: int, limit: int) -> list[SnoozedRow]:
        """Return some of them, with their titles."""
        with self._database.reading() as db:
            return store.page(db, user_id, offset=offset, limit=limit)

    def wake(self) -> int:
        """Mark entries unread that are due, some of each user. Returns their number."""
        now = self._clock()
        with self._database.reading() as db:
            users = store.due_users(db, now)
        return sum(self._wake(user_id, now) for user_id in users)

    def _wake(self, user_id: int, now: Instant) -> int:
        with self._database.writing() as db:
            lock_entries(db, user_id, store.due(db, user_id, now, BATCH))
            # Its user may have chosen a later time before the lock.
            ids = store.due(db, user_id, now, BATCH)
            change = StateChange(user_id, ids, EntryStatus.UNREAD, is_repeatable=True)
            applied = entries.change_states(db, [change], now=now)
            # What is left of entries that are not read, and so did not change.
            snoozed.end(db, [user_id], ids)
            self._listeners.tell_states(db, applied, now)
        return len(ids)


def _present(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Return the ids of entries that are not removed."""
    return sorted(entry.id for entry in entries.get_many(db, user_id, entry_ids) if entry.status != EntryStatus.REMOVED)
