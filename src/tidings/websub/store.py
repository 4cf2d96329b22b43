"""Subscriptions at hubs, the sources that use them, and the documents that hubs pushed. They do not belong to users.

A pushed document is kept until a worker has stored it; a subscription's are stored one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from msgspec import Struct
from sqlalchemy import and_, bindparam, delete, exists, false, func, or_, select, update

from tidings.base.times import Instant
from tidings.domain.feeds.feeds import Feed
from tidings.engine import notify
from tidings.engine.database import Read, Write, columns, is_distributed
from tidings.engine.statements import in_list, upsert
from tidings.storage.polling import sources
from tidings.storage.schema import feeds
from tidings.websub.model import HubSubscription, SubscriptionState
from tidings.websub.tables import websub_pushes, websub_subscriptions, websub_topics

_select_all = select(*columns(websub_subscriptions, HubSubscription))
_select_by_token = _select_all.where(websub_subscriptions.c.token == bindparam("token"))
_has_feed = exists().where(
    websub_topics.c.subscription_id == websub_subscriptions.c.id,
    feeds.c.source_id == websub_topics.c.source_id,
    feeds.c.disabled == false(),
)
_is_due = websub_subscriptions.c.next_attempt_at <= bindparam("now")
_any_due = select(exists(select(websub_subscriptions.c.id).where(_is_due)))
# A lookup per subscription. With EXISTS, PostgreSQL would first collect all subscriptions with feeds, since it expects
# many due ones.
_one_feed = (
    select(feeds.c.id)
    .join(websub_topics, websub_topics.c.source_id == feeds.c.source_id)
    .where(websub_topics.c.subscription_id == websub_subscriptions.c.id, feeds.c.disabled == false())
    .limit(1)
    .correlate(websub_subscriptions)
    .scalar_subquery()
)
_select_due = (
    select(*columns(websub_subscriptions, HubSubscription), _one_feed.is_not(None).label("has_feed"))
    .where(_is_due)
    .order_by(websub_subscriptions.c.next_attempt_at, websub_subscriptions.c.id)
    .limit(bindparam("limit"))
    .with_for_update(of=websub_subscriptions, skip_locked=True)
)
_is_running = websub_subscriptions.c.state.in_([SubscriptionState.REQUESTED, SubscriptionState.ACTIVE])
_has_ended = websub_subscriptions.c.state == SubscriptionState.ENDED
_select_orphaned = (
    select(websub_subscriptions.c.id)
    .where(
        or_(and_(_is_running, ~_has_feed), and_(_has_ended, _has_feed)),
        websub_subscriptions.c.next_attempt_at > bindparam("now"),
    )
    .limit(bindparam("limit"))
)
# Where feeds are on other servers, they cannot be joined with subscriptions: what has a feed is another statement.
_lock_due = (
    select(*columns(websub_subscriptions, HubSubscription))
    .where(_is_due)
    .order_by(websub_subscriptions.c.next_attempt_at, websub_subscriptions.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_select_waiting = (
    select(websub_subscriptions.c.id, _is_running.label("is_running"))
    .where(or_(_is_running, _has_ended), websub_subscriptions.c.next_attempt_at > bindparam("now"))
    .order_by(websub_subscriptions.c.id)
)
_select_topics = select(websub_topics.c.subscription_id, websub_topics.c.source_id).where(
    in_list(websub_topics.c.subscription_id, "subscriptions")
)
_select_enabled_sources = (
    select(feeds.c.source_id).where(in_list(feeds.c.source_id, "sources"), feeds.c.disabled == false()).distinct()
)
_select_source_id = select(feeds.c.source_id).where(feeds.c.id == bindparam("feed"))
_select_offers = (
    select(
        feeds.c.id.label("feed_id"),
        websub_subscriptions.c.id.label("subscription_id"),
        websub_subscriptions.c.hub,
        websub_subscriptions.c.topic,
    )
    .select_from(feeds)
    .join(websub_topics, websub_topics.c.source_id == feeds.c.source_id)
    .join(websub_subscriptions, websub_subscriptions.c.id == websub_topics.c.subscription_id)
    .where(in_list(feeds.c.id, "feeds"))
)
_select_id = select(websub_subscriptions.c.id).where(
    websub_subscriptions.c.hub == bindparam("hub"), websub_subscriptions.c.topic == bindparam("topic")
)
_insert = upsert(websub_subscriptions, ["hub", "topic"])
_link = upsert(websub_topics, ["source_id", "subscription_id"])
_unlink = delete(websub_topics).where(
    websub_topics.c.source_id == bindparam("source"),
    in_list(websub_topics.c.subscription_id, "subscriptions"),
)
_is_subscription = websub_subscriptions.c.id == bindparam("subscription")
_restart = (
    update(websub_subscriptions)
    .where(_is_subscription, websub_subscriptions.c.state == SubscriptionState.ENDED)
    .values(next_attempt_at=bindparam("now"))
)
_select_feeds = (
    select(*columns(feeds, Feed))
    .join(websub_topics, websub_topics.c.source_id == feeds.c.source_id)
    .where(websub_topics.c.subscription_id == bindparam("subscription"), feeds.c.disabled == false())
    .order_by(feeds.c.id)
)
_select_due_after = (
    select(feeds.c.id)
    .where(
        in_list(feeds.c.id, "ids"),
        feeds.c.disabled == false(),
        feeds.c.next_check_at > bindparam("at"),
    )
    .order_by(feeds.c.id)
)
_set_next_check = update(feeds).where(in_list(feeds.c.id, "ids")).values(next_check_at=bindparam("at"))
_is_pushed = and_(
    websub_subscriptions.c.state == SubscriptionState.ACTIVE,
    websub_subscriptions.c.lease_until > bindparam("now"),
    websub_subscriptions.c.last_push_at.is_not(None),
)
_select_hubs = (
    select(websub_topics.c.source_id, _is_pushed.label("is_pushed"))
    .join(websub_subscriptions, websub_subscriptions.c.id == websub_topics.c.subscription_id)
    .where(in_list(websub_topics.c.source_id, "sources"))
)
_clear_last_push = (
    update(websub_subscriptions)
    .where(
        websub_subscriptions.c.last_push_at.is_not(None),
        websub_subscriptions.c.id.in_(
            select(websub_topics.c.subscription_id)
            .join(feeds, feeds.c.source_id == websub_topics.c.source_id)
            .where(feeds.c.id == bindparam("feed"))
        ),
    )
    .values(last_push_at=None)
)
_clear_last_push_of_all = (
    update(websub_subscriptions).where(websub_subscriptions.c.last_push_at.is_not(None)).values(last_push_at=None)
)


def by_token(db: Read, token: str) -> HubSubscription | None:
    """Return the subscription with this callback token; None if there is none."""
    return db.one(HubSubscription, _select_by_token, token=token)


def offered_for(db: Read, feed_id: int) -> dict[tuple[str, str], int]:
    """Return the subscription ids of what the feed's document last offered, by hub and topic."""
    return offered_for_each(db, [feed_id]).get(feed_id, {})


def offered_for_each(db: Read, feed_ids: Iterable[int]) -> dict[int, dict[tuple[str, str], int]]:
    """Like `offered_for`, by feed id; a feed without offers is missing."""
    offered: defaultdict[int, dict[tuple[str, str], int]] = defaultdict(dict)
    for row in db.rows(_select_offers, feeds=sorted(feed_ids)):
        offered[row["feed_id"]][row["hub"], row["topic"]] = row["subscription_id"]
    return offered


def add_offer(db: Write, feed_id: int, hub: str, topic: str, *, token: str, secret: str, now: Instant) -> None:
    """Record that the feed's document names a hub and topic: add the subscription if needed, and link it to the source.

    token, secret: for a new subscription, which is requested immediately.
    """
    source_id = db.scalar(_select_source_id, feed=feed_id)
    if source_id is None:
        return
    new = {"hub": hub, "topic": topic, "token": token, "secret": secret, "created_at": now, "next_attempt_at": now}
    db.run(_insert.values(**new))
    subscription_id = db.scalar(_select_id, hub=hub, topic=topic)
    db.run(_link.values(source_id=source_id, subscription_id=subscription_id))
    db.run(_restart, subscription=subscription_id, now=now)


def remove_offers(db: Write, feed_id: int, subscription_ids: Collection[int]) -> None:
    """Record that the feed's document no longer names the hubs of these subscriptions."""
    db.run(_unlink, source=db.scalar(_select_source_id, feed=feed_id), subscriptions=sorted(subscription_ids))


def any_due(db: Read, now: Instant) -> bool:
    """Return whether a subscription is due. Takes no lock."""
    return bool(db.scalar(_any_due, now=now))


def due(db: Write, *, now: Instant, limit: int) -> list[tuple[HubSubscription, bool]]:
    """Lock and return due subscriptions, each with whether an enabled feed has it."""
    if is_distributed(db.connection):
        locked = db.all(HubSubscription, _lock_due, now=now, limit=limit)
        with_feed = _with_feed(db, [one.id for one in locked])
        return [(one, one.id in with_feed) for one in locked]
    return [(one, bool(row["has_feed"])) for one, row in db.joined(HubSubscription, _select_due, now=now, limit=limit)]


def find_orphaned(db: Read, *, now: Instant, limit: int) -> list[int]:
    """Return running subscriptions without an enabled feed, and ended ones that have one again."""
    if not is_distributed(db.connection):
        return db.scalars(_select_orphaned, now=now, limit=limit)
    is_running = dict(db.tuples(_select_waiting, now=now))
    with_feed = _with_feed(db, is_running)
    return [id_ for id_ in is_running if is_running[id_] != (id_ in with_feed)][:limit]


def _with_feed(db: Read, subscription_ids: Iterable[int]) -> set[int]:
    """Return those of these subscriptions that an enabled feed has."""
    topics = db.tuples(_select_topics, subscriptions=sorted(subscription_ids))
    enabled = set(db.scalars(_select_enabled_sources, sources=sorted({source_id for _, source_id in topics})))
    return {subscription_id for subscription_id, source_id in topics if source_id in enabled}


def make_subscriptions_due(db: Write, subscription_ids: Iterable[int], now: Instant) -> None:
    """Set the next attempt of subscriptions to `now`."""
    is_listed = websub_subscriptions.c.id.in_(sorted(subscription_ids))
    db.run(update(websub_subscriptions).where(is_listed).values(next_attempt_at=now))


def change(db: Write, subscription_id: int, *, if_asked_at: Instant | None = None, **values: Any) -> bool:
    """Write columns of a subscription. Returns whether it was changed.

    if_asked_at: change it only if this is still the last request and the hub has not verified it.
    """
    conditions = [_is_subscription]
    if if_asked_at is not None:
        conditions += [websub_subscriptions.c.asked_at == if_asked_at, websub_subscriptions.c.attempts > 0]
    return db.run(update(websub_subscriptions).where(*conditions).values(**values), subscription=subscription_id) > 0


def remove(db: Write, subscription_id: int) -> None:
    """Delete a subscription with its pushes that are not stored."""
    db.run(delete(websub_subscriptions).where(_is_subscription), subscription=subscription_id)


def feeds_of(db: Read, subscription_id: int) -> list[Feed]:
    """Return the enabled feeds of all users whose documents offered the subscription."""
    return db.all(Feed, _select_feeds, subscription=subscription_id)


def make_feeds_due(db: Write, feed_ids: Iterable[int], at: Instant) -> None:
    """Check enabled feeds at `at`, or earlier if they are due earlier."""
    ids = sorted(set(feed_ids))
    sources.lock_feeds(db, ids)
    feeds_later = db.scalars(_select_due_after, ids=ids, at=at)
    if feeds_later:
        db.run(_set_next_check, ids=feeds_later, at=at)
        sources.touch_sources(db, sources.of_feeds(db, feeds_later))
        notify.notify(db, notify.FEEDS)


def hubs_of(db: Read, source_ids: Iterable[int], now: Instant) -> dict[int, bool]:
    """Returns, for sources that offer a hub, whether pushes of a hub can be relied on."""
    hubs: dict[int, bool] = {}
    for row in db.rows(_select_hubs, sources=sorted(source_ids), now=now):
        hubs[row["source_id"]] = hubs.get(row["source_id"], False) or bool(row["is_pushed"])
    return hubs


def stop_relying_on_pushes(db: Write, feed_id: int) -> None:
    """A poll found entries that no push brought: poll the feed at its usual rate until the next push."""
    db.run(_clear_last_push, feed=feed_id)


def stop_relying_on_all_pushes(db: Write) -> None:
    """Poll all feeds at their usual rate until their next push."""
    db.run(_clear_last_push_of_all)


class Push(Struct, frozen=True):
    """A pushed document."""

    id: int
    subscription_id: int
    charset: str
    body: bytes
    received_at: Instant
    attempts: int
    """How often it was claimed, including this time."""


_earlier = websub_pushes.alias("earlier")
_is_first = ~exists().where(
    _earlier.c.subscription_id == websub_pushes.c.subscription_id, _earlier.c.id < websub_pushes.c.id
)
_is_free_push = or_(websub_pushes.c.claimed_until.is_(None), websub_pushes.c.claimed_until <= bindparam("now"))
_select_free = select(websub_pushes.c.id).where(_is_first, _is_free_push)
_has_free = select(exists(_select_free))
_select_next = _select_free.order_by(websub_pushes.c.id).limit(1).with_for_update(of=websub_pushes, skip_locked=True)
_claim_push = (
    update(websub_pushes)
    .where(websub_pushes.c.id.in_(_select_next.scalar_subquery()))
    .values(claimed_until=bindparam("until"), attempts=websub_pushes.c.attempts + 1)
    .returning(*columns(websub_pushes, Push))
)
_is_push_of_subscription = websub_pushes.c.subscription_id == bindparam("subscription")
_count_pushes = select(func.count()).select_from(websub_pushes).where(_is_push_of_subscription)
_insert_push = upsert(websub_pushes, ["subscription_id", "digest"])
_delete_push = delete(websub_pushes).where(websub_pushes.c.id == bindparam("push"))


def count_pushes(db: Read, subscription_id: int) -> int:
    """Return how many pushes of a subscription are waiting."""
    return int(db.scalar(_count_pushes, subscription=subscription_id))


def add_push(db: Write, subscription_id: int, body: bytes, *, digest: bytes, charset: str, now: Instant) -> None:
    """Add a push, unless one with the same body is waiting."""
    row = {"subscription_id": subscription_id, "body": body, "digest": digest, "charset": charset, "received_at": now}
    db.run(_insert_push.values(**row))


def any_free_push(db: Read, now: Instant) -> bool:
    """Return whether `claim_push` would find a push. Takes no lock."""
    return bool(db.scalar(_has_free, now=now))


def claim_push(db: Write, *, now: Instant, until: Instant) -> Push | None:
    """Claim the longest waiting free push until `until`. Returns None if there is none."""
    return db.one(Push, _claim_push, now=now, until=until)


def remove_push(db: Write, push_id: int) -> None:
    db.run(_delete_push, push=push_id)
