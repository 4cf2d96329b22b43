"""Writes events to the outbox, in the transaction that causes them.

The events are listed in `deliveries.events`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

import structlog
from msgspec import MsgspecError, Struct, structs

from tidings.base.times import Instant
from tidings.deliveries import events
from tidings.deliveries.entry_tests import EntryTests
from tidings.deliveries.events import (
    ENTRY_READ,
    ENTRY_STARRED,
    EVENTS,
    FEED_FAILED,
    FEED_RECOVERED,
    IMPORT_FINISHED,
    MAX_IDS,
    NEW_ENTRIES,
    RULE_MATCHED,
    SAVE_ENTRY,
    EntryPayload,
    FeedPayload,
    FeedStatePayload,
    FormatTime,
    ImportFinishedPayload,
    ImportPayload,
    RulePayload,
)
from tidings.deliveries.registry import PROVIDERS_BY_EVENT, WEBHOOK, provider_of
from tidings.deliveries.store import integrations, outbox, webhooks
from tidings.deliveries.webhooks import Webhook
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Enclosure, Entry, shown_minutes
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Read, Write
from tidings.services.clock import Clock, time_zone
from tidings.services.listeners import (
    ChangedStates,
    Channel,
    FeedState,
    FinishedImport,
    Listeners,
    RuleName,
    StateChangeKind,
    StoredEntries,
)
from tidings.storage.accounts import users
from tidings.storage.entries import entries, entry_lists, labels, read_state
from tidings.storage.feeds import categories, feeds, further_categories

log = structlog.get_logger()

# Maximum number of entries whose bodies are in memory at the same time.
ENTRIES_PER_BATCH = 100

_STATE_EVENTS = {StateChangeKind.READ: ENTRY_READ, StateChangeKind.STARRED: ENTRY_STARRED}
# Makes the bodies of events about some entries of a feed.
MakeBodies = Callable[[FeedPayload, Iterable[EntryPayload]], Iterable[bytes]]


class Target(Struct, frozen=True):
    """An integration or a webhook that is switched on and gets an event."""

    key: str
    """As deliveries call it."""
    settings: str
    hook: Webhook | None = None
    """The webhook, with the entries that it is told about; None for other integrations."""


class Outbox:
    """Writes the events of users for their integrations and webhooks, which the deliverer sends.

    listeners: know the saved views to which queries of webhooks refer.
    """

    def __init__(self, listeners: Listeners, clock: Clock) -> None:
        self._listeners = listeners
        self._clock = clock

    def post_stored_entries(self, db: Write, stored: Sequence[StoredEntries]) -> None:
        """Write events of new entries, except those that arrived read.

        For all users without an integration that receives them, this is one lookup. Call it after all other writes:
        the events hold feeds and entries as they are now.
        """
        receivers = users_receiving_new_entries(db, (one.user.id for one in stored))
        for one in stored:
            if one.user.id in receivers:
                self.post_new_entries(db, one.user, one.feed, one.unread_ids, one.now)

    def post_new_entries(self, db: Write, user: User, feed: Feed, entry_ids: Sequence[int], now: Instant) -> int:
        """Write the event of new entries for everything that receives it. Returns the number of deliveries written.

        Call it after all other writes: the event holds the feed and the entries as they are now.
        """
        if not entry_ids:
            return 0
        return self._post_entries(db, NEW_ENTRIES, user, feed, entry_ids, events.new_entries_bodies, now)

    def is_available(self, db: Read, user_id: int) -> bool:
        """Return whether the user has something that saves entries."""
        return bool(targets_of(db, user_id, SAVE_ENTRY))

    def save(self, db: Write, user: User, entry: Entry, now: Instant) -> None:
        """Write the event of a saved entry."""
        feed = feeds.get(db, user.id, entry.feed_id)
        assert feed is not None
        tests = EntryTests(db, user, self._listeners, now)
        receivers = [
            receiver
            for receiver, hook in _receivers(targets_of(db, user.id, SAVE_ENTRY), feed)
            if hook is None or (tests.covers(hook, feed.id) and tests.accepted(hook, [entry.id]))
        ]
        if receivers:
            (payload,) = _payloads(db, user, [entry])
            body = EVENTS[SAVE_ENTRY].body(_feed_payload(db, user, feed), payload)
            _write(db, SAVE_ENTRY, user.id, feed.id, receivers, [body], now)

    def announce(self, db: Write, rule: RuleName, stored: StoredEntries, channel: Channel) -> None:
        """Write the event of entries that a rule sends."""
        user, feed, ids, now = stored.user, stored.feed, stored.entry_ids, stored.now
        if channel is Channel.WEBHOOK:
            payload = RulePayload(rule.id, rule.name)
            make = partial(events.rule_matched_bodies, payload)
            self._post_entries(db, RULE_MATCHED, user, feed, ids, make, now)
            return
        targets = [one for one in targets_of(db, user.id, NEW_ENTRIES) if one.hook is None]
        told = set(stored.unread_ids)
        # A service that hears of all new entries of the feed hears of the unread ones anyway.
        for heard, listed in ((True, [id_ for id_ in ids if id_ not in told]), (False, ids)):
            receivers = [
                (one.key, receiver)
                for one in targets
                if bool(_receiver(one, feed)) is heard and (receiver := _receiver(one, feed, of_all_feeds=True))
            ]
            if listed and receivers:
                bodies = _bodies(db, user, feed, listed, events.new_entries_bodies)
                _write(db, NEW_ENTRIES, user.id, feed.id, receivers, bodies, now)

    def post_states(self, db: Write, changes: Sequence[ChangedStates]) -> None:
        """Write events of entries that users have read or starred. Without a webhook for them this is one lookup."""
        hooks = webhooks.list_enabled(db, {change.user_id for change in changes})
        for change in changes:
            event = _STATE_EVENTS[change.change]
            wanted = [one for one in hooks if one.user_id == change.user_id and event in one.event_names]
            receivers = _receivers(map(_target, wanted), None)
            user = users.get(db, change.user_id) if receivers else None
            if user is not None:
                self._post_states(db, user, event, receivers, change)

    def _post_states(
        self,
        db: Write,
        user: User,
        event: str,
        receivers: Sequence[tuple[tuple[str, str], Webhook | None]],
        change: ChangedStates,
    ) -> None:
        tests = EntryTests(db, user, self._listeners, change.now)
        for page in _changed(db, change):
            by_entries: dict[tuple[int, ...], list[tuple[str, str]]] = {}
            for receiver, hook in receivers:
                assert hook is not None
                covered = tests.covered(hook, {feed_id for _, feed_id in page})
                ids = tests.accepted(hook, [id_ for id_, feed_id in page if feed_id in covered])
                if ids:
                    by_entries.setdefault(tuple(ids), []).append(receiver)
            for listed, told in by_entries.items():
                body = events.entries_changed_body(event, user.id, listed, _changed_payloads(db, user, listed))
                _write(db, event, user.id, None, told, [body], change.now)

    def post_feed_states(self, db: Write, states: Sequence[FeedState]) -> None:
        """Write events of feeds that begin to fail, or are well again."""
        owners = users.get_many(db, {state.feed.user_id for state in states})
        for state in states:
            event = FEED_FAILED if state.is_failing else FEED_RECOVERED
            user = owners.get(state.feed.user_id)
            feed = feeds.get(db, state.feed.user_id, state.feed.id)
            if user is None or feed is None:
                continue
            tests = EntryTests(db, user, self._listeners, state.now)
            receivers = [
                receiver
                for receiver, hook in _receivers(targets_of(db, user.id, event), feed)
                if hook is None or tests.covers(hook, feed.id)
            ]
            if receivers:
                payload = FeedStatePayload(event, _feed_payload(db, user, feed))
                if state.is_failing:
                    payload = structs.replace(payload, error_message=state.error, disabled=state.is_disabled)
                _write(db, event, user.id, feed.id, receivers, [events.encode_body(payload)], state.now)

    def post_import(self, db: Write, result: FinishedImport) -> None:
        """Write the event of an import that has ended."""
        receivers = [receiver for receiver, _ in _receivers(targets_of(db, result.user_id, IMPORT_FINISHED), None)]
        if receivers:
            same = {name: getattr(result, name) for name in ImportPayload.__struct_fields__ if hasattr(result, name)}
            payload = ImportPayload(**same, succeeded=not result.error, error_message=result.error)
            body = events.encode_body(ImportFinishedPayload(IMPORT_FINISHED, result.user_id, payload))
            _write(db, IMPORT_FINISHED, result.user_id, None, receivers, [body], self._clock())

    def _post_entries(
        self,
        db: Write,
        event: str,
        user: User,
        feed: Feed,
        entry_ids: Sequence[int],
        make: MakeBodies,
        now: Instant,
    ) -> int:
        """Write an event about entries of a feed. Receivers that are told about the same ones share the bodies."""
        tests = EntryTests(db, user, self._listeners, now)
        by_entries: dict[tuple[int, ...], list[tuple[str, str]]] = {}
        for receiver, hook in _receivers(targets_of(db, user.id, event), feed):
            if hook is None:
                listed: Sequence[int] = entry_ids
            else:
                listed = tests.accepted(hook, entry_ids) if tests.covers(hook, feed.id) else ()
            if listed:
                by_entries.setdefault(tuple(listed), []).append(receiver)
        posted = 0
        for ids, receivers in by_entries.items():
            posted += _write(db, event, user.id, feed.id, receivers, _bodies(db, user, feed, ids, make), now)
        return posted


def users_receiving_new_entries(db: Read, user_ids: Iterable[int]) -> set[int]:
    """Return the users that have something enabled that may receive new entries."""
    return integrations.users_with_any(db, set(user_ids), PROVIDERS_BY_EVENT[NEW_ENTRIES])


def targets_of(db: Read, user_id: int, event_type: str) -> list[Target]:
    """Return the integrations and the webhooks of the user that are enabled and receive this event."""
    names = PROVIDERS_BY_EVENT[event_type] - {WEBHOOK}
    found = [Target(one.name, one.settings) for one in (integrations.list_enabled(db, user_id, names) if names else ())]
    hooks = (one for one in webhooks.list_enabled(db, [user_id]) if event_type in one.event_names)
    return [*found, *map(_target, hooks)]


def _target(hook: Webhook) -> Target:
    return Target(hook.key, hook.settings, hook)


def _receivers(targets: Iterable[Target], feed: Feed | None) -> list[tuple[tuple[str, str], Webhook | None]]:
    """Return the receivers of an event about a feed, or about none: a key and an address, each with its webhook."""
    return [((one.key, receiver), one.hook) for one in targets if (receiver := _receiver(one, feed))]


def _write(
    db: Write,
    event_type: str,
    user_id: int,
    feed_id: int | None,
    receivers: Sequence[tuple[str, str]],
    bodies: Iterable[bytes],
    now: Instant,
) -> int:
    """receivers: keys of integrations, each with the receiver of its events. bodies: consumed one by one, if large."""
    posted = 0
    for body in bodies:
        for integration, receiver in receivers:
            outbox.add(
                db,
                user_id,
                delivery_id=str(uuid.uuid4()),
                integration=integration,
                event_type=event_type,
                receiver=receiver,
                feed_id=feed_id,
                body=body,
                now=now,
            )
            posted += 1
    return posted


def _bodies(db: Read, user: User, feed: Feed, entry_ids: Sequence[int], make: MakeBodies) -> Iterable[bytes]:
    stored = entries.get_many(db, user.id, entry_ids)
    if not stored:
        return ()
    payloads = (
        payload
        for start in range(0, len(stored), ENTRIES_PER_BATCH)
        for payload in _payloads(db, user, stored[start : start + ENTRIES_PER_BATCH])
    )
    # The check has changed the feed since `feed` was read.
    current = feeds.get(db, user.id, feed.id) or feed
    return make(_feed_payload(db, user, current), payloads)


def _payloads(
    db: Read, user: User, rows: list[Entry], parts: entry_lists.Parts = entry_lists.WHOLE
) -> Iterator[EntryPayload]:
    """Yield entries of the user, with what `parts` says, their enclosures and the names of their labels."""
    format_time = time_zone(user.timezone).format
    for entry, content, enclosures, label_names in _with_bodies(db, rows, parts):
        yield events.entry_payload(
            entry,
            content,
            enclosures,
            label_names,
            minutes=shown_minutes(entry.reading_time, user),
            format_time=format_time,
        )


def _with_bodies(
    db: Read, rows: list[Entry], parts: entry_lists.Parts
) -> Iterator[tuple[Entry, str, list[Enclosure], list[str]]]:
    """Yield entries of one user with their bodies, their enclosures and the names of their labels."""
    page = entry_lists.with_bodies(db, rows, parts=parts)
    given = labels.of_entries(db, rows[0].user_id, [row.id for row in rows])
    for row in rows:
        names = [label.name for label in given.get(row.id, ())]
        yield row, page.contents.get(row.id, ""), page.enclosures.get(row.id, []), names


def _changed(db: Read, change: ChangedStates) -> Iterator[list[tuple[int, int]]]:
    """Yield the entries of a change, each with its feed, at most MAX_IDS at a time, in the order of their ids."""
    if change.entry_ids is not None:
        for start in range(0, len(change.entry_ids), MAX_IDS):
            yield sorted(entries.feeds_of(db, change.user_id, change.entry_ids[start : start + MAX_IDS]))
        return
    after = 0
    while page := read_state.marked_at(db, change.user_id, change.now, after=after, limit=MAX_IDS):
        yield page
        after = page[-1][0]


def _changed_payloads(db: Read, user: User, entry_ids: Collection[int]) -> list[EntryPayload]:
    """Return few entries with their feeds, with their content if they are very few; none of many entries."""
    if len(entry_ids) > events.MAX_WITHOUT_CONTENT:
        return []
    rows = entries.get_many(db, user.id, list(entry_ids))
    if not rows:
        return []
    is_whole = len(rows) <= events.MAX_WITH_CONTENT
    parts = entry_lists.Parts(contents=is_whole, enclosures=is_whole)
    of_feeds = feeds.get_many(db, user.id, {row.feed_id for row in rows})
    sources = dict(zip((feed.id for feed in of_feeds), _feed_payloads(db, user, of_feeds), strict=True))
    return [structs.replace(one, feed=sources[one.feed_id]) for one in _payloads(db, user, rows, parts)]


def _feed_payload(db: Read, user: User, feed: Feed) -> FeedPayload:
    return _feed_payloads(db, user, [feed])[0]


def _feed_payloads(db: Read, user: User, of_feeds: Sequence[Feed]) -> list[FeedPayload]:
    format_time: FormatTime = time_zone(user.timezone).format
    others = further_categories.of_feeds(db, user.id, [feed.id for feed in of_feeds])
    wanted = {feed.category_id for feed in of_feeds}.union(*others.values())
    known = {one: found for one in wanted if (found := categories.get(db, user.id, one))}
    return [
        events.feed_payload(
            feed,
            known[feed.category_id],
            [known[one] for one in others.get(feed.id, ()) if one in known],
            format_time=format_time,
        )
        for feed in of_feeds
    ]


def _receiver(target: Target, feed: Feed | None, *, of_all_feeds: bool = False) -> str:
    """Return where events are sent that are about the feed, or about no single one; "" for nowhere.

    A feed's own address takes the place of the main webhook's, not of others'.
    of_all_feeds: even if the integration is set up for single feeds, and this is none of them.
    """
    provider = provider_of(target.key)
    try:
        if target.hook is not None and (feed is None or not target.hook.is_main):
            return target.hook.own.url
        assert provider is not None
        assert feed is not None
        settings = provider.read_settings(target.settings)
        if of_all_feeds and hasattr(settings, "all_feeds"):
            settings = structs.replace(settings, all_feeds=True)
        return provider.receiver(settings, feed)
    except MsgspecError as error:
        # A check of a feed must not fail because the settings of an integration cannot be read.
        log.error("integration unreadable", integration=target.key, reason=str(error))  # noqa: TRY400
        return ""
