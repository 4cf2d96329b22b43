"""Subscriptions to lists of feeds, and what follows when a list has changed."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from tidings.base.messages import Message, decode_message
from tidings.base.times import DAY, HOUR, Instant
from tidings.domain.feeds.opml import OpmlSubscription

# Lists of one user.
MAX_SUBSCRIPTIONS = 20
# Feeds that one list may bring; it is somebody else's, and may grow at any time.
MAX_FEEDS = 1_000
INTERVAL = 4 * HOUR
MAX_WAIT = DAY


class OpmlSource(Struct, frozen=True):
    """One row of `opml_subscriptions`, without its claim."""

    id: int
    user_id: int
    url: str
    category_id: int
    etag: str
    last_modified: str
    created_at: Instant
    checked_at: Instant
    next_check_at: Instant
    failures: int
    error: str
    error_form: str

    @property
    def problem(self) -> Message | None:
        """Why the last check failed; None if it did not."""
        return decode_message(self.error, self.error_form) if self.error else None


class ListedFeed(Struct, frozen=True):
    """One row of `opml_feeds`: a feed that a list names, or that was added for it."""

    url: str
    feed_id: int | None
    missing_since: Instant | None


class ListChange(Struct, frozen=True):
    """What a document changes."""

    new: dict[str, OpmlSubscription]
    """Feeds that it names for the first time, by URL."""
    gone: list[str]
    """URLs whose feeds it does not name any more."""
    forgotten: list[str]
    """URLs that it does not name any more, and for which no feed was added or is left."""
    back: list[str]
    """URLs that it names again."""
    left_out: int
    """How many new feeds are not added, because there are `MAX_FEEDS` already."""


def compare(known: Iterable[ListedFeed], listed: Iterable[OpmlSubscription]) -> ListChange:
    """Return what a document changes. known: the rows of its subscription. listed: what the document names."""
    by_url: dict[str, OpmlSubscription] = {one.values["feed_url"]: one for one in reversed([*listed])}
    rows = {row.url: row for row in known}
    missing = [row for row in rows.values() if row.url not in by_url]
    forgotten = [row.url for row in missing if row.feed_id is None]
    unknown = {url: one for url, one in reversed(by_url.items()) if url not in rows}
    room = max(0, MAX_FEEDS - len(rows) + len(forgotten))
    return ListChange(
        new=dict([*unknown.items()][:room]),
        gone=[row.url for row in missing if row.feed_id is not None and row.missing_since is None],
        forgotten=forgotten,
        back=[row.url for row in rows.values() if row.missing_since is not None and row.url in by_url],
        left_out=max(0, len(unknown) - room),
    )


def wait_after(failures: int) -> int:
    """Return the microseconds until the next check. failures: checks that failed since the last success."""
    return min(INTERVAL << min(failures, 8), MAX_WAIT)
