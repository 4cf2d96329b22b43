"""Keeps accounts within their limits.

Feeds and entries are counted when something is added, which costs as much as the user has feeds. The size of articles
is measured in the background, about once a day, and what arrives is added in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from tidings.base.times import DAY, MINUTE, Instant
from tidings.domain.accounts.events import AccountEvent, EventKind, Origin
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read, Write
from tidings.services.accounts.users import by_id
from tidings.services.clock import Clock
from tidings.services.listeners import AccountRoom, ArrivingEntries, Listeners
from tidings.sign_in import limits_store
from tidings.sign_in.limits_model import MEGABYTE, Limits, Usage, room_for_entries, too_many_feeds
from tidings.sign_in.limits_store import StoredLimits
from tidings.storage.accounts import users

MEASURE_EVERY: Final = DAY
# Those who are full may have deleted something.
MEASURE_FULL_EVERY: Final = 10 * MINUTE


class AccountLimiter:
    """default: the limits of accounts that have none of their own."""

    def __init__(self, database: Database, clock: Clock, listeners: Listeners, default: Limits) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self.default = default

    def check_feeds(self, db: Write, user_id: int, more: int) -> None:
        """Raise AccountFull if a user may not have this many more feeds."""
        limits = self._stored(db, user_id).limits.or_default(self.default)
        if not limits.max_feeds:
            return
        # Another request may be adding feeds at the same time.
        users.lock(db, user_id)
        if error := too_many_feeds(limits, limits_store.usage_of(db, user_id, None), more):
            raise error

    def rooms(self, db: Read, user_ids: Collection[int]) -> Mapping[int, AccountRoom]:
        """Return how much more these users may have, without those whose entries and size have no limit."""
        stored = limits_store.limits_of(db, user_ids)
        rooms: dict[int, AccountRoom] = {}
        for user_id in user_ids:
            own = stored.get(user_id, StoredLimits())
            limits = own.limits.or_default(self.default)
            if not limits.max_entries and not limits.max_megabytes:
                continue
            size = own.size_bytes
            if limits.max_megabytes and size is None:
                # The limit is new, or the account is.
                size = limits_store.measured_size(db, user_id)
            rooms[user_id] = room_for_entries(limits, limits_store.usage_of(db, user_id, size))
        return rooms

    def measure(self, db: Write, user_id: int) -> None:
        """Measure the articles of a user whose size is limited."""
        if self._stored(db, user_id).limits.or_default(self.default).max_megabytes:
            limits_store.set_size(db, user_id, limits_store.measured_size(db, user_id), self._clock())

    def add_size(self, db: Write, user_id: int, size_bytes: int) -> None:
        """Add what was imported to the size that was measured."""
        limits_store.add_size(db, user_id, size_bytes)

    def add_sizes(self, db: Write, arriving: Sequence[ArrivingEntries]) -> None:
        """Add what arrives to the sizes that were measured."""
        sizes: Counter[int] = Counter()
        for one in arriving:
            sizes[one.user.id] += sum(len(entry.content) for entry in one.new.values())
        measured = limits_store.limits_of(db, sizes)
        for user_id in sorted(measured):
            if sizes[user_id] and measured[user_id].size_bytes is not None:
                limits_store.add_size(db, user_id, sizes[user_id])

    def find(self, user_id: int) -> tuple[User, Limits, Usage]:
        """Return a user, the limits of their own, and what the account has. Raises NotFound."""
        with self._database.reading() as db:
            user, stored = by_id(db, user_id), self._stored(db, user_id)
            return user, stored.limits, limits_store.usage_of(db, user_id, stored.size_bytes)

    def change(self, caller: User, user_id: int, limits: Limits, origin: Origin) -> None:
        """Set the limits of an account. Raises NotFound and InvalidField."""
        limits.validated()
        with self._database.writing() as db:
            user = by_id(db, user_id)
            limits_store.set_limits(db, user_id, limits)
            self._listeners.tell_account(
                db,
                AccountEvent.of(
                    EventKind.USER_CHANGED,
                    user,
                    at=self._clock(),
                    origin=origin,
                    actor=caller,
                    detail=", ".join(
                        f"{name}: {'default' if value is None else value}"
                        for name in Limits.__struct_fields__
                        for value in [getattr(limits, name)]
                    ),
                ),
            )

    def measure_next(self) -> bool:
        """Measure the articles of one account whose size is limited. Returns False if none is due."""
        now = self._clock()
        with self._database.reading() as db:
            user_id = limits_store.due_for_measuring(
                db,
                default_megabytes=self.default.max_megabytes or 0,
                before=Instant(now - MEASURE_EVERY),
                full_before=Instant(now - MEASURE_FULL_EVERY),
            )
            if user_id is None:
                return False
            size = limits_store.measured_size(db, user_id)
        with self._database.writing() as db:
            if users.get(db, user_id) is not None:
                limits_store.set_size(db, user_id, size, now)
        return True

    @staticmethod
    def _stored(db: Read, user_id: int) -> StoredLimits:
        return limits_store.limits_of(db, [user_id]).get(user_id, StoredLimits())


def megabytes(size_bytes: int | None) -> int:
    """Return a size in megabytes, rounded up."""
    return -(-(size_bytes or 0) // MEGABYTE)
