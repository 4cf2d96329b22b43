"""A made-up event: for whoever wants to see whether a service takes one."""

from __future__ import annotations

import hashlib

from tidings.domain import events
from tidings.domain.categories import Category
from tidings.domain.entries import Entry, Status
from tidings.domain.events import Event, Show
from tidings.domain.feeds import Feed
from tidings.domain.times import Instant

# Reserved for examples (RFC 2606): nobody's feed, and nobody's page.
SITE = "https://example.org/"
TITLE = "A test from Tidings"
CONTENT = "<p>This entry is made up: it shows that what Tidings sends arrives here.</p>"


def feed(user_id: int, now: Instant) -> Feed:
    """Its id is 0, which no feed has; it is one of those that services tell of."""
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


def event(event_type: str, receiver: str, delivery_id: str, *, user_id: int, show: Show, now: Instant) -> Event:
    """event_type: save_entry or new_entries. show: writes an instant in the zone of the user."""
    source = events.feed_told(feed(user_id, now), Category(0, user_id, "All", hide_globally=False), show=show)
    url = f"{SITE}tidings-test"
    entry = Entry(
        id=0,
        user_id=user_id,
        feed_id=0,
        category_id=0,
        status=int(Status.UNREAD),
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
    )
    if event_type == events.SAVE_ENTRY:
        body = events.save_entry(entry, CONTENT, [], source, show=show)
    else:
        (body,) = events.new_entries(source, [events.entry_told(entry, CONTENT, [], None, show=show)])
    return Event(type=event_type, delivery_id=delivery_id, attempt=1, receiver=receiver, body=body, at=now)
