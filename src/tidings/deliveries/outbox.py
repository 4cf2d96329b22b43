"""Writes events to the outbox, in the transaction that causes them.

The events are listed in `deliveries.events`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import structlog
from msgspec import MsgspecError, structs

from tidings.base.times import Instant
from tidings.deliveries import events
from tidings.deliveries.events import (
    EVENTS,
    NEW_ENTRIES,
    RULE_MATCHED,
    SAVE_ENTRY,
    EntryPayload,
    FeedPayload,
    RulePayload,
)
from tidings.deliveries.registry import PROVIDERS_BY_EVENT, REGISTRY, WEBHOOK
from tidings.deliveries.store import integrations, outbox
from tidings.deliveries.store.integrations import EnabledIntegration
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Enclosure, Entry, shown_minutes
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Read, Write
from tidings.services.clock import time_zone
from tidings.services.listeners import Channel, RuleName, StoredEntries
from tidings.storage.entries import entries, entry_lists, labels
from tidings.storage.feeds import categories, feeds, further_categories

log = structlog.get_logger()

# Maximum number of entries whose bodies are in memory at the same time.
ENTRIES_PER_BATCH = 100


def post_stored_entries(db: Write, stored: Sequence[StoredEntries]) -> None:
    """Write events of new entries, except those that arrived read.

    For all users without an integration that receives them, this is one lookup. Call it after all other writes: the
    events hold feeds and entries as they are now.
    """
    receivers = users_receiving_new_entries(db, (one.user.id for one in stored))
    for one in stored:
        if one.user.id in receivers:
            post_new_entries(db, one.user, one.feed, one.unread_ids, one.now)


class OutboxSaver:
    """Saves entries through the outbox, to every integration of the user that receives saved entries."""

    def is_available(self, db: Read, user_id: int) -> bool:
        """Return whether such an integration is enabled."""
        return bool(enabled_integrations(db, user_id, SAVE_ENTRY))

    def save(self, db: Write, user: User, entry: Entry, now: Instant) -> None:
        """Write the event, which the deliverer sends."""
        post_entry_event(db, user, SAVE_ENTRY, entry, now)


class OutboxAnnouncer:
    """Sends entries that rules match through the outbox."""

    def announce(self, db: Write, rule: RuleName, stored: StoredEntries, channel: Channel) -> None:
        """Write the event, which the deliverer sends."""
        user, feed, ids, now = stored.user, stored.feed, stored.entry_ids, stored.now
        if channel is Channel.WEBHOOK:
            payload = RulePayload(rule.id, rule.name)
            make = partial(events.rule_matched_bodies, payload)
            _post(db, RULE_MATCHED, user, feed, lambda: _bodies(db, user, feed, ids, make), now)
            return
        targets = [one for one in enabled_integrations(db, user.id, NEW_ENTRIES) if one.name != WEBHOOK]
        told = set(stored.unread_ids)
        # A service that hears of all new entries of the feed hears of the unread ones anyway.
        for heard, listed in ((True, [id_ for id_ in ids if id_ not in told]), (False, ids)):
            receivers = [
                (one.name, receiver)
                for one in targets
                if bool(_receiver(one, feed)) is heard and (receiver := _receiver(one, feed, of_all_feeds=True))
            ]
            if listed and receivers:
                _write(db, NEW_ENTRIES, feed, receivers, _new_entries_bodies(db, user, feed, listed), now)


def post_new_entries(db: Write, user: User, feed: Feed, entry_ids: Sequence[int], now: Instant) -> int:
    """Write the event of new entries for each integration that receives it. Returns the number of deliveries written.

    For a user without such an integration this is one index lookup. Call it after all other writes: the event holds
    the feed and the entries as they are now.
    """
    if not entry_ids:
        return 0
    return _post(db, NEW_ENTRIES, user, feed, lambda: _new_entries_bodies(db, user, feed, entry_ids), now)


def users_receiving_new_entries(db: Read, user_ids: Iterable[int]) -> set[int]:
    """Return the users that have an enabled integration for new entries."""
    return integrations.users_with_any(db, set(user_ids), PROVIDERS_BY_EVENT[NEW_ENTRIES])


def enabled_integrations(db: Read, user_id: int, event_type: str) -> list[EnabledIntegration]:
    """Return the integrations of the user that are enabled and receive this event."""
    return integrations.list_enabled(db, user_id, PROVIDERS_BY_EVENT[event_type])


def post_entry_event(db: Write, user: User, event_type: str, entry: Entry, now: Instant) -> int:
    """Write an event of one entry for each integration that receives it. Returns the number of deliveries written."""
    feed = feeds.get(db, user.id, entry.feed_id)
    assert feed is not None

    def bodies() -> list[bytes]:
        ((_, content, enclosures, label_names),) = _with_bodies(db, [entry])
        payload = events.entry_payload(
            entry,
            content,
            enclosures,
            label_names,
            minutes=shown_minutes(entry.reading_time, user),
            format_time=time_zone(user.timezone).format,
        )
        return [EVENTS[event_type].body(_feed_payload(db, user, feed), payload)]

    return _post(db, event_type, user, feed, bodies, now)


def _post(
    db: Write,
    event_type: str,
    user: User,
    feed: Feed,
    make_bodies: Callable[[], Iterable[bytes]],
    now: Instant,
) -> int:
    """Write an event. make_bodies: called only if there is a receiver, and consumed one by one: bodies may be large."""
    integrations = enabled_integrations(db, user.id, event_type)
    receivers = [(target.name, receiver) for target in integrations if (receiver := _receiver(target, feed))]
    return _write(db, event_type, feed, receivers, make_bodies(), now) if receivers else 0


def _write(
    db: Write,
    event_type: str,
    feed: Feed,
    receivers: Sequence[tuple[str, str]],
    bodies: Iterable[bytes],
    now: Instant,
) -> int:
    """receivers: the names of integrations, each with the receiver of its events."""
    posted = 0
    for body in bodies:
        for integration, receiver in receivers:
            outbox.add(
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


def _new_entries_bodies(db: Read, user: User, feed: Feed, entry_ids: Sequence[int]) -> Iterable[bytes]:
    return _bodies(db, user, feed, entry_ids, events.new_entries_bodies)


def _bodies(
    db: Read,
    user: User,
    feed: Feed,
    entry_ids: Sequence[int],
    make: Callable[[FeedPayload, Iterable[EntryPayload]], Iterable[bytes]],
) -> Iterable[bytes]:
    stored = entries.get_many(db, user.id, entry_ids)
    if not stored:
        return ()
    format_time = time_zone(user.timezone).format
    payloads = (
        events.entry_payload(
            entry,
            content,
            enclosures,
            label_names,
            minutes=shown_minutes(entry.reading_time, user),
            format_time=format_time,
        )
        for start in range(0, len(stored), ENTRIES_PER_BATCH)
        for entry, content, enclosures, label_names in _with_bodies(db, stored[start : start + ENTRIES_PER_BATCH])
    )
    # The check has changed the feed since `feed` was read.
    current = feeds.get(db, user.id, feed.id) or feed
    return make(_feed_payload(db, user, current), payloads)


def _with_bodies(db: Read, rows: list[Entry]) -> Iterator[tuple[Entry, str, list[Enclosure], list[str]]]:
    """Yield entries of one user with their bodies, their enclosures and the names of their labels."""
    page = entry_lists.with_bodies(db, rows)
    given = labels.of_entries(db, rows[0].user_id, [row.id for row in rows])
    for row in rows:
        names = [label.name for label in given.get(row.id, ())]
        yield row, page.contents.get(row.id, ""), page.enclosures.get(row.id, []), names


def _feed_payload(db: Read, user: User, feed: Feed) -> FeedPayload:
    category = categories.get(db, user.id, feed.category_id)
    assert category is not None
    others = further_categories.of_feeds(db, user.id, [feed.id]).get(feed.id, ())
    further = [one for number in others if (one := categories.get(db, user.id, number))]
    return events.feed_payload(feed, category, further, format_time=time_zone(user.timezone).format)


def _receiver(target: EnabledIntegration, feed: Feed, *, of_all_feeds: bool = False) -> str:
    """Return where events of the feed are sent; "" for nowhere.

    of_all_feeds: even if the integration is set up for single feeds, and this is none of them.
    """
    provider = REGISTRY[target.name]
    try:
        settings = provider.read_settings(target.settings)
        if of_all_feeds and hasattr(settings, "all_feeds"):
            settings = structs.replace(settings, all_feeds=True)
        return provider.receiver(settings, feed)
    except MsgspecError as error:
        # A check of a feed must not fail because the settings of an integration cannot be read.
        log.error("integration unreadable", user=feed.user_id, integration=target.name, reason=str(error))  # noqa: TRY400
        return ""
