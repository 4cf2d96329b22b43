"""The statements of subscriptions to lists of feeds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct
from sqlalchemy import bindparam, delete, func, insert, select, update

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list
from tidings.live_opml.model import ListedFeed, OpmlSource
from tidings.live_opml.tables import opml_feeds, opml_subscriptions
from tidings.storage.schema import feed_counters, feeds


class Removal(Struct, frozen=True):
    """A feed that its list does not name any more: the user decides whether it goes."""

    feed_id: int
    subscription_id: int
    title: str
    feed_url: str
    missing_since: Instant
    starred: int
    """How many starred entries would be deleted with it."""


_fields = columns(opml_subscriptions, OpmlSource)
_of_user = opml_subscriptions.c.user_id == bindparam("user")
_is_owned = (_of_user, opml_subscriptions.c.id == bindparam("subscription"))
_select_all = select(*_fields).where(_of_user).order_by(opml_subscriptions.c.id)
_select = select(*_fields).where(*_is_owned)
_lock_held = _select.where(opml_subscriptions.c.claimed_by == bindparam("worker")).with_for_update()
_select_id = select(opml_subscriptions.c.id).where(_of_user, opml_subscriptions.c.url == bindparam("url"))
_delete = delete(opml_subscriptions).where(*_is_owned)

_rows = (opml_feeds.c.user_id == bindparam("user"), opml_feeds.c.subscription_id == bindparam("subscription"))
_select_listed = select(*columns(opml_feeds, ListedFeed)).where(*_rows).order_by(opml_feeds.c.url)
_count_feeds = (
    select(opml_feeds.c.subscription_id, func.count())
    .where(opml_feeds.c.user_id == bindparam("user"), opml_feeds.c.feed_id.is_not(None))
    .group_by(opml_feeds.c.subscription_id)
)
_is_listed = in_list(opml_feeds.c.url, "urls")
_set_missing = update(opml_feeds).where(*_rows, _is_listed).values(missing_since=bindparam("since"))
_delete_listed = delete(opml_feeds).where(*_rows, _is_listed)
_select_removals = (
    select(
        opml_feeds.c.feed_id,
        opml_feeds.c.subscription_id,
        feeds.c.title,
        feeds.c.feed_url,
        opml_feeds.c.missing_since,
        (feed_counters.c.starred_unread + feed_counters.c.starred_read).label("starred"),
    )
    .join_from(opml_feeds, feeds, feeds.c.id == opml_feeds.c.feed_id)
    .join(feed_counters, feed_counters.c.feed_id == feeds.c.id)
    .where(
        opml_feeds.c.user_id == bindparam("user"),
        feeds.c.user_id == bindparam("user"),
        feed_counters.c.user_id == bindparam("user"),
        opml_feeds.c.missing_since.is_not(None),
    )
    .order_by(opml_feeds.c.subscription_id, feeds.c.title_key, feeds.c.id)
)
_forget_feeds = delete(opml_feeds).where(
    *_rows, in_list(opml_feeds.c.feed_id, "feeds"), opml_feeds.c.missing_since.is_not(None)
)


def list_all(db: Read, user_id: int) -> list[OpmlSource]:
    return db.all(OpmlSource, _select_all, user=user_id)


def get(db: Read, user_id: int, subscription_id: int) -> OpmlSource | None:
    return db.one(OpmlSource, _select, user=user_id, subscription=subscription_id)


def lock_held(db: Write, source: OpmlSource, worker: str) -> bool:
    """Lock a subscription. Returns False if it is gone, or if the worker does not hold it any more."""
    return db.one(OpmlSource, _lock_held, user=source.user_id, subscription=source.id, worker=worker) is not None


def id_by_url(db: Read, user_id: int, url: str) -> int | None:
    found: int | None = db.scalar(_select_id, user=user_id, url=url)
    return found


def add(db: Write, user_id: int, **values: Any) -> int:
    """Add a subscription and return its id."""
    return db.insert(insert(opml_subscriptions).values(user_id=user_id, **values))


def change(db: Write, user_id: int, subscription_id: int, **values: Any) -> None:
    db.run(update(opml_subscriptions).where(*_is_owned).values(**values), user=user_id, subscription=subscription_id)


def remove(db: Write, user_id: int, subscription_id: int) -> bool:
    """Delete a subscription; its feeds stay. Returns False if the user has no such subscription."""
    return db.run(_delete, user=user_id, subscription=subscription_id) > 0


def listed(db: Read, user_id: int, subscription_id: int) -> list[ListedFeed]:
    return db.all(ListedFeed, _select_listed, user=user_id, subscription=subscription_id)


def feed_counts(db: Read, user_id: int) -> dict[int, int]:
    """Return how many feeds each subscription has brought, by its id; none is left out."""
    return dict(db.tuples(_count_feeds, user=user_id))


def add_listed(db: Write, user_id: int, subscription_id: int, feed_ids: Mapping[str, int | None]) -> None:
    """Add rows for feeds. feed_ids: by URL; None for a feed that was there before."""
    owned = {"user_id": user_id, "subscription_id": subscription_id}
    db.run_many(insert(opml_feeds), [owned | {"url": url, "feed_id": feed_id} for url, feed_id in feed_ids.items()])


def set_missing(db: Write, user_id: int, subscription_id: int, urls: Collection[str], since: Instant | None) -> None:
    """Note since when the list does not name these; None: it does."""
    if urls:
        db.run(_set_missing, user=user_id, subscription=subscription_id, urls=[*urls], since=since)


def remove_listed(db: Write, user_id: int, subscription_id: int, urls: Collection[str]) -> None:
    if urls:
        db.run(_delete_listed, user=user_id, subscription=subscription_id, urls=[*urls])


def forget_feeds(db: Write, user_id: int, subscription_id: int, feed_ids: Iterable[int]) -> None:
    """Make feeds that are missing in the list ordinary feeds."""
    db.run(_forget_feeds, user=user_id, subscription=subscription_id, feeds=sorted(feed_ids))


def removals(db: Read, user_id: int) -> list[Removal]:
    """Return the feeds about which the user has to decide, by subscription and title."""
    return db.all(Removal, _select_removals, user=user_id)
