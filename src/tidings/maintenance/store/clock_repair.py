"""Finds and corrects times that lie further ahead than they can: a clock was wrong when they were written.

The rows of all users are corrected, since a clock is wrong for all. Times written by a correct clock stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Executable,
    Table,
    TextClause,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    false,
    or_,
    select,
    text,
    true,
    update,
)

from tidings.base.times import DAY, MINUTE, Instant
from tidings.deliveries.tables import deliveries, receivers
from tidings.engine.database import Read, Write
from tidings.engine.statements import if_distributed, in_list
from tidings.maintenance.tables import chores
from tidings.storage.polling.sources import set_next_check
from tidings.storage.schema import feeds, hosts, sign_in_failures, sources
from tidings.websub.tables import websub_pushes, websub_subscriptions

# How many feeds one transaction makes due.
FEED_BATCH = 500


class LatestTimes(Struct, frozen=True, kw_only=True):
    """The latest times that rows can have if every clock is right."""

    now: Instant
    """The time itself."""
    latest: Instant
    """The time plus the difference that the clocks of several machines may have."""
    source_lease: Instant
    """End of a lease that starts now."""
    receiver_lease: Instant
    """End of a lease that starts now."""
    push_lease: Instant
    """End of a lease that starts now."""
    job_lease: Instant
    """End of a lease that starts now."""
    gap_end: Instant
    """When a host is open again after a fetch."""
    closed_until: Instant
    """When a host is open again after it asked for a pause."""
    next_check: Instant
    """Next check of a feed that follows its publisher; the user's own interval and days without checks come on top."""
    next_attempt: Instant
    """Next attempt of a delivery, with the longest Retry-After."""
    next_job: Instant
    """Next run of a scheduled job."""


class _Correction(Struct, frozen=True):
    """Statements that find and correct the wrong rows of a table."""

    find: Executable
    """Whether a row is wrong; takes no lock."""
    correct: Executable
    """Skips rows that another transaction is writing."""


def _correction(table: Table, wrong: ColumnElement[bool], **values: Any) -> _Correction:
    """Return a correction. Without values the rows are deleted."""
    (key,) = table.primary_key
    locked_rows = key.in_(select(key).where(wrong).order_by(key).with_for_update(skip_locked=True).scalar_subquery())
    correct = update(table).where(locked_rows).values(**values) if values else delete(table).where(locked_rows)
    return _Correction(select(exists().where(wrong)), correct)


def _lease(table: Table, end: str, *wrong: ColumnElement[bool] | TextClause) -> _Correction:
    return _correction(table, and_(table.c.claimed_until > bindparam(end), *wrong), claimed_until=None, claimed_by="")


_now: BindParameter[int] = bindparam("now")
_latest: BindParameter[int] = bindparam("latest")
# Literals: neither engine uses a partial index for a parameter.
_is_claimed, _is_succeeding, _is_failing = text("claimed_by <> ''"), text("failures = 0"), text("failures > 0")
_is_tried_ahead = and_(receivers.c.next_attempt_at.is_not(None), receivers.c.next_attempt_at > _latest)
_is_failing_ahead = or_(
    receivers.c.next_attempt_at > bindparam("next_attempt"),
    receivers.c.failing_since > _latest,
    bindparam("was_set_back") == true(),
)
# Where feeds are on other servers than hosts and sources, those checked ahead are listed first.
_checked_ahead = select(feeds.c.source_id).where(feeds.c.checked_at > _latest)
_is_checked_ahead = if_distributed(
    hosts.c.host.in_(select(sources.c.host).where(sources.c.id.in_(_checked_ahead))),
    exists(
        select(feeds.c.id)
        .join(sources, sources.c.id == feeds.c.source_id)
        .where(sources.c.host == hosts.c.host, feeds.c.checked_at > _latest)
        .correlate(hosts)
    ),
)
_is_closed_ahead = or_(
    hosts.c.closed_until > bindparam("closed_until"),
    and_(hosts.c.is_asked == false(), hosts.c.closed_until > bindparam("gap_end")),
    and_(hosts.c.is_asked == true(), hosts.c.closed_until > _latest, _is_checked_ahead),
)
_CORRECTIONS = (
    _lease(sources, "source_lease", _is_claimed),
    _lease(receivers, "receiver_lease", _is_claimed),
    _lease(chores, "job_lease"),
    _correction(websub_pushes, websub_pushes.c.claimed_until > bindparam("push_lease"), claimed_until=None),
    _correction(chores, chores.c.next_at > bindparam("next_job"), next_at=_now),
    _correction(
        websub_subscriptions,
        and_(websub_subscriptions.c.next_attempt_at > _latest, websub_subscriptions.c.asked_at > _latest),
        next_attempt_at=_now,
    ),
    _correction(sign_in_failures, sign_in_failures.c.last_at > _latest),
    _correction(receivers, and_(_is_tried_ahead, _is_succeeding), next_attempt_at=_now),
    _correction(hosts, _is_closed_ahead),
)
_FAILING_RECEIVERS = _correction(
    receivers,
    and_(_is_tried_ahead, _is_failing, _is_failing_ahead),
    next_attempt_at=_now,
    failing_since=case((receivers.c.failing_since > _now, _now), else_=receivers.c.failing_since),
)
# Deliveries that stepped aside; a queue that waits for one of them counts as failing.
_RETRIES = _correction(
    deliveries,
    and_(
        text("deliveries.retry_at IS NOT NULL"),
        text("deliveries.state = 'pending'"),
        deliveries.c.retry_at > _latest,
        or_(deliveries.c.retry_at > bindparam("next_attempt"), bindparam("was_set_back") == true()),
    ),
    retry_at=_now,
)
_select_closed_sources = (
    select(sources.c.id, hosts.c.closed_until, hosts.c.asked_until)
    .join(hosts, hosts.c.host == sources.c.host)
    .where(_is_closed_ahead)
)
_select_feeds_of_sources = select(feeds.c.id, feeds.c.source_id, feeds.c.next_check_at).where(
    in_list(feeds.c.source_id, "sources"), feeds.c.disabled == false()
)
_own_interval = cast(feeds.c.check_interval_minutes, BigInteger) * MINUTE
# Hints name their fields: `skip_hours`, `skip_days`.
_excluded_days = case((feeds.c.publisher_hints.like("%skip%"), 7 * DAY), else_=0)
_select_feeds_ahead = (
    select(feeds.c.id)
    .where(
        feeds.c.id > bindparam("after"),
        feeds.c.disabled == false(),
        feeds.c.next_check_at > _latest,
        or_(
            feeds.c.checked_at > _latest,
            feeds.c.next_check_at - _own_interval - _excluded_days > bindparam("next_check"),
        ),
    )
    .order_by(feeds.c.id)
    .limit(FEED_BATCH)
)


def has_wrong_rows(db: Read, times: LatestTimes, *, was_set_back: bool) -> bool:
    """Return whether `correct_rows` has something to do. Takes no lock."""
    return any(
        db.scalar(correction.find, **_parameters(times, was_set_back))
        for correction in (*_CORRECTIONS, _FAILING_RECEIVERS, _RETRIES)
    )


def correct_rows(db: Write, times: LatestTimes, *, was_set_back: bool) -> int:
    """Correct leases, pauses of hosts, queues and jobs. Returns the number of rows that were wrong.

    was_set_back: this machine's clock was just set back: failing receivers are tried now, whatever they asked for.
    """
    parameters = _parameters(times, was_set_back)
    set_next_check(db, _postponed_feeds(db, parameters), times.now)
    corrected = sum(db.run(correction.correct, **parameters) for correction in _CORRECTIONS)
    # Something else was wrong, so the waits of failing receivers are wrong too.
    parameters["was_set_back"] = was_set_back or corrected > 0
    return corrected + sum(db.run(correction.correct, **parameters) for correction in (_FAILING_RECEIVERS, _RETRIES))


def _postponed_feeds(db: Read, parameters: Mapping[str, Any]) -> list[int]:
    """Return the feeds of hosts that are closed for too long, as `polling.sources.postpone_host` left them."""
    closed = {source_id: until for source_id, *until in db.tuples(_select_closed_sources, **parameters)}
    rows = db.tuples(_select_feeds_of_sources, sources=sorted(closed)) if closed else ()
    return [feed_id for feed_id, source_id, next_at in rows if next_at is not None and next_at in closed[source_id]]


def make_feeds_due(db: Write, feed_ids: Sequence[int], times: LatestTimes) -> None:
    set_next_check(db, feed_ids, times.now)


def feeds_ahead(db: Read, times: LatestTimes, *, after_id: int) -> list[int]:
    """Return up to FEED_BATCH feeds whose next check is wrong, in the order of their ids."""
    return db.scalars(
        _select_feeds_ahead, after=after_id, now=times.now, latest=times.latest, next_check=times.next_check
    )


def _parameters(times: LatestTimes, was_set_back: bool) -> dict[str, Any]:
    return msgspec.structs.asdict(times) | {"was_set_back": was_set_back}
