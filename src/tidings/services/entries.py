"""Reading marks, stars, and what else a user does to entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tidings.domain import entry_changes
from tidings.domain.entries import Entry, Status
from tidings.domain.errors import InvalidInput, NotFound
from tidings.domain.identity import hash_of_address
from tidings.domain.ingestion import USUAL, Instance
from tidings.domain.integrations import SAVE_TARGETS
from tidings.domain.users import User
from tidings.services import outbox
from tidings.services.clock import Clock
from tidings.storage import counters, entries, feeds, history, intake, integrations
from tidings.storage.database import Database, Read


class Entries:
    def __init__(self, database: Database, clock: Clock, *, instance: Instance = USUAL) -> None:
        self._database = database
        self._clock = clock
        self._policy = instance.policy

    def update(
        self,
        user_id: int,
        entry_ids: Sequence[int],
        *,
        status: Status | None = None,
        starred: bool | None = None,
    ) -> None:
        """Ids that are not the user's are passed over."""
        with self._database.writing() as db:
            entries.set_state(db, user_id, entry_ids, status=status, starred=starred, now=self._clock())

    def toggle_star(self, user_id: int, entry_id: int) -> None:
        """A flip by contract; inside it becomes an end."""
        with self._database.writing() as db:
            counters.hold(db, user_id, [owned(db, user_id, entry_id).feed_id])
            starred = not owned(db, user_id, entry_id).starred
            entries.set_state(db, user_id, [entry_id], starred=starred, now=self._clock())

    def edit(self, user: User, entry_id: int, *, title: str | None = None, content: str | None = None) -> None:
        """Give it other words; they stay when the publisher changes the entry. None leaves a value as it is."""
        with self._database.reading() as db:
            entry = owned(db, user.id, entry_id)
        change = entry_changes.edit(entry, user, title=title, content=content, policy=self._policy)
        if not change.edited:
            return
        with self._database.writing() as db:
            counters.hold(db, user.id, [entry.feed_id])
            entries.edit(db, owned(db, user.id, entry_id), change)

    def import_one(self, user: User, feed_id: int, given: Mapping[str, Any]) -> tuple[int, bool]:
        """Bring an entry along from elsewhere; its id, and whether it is new.

        given: fields of the API. One that the feed has already only takes the status and the star that were sent.
        """
        now = self._clock()
        ready = entry_changes.imported(given, user, now=now, policy=self._policy)
        with self._database.writing() as db:
            counters.hold(db, user.id, [feed_id])
            feed = feeds.get(db, user.id, feed_id)
            if feed is None:
                raise unknown_feed(feed_id)
            if feed.match_entries_by_url:
                ready = msgspec.structs.replace(ready, hash=hash_of_address(ready.url))
            met = intake.met_by(db, feed_id, [ready.hash])
            known = met.known.get(ready.hash)
            if known is not None:
                status, starred = entry_changes.state(given), given.get("starred") or None
                entries.set_state(db, user.id, [known.id], status=status, starred=starred, now=now)
                return known.id, False
            if ready.hash in met.buried:
                raise InvalidInput("url: this entry was deleted from the feed and does not come back.", field="url")
            return intake.add(db, user.id, feed_id, feed.category_id, [ready], now=now)[0], True

    def save(self, user: User, entry_id: int) -> None:
        """Hand an entry to every service that the user saves to. It leaves the house later, from the outbox."""
        with self._database.writing() as db:
            targets = integrations.enabled(db, user.id, SAVE_TARGETS)
            if not targets:
                raise InvalidInput("No service to save entries to is switched on: set one up, such as a webhook.")
            outbox.post_saved(db, user, owned(db, user.id, entry_id), targets, self._clock())

    def flush_history(self, user_id: int) -> None:
        """Delete what was read, but for starred and shared entries; it never comes back."""
        now, reached = self._clock(), 0
        while True:
            # A transaction each: others get their turn in between.
            with self._database.writing() as db:
                found = history.flush(db, user_id, after=reached, now=now)
            if found is None:
                return
            reached = found


def owned(db: Read, user_id: int, entry_id: int) -> Entry:
    entry = entries.get(db, user_id, entry_id)
    if entry is None:
        raise NotFound(f"There is no entry {entry_id}.")
    return entry


def unknown_feed(feed_id: int) -> InvalidInput:
    """A 400 by contract where entries are listed or imported."""
    return InvalidInput(f"There is no feed {feed_id}.", field="feed_id")
