"""Failed sign-ins of the last minutes, counted for all processes (see `domain.accounts.throttle`).

The rows do not belong to a user: most names that attackers try do not exist. Column `lane` is the key of a bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, delete, select

from tidings.base.times import Instant
from tidings.domain.accounts.throttle import FailureCount
from tidings.engine.database import Read, Write
from tidings.engine.statements import upsert
from tidings.storage.schema import sign_in_failures

_table = sign_in_failures
_select_recent = select(_table).where(
    _table.c.lane.in_(bindparam("keys", expanding=True)), _table.c.last_at > bindparam("since")
)


def _incremented(old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    """Return the values of a bucket that has failures: one more, and the later of the two next attempts."""
    return {
        "failures": case((old.last_at <= bindparam("since"), 1), else_=old.failures + 1),
        "last_at": new.last_at,
        "next_turn_at": case((old.next_turn_at > new.next_turn_at, old.next_turn_at), else_=new.next_turn_at),
    }


_add_failure = upsert(_table, ["lane"], update=_incremented).values(
    lane=bindparam("key"), failures=1, last_at=bindparam("now"), next_turn_at=bindparam("next_attempt")
)
_delete = delete(_table).where(_table.c.lane == bindparam("key"))
_select_expired = select(_table.c.lane).where(_table.c.last_at <= bindparam("since")).limit(bindparam("limit"))
_delete_expired = delete(_table).where(_table.c.lane.in_(_select_expired.scalar_subquery()))


def failure_counts(db: Read, keys: Iterable[bytes], *, since: Instant) -> dict[bytes, FailureCount]:
    """Return the counts of buckets with a failure after `since`, by key."""
    rows = db.rows(_select_recent, keys=list(keys), since=since)
    return {bytes(row["lane"]): FailureCount(row["failures"], row["next_turn_at"]) for row in rows}


def add_failure(db: Write, next_attempts: Mapping[bytes, Instant], *, now: Instant, since: Instant) -> None:
    """Count one more failure in each bucket.

    next_attempts: when the next attempt may run, by key. Rows are locked in the order of the keys, or two transactions
    would wait for each other.
    since: earlier failures are not counted any more.
    """
    for key, next_attempt in sorted(next_attempts.items()):
        db.run(_add_failure, key=key, now=now, next_attempt=next_attempt, since=since)


def remove(db: Write, key: bytes) -> None:
    db.run(_delete, key=key)


def remove_expired(db: Write, *, since: Instant, limit: int) -> int:
    """Delete up to `limit` buckets without a failure after `since`. Returns how many."""
    return db.run(_delete_expired, since=since, limit=limit)
