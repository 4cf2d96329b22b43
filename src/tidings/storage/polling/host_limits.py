"""Hosts that no process may fetch from before a certain time."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, delete, select, true

from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import hosts

# The later time wins.
_close = upsert(
    hosts,
    ["host"],
    update=["closed_until", "is_asked"],
    where=lambda stored, new: new.closed_until > stored.closed_until,
)
_select_asked_until = select(hosts.c.closed_until).where(hosts.c.host == bindparam("host"), hosts.c.is_asked == true())
_delete_expired = delete(hosts).where(hosts.c.closed_until < bindparam("before"))


def close(db: Write, until_by_host: Mapping[str, Instant], *, is_requested: bool) -> None:
    """Fetch no feed of these hosts before a time.

    is_requested: the hosts asked for it (429, Retry-After); then nothing else is fetched from them either.
    """
    rows = (
        {"host": host, "closed_until": until_by_host[host], "is_asked": is_requested} for host in sorted(until_by_host)
    )
    db.run_many(_close, list(rows))


def asked_until(db: Read, host: str) -> Instant | None:
    """Returns until when the host asked not to be fetched from; None if it did not. May be in the past."""
    found: Instant | None = db.scalar(_select_asked_until, host=host)
    return found


def remove_expired(db: Write, before: Instant) -> int:
    """Delete the limits that ended before `before`. Returns how many."""
    return db.run(_delete_expired, before=before)
