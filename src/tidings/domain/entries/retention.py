"""How long things are kept: decided here, done by `services.maintenance.cleanup`.

An entry's age counts from its last change: when it came, was read or marked unread, or its publisher edited it. Who
reads something old today still has it tomorrow.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from tidings.domain.entries.entries import EntryStatus
from tidings.domain.errors import InvalidField
from tidings.domain.messages import msg
from tidings.domain.times import DAY, Instant

# As a number of days, in the settings and of a feed.
NEVER = -1
MOST_DAYS = 36_500


# A tombstone that was seen in its feed's document is marked as seen again after this time: one write a month.
SEEN_AGAIN_AFTER = Instant(30 * DAY)
# It goes when it has been absent for months from a document that was read since.
ABSENT_FOR = Instant(90 * DAY)

# Rows changed by one transaction. SQLite has one writer: everybody else who writes waits that long.
SMALLEST_BATCH, LARGEST_BATCH = 20, 500
MEANT_TO_TAKE_S = 0.04
# So much of a file may stay empty: what is removed today makes room for what comes tomorrow.
EMPTY_PART = 20


class Retention(Struct, frozen=True):
    """After how long without a change entries go; None: never."""

    read: timedelta | None
    unread: timedelta | None

    def cutoff(self, status: EntryStatus, now: Instant, days: int | None = None) -> Instant | None:
        """What changed before it may go; None when nothing may. days: as a feed has it, over what holds for all."""
        if days is not None:
            return None if days == NEVER else Instant(now - days * DAY)
        age = self.unread if status == EntryStatus.UNREAD else self.read
        return None if age is None else Instant(now - age // timedelta(microseconds=1))


def is_allowed(days: int) -> bool:
    """Whether a feed may have this number of days."""
    return days == NEVER or 1 <= days <= MOST_DAYS


def checked_days(days: int, *, field: str) -> int:
    if not is_allowed(days):
        raise InvalidField(field, msg("send days from 1 to {most}, -1 for ever, or null.", most=MOST_DAYS))
    return days


def is_worth_marking(seen_at: Instant, now: Instant) -> bool:
    """Whether a tombstone that is in a document has to be told so."""
    return now - seen_at > SEEN_AGAIN_AFTER


def may_forget(seen_at: Instant, parsed_at: Instant | None) -> bool:
    """Whether a tombstone may go. parsed_at: when the document of its feed was last read.

    Had the entry been in that document, or in any since `ABSENT_FOR`, it would have been marked as seen. A document
    that stays the same is not read again, and forgets nothing.
    """
    return parsed_at is not None and parsed_at - seen_at > ABSENT_FOR


def next_batch(size: int, took_s: float) -> int:
    """How many rows to take next, after so many took so long: half or double at most."""
    fitting = round(size * MEANT_TO_TAKE_S / max(took_s, 0.001))
    return min(max(fitting, size // 2, SMALLEST_BATCH), size * 2, LARGEST_BATCH)


def pages_to_give_back(free: int, pages: int) -> int:
    """Of a file: how many pages, of which some are free, it is too large."""
    return max(0, free - pages // EMPTY_PART)
