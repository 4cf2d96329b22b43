"""The health of a feed, derived from the results of its checks and the dates of its entries."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from tidings.domain.messages import Message, decode_message
from tidings.domain.times import DAY, Instant

# The wait after failures grows to a day, so that this many failures in a row take more than a week.
DEAD_AFTER_FAILURES = 14
SILENT_AFTER = 180 * DAY
RARE_GAP_S = 30 * 86_400
SLOW_FROM_MS = 5_000


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


class FeedHealthData(Struct, frozen=True):
    """The columns of a feed from which its health is derived, and those shown beside it.

    title_key: the title case-folded, for the order of lists.
    error_count: failed checks in a row, without those caused by passing network errors; failed_checks: all in a row.
    is_waiting: imported, and not checked yet. last_entry_at: None if it has no stored entries.
    news_gap_s: average seconds between updates, 0 if not known. took_ms: duration of the last fetch, 0 if not known.
    limits_reached: values of `DocumentLimit` at which the last document was cut, separated by blanks.
    """

    id: int
    category_id: int
    title: str
    title_key: str
    feed_url: str
    site_url: str
    icon_id: int | None
    disabled: bool
    error_count: int
    error_message: str
    failed_checks: int
    moved_to: str
    moved_times: int
    is_waiting: bool
    created_at: Instant
    checked_at: Instant
    next_check_at: Instant
    news_gap_s: int
    took_ms: int
    check_interval_minutes: int
    unread: int
    last_entry_at: Instant | None
    error_form: str = ""
    limits_reached: str = ""

    @property
    def error(self) -> Message:
        """The message of `error_message`, which can be rendered in any language."""
        return decode_message(self.error_message, self.error_form)


def health(feed: FeedHealthData, now: Instant) -> FeedHealth:
    """Returns the first state that applies."""
    if feed.disabled:
        # A feed that was disabled because of errors shows as dead, with its error.
        return FeedHealth.DEAD if feed.error_count else FeedHealth.OFF
    if feed.error_count:
        return FeedHealth.DEAD if feed.failed_checks >= DEAD_AFTER_FAILURES else FeedHealth.FAILING
    if feed.moved_to:
        return FeedHealth.MOVED
    if feed.is_waiting:
        return FeedHealth.WAITING
    if now - (feed.created_at if feed.last_entry_at is None else feed.last_entry_at) > SILENT_AFTER:
        return FeedHealth.SILENT
    if feed.took_ms >= SLOW_FROM_MS:
        return FeedHealth.SLOW
    return FeedHealth.RARE if feed.news_gap_s > RARE_GAP_S else FeedHealth.FINE
