"""Hosts that are to be left alone for a while, whoever would ask them: for every process that shares the database."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, delete, select, true

from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import hosts

# Whoever asks for longer is heard.
_close = upsert(
    hosts,
    ["host"],
    update=["closed_until", "is_asked"],
    where=lambda stored, new: new.closed_until > stored.closed_until,
)
_asked_until = select(hosts.c.closed_until).where(hosts.c.host == bindparam("host"), hosts.c.is_asked == true())
_forget = delete(hosts).where(hosts.c.closed_until < bindparam("before"))


def close(db: Write, until_by_host: Mapping[str, Instant], *, asked: bool) -> None:
    """No feed of these is fetched before. asked: by the hosts themselves; then nothing else is fetched either."""
    rows = ({"host": host, "closed_until": until_by_host[host], "is_asked": asked} for host in sorted(until_by_host))
    db.run_many(_close, list(rows))


def asked_until(db: Read, host: str) -> Instant | None:
    """Until when the host asked to be left alone, if it ever did."""
    found: Instant | None = db.scalar(_asked_until, host=host)
    return found


def forget(db: Write, before: Instant) -> int:
    """Those that are open again since then; how many."""
    return db.run(_forget, before=before)
