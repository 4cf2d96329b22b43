"""How long entries are kept; `maintenance.cleanup` applies these rules.

The age of an entry counts from its last change: when it was stored, marked read or unread, or edited by its publisher.
An old entry that is read today is therefore not deleted tomorrow.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.times import DAY, Instant
from tidings.domain.entries.entries import EntryStatus

# The number of days that means "never delete", in the settings and in a feed.
NEVER = -1
MAX_DAYS = 36_500


# While the document still holds a deleted entry, `seen_at` of its tombstone is not written more often than this.
SEEN_AT_INTERVAL = Instant(30 * DAY)
# A tombstone is deleted when the documents of its feed have not held the entry for this long.
TOMBSTONE_RETENTION = Instant(90 * DAY)

# Rows changed by one transaction. SQLite has one writer: every other writer waits until the transaction ends.
MIN_BATCH, MAX_BATCH = 20, 500
TARGET_BATCH_S = 0.04
# One page in this many of a database file may stay free, since new rows will use it.
FREE_PAGES_DIVISOR = 20


class Retention(Struct, frozen=True):
    """After how long without a change entries are deleted; None: never."""

    read: timedelta | None
    unread: timedelta | None

    def cutoff(self, status: EntryStatus, now: Instant, days: int | None = None) -> Instant | None:
        """Return the time before which an entry must have changed to be deleted; None if none is deleted.

        days: the feed's setting, which overrides the instance's; None if it has none.
        """
        if days is not None:
            return None if days == NEVER else Instant(now - days * DAY)
        age = self.unread if status == EntryStatus.UNREAD else self.read
        return None if age is None else Instant(now - age // timedelta(microseconds=1))


def is_allowed(days: int) -> bool:
    """Return whether the number of days is a valid setting of a feed."""
    return days == NEVER or 1 <= days <= MAX_DAYS


def validate_days(days: int, *, field: str) -> int:
    """Return the number of days. Raises InvalidInput if it is not valid."""
    if not is_allowed(days):
        raise InvalidField(field, msg("send days from 1 to {max}, -1 for ever, or null.", max=MAX_DAYS))
    return days


def needs_seen_update(seen_at: Instant, now: Instant) -> bool:
    """Return whether `seen_at` of a tombstone is to be written, now that a document holds its entry."""
    return now - seen_at > SEEN_AT_INTERVAL


def is_tombstone_expired(seen_at: Instant, parsed_at: Instant | None) -> bool:
    """Return whether a tombstone may be deleted. parsed_at: when a document of its feed was last parsed.

    If the documents since `seen_at` had held the entry, `seen_at` would be newer. An unchanged document is not parsed
    again, so that its tombstones stay.
    """
    return parsed_at is not None and parsed_at - seen_at > TOMBSTONE_RETENTION


def next_batch_size(size: int, took_s: float) -> int:
    """Return how many rows the next transaction changes, after `size` rows took `took_s` seconds.

    The size changes by a factor of two at most.
    """
    fitting = round(size * TARGET_BATCH_S / max(took_s, 0.001))
    return min(max(fitting, size // 2, MIN_BATCH), size * 2, MAX_BATCH)


def pages_to_release(free: int, pages: int) -> int:
    """Return how many of the free pages of a database file to return to the file system. pages: its size."""
    return max(0, free - pages // FREE_PAGES_DIVISOR)
