"""Scheduled jobs that one worker at a time runs, by a lease."""

from __future__ import annotations

from sqlalchemy import bindparam, or_, select, update

from tidings.base.times import Instant
from tidings.engine.database import Read, Write
from tidings.engine.statements import upsert
from tidings.maintenance.tables import chores

_insert = upsert(chores, ["name"])
_is_named = chores.c.name == bindparam("chore")
_is_free = or_(chores.c.claimed_until.is_(None), chores.c.claimed_until <= bindparam("now"))
_select_is_due = select(chores.c.next_at <= bindparam("now")).where(_is_named, _is_free)
_select_name = select(chores.c.name).where(_is_named)
_claim = (
    update(chores).where(_is_named, _is_free).values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
)
_claim_due = _claim.where(chores.c.next_at <= bindparam("now"))
_is_held = (_is_named, chores.c.claimed_by == bindparam("worker"))
_renew = update(chores).where(*_is_held).values(claimed_until=bindparam("until"))
_finish = (
    update(chores)
    .where(*_is_held)
    .values(next_at=bindparam("next"), finished_at=bindparam("finished"), claimed_until=None, claimed_by="")
)
_postpone = update(chores).where(*_is_held).values(next_at=bindparam("next"), claimed_until=None, claimed_by="")
_release = update(chores).where(*_is_held).values(claimed_until=None, claimed_by="")
_select_finished_at = select(chores.c.finished_at).where(_is_named)


def is_registered(db: Read, name: str) -> bool:
    """Return whether the job exists."""
    return db.scalar(_select_name, chore=name) is not None


def is_due(db: Read, name: str, now: Instant) -> bool:
    """Return whether the job is due and free. Takes no lock."""
    return bool(db.scalar(_select_is_due, chore=name, now=now))


def register(db: Write, name: str, first_at: Instant) -> None:
    """Register a job; does nothing if it exists."""
    db.run(_insert.values(name=name, next_at=first_at))


def claim(db: Write, name: str, worker: str, *, now: Instant, until: Instant, ignore_schedule: bool = False) -> bool:
    """Claim the job. Returns False if it is not due or another worker holds it."""
    statement = _claim if ignore_schedule else _claim_due
    return db.run(statement, chore=name, worker=worker, now=now, until=until) > 0


def renew(db: Write, name: str, worker: str, until: Instant) -> bool:
    """Renew the lease. Returns False if another worker holds it."""
    return db.run(_renew, chore=name, worker=worker, until=until) > 0


def finish(db: Write, name: str, worker: str, *, now: Instant, next_at: Instant) -> bool:
    """Record the end of a run and release the lease. Returns False if another worker holds it."""
    return db.run(_finish, chore=name, worker=worker, finished=now, next=next_at) > 0


def postpone(db: Write, name: str, worker: str, *, next_at: Instant) -> None:
    """Release a job that failed, and schedule its next run."""
    db.run(_postpone, chore=name, worker=worker, next=next_at)


def release(db: Write, name: str, worker: str) -> None:
    """Release an interrupted job; the next worker continues it."""
    db.run(_release, chore=name, worker=worker)


def finished_at(db: Read, name: str) -> Instant | None:
    """Return when the job last finished; None if never."""
    moment: Instant | None = db.scalar(_select_finished_at, chore=name)
    return moment


# Another value each time: SQLite writes nothing when a row stays the same.
_write_probe = upsert(chores, ["name"], update=["finished_at"])


def write_probe(db: Write, now: Instant) -> None:
    db.run(_write_probe.values(name="write probe", next_at=Instant(0), finished_at=now))
