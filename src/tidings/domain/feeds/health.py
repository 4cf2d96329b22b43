"""How a feed is: what is worth looking after, told from what checks and entries left behind."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from tidings.domain.messages import Message, decode_message
from tidings.domain.times import DAY, Instant

# Waits grow to a day: so many failures in a row are more than a week.
DEAD_AFTER_FAILURES = 14
SILENT_AFTER = 180 * DAY
RARE_GAP_S = 30 * 86_400
SLOW_FROM_MS = 5_000


class FeedHealth(StrEnum):
    """In the order in which somebody would want to see to them. DEAD: gone, or failing for more than a week.

    MOVED: it says that it lives elsewhere, and we follow soon. WAITING: never checked. SILENT: works, and says nothing.
    SLOW: its last answer took seconds. RARE: less than once a month. OFF: switched off by its user.
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


class FeedSigns(Struct, frozen=True):
    """error_count: of checks that the feed is to blame for; failed_checks: of all in a row.

    is_waiting: was imported, and not checked since. last_entry_at: None when nothing of it is kept. news_gap_s: between
    news, 0 when not known. took_ms: until the last answer was there, 0 when not known.
    """

    id: int
    category_id: int
    title: str
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

    @property
    def error(self) -> Message:
        """What `error_message` says, to be rendered in any language."""
        return decode_message(self.error_message, self.error_form)


def health(feed: FeedSigns, now: Instant) -> FeedHealth:
    """The first that is true."""
    if feed.disabled:
        # What is switched off because its publisher wants no more of it still says why.
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
