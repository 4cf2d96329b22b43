"""What is known about the health of feeds: errors, times, entries per week."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from sqlalchemy import BigInteger, ColumnElement, and_, bindparam, case, func, literal, select

from tidings.base.times import DAY, Instant
from tidings.domain.feeds.feeds import NEWSLETTERS_URL
from tidings.domain.feeds.health import (
    DEAD_AFTER_FAILURES,
    HEALTH_STATES,
    RARE_GAP_S,
    SILENT_AFTER,
    SLOW_FROM_MS,
    FeedHealth,
    FeedHealthData,
    FeedHealthSummary,
    FeedOrder,
)
from tidings.engine.database import Read
from tidings.engine.full_text import without_index
from tidings.engine.statements import in_list
from tidings.storage.entries.counters import counted_feeds
from tidings.storage.schema import entries, feed_counters, feeds

WEEK = 7 * DAY
# Later than any check.
NEVER = 2**62

_RANKS = {state: rank for rank, state in enumerate(HEALTH_STATES)}
_now = bindparam("now", type_=BigInteger)
# No document was read yet, which gives a feed its rate.
_is_waiting = and_(
    ~feeds.c.disabled,
    feeds.c.body_digest.is_(None),
    feeds.c.news_gap_s == 0,
    feeds.c.failed_checks == 0,
    feeds.c.checked_at <= feeds.c.created_at,
)
# One index lookup per feed. Entries dated in the future do not count.
_last_entry = (
    select(entries.c.published_at)
    .where(
        without_index(entries.c.user_id) == bindparam("user"),
        entries.c.feed_id == feeds.c.id,
        entries.c.published_at <= _now,
    )
    .order_by(entries.c.published_at.desc())
    .limit(1)
    .correlate(feeds)
    .scalar_subquery()
)
_is_of_letters = feeds.c.feed_url.startswith(NEWSLETTERS_URL)
# The first that applies.
_health_rank = case(
    # They are never fetched, and so disabled.
    (
        and_(_is_of_letters, func.coalesce(_last_entry, feeds.c.created_at) < _now - SILENT_AFTER),
        _RANKS[FeedHealth.SILENT],
    ),
    (_is_of_letters, _RANKS[FeedHealth.FINE]),
    # A feed that was disabled because of errors shows as dead, with its error.
    (and_(feeds.c.disabled, feeds.c.parsing_error_count > 0), _RANKS[FeedHealth.DEAD]),
    (feeds.c.disabled, _RANKS[FeedHealth.OFF]),
    (
        and_(feeds.c.parsing_error_count > 0, feeds.c.failed_checks >= DEAD_AFTER_FAILURES),
        _RANKS[FeedHealth.DEAD],
    ),
    (feeds.c.parsing_error_count > 0, _RANKS[FeedHealth.FAILING]),
    (feeds.c.moved_to != "", _RANKS[FeedHealth.MOVED]),
    (_is_waiting, _RANKS[FeedHealth.WAITING]),
    (func.coalesce(_last_entry, feeds.c.created_at) < _now - SILENT_AFTER, _RANKS[FeedHealth.SILENT]),
    (feeds.c.took_ms >= SLOW_FROM_MS, _RANKS[FeedHealth.SLOW]),
    (feeds.c.news_gap_s > RARE_GAP_S, _RANKS[FeedHealth.RARE]),
    else_=_RANKS[FeedHealth.FINE],
)
_last_entry_or_0 = func.coalesce(_last_entry, 0)
_sort_values: dict[FeedOrder, ColumnElement[int]] = {
    # By the rank alone.
    FeedOrder.CARE: literal(0),
    FeedOrder.TITLE: literal(0),
    FeedOrder.NEWEST: -_last_entry_or_0,
    FeedOrder.OLDEST: _last_entry_or_0,
    FeedOrder.SLOWEST: -feeds.c.took_ms,
    FeedOrder.NEXT: case((feeds.c.disabled, NEVER), else_=feeds.c.next_check_at),
    FeedOrder.UNREAD: -feed_counters.c.unread,
}
_of_user = feeds.c.user_id == bindparam("user")
_select_summaries = {
    order: select(
        feeds.c.id,
        feeds.c.category_id,
        _health_rank.label("health_rank"),
        value.label("sort_value"),
        feeds.c.title,
        feeds.c.title_key,
        feeds.c.feed_url,
        feeds.c.site_url,
    )
    .select_from(counted_feeds)
    .where(_of_user)
    for order, value in _sort_values.items()
}
_select_many = select(
    feeds.c.id,
    feeds.c.category_id,
    _health_rank.label("health_rank"),
    feeds.c.title,
    feeds.c.feed_url,
    feeds.c.site_url,
    feeds.c.icon_id,
    feeds.c.disabled,
    feeds.c.parsing_error_count.label("error_count"),
    feeds.c.parsing_error_message.label("error_message"),
    feeds.c.failed_checks,
    feeds.c.moved_to,
    feeds.c.moved_times,
    feeds.c.next_check_at,
    feeds.c.took_ms,
    _last_entry.label("last_entry_at"),
    feeds.c.parsing_error_form.label("error_form"),
    feeds.c.limits_reached,
).where(_of_user, in_list(feeds.c.id, "ids"))
_count_unchecked = select(func.count()).select_from(feeds).where(_of_user, _is_waiting)

_weeks_ago = (_now - entries.c.published_at) // WEEK
# The user is checked through the feeds: the index of a feed's entries, which alone is read, does not contain it.
_owned_feeds = select(feeds.c.id).where(_of_user, feeds.c.id.in_(bindparam("feeds", expanding=True)))
_count_by_week = (
    select(entries.c.feed_id, _weeks_ago.label("weeks_ago"), func.count().label("count"))
    .where(
        entries.c.feed_id.in_(_owned_feeds),
        entries.c.published_at > bindparam("since"),
        entries.c.published_at <= bindparam("now"),
    )
    .group_by(entries.c.feed_id, _weeks_ago)
)


def list_summaries(db: Read, user_id: int, order: FeedOrder, now: Instant) -> list[FeedHealthSummary]:
    """Return all feeds of the user, sorted."""
    found = db.all(FeedHealthSummary, _select_summaries[order], user=user_id, now=now)
    first = "health_rank" if order is FeedOrder.CARE else "sort_value"
    return sorted(found, key=attrgetter(first, "title_key", "id"))


def get_many(db: Read, user_id: int, feed_ids: Sequence[int], now: Instant) -> list[FeedHealthData]:
    """Return the feeds with these ids that belong to the user, in the order of the ids."""
    found = {feed.id: feed for feed in db.all(FeedHealthData, _select_many, user=user_id, ids=feed_ids, now=now)}
    return [found[feed_id] for feed_id in feed_ids if feed_id in found]


def get(db: Read, user_id: int, feed_id: int, now: Instant) -> FeedHealthData | None:
    return next(iter(get_many(db, user_id, [feed_id], now)), None)


def count_unchecked(db: Read, user_id: int) -> int:
    """Return how many feeds of the user were never checked."""
    return int(db.scalar(_count_unchecked, user=user_id))


def entries_per_week(db: Read, user_id: int, feed_ids: Sequence[int], now: Instant, weeks: int) -> dict[int, list[int]]:
    """Return the number of entries of each of the last weeks by feed id, the oldest week first."""
    counts = {feed_id: [0] * weeks for feed_id in feed_ids}
    since = now - weeks * WEEK
    for row in db.rows(_count_by_week, user=user_id, feeds=list(feed_ids), now=now, since=since):
        counts[row["feed_id"]][weeks - 1 - int(row["weeks_ago"])] = row["count"]
    return counts
