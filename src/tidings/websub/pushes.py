"""Handles requests of WebSub hubs: verifies subscriptions, and stores pushed documents as entries of feeds.

web:     push ─► known subscription? ─► valid signature? ─► store the push in the database ─► 202
worker:  push ─► parse it once for all feeds ─► store the entries of each feed ─► delete the push
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import structlog
from msgspec.structs import replace

from tidings.base.errors import StoreUnavailable
from tidings.base.times import MINUTE, Instant
from tidings.content import formats
from tidings.content.errors import FeedError
from tidings.content.model import ParsedFeed
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.entry_policy import DEFAULT_INSTANCE, InstanceSettings
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.services.polling.decide import after_push
from tidings.services.polling.run import EntryPreparer
from tidings.services.polling.store import find_changes, store_updates
from tidings.services.rule_log import log_rule_errors
from tidings.storage.accounts import users
from tidings.websub import store
from tidings.websub.model import (
    HubMode,
    HubSubscription,
    SubscriptionState,
    denied_columns,
    is_awaited,
    is_genuine,
    verified_columns,
)
from tidings.websub.store import Push

log = structlog.get_logger()

# Maximum number of pushes of one subscription that wait for a worker; after that the feeds are polled instead.
MAX_WAITING = 20
# After this many attempts that crashed a worker, a push is deleted and the feeds are polled instead.
MAX_ATTEMPTS = 3
PUSH_LEASE = 5 * MINUTE
# Minimum time between two polls that pushes cause, so that a hub cannot make Tidings overload the publisher.
MIN_POLL_INTERVAL = 5 * MINUTE
MAX_CHALLENGE_LENGTH = 2048


class Pushes:
    """Accepts what hubs send, and stores the pushed entries.

    is_on: whether WebSub is switched on.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        listeners: Listeners,
        *,
        is_on: bool,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._listeners = listeners
        self._instance = instance
        self._database = database
        self._clock = clock
        self._is_on = is_on

    def subscription(self, token: str) -> HubSubscription | None:
        """Return the subscription whose callback URL has this token, or None."""
        with self._database.reading() as db:
            return store.by_token(db, token)

    def accepts(self, subscription: HubSubscription) -> bool:
        """Return whether the hub may push. Pushes after the end of the lease are accepted too."""
        return self._is_on and subscription.state == SubscriptionState.ACTIVE

    def verify(self, token: str, parameters: Mapping[str, str]) -> str | None:
        """Handle the verification of intent. Returns the response's body, or None if Tidings did not send the request.

        parameters: hub.mode, hub.topic and so on, as received. A denial is answered with "".
        Source: WebSub, sections 5.2 and 5.3.
        """
        subscription, now = self.subscription(token), self._clock()
        if subscription is None or not self._is_on or parameters.get("hub.topic") != subscription.topic:
            return None
        mode, challenge = parameters.get("hub.mode", ""), parameters.get("hub.challenge", "")
        if mode == HubMode.DENIED:
            self._deny(subscription, parameters.get("hub.reason", ""), now)
            return ""
        if not 0 < len(challenge) <= MAX_CHALLENGE_LENGTH or not is_awaited(subscription, mode, now):
            return None
        if mode == HubMode.SUBSCRIBE:
            lease_s = parameters.get("hub.lease_seconds", "")
            changes = verified_columns(lease_s, now=now, random_fraction=random.random())  # noqa: S311 - spreads load
            with self._database.writing() as db:
                store.change(db, subscription.id, **changes)
        log.info("hub verified", subscription=subscription.id, mode=mode)
        return challenge

    def _deny(self, subscription: HubSubscription, reason: str, now: Instant) -> None:
        if subscription.state == SubscriptionState.ENDED:
            return
        changes = denied_columns(reason, now=now, random_fraction=random.random())  # noqa: S311 - spreads load
        with self._database.writing() as db:
            store.change(db, subscription.id, **changes)
        log.warning("hub denied", subscription=subscription.id, reason=changes["last_error"])

    def receive(self, subscription: HubSubscription, body: bytes, *, signature: str, charset: str) -> bool:
        """Store a push for the workers. Returns False, and does nothing, if its signature is not valid.

        signature: the value of X-Hub-Signature.
        """
        if not is_genuine(subscription.secret, body, signature):
            log.warning("push ignored", subscription=subscription.id, reason="its signature is wrong or missing")
            return False
        now = self._clock()
        digest = hashlib.blake2b(body, digest_size=16).digest()
        with self._database.writing() as db:
            is_stored = bool(body) and store.count_pushes(db, subscription.id) < MAX_WAITING
            if is_stored:
                store.add_push(db, subscription.id, body, digest=digest, charset=charset, now=now)
        if not is_stored:
            # Some hubs push an empty body as a notification.
            self.poll_instead(subscription)
        return True

    def poll_instead(self, subscription: HubSubscription) -> None:
        """Make the feeds of a subscription due soon, because a push cannot be used."""
        self._make_due(feeds_of(self._database, subscription.id))

    def store_next(self) -> bool:
        """Store the entries of one waiting push. Returns False if there is none."""
        now = self._clock()
        with self._database.reading() as db:
            if not store.any_free_push(db, now):
                return False
        with self._database.writing() as db:
            push = store.claim_push(db, now=now, until=Instant(now + PUSH_LEASE))
        if push is None:
            return False
        feeds = feeds_of(self._database, push.subscription_id)
        is_document = self._store(push, feeds) if push.attempts <= MAX_ATTEMPTS else self._give_up(push, feeds)
        with self._database.writing() as db:
            store.remove_push(db, push.id)
            if not feeds:
                # No feed uses the subscription: unsubscribe now.
                store.make_subscriptions_due(db, [push.subscription_id], now)
            elif is_document:
                store.change(db, push.subscription_id, last_push_at=now)
        return True

    def _give_up(self, push: Push, feeds: Sequence[Feed]) -> bool:
        log.error("push given up", subscription=push.subscription_id, attempts=push.attempts - 1)
        self._make_due(feeds)
        return False

    def _store(self, push: Push, feeds: Sequence[Feed]) -> bool:
        """Store the entries of a push. Returns whether it was a document. Feeds that failed become due soon."""
        by_url: defaultdict[str, list[Feed]] = defaultdict(list)
        for feed in feeds:
            by_url[feed.feed_url].append(feed)
        failed: list[Feed] = []
        for url, same_url in by_url.items():
            try:
                document = formats.parse_feed(push.body, url=url, charset=push.charset or None, now=self._clock())
            except FeedError as error:
                log.warning("push not readable", subscription=push.subscription_id, reason=error.message)
                self._make_due(feeds)
                return False
            preparer = EntryPreparer(self._instance)
            if self._listeners.wants_durations(push.body):
                failed += same_url  # the poller looks them up
                continue
            failed += [feed for feed in same_url if not self._store_for(feed, document, preparer)]
        self._make_due(failed)
        return bool(feeds)

    def _store_for(self, feed: Feed, document: ParsedFeed, preparer: EntryPreparer) -> bool:
        """Store the entries of one feed. Returns False if the feed has to be polled instead."""
        if feed.crawler:
            return False  # the poller has more time to fetch full content
        try:
            new, changed = store_push(self._database, feed, document, preparer, self._clock(), self._listeners)
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("storing a push crashed", feed=feed.id)
            return False
        log.info("feed pushed", feed=feed.id, new=new, changed=changed)
        return True

    def _make_due(self, feeds: Iterable[Feed]) -> None:
        """Make feeds due as soon as MIN_POLL_INTERVAL after their last check."""
        now = self._clock()
        by_time: defaultdict[Instant, list[int]] = defaultdict(list)
        for feed in feeds:
            by_time[Instant(max(now, feed.checked_at + MIN_POLL_INTERVAL))].append(feed.id)
        for at, feed_ids in by_time.items():
            with self._database.writing() as db:
                store.make_feeds_due(db, feed_ids, at)


def feeds_of(database: Database, subscription_id: int) -> list[Feed]:
    """Return the enabled feeds whose documents offer the subscription."""
    with database.reading() as db:
        return store.feeds_of(db, subscription_id)


def store_push(
    database: Database, feed: Feed, document: ParsedFeed, preparer: EntryPreparer, now: Instant, listeners: Listeners
) -> tuple[int, int]:
    """Store the entries of a pushed document for one feed. Returns the numbers of new and of changed entries.

    A push often holds only the newest entries, so it changes nothing else but the publish rate of the feed: title,
    validators, body digest and next check stay as they are.
    """
    with database.reading() as db:
        user = users.get(db, feed.user_id)
        if user is None:
            return 0, 0
        decided = find_changes(db, user, feed, document, now=now)
    update = preparer.prepare(decided)
    if not (update.new or update.changed or update.renamed or update.renamed_deleted):
        return 0, 0
    dates = [entry.published_at for entry in update.new.values()]
    update = replace(update, columns=after_push(feed, dates, now) if dates else {})
    with database.writing() as db:
        (result,) = store_updates(db, [update], listeners=listeners)
    log_rule_errors(feed.id, update.rule_errors)
    return len(result.new_ids), result.changed
