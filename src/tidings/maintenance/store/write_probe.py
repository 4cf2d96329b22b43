"""Writes a row of no other use, to learn whether the database takes writes."""

from __future__ import annotations

from tidings.base.times import Instant
from tidings.engine.database import Write
from tidings.engine.upsert import upsert
from tidings.storage.schema import chores

# Another value each time: SQLite writes nothing when a row stays the same.
_write = upsert(chores, ["name"], update=["finished_at"])


def write(db: Write, now: Instant) -> None:
    db.run(_write.values(name="write probe", next_at=Instant(0), finished_at=now))
