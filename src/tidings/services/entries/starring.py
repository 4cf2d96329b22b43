"""Writes changes of states, and saves entries that become starred to services, for users who want that."""

from __future__ import annotations

from tidings.domain.accounts.users import User
from tidings.domain.deliveries.events import SAVE_ENTRY
from tidings.domain.entries.entries import Entry
from tidings.domain.entries.state_changes import StateChange
from tidings.domain.times import Instant
from tidings.services.deliveries import outbox
from tidings.storage.engine.database import Write
from tidings.storage.entries import counters, entries

# Who stars more entries at once does not read them: an app copies the stars of another account.
MAX_SAVED = 100


def may_save(user: User, change: StateChange) -> bool:
    """Returns whether entries may be saved because of the change."""
    stars = bool(change.starred) or change.toggles_star
    return user.saves_starred and stars and len(change.entry_ids) <= MAX_SAVED


def write(db: Write, user: User, change: StateChange, now: Instant) -> int:
    """Apply a change. For each entry that becomes starred, write an event for the services that save entries.

    Returns how many of the entries belong to the user.
    """
    starred = _not_starred(db, user, change) if may_save(user, change) else []
    (found,) = entries.change_states(db, [change], now=now)
    for entry in starred:
        outbox.post_entry_event(db, user, SAVE_ENTRY, entry, now)
    return found


def _not_starred(db: Write, user: User, change: StateChange) -> list[Entry]:
    if not outbox.enabled_integrations(db, user.id, SAVE_ENTRY):
        return []
    # Lock first, so that two requests do not both find an entry without a star.
    counters.lock(db, user.id, {entry.feed_id for entry in entries.get_many(db, user.id, change.entry_ids)})
    return [entry for entry in entries.get_many(db, user.id, change.entry_ids) if not entry.starred]
