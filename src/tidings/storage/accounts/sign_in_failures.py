"""Failed sign-ins of the last minutes, counted for all processes. They belong to no user: most names are nobody's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, delete, select

from tidings.domain.accounts.throttle import Tally
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import sign_in_failures

_table = sign_in_failures
_some = select(_table).where(
    _table.c.lane.in_(bindparam("lanes", expanding=True)), _table.c.last_at > bindparam("since")
)


def _counted(old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    """Of a lane in which somebody failed before: one failure more, and the later of the two next turns."""
    return {
        "failures": case((old.last_at <= bindparam("since"), 1), else_=old.failures + 1),
        "last_at": new.last_at,
        "next_turn_at": case((old.next_turn_at > new.next_turn_at, old.next_turn_at), else_=new.next_turn_at),
    }


_count = upsert(_table, ["lane"], update=_counted).values(
    lane=bindparam("key"), failures=1, last_at=bindparam("now"), next_turn_at=bindparam("next_turn")
)
_forget = delete(_table).where(_table.c.lane == bindparam("key"))
_old = select(_table.c.lane).where(_table.c.last_at <= bindparam("since")).limit(bindparam("limit"))
_remove_old = delete(_table).where(_table.c.lane.in_(_old.scalar_subquery()))


def tallies(db: Read, lanes: Iterable[bytes], *, since: Instant) -> dict[bytes, Tally]:
    """Of those lanes in which somebody failed after `since`, by key."""
    found = db.rows(_some, lanes=list(lanes), since=since)
    return {bytes(row["lane"]): Tally(row["failures"], row["next_turn_at"]) for row in found}


def count(db: Write, next_turns: Mapping[bytes, Instant], *, now: Instant, since: Instant) -> None:
    """One more failure in each lane.

    next_turns: by key. Rows are locked in the order of the keys, or two transactions would wait for each other.
    since: failures before are forgotten.
    """
    for key, next_turn in sorted(next_turns.items()):
        db.run(_count, key=key, now=now, next_turn=next_turn, since=since)


def forget(db: Write, lane: bytes) -> None:
    db.run(_forget, key=lane)


def remove_old(db: Write, *, since: Instant, limit: int) -> int:
    """Delete up to `limit` rows in which nobody failed after `since`. Returns how many."""
    return db.run(_remove_old, since=since, limit=limit)
