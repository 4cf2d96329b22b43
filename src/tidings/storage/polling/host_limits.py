"""Hosts that no process may fetch from before a certain time."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, delete, or_, select, true

from tidings.base.times import MINUTE, Instant
from tidings.engine.database import Read, Write
from tidings.engine.statements import upsert
from tidings.storage.schema import host_attempts, hosts

# How often a user may manually send a request to a host that is paused.
ATTEMPT_GAP = MINUTE

# The later time wins.
_close = upsert(
    hosts,
    ["host"],
    update=["closed_until", "is_asked", "asked_until"],
    where=lambda stored, new: new.closed_until > stored.closed_until,
)
_select_paused_until = select(hosts.c.closed_until).where(hosts.c.host == bindparam("host"), hosts.c.is_asked == true())
_delete_expired = delete(hosts).where(hosts.c.closed_until < bindparam("before"))
# An attempt in the future was written by a wrong clock.
_record_attempt = upsert(
    host_attempts,
    ["user_id", "host"],
    update=["last_at"],
    where=lambda stored, new: or_(stored.last_at <= new.last_at - ATTEMPT_GAP, stored.last_at > new.last_at),
).returning(host_attempts.c.last_at)
_select_last_attempt = select(host_attempts.c.last_at).where(
    host_attempts.c.user_id == bindparam("user_id"), host_attempts.c.host == bindparam("host")
)
_delete_old_attempts = delete(host_attempts).where(host_attempts.c.last_at < bindparam("before"))


def close(db: Write, until_by_host: Mapping[str, Instant]) -> None:
    """Fetch no feed of these hosts before a time. Pages and icons may be fetched."""
    rows = (
        {"host": host, "closed_until": until_by_host[host], "is_asked": False, "asked_until": None}
        for host in sorted(until_by_host)
    )
    db.run_many(_close, list(rows))


def pause(db: Write, host: str, *, until: Instant, asked_until: Instant) -> None:
    """Fetch nothing from a host that asked for a pause (429, Retry-After). A pause that ends later stays.

    asked_until: what the host asked for; the pause may end before.
    """
    db.run(_close, host=host, closed_until=until, is_asked=True, asked_until=asked_until)


def paused_until(db: Read, host: str) -> Instant | None:
    """Return when the pause ends that the host asked for; None if it asked for none. May be in the past."""
    until: Instant | None = db.scalar(_select_paused_until, host=host)
    return until


def record_attempt(db: Write, user_id: int, host: str, now: Instant) -> Instant | None:
    """Record that a user manually sends a request to a host that is paused.

    Return None, or when the user may do that again; then nothing was recorded.
    """
    if db.scalar(_record_attempt, user_id=user_id, host=host, last_at=now) is not None:
        return None
    last_at: Instant = db.scalar(_select_last_attempt, user_id=user_id, host=host)
    return Instant(last_at + ATTEMPT_GAP)


def remove_expired(db: Write, before: Instant) -> int:
    """Delete the limits that ended before `before`, and attempts that do not count any more. Return how many limits."""
    removed = db.run(_delete_expired, before=before)
    db.run(_delete_old_attempts, before=before - ATTEMPT_GAP)
    return removed
