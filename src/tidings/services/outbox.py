"""What others are to hear of, written in the transaction in which it happens."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence

import structlog
from msgspec import MsgspecError

from tidings.domain import events
from tidings.domain.entries import Enclosure, Entry
from tidings.domain.feeds import Feed
from tidings.domain.integrations import NOTIFIED, REGISTRY
from tidings.domain.times import Instant
from tidings.domain.users import User
from tidings.services.moments import zone
from tidings.storage import categories, deliveries, entries, entry_lists, feeds, integrations
from tidings.storage.database import Read, Write
from tidings.storage.integrations import Integration

log = structlog.get_logger()

# Entries whose bodies are in memory together.
AT_ONCE = 100


def post_new_entries(db: Write, user: User, feed: Feed, entry_ids: Sequence[int], now: Instant) -> int:
    """Tell every integration that is told of such that a check found these entries; how many events that made.

    For a user without such an integration it is one look at an index. The caller has written everything else: the feed
    and its entries are told as they are now.
    """
    if not entry_ids:
        return 0
    targets = integrations.enabled(db, user.id, NOTIFIED)
    return _post(db, targets, feed, events.NEW_ENTRIES, lambda: _news(db, user, feed, entry_ids), now) if targets else 0


def listeners(db: Read, user_ids: Iterable[int]) -> set[int]:
    """Those of the users who have anything that is told of new entries."""
    return integrations.users_with(db, set(user_ids), NOTIFIED)


def post_saved(db: Write, user: User, entry: Entry, targets: Sequence[Integration], now: Instant) -> int:
    """Hand an entry to these; how many events that made."""
    feed = feeds.get(db, user.id, entry.feed_id)
    assert feed is not None
    return _post(db, targets, feed, events.SAVE_ENTRY, lambda: [_saved(db, user, entry, feed)], now)


def _post(
    db: Write,
    targets: Iterable[Integration],
    feed: Feed,
    event_type: str,
    made: Callable[[], Iterable[bytes]],
    now: Instant,
) -> int:
    """made: the bodies, made only when somebody gets them, and one at a time: together they may be large."""
    receivers = [(target.name, receiver) for target in targets if (receiver := _receiver(target, feed))]
    posted = 0
    for body in made() if receivers else ():
        for integration, receiver in receivers:
            deliveries.add(
                db,
                feed.user_id,
                delivery_id=str(uuid.uuid4()),
                integration=integration,
                event_type=event_type,
                receiver=receiver,
                feed_id=feed.id,
                body=body,
                now=now,
            )
            posted += 1
    return posted


def _news(db: Read, user: User, feed: Feed, entry_ids: Sequence[int]) -> Iterable[bytes]:
    found = entries.some(db, user.id, entry_ids)
    if not found:
        return ()
    show = zone(user.timezone).show
    told = (
        events.entry_told(entry, content, enclosures, None, show=show)
        for start in range(0, len(found), AT_ONCE)
        for entry, content, enclosures in _with_bodies(db, found[start : start + AT_ONCE])
    )
    # As the check left it.
    current = feeds.get(db, user.id, feed.id) or feed
    return events.new_entries(_feed_told(db, user, current), told)


def _saved(db: Read, user: User, entry: Entry, feed: Feed) -> bytes:
    ((_, content, enclosures),) = _with_bodies(db, [entry])
    show = zone(user.timezone).show
    return events.save_entry(entry, content, enclosures, _feed_told(db, user, feed), show=show)


def _with_bodies(db: Read, rows: list[Entry]) -> Iterator[tuple[Entry, str, list[Enclosure]]]:
    page = entry_lists.with_bodies(db, rows)
    return ((one, page.contents.get(one.id, ""), page.enclosures.get(one.id, [])) for one in rows)


def _feed_told(db: Read, user: User, feed: Feed) -> events.FeedTold:
    category = categories.get(db, user.id, feed.category_id)
    assert category is not None
    return events.feed_told(feed, category, show=zone(user.timezone).show)


def _receiver(target: Integration, feed: Feed) -> str:
    """ "" for nowhere."""
    leaf = REGISTRY[target.name]
    try:
        return leaf.receiver(leaf.read(target.settings), feed)
    except MsgspecError as error:
        # A check of a feed must not fail because somebody's settings cannot be read.
        log.error("integration unreadable", user=feed.user_id, integration=target.name, reason=str(error))  # noqa: TRY400
        return ""
