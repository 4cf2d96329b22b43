"""Writes changes of states, and saves entries that become starred to services, for users who want that."""

from __future__ import annotations

from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.state_changes import StateChange
from tidings.engine.database import Write
from tidings.services.listeners import Listeners
from tidings.storage.entries import counters, entries, read_state

# A change of more entries comes from an app that copies the stars of another account, not from a reader.
MAX_SAVED = 100


def may_save(user: User, change: StateChange) -> bool:
    """Returns whether entries may be saved because of the change."""
    stars = bool(change.starred) or change.toggles_star
    return user.saves_starred and stars and len(change.entry_ids) <= MAX_SAVED


def write(db: Write, user: User, change: StateChange, now: Instant, listeners: Listeners) -> int:
    """Apply a change. Entries that become starred are saved to services, if the user wants that.

    Returns how many of the entries belong to the user.
    """
    starred = _not_starred(db, user, change, listeners) if may_save(user, change) else []
    (found,) = entries.change_states(db, [change], now=now)
    # The event has the entry as it is now, with its star.
    for entry in entries.get_many(db, user.id, starred) if starred else ():
        listeners.save(db, user, entry, now)
    return found


def _not_starred(db: Write, user: User, change: StateChange, listeners: Listeners) -> list[int]:
    """Returns the ids of the entries that the change stars, if there is a service to save them to."""
    if not listeners.can_save(db, user.id):
        return []
    # Lock first, so that two requests do not both find an entry without a star.
    counters.lock(db, user.id, (feed_id for _id, feed_id in entries.feeds_of(db, user.id, change.entry_ids)))
    return read_state.differing_from(db, user.id, change.entry_ids, starred=True)
