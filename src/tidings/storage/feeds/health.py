"""What is known about the health of feeds: errors, times, entries per week."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from sqlalchemy import BigInteger, and_, bindparam, func, select

from tidings.domain.feeds.health import FeedHealthData
from tidings.domain.times import DAY, Instant
from tidings.storage.engine.database import Read
from tidings.storage.schema import entries, feed_counters, feeds

WEEK = 7 * DAY

_is_waiting = and_(feeds.c.body_digest.is_(None), feeds.c.failed_checks == 0, feeds.c.checked_at <= feeds.c.created_at)
# One index lookup per feed. Entries dated in the future do not count.
_last_entry = (
    select(entries.c.published_at)
    .where(entries.c.feed_id == feeds.c.id, entries.c.published_at <= bindparam("now", type_=BigInteger))
    .order_by(entries.c.published_at.desc())
    .limit(1)
    .correlate(feeds)
    .scalar_subquery()
)
_select_all = (
    select(
        feeds.c.id,
        feeds.c.category_id,
        feeds.c.title,
        feeds.c.title_key,
        feeds.c.feed_url,
        feeds.c.site_url,
        feeds.c.icon_id,
        feeds.c.disabled,
        feeds.c.parsing_error_count.label("error_count"),
        feeds.c.parsing_error_message.label("error_message"),
        feeds.c.failed_checks,
        feeds.c.moved_to,
        feeds.c.moved_times,
        _is_waiting.label("is_waiting"),
        feeds.c.created_at,
        feeds.c.checked_at,
        feeds.c.next_check_at,
        feeds.c.news_gap_s,
        feeds.c.took_ms,
        feeds.c.check_interval_minutes,
        feed_counters.c.unread,
        _last_entry.label("last_entry_at"),
        feeds.c.parsing_error_form.label("error_form"),
        feeds.c.limits_reached,
    )
    .select_from(feeds.join(feed_counters, feed_counters.c.feed_id == feeds.c.id))
    .where(feeds.c.user_id == bindparam("user"))
)
_select_one = _select_all.where(feeds.c.id == bindparam("feed"))
_count_unchecked = select(func.count()).select_from(feeds).where(feeds.c.user_id == bindparam("user"), _is_waiting)

_weeks_ago = (bindparam("now", type_=BigInteger) - entries.c.published_at) // WEEK
# The user is checked through the feeds: the index of a feed's entries, which alone is read, does not contain it.
_owned_feeds = select(feeds.c.id).where(
    feeds.c.user_id == bindparam("user"), feeds.c.id.in_(bindparam("feeds", expanding=True))
)
_count_by_week = (
    select(entries.c.feed_id, _weeks_ago.label("weeks_ago"), func.count().label("count"))
    .where(
        entries.c.feed_id.in_(_owned_feeds),
        entries.c.published_at > bindparam("since"),
        entries.c.published_at <= bindparam("now"),
    )
    .group_by(entries.c.feed_id, _weeks_ago)
)


def list_all(db: Read, user_id: int, now: Instant) -> list[FeedHealthData]:
    """Returns the health data of the user's feeds by title, without case."""
    return sorted(db.all(FeedHealthData, _select_all, user=user_id, now=now), key=attrgetter("title_key", "id"))


def get(db: Read, user_id: int, feed_id: int, now: Instant) -> FeedHealthData | None:
    return db.one(FeedHealthData, _select_one, user=user_id, feed=feed_id, now=now)


def count_unchecked(db: Read, user_id: int) -> int:
    """Returns how many feeds of the user were never checked."""
    return int(db.scalar(_count_unchecked, user=user_id))


def entries_per_week(db: Read, user_id: int, feed_ids: Sequence[int], now: Instant, weeks: int) -> dict[int, list[int]]:
    """Returns the number of entries of each of the last weeks by feed id, the oldest week first."""
    counts = {feed_id: [0] * weeks for feed_id in feed_ids}
    since = now - weeks * WEEK
    for row in db.rows(_count_by_week, user=user_id, feeds=list(feed_ids), now=now, since=since):
        counts[row["feed_id"]][weeks - 1 - int(row["weeks_ago"])] = row["count"]
    return counts
