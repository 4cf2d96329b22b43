"""Subscriptions at hubs, and which sources they are for. They belong to nobody in particular: no user is named here.

Pushes that wait to be stored are `storage.websub.pushes`'.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, false, or_, select, update

from tidings.domain.feeds.feeds import Feed
from tidings.domain.times import Instant
from tidings.domain.websub.subscriptions import HubSubscription, SubscriptionState
from tidings.storage.engine import notify
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.engine.id_list import in_list
from tidings.storage.engine.upsert import upsert
from tidings.storage.polling import sources
from tidings.storage.schema import feeds, websub_subscriptions, websub_topics

_subscriptions = select(*columns(websub_subscriptions, HubSubscription))
_by_token = _subscriptions.where(websub_subscriptions.c.token == bindparam("token"))
_is_read = exists().where(
    websub_topics.c.subscription_id == websub_subscriptions.c.id,
    feeds.c.source_id == websub_topics.c.source_id,
    feeds.c.disabled == false(),
)
_is_due = websub_subscriptions.c.next_attempt_at <= bindparam("now")
_any_due = select(exists(select(websub_subscriptions.c.id).where(_is_due)))
# Looked up for each. PostgreSQL would rather put together all that are read, since it expects more than a few.
_reader = (
    select(feeds.c.id)
    .join(websub_topics, websub_topics.c.source_id == feeds.c.source_id)
    .where(websub_topics.c.subscription_id == websub_subscriptions.c.id, feeds.c.disabled == false())
    .limit(1)
    .correlate(websub_subscriptions)
    .scalar_subquery()
)
_due = (
    select(*columns(websub_subscriptions, HubSubscription), _reader.is_not(None).label("is_read"))
    .where(_is_due)
    .order_by(websub_subscriptions.c.next_attempt_at, websub_subscriptions.c.id)
    .limit(bindparam("limit"))
    .with_for_update(of=websub_subscriptions, skip_locked=True)
)
_adrift = (
    select(websub_subscriptions.c.id)
    .where(
        or_(
            and_(websub_subscriptions.c.state.in_([SubscriptionState.REQUESTED, SubscriptionState.ACTIVE]), ~_is_read),
            and_(websub_subscriptions.c.state == SubscriptionState.ENDED, _is_read),
        ),
        websub_subscriptions.c.next_attempt_at > bindparam("now"),
    )
    .limit(bindparam("limit"))
)
_source_of = select(feeds.c.source_id).where(feeds.c.id == bindparam("feed"))
_offered = (
    select(feeds.c.id, websub_subscriptions.c.id, websub_subscriptions.c.hub, websub_subscriptions.c.topic)
    .select_from(feeds)
    .join(websub_topics, websub_topics.c.source_id == feeds.c.source_id)
    .join(websub_subscriptions, websub_subscriptions.c.id == websub_topics.c.subscription_id)
    .where(in_list(feeds.c.id, "feeds"))
)
_find = select(websub_subscriptions.c.id).where(
    websub_subscriptions.c.hub == bindparam("hub"), websub_subscriptions.c.topic == bindparam("topic")
)
_add = upsert(websub_subscriptions, ["hub", "topic"])
_link = upsert(websub_topics, ["source_id", "subscription_id"])
_unlink = delete(websub_topics).where(
    websub_topics.c.source_id == bindparam("source"),
    in_list(websub_topics.c.subscription_id, "subscriptions"),
)
_one = websub_subscriptions.c.id == bindparam("subscription")
_wake = (
    update(websub_subscriptions)
    .where(_one, websub_subscriptions.c.state == SubscriptionState.ENDED)
    .values(next_attempt_at=bindparam("now"))
)
_readers = (
    select(*columns(feeds, Feed))
    .join(websub_topics, websub_topics.c.source_id == feeds.c.source_id)
    .where(websub_topics.c.subscription_id == bindparam("subscription"), feeds.c.disabled == false())
    .order_by(feeds.c.id)
)
_late = (
    select(feeds.c.id)
    .where(
        in_list(feeds.c.id, "ids"),
        feeds.c.disabled == false(),
        feeds.c.next_check_at > bindparam("at"),
    )
    .order_by(feeds.c.id)
    .with_for_update()
)
_hasten = update(feeds).where(in_list(feeds.c.id, "ids")).values(next_check_at=bindparam("at"))
_is_pushed = and_(
    websub_subscriptions.c.state == SubscriptionState.ACTIVE,
    websub_subscriptions.c.lease_until > bindparam("now"),
    websub_subscriptions.c.last_push_at.is_not(None),
)
_known = (
    select(websub_topics.c.source_id, _is_pushed)
    .join(websub_subscriptions, websub_subscriptions.c.id == websub_topics.c.subscription_id)
    .where(in_list(websub_topics.c.source_id, "sources"))
)
_distrust = (
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
_distrust_all = (
    update(websub_subscriptions).where(websub_subscriptions.c.last_push_at.is_not(None)).values(last_push_at=None)
)


def by_token(db: Read, token: str) -> HubSubscription | None:
    return db.one(HubSubscription, _by_token, token=token)


def offered_for(db: Read, feed_id: int) -> dict[tuple[str, str], int]:
    """The subscriptions by hub and topic that the feed's document was last seen to offer."""
    return offered_for_each(db, [feed_id]).get(feed_id, {})


def offered_for_each(db: Read, feed_ids: Iterable[int]) -> dict[int, dict[tuple[str, str], int]]:
    """As `offered_for`, by feed: those that have any."""
    found: defaultdict[int, dict[tuple[str, str], int]] = defaultdict(dict)
    for feed_id, id_, hub, topic in db.tuples(_offered, feeds=sorted(feed_ids)):
        found[feed_id][hub, topic] = id_
    return found


def offer(db: Write, feed_id: int, hub: str, topic: str, *, token: str, secret: str, now: Instant) -> None:
    """The feed's document offers it: there is such a subscription, and it is for that document too.

    token, secret: of a new one, which is to be asked for at once.
    """
    source_id = db.scalar(_source_of, feed=feed_id)
    if source_id is None:
        return
    new = {"hub": hub, "topic": topic, "token": token, "secret": secret, "created_at": now, "next_attempt_at": now}
    db.run(_add.values(**new))
    subscription_id = db.scalar(_find, hub=hub, topic=topic)
    db.run(_link.values(source_id=source_id, subscription_id=subscription_id))
    db.run(_wake, subscription=subscription_id, now=now)


def withdraw(db: Write, feed_id: int, subscription_ids: Collection[int]) -> None:
    """The feed's document does not offer them any more."""
    db.run(_unlink, source=db.scalar(_source_of, feed=feed_id), subscriptions=sorted(subscription_ids))


def any_due(db: Read, now: Instant) -> bool:
    return bool(db.scalar(_any_due, now=now))


def due(db: Write, *, now: Instant, limit: int) -> list[tuple[HubSubscription, bool]]:
    """Locked until the transaction ends, each with whether an enabled feed is for it."""
    return [(one, bool(row.is_read)) for one, row in db.joined(HubSubscription, _due, now=now, limit=limit)]


def orphaned(db: Read, *, now: Instant, limit: int) -> list[int]:
    """Those that nobody reads any more, and those that ended and are read again."""
    return db.scalars(_adrift, now=now, limit=limit)


def hasten(db: Write, subscription_ids: Iterable[int], now: Instant) -> None:
    some = websub_subscriptions.c.id.in_(sorted(subscription_ids))
    db.run(update(websub_subscriptions).where(some).values(next_attempt_at=now))


def change(db: Write, subscription_id: int, *, if_asked_at: Instant | None = None, **values: Any) -> bool:
    """if_asked_at: only if that is still the last request, and the hub did not verify it meanwhile."""
    which = [_one]
    if if_asked_at is not None:
        which += [websub_subscriptions.c.asked_at == if_asked_at, websub_subscriptions.c.attempts > 0]
    return db.run(update(websub_subscriptions).where(*which).values(**values), subscription=subscription_id) > 0


def remove(db: Write, subscription_id: int) -> None:
    """With what was pushed for it and is not stored."""
    db.run(delete(websub_subscriptions).where(_one), subscription=subscription_id)


def readers(db: Read, subscription_id: int) -> list[Feed]:
    """The enabled feeds, of whichever users, whose documents offered it."""
    return db.all(Feed, _readers, subscription=subscription_id)


def make_due(db: Write, feed_ids: Iterable[int], at: Instant) -> None:
    """Enabled ones are checked then, if not earlier."""
    late = db.scalars(_late, ids=sorted(set(feed_ids)), at=at)
    if late:
        db.run(_hasten, ids=late, at=at)
        sources.touch(db, sources.of_feeds(db, late))
        notify.notify(db, notify.FEEDS)


def known(db: Read, source_ids: Iterable[int], now: Instant) -> dict[int, bool]:
    """Those sources that offer a hub, and whether one can be relied on to tell what is new."""
    found: dict[int, bool] = {}
    for source_id, is_pushed in db.tuples(_known, sources=sorted(source_ids), now=now):
        found[source_id] = found.get(source_id, False) or bool(is_pushed)
    return found


def distrust(db: Write, feed_id: int) -> None:
    """A poll found what no push had brought: until the next push, polling is all there is."""
    db.run(_distrust, feed=feed_id)


def distrust_all(db: Write) -> None:
    db.run(_distrust_all)
