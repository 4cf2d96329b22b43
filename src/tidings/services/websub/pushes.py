"""What WebSub hubs send: verified requests, and pushed documents on their way to the entries of feeds.

web:     push ─► known? ─► genuine? ─► kept in the database ─► 202
worker:  kept ─► parsed, once for all feeds ─► stored for each ─► forgotten
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import structlog
from msgspec.structs import replace

from tidings.domain import formats
from tidings.domain.errors import FeedError, StoreUnavailable
from tidings.domain.feeds.feeds import Feed, ParsedFeed
from tidings.domain.polling.ingestion import DEFAULT_INSTANCE, InstanceSettings
from tidings.domain.times import MINUTE, Instant
from tidings.domain.websub.subscriptions import (
    HubMode,
    HubSubscription,
    SubscriptionState,
    denied_columns,
    is_awaited,
    is_genuine,
    verified_columns,
)
from tidings.services.clock import Clock
from tidings.services.polling.entry_builder import EntryBuilder, log_rule_errors
from tidings.services.polling.ingest import find_changes
from tidings.services.polling.next_check import after_push
from tidings.services.polling.store import store
from tidings.storage.accounts import users
from tidings.storage.engine.database import Database
from tidings.storage.websub import pushes, subscriptions
from tidings.storage.websub.pushes import Push

log = structlog.get_logger()

# Of one subscription. A hub that sends more before a worker gets to them has us look at the document itself.
MOST_WAITING = 20
# A push that ended a worker so often is not to blame somebody else: the feeds are polled instead.
MOST_ATTEMPTS = 3
LEASE = 5 * MINUTE
# A hub must not make us ask the publisher more often than this, however useless what it pushes.
POLLED_AFTER = 5 * MINUTE
LONGEST_CHALLENGE = 2048


class Pushes:
    """is_on: whether hubs are asked for anything at all."""

    def __init__(
        self, database: Database, clock: Clock, *, is_on: bool, instance: InstanceSettings = DEFAULT_INSTANCE
    ) -> None:
        self._instance = instance
        self._database = database
        self._clock = clock
        self._is_on = is_on

    def subscription(self, token: str) -> HubSubscription | None:
        """Whose callback this is."""
        with self._database.reading() as db:
            return subscriptions.by_token(db, token)

    def accepts(self, subscription: HubSubscription) -> bool:
        """Whether pushes are agreed on with the hub. A lease that ran out is the hub's business."""
        return self._is_on and subscription.state == SubscriptionState.ACTIVE

    def verify(self, token: str, said: Mapping[str, str]) -> str | None:
        """What to answer a hub that asks whether it was us; None: it was not.

        said: hub.mode, hub.topic and so on, as they came. A denial is acknowledged with nothing.
        Source: WebSub, sections 5.2 and 5.3.
        """
        subscription, now = self.subscription(token), self._clock()
        if subscription is None or not self._is_on or said.get("hub.topic") != subscription.topic:
            return None
        mode, challenge = said.get("hub.mode", ""), said.get("hub.challenge", "")
        if mode == HubMode.DENIED:
            self._deny(subscription, said.get("hub.reason", ""), now)
            return ""
        if not 0 < len(challenge) <= LONGEST_CHALLENGE or not is_awaited(subscription, mode, now):
            return None
        if mode == HubMode.SUBSCRIBE:
            changes = verified_columns(said.get("hub.lease_seconds", ""), now=now, random_fraction=random.random())  # noqa: S311
            with self._database.writing() as db:
                subscriptions.change(db, subscription.id, **changes)
        log.info("hub verified", subscription=subscription.id, mode=mode)
        return challenge

    def _deny(self, subscription: HubSubscription, reason: str, now: Instant) -> None:
        if subscription.state == SubscriptionState.ENDED:
            return
        changes = denied_columns(reason, now=now, random_fraction=random.random())  # noqa: S311 - spreads load
        with self._database.writing() as db:
            subscriptions.change(db, subscription.id, **changes)
        log.warning("hub denied", subscription=subscription.id, reason=changes["last_error"])

    def receive(self, subscription: HubSubscription, body: bytes, *, signature: str, charset: str) -> bool:
        """Kept until a worker stores it. False for one that the hub did not sign: then nothing happened.

        signature: of the body as it came (X-Hub-Signature).
        """
        if not is_genuine(subscription.secret, body, signature):
            log.warning("push ignored", subscription=subscription.id, reason="its signature is wrong or missing")
            return False
        now = self._clock()
        digest = hashlib.blake2b(body, digest_size=16).digest()
        with self._database.writing() as db:
            is_kept = bool(body) and pushes.count(db, subscription.id) < MOST_WAITING
            if is_kept:
                pushes.add(db, subscription.id, body, digest=digest, charset=charset, now=now)
        if not is_kept:
            # Some hubs only ring the bell; and what there is no room for is found by polling.
            self.poll_instead(subscription)
        return True

    def poll_instead(self, subscription: HubSubscription) -> None:
        """Something was pushed that is of no use: the publisher is asked for it, soon but not again and again."""
        self._make_due(readers_of(self._database, subscription.id))

    def store_next(self) -> bool:
        """One push that waits; False when there is none."""
        now = self._clock()
        with self._database.reading() as db:
            if not pushes.any_free(db, now):
                return False
        with self._database.writing() as db:
            push = pushes.claim(db, now=now, until=Instant(now + LEASE))
        if push is None:
            return False
        readers = readers_of(self._database, push.subscription_id)
        is_of_use = self._store(push, readers) if push.attempts <= MOST_ATTEMPTS else self._give_up(push, readers)
        with self._database.writing() as db:
            pushes.remove(db, push.id)
            if not readers:
                # Nobody reads it any more: the hub is told.
                subscriptions.make_subscriptions_due(db, [push.subscription_id], now)
            elif is_of_use:
                subscriptions.change(db, push.subscription_id, last_push_at=now)
        return True

    def _give_up(self, push: Push, readers: Sequence[Feed]) -> bool:
        log.error("push given up", subscription=push.subscription_id, attempts=push.attempts - 1)
        self._make_due(readers)
        return False

    def _store(self, push: Push, readers: Sequence[Feed]) -> bool:
        """Whether the push was a document. Feeds that it could not be stored for are polled at once."""
        by_address: defaultdict[str, list[Feed]] = defaultdict(list)
        for feed in readers:
            by_address[feed.feed_url].append(feed)
        left: list[Feed] = []
        for address, alike in by_address.items():
            try:
                document = formats.parse_feed(push.body, url=address, charset=push.charset or None, now=self._clock())
            except FeedError as error:
                log.warning("push not readable", subscription=push.subscription_id, reason=error.message)
                self._make_due(readers)
                return False
            builder = EntryBuilder(self._instance)
            left += [feed for feed in alike if not self._store_for(feed, document, builder)]
        self._make_due(left)
        return bool(readers)

    def _store_for(self, feed: Feed, document: ParsedFeed, builder: EntryBuilder) -> bool:
        """False when a poll has to do it. One feed's trouble does not keep others from their entries."""
        if feed.crawler:
            return False  # whole articles are looked for with the poller's patience
        try:
            new, changed = store_push(self._database, feed, document, builder, self._clock())
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("push crashed", feed=feed.id)
            return False
        log.info("feed pushed", feed=feed.id, new=new, changed=changed)
        return True

    def _make_due(self, readers: Iterable[Feed]) -> None:
        now = self._clock()
        soon: defaultdict[Instant, list[int]] = defaultdict(list)
        for feed in readers:
            soon[Instant(max(now, feed.checked_at + POLLED_AFTER))].append(feed.id)
        for at, feed_ids in soon.items():
            with self._database.writing() as db:
                subscriptions.make_feeds_due(db, feed_ids, at)


def readers_of(database: Database, subscription_id: int) -> list[Feed]:
    """Those that are enabled and whose own documents offered the subscription."""
    with database.reading() as db:
        return subscriptions.feeds_of(db, subscription_id)


def store_push(
    database: Database, feed: Feed, document: ParsedFeed, builder: EntryBuilder, now: Instant
) -> tuple[int, int]:
    """Store the entries of a pushed document for one feed; return how many are new, and how many changed.

    A push often holds only the newest entries, so nothing else follows from it but how often the feed has news: its
    title, validators, body digest and next check stay as the last check left them.
    """
    with database.reading() as db:
        user = users.get(db, feed.user_id)
        if user is None:
            return 0, 0
        changes = find_changes(db, feed, document)
    update = builder.update(user, feed, changes, now)
    if not (update.new or update.changed or changes.renamed or changes.renamed_deleted):
        return 0, 0
    dates = [entry.published_at for entry in update.new]
    update = replace(update, values=after_push(feed, dates, now) if dates else {})
    with database.writing() as db:
        (result,) = store(db, [update])
    log_rule_errors(feed.id, update.rule_errors)
    return len(result.new_ids), result.changed
