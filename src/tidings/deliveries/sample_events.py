"""A sample event, to test an integration."""

from __future__ import annotations

import hashlib

from tidings.base.times import Instant
from tidings.deliveries import events
from tidings.deliveries.events import Event, FormatTime
from tidings.domain.entries.entries import Entry, EntryStatus
from tidings.domain.feeds.categories import Category
from tidings.domain.feeds.feeds import Feed

# Reserved for examples (RFC 2606).
SITE = "https://example.org/"
TITLE = "A test from Tidings"
CONTENT = "<p>This entry is made up: it shows that what Tidings sends arrives here.</p>"


def sample_feed(user_id: int, now: Instant) -> Feed:
    """Return a feed with the id 0, which no stored feed has, and with notifications enabled."""
    return Feed(
        id=0,
        user_id=user_id,
        category_id=0,
        feed_url=f"{SITE}feed.xml",
        site_url=SITE,
        title="Tidings",
        checked_at=now,
        next_check_at=now,
        ntfy_enabled=True,
        pushover_enabled=True,
    )


def sample_event(
    event_type: str, receiver: str, delivery_id: str, *, user_id: int, format_time: FormatTime, now: Instant
) -> Event:
    """Return an event about a made-up entry.

    event_type: a name in `events.EVENTS`. format_time: formats an instant in the user's time zone.
    """
    source = events.feed_payload(
        sample_feed(user_id, now), Category(0, user_id, "All", hide_globally=False), format_time=format_time
    )
    url = f"{SITE}tidings-test"
    entry = Entry(
        id=0,
        user_id=user_id,
        feed_id=0,
        category_id=0,
        status=int(EntryStatus.UNREAD),
        starred=False,
        published_at=now,
        created_at=now,
        changed_at=now,
        hash=hashlib.sha256(url.encode()).digest(),
        reading_time=1,
        title=TITLE,
        url=url,
        author="Tidings",
        comments_url="",
        language="en",
        share_code="",
        tags='["test"]',
        hidden=False,
    )
    body = events.EVENTS[event_type].body(
        source, events.entry_payload(entry, CONTENT, [], minutes=entry.reading_time, format_time=format_time)
    )
    return Event(type=event_type, delivery_id=delivery_id, attempt=1, receiver=receiver, body=body, at=now)
