"""Endpoints for the health of feeds, and for changing many feeds in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from tidings.api.fields import Fields
from tidings.api.schema_annotations import Required, Timestamp, one_of, up_to
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.feeds.health import FeedHealth, FeedHealthData, FeedOrder
from tidings.engine.database import Read
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.services import Services
from tidings.services.clock import time_zone
from tidings.services.feeds.categories import owned_category
from tidings.services.feeds.feeds import unknown_feed
from tidings.services.feeds.health import choose
from tidings.storage.feeds import feeds, health

routes = Routes("Feeds")

DEFAULT_LIMIT = 100
MAX_LIMIT = 1_000
WEEKS = 26
# Feeds per change. Each hundred of them is a transaction of its own.
MAX_CHANGED = 10_000


class FeedHealthOut(Struct, frozen=True):
    """health: why the feed needs care, the first reason that applies; or waiting, off or fine.

    error_count: failed checks in a row, without passing network errors; failed_checks: with them. error_message: of the
    last check, in English. moved_to: where it redirects permanently, moved_times times so far. next_check_at: null
    while it is disabled. response_ms: how long the last response took, null if unknown. last_entry_at: null without
    entries. entries_per_week: of the last 26 weeks, the oldest first. limits_reached: why the last document or the
    pages of entries are incomplete.
    """

    id: int
    category_id: int
    title: str
    feed_url: str
    site_url: str
    health: Annotated[str, one_of(FeedHealth)]
    disabled: bool
    error_count: int
    failed_checks: int
    error_message: str
    moved_to: str
    moved_times: int
    next_check_at: Timestamp | None
    response_ms: int | None
    last_entry_at: Timestamp | None
    entries_per_week: list[int]
    limits_reached: list[str]


class FeedHealthList(Struct, frozen=True):
    """total: feeds on all pages. states: feeds by health, before the filter by state.

    waiting: all of your feeds that are due and wait for a worker.
    """

    total: int
    states: dict[str, int]
    waiting: int
    feeds: list[FeedHealthOut]


class FeedHealthQuery(Query, frozen=True):
    """state: feeds with this health. category_id: in this category or below it. search: words of title and addresses.

    order: default care, problems first. limit: 1 to 1000, default 100.
    """

    state: Annotated[str, one_of(FeedHealth)] = ""
    category_id: int | None = None
    search: str = ""
    order: Annotated[str, one_of(FeedOrder)] = ""
    limit: Annotated[int | None, up_to(MAX_LIMIT, minimum=1)] = None
    offset: int | None = None


class BulkAction(StrEnum):
    REFRESH = "refresh"
    ENABLE = "enable"
    DISABLE = "disable"
    SET_INTERVAL = "set_interval"
    MOVE = "move"
    ADD_TO_CATEGORY = "add_to_category"
    DELETE = "delete"


class FeedsChange(Struct, frozen=True):
    """feed_ids: those of others are ignored. category_id: only with move and add_to_category.

    from_category_id: the category that feeds leave, only with move; default: their first one.
    check_interval_minutes: only with set_interval; 0: as often as each feed publishes. enable: errors are forgotten,
    and feeds are checked soon. delete: entries, too.
    """

    feed_ids: Required[list[Int64]] = None
    action: Annotated[Required[str], one_of(BulkAction)] = None
    category_id: Int64 | None = None
    from_category_id: Int64 | None = None
    check_interval_minutes: Int64 | None = None


class ChangedFeeds(Struct, frozen=True):
    """changed: how many feeds were changed; with refresh, how many are due now."""

    changed: int


_copy = StructCopy(
    FeedHealthOut,
    "health",
    "disabled",
    "next_check_at",
    "response_ms",
    "last_entry_at",
    "entries_per_week",
    "limits_reached",
)


@routes.get("/v1/feeds/health", lists=FeedHealthOut, raises=(InvalidInput,))
def list_feed_health(caller: User, services: Services, fields: Fields, query: FeedHealthQuery) -> FeedHealthList:
    """List the health of feeds."""
    if query.state and query.state not in set(FeedHealth):
        raise InvalidInput(verbatim(f"state: expected one of {', '.join(FeedHealth)}."), field="state")
    if query.order and query.order not in set(FeedOrder):
        raise InvalidInput(verbatim(f"order: expected one of {', '.join(FeedOrder)}."), field="order")
    limit = DEFAULT_LIMIT if query.limit is None else query.limit
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(verbatim(f"limit: expected a number from 1 to {MAX_LIMIT:,}."), field="limit")
    now, offset = services.clock(), query.offset or 0
    with services.reading() as db:
        if query.category_id:
            _ensure_category(db, caller.id, query.category_id)
        chosen = choose(
            db,
            caller.id,
            now,
            state=query.state,
            category_id=query.category_id or None,
            search=query.search,
            order=FeedOrder(query.order or FeedOrder.CARE),
        )
        shown = health.get_many(db, caller.id, chosen.ids[offset : offset + limit], now)
        # Counting takes nearly all of the time: 20 ms for the 60,000 entries of a hundred feeds.
        counted = [feed.id for feed in shown] if "entries_per_week" in fields else []
        weekly = health.entries_per_week(db, caller.id, counted, now, WEEKS) if counted else {}
        waiting = feeds.count_due(db, caller.id, now)
    listed = [_out(caller, feed, weekly.get(feed.id, [])) for feed in shown]
    states = {state.value: chosen.counts[state] for state in FeedHealth}
    return FeedHealthList(len(chosen.ids), states, waiting, listed)


@routes.get("/v1/feeds/{feed_id}/health", raises=(InvalidInput, NotFound))
def get_feed_health(caller: User, services: Services, feed_id: int) -> FeedHealthOut:
    """Get the health of a feed."""
    now = services.clock()
    with services.reading() as db:
        feed = health.get(db, caller.id, feed_id, now)
        if feed is None:
            raise unknown_feed(feed_id)
        weekly = health.entries_per_week(db, caller.id, [feed_id], now, WEEKS)
    return _out(caller, feed, weekly[feed_id])


@routes.post("/v1/feeds/bulk", scope=KeyScope.MANAGE, status=200, raises=(InvalidInput, NotFound))
def change_feeds(caller: User, services: Services, body: FeedsChange) -> ChangedFeeds:
    """Change many feeds in the same way. What is wrong is refused before any feed is changed."""
    if not body.feed_ids:
        raise InvalidInput(verbatim("feed_ids: at least one feed id is needed."), field="feed_ids")
    if len(body.feed_ids) > MAX_CHANGED:
        raise InvalidInput(verbatim(f"feed_ids: {MAX_CHANGED:,} at most; send them in parts."), field="feed_ids")
    try:
        action = BulkAction(body.action or "")
    except ValueError:
        raise InvalidInput(verbatim(f"action: expected one of {', '.join(BulkAction)}."), field="action") from None
    return ChangedFeeds(_change(caller, services, action, body, body.feed_ids))


def _change(caller: User, services: Services, action: BulkAction, body: FeedsChange, ids: Sequence[int]) -> int:
    bulk = services.feeds.bulk
    match action:
        case BulkAction.REFRESH:
            return services.polling.claims.refresh_feeds(caller.id, ids)
        case BulkAction.ENABLE:
            return bulk.enable(caller.id, ids)
        case BulkAction.DISABLE:
            return bulk.disable(caller.id, ids)
        case BulkAction.SET_INTERVAL:
            if body.check_interval_minutes is None:
                problem = "check_interval_minutes: send it with set_interval; 0 for as often as each feed publishes."
                raise InvalidInput(verbatim(problem), field="check_interval_minutes")
            return bulk.set_interval(caller.id, ids, body.check_interval_minutes)
        case BulkAction.MOVE:
            return bulk.move(caller.id, ids, _category(body), left_id=body.from_category_id or None)
        case BulkAction.ADD_TO_CATEGORY:
            return bulk.add_to(caller.id, ids, _category(body))
        case BulkAction.DELETE:
            return bulk.delete(caller.id, ids)


def _category(body: FeedsChange) -> int:
    if not body.category_id:
        raise InvalidInput(verbatim(f"category_id: {body.action} needs one."), field="category_id")
    return body.category_id


def _ensure_category(db: Read, user_id: int, category_id: int) -> None:
    try:
        owned_category(db, user_id, category_id)
    except NotFound as error:
        raise InvalidInput(error.text, field="category_id") from error


def _out(caller: User, feed: FeedHealthData, weekly: list[int]) -> FeedHealthOut:
    clock = time_zone(caller.timezone)
    return _copy(
        feed,
        health=feed.health.value,
        disabled=bool(feed.disabled),
        next_check_at=None if feed.disabled else clock.format(feed.next_check_at),
        response_ms=feed.took_ms or None,
        last_entry_at=clock.format_optional(feed.last_entry_at),
        entries_per_week=weekly,
        limits_reached=feed.limits_reached.split(),
    )
