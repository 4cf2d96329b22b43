"""Changes to entries: status, star, edits, import, saving to services, flushing the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.content import formats
from tidings.domain.accounts.users import User
from tidings.domain.entries import entry_changes
from tidings.domain.entries.entries import EditedEntryField, Entry, EntryStatus
from tidings.domain.entries.state_changes import StateChange
from tidings.domain.polling.changes import url_hash
from tidings.domain.polling.entry_policy import DEFAULT_INSTANCE, InstanceSettings
from tidings.engine import statements
from tidings.engine.database import Database, Read, Write
from tidings.services.clock import Clock
from tidings.services.group_commit import GroupCommit
from tidings.services.listeners import Listeners
from tidings.storage.entries import (
    contents,
    counters,
    duplicates,
    entries,
    entry_lists,
    history,
    read_state,
    tombstones,
)
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes

# Entries that are changed in one transaction for several requests; a request for more has its own.
MAX_GROUP_IDS = 1_000
# How long others wait while such a transaction waits for the rows of one user.
MAX_GROUP_WAIT_S = 0.1


class NoSaver(InvalidInput):
    """The user has no service to which entries could be saved. An app compares the message (docs/api.md)."""

    code = "no-integration"

    def __init__(self) -> None:
        super().__init__(
            msg("There is no third-party integration enabled: set up a service to save entries to, such as a webhook.")
        )


class Entries:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        listeners: Listeners,
        *,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._policy = instance.policy
        self._state_changes = GroupCommit(
            self._write_changes,
            owner=lambda change: change.user_id,
            weight=lambda change: len(change.entry_ids),
            max_weight=MAX_GROUP_IDS,
            patience_s=MAX_GROUP_WAIT_S,
        )

    def update(
        self,
        user: User,
        entry_ids: Sequence[int],
        *,
        status: EntryStatus | None = None,
        starred: bool | None = None,
        is_repeatable: bool = False,
    ) -> None:
        """Set the status or the star of entries. Ids that are not the user's are ignored.

        is_repeatable: removed entries, and those that have the state already, stay as they are.
        """
        self._change(user, StateChange(user.id, entry_ids, status, starred, is_repeatable=is_repeatable))

    def toggle_star(self, user: User, entry_id: int) -> None:
        """Reverse the star of an entry, as the API requires. Raises NotFound."""
        if not self._change(user, StateChange(user.id, [entry_id], toggles_star=True)):
            raise unknown_entry(entry_id)

    def _change(self, user: User, change: StateChange) -> int:
        """Return how many of the entries belong to the user."""
        if not may_save_starred(user, change):
            return self._state_changes.write(change)
        with self._database.writing() as db:
            return write_states(db, user, change, self._clock(), self._listeners)

    def _write_changes(self, changes: Sequence[StateChange]) -> Sequence[int]:
        number = sum(len(change.entry_ids) for change in changes)
        with self._database.writing(by_key=number <= MAX_GROUP_IDS) as db:
            if any(change.user_id != changes[0].user_id for change in changes):
                statements.limit_waits(db, MAX_GROUP_WAIT_S)
            now = self._clock()
            applied = entries.change_states(db, changes, now=now)
            self._listeners.tell_states(db, applied, now)
            return applied.found

    def edit(self, user: User, entry_id: int, *, title: str | None = None, content: str | None = None) -> None:
        """Replace the title or the content; later changes by the publisher do not replace them. None keeps a value.

        A value that equals the stored one changes nothing.
        """
        with self._database.reading() as db:
            entry = owned_entry(db, user.id, entry_id)
            stored = "" if content is None else entry_lists.bodies(db, [user.id], [entry_id]).get(entry_id, "")
        change = entry_changes.prepare_edit(entry, user, stored, title=title, content=content, policy=self._policy)
        if not change.edited:
            return
        with self._database.writing() as db:
            counters.lock(db, user.id, [entry.feed_id])
            entries.edit(db, owned_entry(db, user.id, entry_id), change)

    def switch_content(self, user: User, entry_id: int) -> None:
        """Show the content of the feed instead of the whole article that was fetched, or the reverse.

        The content of the feed follows its publisher, shown or not. Raises NotFound, and InvalidInput if there is
        nothing to switch to.
        """
        with self._database.writing() as db:
            counters.lock(db, user.id, [owned_entry(db, user.id, entry_id).feed_id])
            entry, extras = owned_entry(db, user.id, entry_id), contents.extras(db, user.id, entry_id)
            if extras.other_content is None:
                raise InvalidInput(msg("This entry has only one version: fetch the full article first."))
            page = entry_lists.with_bodies(db, [entry])
            edited = extras.edited ^ EditedEntryField.CONTENT
            minutes = entry_changes.minutes_after_switch(
                entry, user, extras.other_content, page.enclosures.get(entry_id, [])
            )
            stored = page.contents.get(entry_id, "")
            entries.switch_content(db, entry, extras.other_content, stored, edited=edited, minutes=minutes)

    def import_one(
        self, user: User, feed_id: int, fields: Mapping[str, Any], *, restores_deleted: bool = False
    ) -> tuple[int, bool]:
        """Import an entry into a feed. Returns its id, and whether it is new.

        fields: fields of the API. Of an entry that the feed has already, only the status and the star are changed.
        restores_deleted: an entry that was deleted from the feed comes back; otherwise it is refused.
        Raises InvalidInput for invalid fields, an unknown feed, or an entry that was deleted from it.
        """
        now = self._clock()
        ready = entry_changes.prepare_import(fields, user, now=now, policy=self._policy)
        with self._database.writing() as db:
            room = self._listeners.lock_rooms(db, [user.id]).get(user.id)
            counters.lock(db, user.id, [feed_id])
            feed = feeds.get(db, user.id, feed_id)
            if feed is None:
                raise invalid_feed_id(feed_id)
            by_id = formats.id_hashes(fields.get("external_id", ""), fields["url"])
            hashes = [url_hash(ready.url)] if feed.match_entries_by_url else by_id
            ready = msgspec.structs.replace(ready, hash=hashes[0])
            known = entry_writes.look_up(db, {feed_id: hashes}, [user.id])[feed_id]
            stored_id = next((known.ids[hash_] for hash_ in hashes if hash_ in known.ids), None)
            if stored_id is not None:
                status, starred = entry_changes.import_status(fields), fields.get("starred") or None
                entries.set_state(db, user.id, [stored_id], status=status, starred=starred, now=now)
                return stored_id, False
            if room is not None and room.problem is not None:
                raise room.problem
            if restores_deleted:
                tombstones.forget(db, user.id, feed_id, hashes)
            elif any(hash_ in known.deleted for hash_ in hashes):
                raise InvalidField("url", msg("this entry was deleted from the feed and does not come back."))
            self._listeners.tell_imported(db, user.id, len(ready.content))
            return entry_writes.add(db, user.id, feed_id, feed.category_id, [ready], now=now)[0], True

    def save(self, user: User, entry_id: int) -> None:
        """Write an event for every integration that saves entries; the deliverer sends it. Raises InvalidInput."""
        with self._database.writing() as db:
            if not self._listeners.can_save(db, user.id):
                raise NoSaver
            # Lock first, so that the feed is not deleted before the event is written.
            counters.lock(db, user.id, [owned_entry(db, user.id, entry_id).feed_id])
            self._listeners.save(db, user, owned_entry(db, user.id, entry_id), self._clock())

    def flush_history(self, user_id: int) -> None:
        """Delete read entries, except starred, shared, labelled and snoozed ones. Checks do not store them again."""
        now, reached = self._clock(), 0
        while True:
            # Several short transactions, so that others can write in between.
            with self._database.writing() as db:
                flushed = history.flush(db, user_id, after=reached, now=now)
            if flushed is None:
                return
            reached = flushed


def lock_entries(db: Write, user_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Lock the counters of the feeds of entries. Returns the ids of those entries that are the user's.

    A folded entry stands for the one that represents it.
    """
    entry_ids = duplicates.originals_or_selves(db, user_id, entry_ids)
    counters.lock(db, user_id, {feed_id for _, feed_id in entries.feeds_of(db, user_id, entry_ids)})
    return [entry_id for entry_id, _ in entries.feeds_of(db, user_id, entry_ids)]


def owned_entry(db: Read, user_id: int, entry_id: int) -> Entry:
    """Return an entry of the user. Raises NotFound."""
    entry = entries.get(db, user_id, entry_id)
    if entry is None:
        raise unknown_entry(entry_id)
    return entry


def unknown_entry(entry_id: int) -> NotFound:
    return NotFound(msg("There is no entry {id}.", id=entry_id))


def invalid_feed_id(feed_id: int) -> InvalidInput:
    """Return the error of lists and imports: in the API it is a 400, not a 404."""
    return InvalidInput(msg("There is no feed {id}.", id=feed_id), field="feed_id")


# A change of more entries comes from an app that copies the stars of another account, not from a reader.
MAX_SAVED = 100


def may_save_starred(user: User, change: StateChange) -> bool:
    """Return whether entries may be saved because of the change."""
    stars = bool(change.starred) or change.toggles_star
    return user.saves_starred and stars and len(change.entry_ids) <= MAX_SAVED


def write_states(db: Write, user: User, change: StateChange, now: Instant, listeners: Listeners) -> int:
    """Apply a change. Entries that become starred are saved to services, if the user wants that.

    Returns how many of the entries belong to the user.
    """
    starred = _not_starred(db, user, change, listeners) if may_save_starred(user, change) else []
    applied = entries.change_states(db, [change], now=now)
    (found,) = applied.found
    # The event has the entry as it is now, with its star.
    for entry in entries.get_many(db, user.id, starred) if starred else ():
        listeners.save(db, user, entry, now)
    listeners.tell_states(db, applied, now)
    return found


def _not_starred(db: Write, user: User, change: StateChange, listeners: Listeners) -> list[int]:
    """Return the ids of the entries that the change stars, if there is a service to save them to."""
    if not listeners.can_save(db, user.id):
        return []
    # Lock first, so that two requests do not both find an entry without a star.
    counters.lock(db, user.id, (feed_id for _id, feed_id in entries.feeds_of(db, user.id, change.entry_ids)))
    return read_state.differing_from(db, user.id, change.entry_ids, starred=True)
