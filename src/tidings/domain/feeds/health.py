"""The health of a feed, derived from the results of its checks and the dates of its entries.

The database derives it (`storage/feeds/health.py`), since a page counts and sorts thousands of feeds by it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

from tidings.base.messages import Message, decode_message, msg
from tidings.base.times import DAY, Instant

# The wait after failures grows to a day, so that this many failures in a row take more than a week.
DEAD_AFTER_FAILURES = 14
SILENT_AFTER = 180 * DAY
RARE_GAP_S = 30 * 86_400
SLOW_FROM_MS = 5_000


# What the error of a challenge for browsers says on a server that has one.
BROWSER_OFFER: Final = msg("You can also have the feed fetched through FlareSolverr.")


class FeedHealth(StrEnum):
    """In the order of urgency. DEAD: gone, or failing for more than a week.

    MOVED: it redirects permanently; the URL changes after some more checks. SILENT: no new entries for months.
    SLOW: its last response took seconds. RARE: it publishes less than once a month. WAITING: never checked.
    OFF: disabled by its user.
    """

    DEAD = "dead"
    FAILING = "failing"
    MOVED = "moved"
    SILENT = "silent"
    SLOW = "slow"
    RARE = "rare"
    WAITING = "waiting"
    OFF = "off"
    FINE = "fine"


HEALTH_STATES = tuple(FeedHealth)


class FeedOrder(StrEnum):
    """What a list of feeds is sorted by; equal ones are in the order of their titles.

    CARE: the health, problems first. NEWEST, OLDEST: the last entry. SLOWEST: the last response. NEXT: the next check.
    """

    CARE = "care"
    TITLE = "title"
    NEWEST = "newest"
    OLDEST = "oldest"
    SLOWEST = "slowest"
    NEXT = "next"
    UNREAD = "unread"


class FeedHealthSummary(Struct, frozen=True):
    """What lists of feeds are filtered and sorted by."""

    id: int
    category_id: int
    health_rank: int
    """The position in HEALTH_STATES."""
    sort_value: int
    """What lists are sorted by, ascending; then by `title_key`."""
    title: str
    title_key: str
    feed_url: str
    site_url: str

    @property
    def health(self) -> FeedHealth:
        return HEALTH_STATES[self.health_rank]


class FeedHealthData(Struct, frozen=True):
    """The health of a feed, and what is shown next to it."""

    id: int
    category_id: int
    health_rank: int
    """The position in HEALTH_STATES."""
    title: str
    feed_url: str
    site_url: str
    icon_id: int | None
    disabled: bool
    error_count: int
    """Failed checks in a row, without those caused by passing network errors."""
    error_message: str
    failed_checks: int
    """All failed checks in a row."""
    moved_to: str
    moved_times: int
    next_check_at: Instant
    took_ms: int
    """Duration of the last fetch, 0 if not known."""
    last_entry_at: Instant | None
    """None if it has no stored entries."""
    error_form: str = ""
    """The last error's message as `encode_message` stored it; "" if it cannot be translated."""
    limits_reached: str = ""
    """Values of `DocumentLimit` at which the last document was cut, and WORSE_PAGES, separated by blanks."""

    @property
    def health(self) -> FeedHealth:
        return HEALTH_STATES[self.health_rank]

    @property
    def is_offered_flaresolverr(self) -> bool:
        """Whether its site checks that visitors are human, and the server has a browser for that."""
        sentences = self.error.values.get("sentences")
        return isinstance(sentences, tuple | list) and BROWSER_OFFER in sentences

    @property
    def error(self) -> Message:
        """The message of `error_message`, which can be rendered in any language."""
        return decode_message(self.error_message, self.error_form)
