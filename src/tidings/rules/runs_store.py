"""Runs that apply rules to stored entries, and what their entries were before. The worker serves all users."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, delete, exists, insert, or_, select, text, true, update

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns, is_distributed
from tidings.engine.statements import if_distributed, in_list
from tidings.rules.model import RuleFields, encode_actions
from tidings.rules.tables import rule_run_entries, rule_runs
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind


class RunState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"


class RuleRun(Struct, frozen=True):
    """One row of `rule_runs`, without its claim."""

    id: int
    user_id: int
    rule_id: int
    query: str
    category_id: int | None
    feed_id: int | None
    actions: str
    timezone: str
    state: str
    before_entry_id: int | None
    total: int
    changed: int
    started_at: Instant
    finished_at: Instant | None

    @property
    def is_open(self) -> bool:
        """Whether a worker goes on with it."""
        return self.state in (RunState.RUNNING, RunState.UNDOING)


class ChangedEntry(Struct, frozen=True):
    """What an entry was before a run changed it, and what it got."""

    entry_id: int
    status: int
    starred: bool
    changed_at: Instant
    label_ids: str
    """JSON."""
    hidden: bool
    """Whether the run hid it."""

    @property
    def labels(self) -> list[int]:
        return msgspec.json.decode(self.label_ids, type=list[int])


_fields = columns(rule_runs, RuleRun)
_is_owned = (rule_runs.c.user_id == bindparam("user"), rule_runs.c.id == bindparam("run"))
_is_open = text("rule_runs.state IN ('running', 'undoing')")
_select_last = (
    select(*_fields)
    .where(rule_runs.c.user_id == bindparam("user"), rule_runs.c.rule_id == bindparam("rule"))
    .order_by(rule_runs.c.id.desc())
    .limit(1)
)
_select_open = select(*_fields).where(rule_runs.c.user_id == bindparam("user"), _is_open).limit(1)
_select_due = (
    select(*_fields)
    .where(
        _is_open,
        or_(
            rule_runs.c.claimed_until.is_(None),
            rule_runs.c.claimed_until < bindparam("now"),
            rule_runs.c.claimed_by == bindparam("worker"),
        ),
    )
    .order_by(rule_runs.c.id)
    .limit(1)
)
_lock_due = _select_due.with_for_update(skip_locked=True)
_lock_due_of_user = _lock_due.where(rule_runs.c.user_id == bindparam("user"))
_claim = (
    update(rule_runs)
    .where(rule_runs.c.id == bindparam("run"))
    .values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
)
_lock_held = (
    select(*_fields).where(*_is_owned, rule_runs.c.claimed_by == bindparam("worker"), _is_open).with_for_update()
)
_release_all = (
    update(rule_runs)
    .where(_is_open, rule_runs.c.claimed_by == bindparam("worker"), text("claimed_by <> ''"))
    .values(claimed_until=None, claimed_by="")
)
_advance = (
    update(rule_runs)
    .where(*_is_owned)
    .values(before_entry_id=bindparam("before"), changed=rule_runs.c.changed + bindparam("more"))
)
_set_state = (
    update(rule_runs)
    .where(*_is_owned, rule_runs.c.state == bindparam("old"))
    .values(
        state=bindparam("new"), finished_at=bindparam("finished"), before_entry_id=None, claimed_until=None,
        claimed_by="",
    )
)  # fmt: skip
_select_changed = (
    select(*columns(rule_run_entries, ChangedEntry))
    .where(rule_run_entries.c.user_id == bindparam("user"), rule_run_entries.c.run_id == bindparam("run"))
    .order_by(rule_run_entries.c.entry_id.desc())
    .limit(bindparam("limit"))
)
_forget = delete(rule_run_entries).where(
    rule_run_entries.c.user_id == bindparam("user"),
    rule_run_entries.c.run_id == bindparam("run"),
    in_list(rule_run_entries.c.entry_id, "ids"),
)
# A run has one user. On one server, with both conditions PostgreSQL would expect few matches, and read all entries.
_has_entries = exists().where(
    rule_run_entries.c.run_id == rule_runs.c.id,
    if_distributed(rule_run_entries.c.user_id == rule_runs.c.user_id, true()),
)
# The runs first, which are few: of the entries, neither engine would read those of some runs alone.
_select_old = select(rule_runs.c.id).where(rule_runs.c.finished_at < bindparam("before"), _has_entries)
_select_old_entries = (
    select(rule_run_entries.c.run_id, rule_run_entries.c.entry_id)
    .where(in_list(rule_run_entries.c.run_id, "runs"))
    .limit(bindparam("limit"))
)
_delete_old_entry = delete(rule_run_entries).where(
    rule_run_entries.c.run_id == bindparam("run"), rule_run_entries.c.entry_id == bindparam("entry")
)
_delete_old = delete(rule_runs).where(
    rule_runs.c.id.in_(
        select(rule_runs.c.id)
        .where(rule_runs.c.finished_at < bindparam("before"), ~_has_entries)
        .limit(bindparam("limit"))
    )
)


def last_of(db: Read, user_id: int, rule_id: int) -> RuleRun | None:
    """Return the last run of a rule."""
    return db.one(RuleRun, _select_last, user=user_id, rule=rule_id)


def open_of(db: Read, user_id: int) -> RuleRun | None:
    """Return the user's run that a worker goes on with."""
    return db.one(RuleRun, _select_open, user=user_id)


def begin(
    db: Write, user_id: int, rule_id: int, fields: RuleFields, *, timezone: str, total: int, now: Instant
) -> None:
    """Add a run of a rule as it is now."""
    values: dict[str, Any] = {
        "user_id": user_id, "rule_id": rule_id, "query": fields.query, "category_id": fields.category_id,
        "feed_id": fields.feed_id, "actions": encode_actions(fields.actions), "timezone": timezone,
        "state": RunState.RUNNING.value, "total": total, "started_at": now,
    }  # fmt: skip
    db.insert(insert(rule_runs).values(**values))
    change_log.note(db, user_id, Kind.RULE_RUN, [rule_id])


def set_state(db: Write, run: RuleRun, state: RunState, *, finished_at: Instant | None) -> bool:
    """Write the next state of a run and release it. Returns False if it has another state by now."""
    change_log.note(db, run.user_id, Kind.RULE_RUN, [run.rule_id])
    parameters = {"user": run.user_id, "run": run.id, "old": run.state, "new": state.value, "finished": finished_at}
    return db.run(_set_state, **parameters) > 0


def has_open(db: Read, worker: str, now: Instant) -> bool:
    """Return whether there is a run to claim. Takes no lock."""
    return db.one(RuleRun, _select_due, worker=worker, now=now) is not None


def claim(db: Write, worker: str, *, now: Instant, until: Instant) -> RuleRun | None:
    """Claim the first run that no other worker holds, and return it."""
    run = _lock(db, worker, now)
    if run is not None:
        db.run(_claim, run=run.id, worker=worker, until=until)
    return run


def _lock(db: Write, worker: str, now: Instant) -> RuleRun | None:
    if not is_distributed(db.connection):
        return db.one(RuleRun, _lock_due, worker=worker, now=now)
    # One statement locks rows of one node.
    due = db.one(RuleRun, _select_due, worker=worker, now=now)
    return due and db.one(RuleRun, _lock_due_of_user, user=due.user_id, worker=worker, now=now)


def lock_held(db: Write, run: RuleRun, worker: str) -> bool:
    """Lock a run. Returns False if the worker does not hold it any more, or if it has moved on since."""
    return db.one(RuleRun, _lock_held, user=run.user_id, run=run.id, worker=worker) == run


def release_all(db: Write, worker: str) -> int:
    """Release all runs of a worker. Returns their number."""
    return db.run(_release_all, worker=worker)


def advance(db: Write, run: RuleRun, *, before: int | None, changed: int) -> None:
    """Record how far a run is. before: entries with lower ids are left. changed: added to the number."""
    change_log.note(db, run.user_id, Kind.RULE_RUN, [run.rule_id])
    db.run(_advance, user=run.user_id, run=run.id, before=before, more=changed)


def remember(db: Write, run: RuleRun, changed: Sequence[ChangedEntry]) -> None:
    """Store what entries were before."""
    owner = {"user_id": run.user_id, "run_id": run.id}
    db.run_many(insert(rule_run_entries), [owner | msgspec.structs.asdict(one) for one in changed])


def changed_entries(db: Read, run: RuleRun, *, limit: int) -> list[ChangedEntry]:
    """Return entries that a run has changed, the newest first."""
    return db.all(ChangedEntry, _select_changed, user=run.user_id, run=run.id, limit=limit)


def forget(db: Write, run: RuleRun, entry_ids: Collection[int]) -> None:
    """Delete what entries were before."""
    db.run(_forget, user=run.user_id, run=run.id, ids=sorted(entry_ids))


def remove_old_entries(db: Write, before: Instant, limit: int) -> int:
    """Delete what entries were before runs that finished before a time. Returns the number of rows."""
    old = db.scalars(_select_old, before=before)
    rows = db.tuples(_select_old_entries, runs=old, limit=limit) if old else []
    db.run_many(_delete_old_entry, [{"run": run_id, "entry": entry_id} for run_id, entry_id in sorted(rows)])
    return len(rows)


def remove_old(db: Write, before: Instant, limit: int) -> int:
    """Delete runs that finished before a time and have no entries left. Returns their number."""
    return db.run(_delete_old, before=before, limit=limit)
