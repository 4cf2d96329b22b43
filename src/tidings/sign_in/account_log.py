"""Keeps the log of what happens to accounts, and reads it.

Its size is bounded even while someone guesses passwords: the same events of a day share a row, and refused sign-ins of
an account have few rows a day, whatever addresses they come from.
"""

from __future__ import annotations

import hashlib
from typing import Final

from tidings.base.times import DAY, Instant
from tidings.domain.accounts.events import AccountEvent, EventKind
from tidings.domain.accounts.throttle import network_of
from tidings.engine.database import Database, Write
from tidings.sign_in import account_log_store
from tidings.sign_in.account_log_store import LogEntry, LogFilter, LogPlace
from tidings.storage.accounts import users

KEPT_FOR: Final = Instant(90 * DAY)
# Rows of refused sign-ins a day, for each method and reason: of each account, and of all names that nobody has.
REFUSALS_OF_USER: Final = 32
REFUSALS_OF_NOBODY: Final = 256


def record(db: Write, event: AccountEvent) -> None:
    """Add an event to the log, in the transaction of what happened."""
    actor = users.get(db, event.actor_id) if event.actor_id else None
    is_unknown = event.kind is EventKind.REFUSED and event.user_id is None
    entry = LogEntry(
        id=0,
        user_id=event.user_id,
        kind=event.kind,
        username="" if is_unknown else event.username,
        method=event.origin.method or "",
        second_method=event.second_method or "",
        address=event.origin.address,
        user_agent=event.origin.user_agent,
        actor=actor.username if actor else "",
        detail=event.detail,
        times=1,
        first_at=event.at,
        last_at=event.at,
    )
    account_log_store.add(db, entry, _merge_key(event, entry))


def remove_expired(db: Write, now: Instant, limit: int) -> int:
    """Delete up to `limit` entries of the log that are too old. Returns how many."""
    return account_log_store.remove_expired(db, before=Instant(now - KEPT_FOR), limit=limit)


class AccountLog:
    """Reads the log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, wanted: LogFilter, *, before: LogPlace | None, limit: int) -> tuple[list[LogEntry], LogPlace | None]:
        """Return a page of the log, the newest entries first, and where the next page begins; None after the last.

        wanted: `user_id` None only for administrators.
        """
        with self._database.reading() as db:
            found = account_log_store.page(db, wanted, before=before, limit=limit + 1)
        shown = found[:limit]
        return shown, LogPlace(shown[-1].last_at, shown[-1].id) if len(found) > limit else None


def _merge_key(event: AccountEvent, entry: LogEntry) -> bytes | None:
    """Return what an event has in common with others of the same day; None for sign-ins of browsers."""
    if event.session_id is not None:
        return None
    place = entry.address
    if event.kind is EventKind.REFUSED:
        rows = REFUSALS_OF_NOBODY if event.user_id is None else REFUSALS_OF_USER
        place = str(_digest(network_of(entry.address))[0] % rows)
        parts: tuple[str, ...] = (str(event.user_id), entry.kind, entry.method, entry.detail, place)
    else:
        parts = (
            str(event.user_id), entry.username, entry.kind, entry.method, place, entry.user_agent, entry.actor,
            entry.detail,
        )  # fmt: skip
    return _digest(str(event.at // DAY), *parts)[:16]


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()
