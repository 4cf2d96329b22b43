"""Turns at a service, which all processes of an installation take."""

from __future__ import annotations

from sqlalchemy import bindparam, or_, select, update

from tidings.base.times import Instant
from tidings.bridges.tables import bridge_turns
from tidings.engine.database import Read, Write
from tidings.engine.statements import upsert

_insert = upsert(bridge_turns, ["name"])
_is_named = bridge_turns.c.name == bindparam("service")
_is_free = or_(bridge_turns.c.taken_until.is_(None), bridge_turns.c.taken_until <= bindparam("now"))
_select_taken = select(bridge_turns.c.name).where(_is_named, ~_is_free)
_take = (
    update(bridge_turns).where(_is_named, _is_free).values(taken_until=bindparam("until"), taken_by=bindparam("taker"))
)
_give_back = (
    update(bridge_turns)
    .where(_is_named, bridge_turns.c.taken_by == bindparam("taker"))
    .values(taken_until=None, taken_by="")
)


def is_taken(db: Read, service: str, now: Instant) -> bool:
    """Return whether somebody has the turn. Takes no lock."""
    return db.scalar(_select_taken, service=service, now=now) is not None


def take(db: Write, service: str, taker: str, *, now: Instant, until: Instant) -> bool:
    """Take the turn. Returns False if somebody has it."""
    db.run(_insert.values(name=service))
    return db.run(_take, service=service, taker=taker, now=now, until=until) > 0


def give_back(db: Write, service: str, taker: str) -> None:
    """Give the turn back; does nothing if another one has it by now."""
    db.run(_give_back, service=service, taker=taker)
