"""Applies rules to stored entries in the background, and undoes that for a day.

start: count ─► running ─► chunks, newest entries first ─► done ─► undo ─► undoing ─► chunks ─► undone

A chunk is one transaction: the entries' changes, what they were before, and how far the run is. A worker that is killed
leaves no half of it, and another one goes on when the claim has expired.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import structlog

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.times import DAY, SECOND, Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, Entry, EntryStatus
from tidings.domain.entries.state_changes import StateChange
from tidings.engine.database import Database, Write
from tidings.engine.statements import split_ids
from tidings.query import parse
from tidings.rules import runs_store
from tidings.rules.arrival import Decision
from tidings.rules.model import RuleFields, Scope, decode_actions, problem_of
from tidings.rules.rules import effective, matching, owned_rule
from tidings.rules.runs_store import ChangedEntry, RuleRun, RunState
from tidings.services.clock import Clock
from tidings.services.entries.kept_queries import KeptQueries
from tidings.services.entries.listing import EntryListReader
from tidings.services.listeners import Listeners
from tidings.storage.entries import counters, entries, labels, snoozed

log = structlog.get_logger()

# Entries in one transaction: other writers wait about 50 ms for it.
CHUNK: Final = 500
LEASE: Final = 60 * SECOND
# How long a run can be undone, and how long it is shown.
UNDO_TIME: Final = DAY
SHOWN_TIME: Final = 30 * DAY


class RuleRuns:
    def __init__(self, database: Database, clock: Clock, lists: EntryListReader, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._lists = lists
        self._listeners = listeners

    def start(self, user: User, rule_id: int) -> RuleRun:
        """Apply a rule, as it and the views that it names are now, to the stored entries in the background.

        It may be switched off.

        Raises NotFound, and InvalidInput if another rule of the user is being applied or the rule lacks something.
        """
        with self._database.reading() as db:
            fields = RuleFields.of(rule := owned_rule(db, user.id, rule_id))
            problem = problem_of(rule, {label.id for label in labels.list_all(db, user.id)})
            if problem is not None:
                raise InvalidInput(problem)
            query = KeptQueries(db, user.id, self._listeners).without_views(fields.query)
        fields = msgspec.structs.replace(fields, query=query)
        now = self._clock()
        changed = matching(fields, parse(query), now=now, zone=user.timezone, changed_only=True)
        with self._lists.of(user.id, changed) as lists:
            total = lists.count(changed)
        with self._database.writing() as db:
            # Of two requests at the same time, the second waits here.
            counters.lock_all(db, user.id)
            if runs_store.open_of(db, user.id) is not None:
                raise InvalidInput(msg("Another rule is being applied or undone: wait until that has ended."))
            runs_store.begin(db, user.id, rule_id, fields, timezone=user.timezone, total=total, now=now)
            run = runs_store.last_of(db, user.id, rule_id)
        assert run is not None
        return run

    def undo(self, user_id: int, rule_id: int) -> RuleRun:
        """Undo the last run of a rule in the background: entries become what they were, unless changed since.

        A run that has not ended stops.

        Raises NotFound, and InvalidInput if there is nothing to undo.
        """
        with self._database.writing() as db:
            counters.lock_all(db, user_id)
            run = runs_store.last_of(db, user_id, rule_id)
            if run is None:
                owned_rule(db, user_id, rule_id)
            if run is None or not self.can_undo(run):
                raise InvalidInput(msg("There is nothing to undo: a rule that was applied can be undone for a day."))
            other = runs_store.open_of(db, user_id)
            if other is not None and other.id != run.id:
                raise InvalidInput(msg("Another rule is being applied or undone: wait until that has ended."))
            runs_store.set_state(db, run, RunState.UNDOING, finished_at=None)
            undoing = runs_store.last_of(db, user_id, rule_id)
        assert undoing is not None
        return undoing

    def can_undo(self, run: RuleRun) -> bool:
        """Return whether a run goes on, or has ended within a day and changed something."""
        is_recent = run.finished_at is not None and run.finished_at > self._clock() - UNDO_TIME
        return run.state == RunState.RUNNING or (run.state == RunState.DONE and is_recent and run.changed > 0)

    def work(self, worker: str) -> bool:
        """Go on with a run, one chunk. Returns whether there was one."""
        now = self._clock()
        with self._database.reading() as db:
            if not runs_store.has_open(db, worker, now):
                return False
        with self._database.writing() as db:
            run = runs_store.claim(db, worker, now=now, until=Instant(now + LEASE))
        if run is None:
            return False
        if run.state == RunState.UNDOING:
            self._undo_chunk(run, worker)
        else:
            self._apply_chunk(run, worker)
        return True

    def release_all(self, worker: str) -> int:
        """Release the runs of a worker that ends. Returns their number."""
        with self._database.writing() as db:
            return runs_store.release_all(db, worker)

    def _apply_chunk(self, run: RuleRun, worker: str) -> None:
        found = matching(_fields_of(run), parse(run.query), now=run.started_at, zone=run.timezone, changed_only=True)
        found = msgspec.structs.replace(found, before_entry_id=run.before_entry_id)
        try:
            with self._lists.of(run.user_id, found) as lists:
                ids = split_ids(lists.ids(found, direction=Direction.DESC, limit=CHUNK))
        except InvalidInput as error:
            # Its feed was deleted, or its expressions take too long: what is done stays done.
            log.warning("rule run ended early", user=run.user_id, run=run.id, reason=error.message)
            ids = []
        now = self._clock()
        with self._database.writing() as db:
            counters.lock(db, run.user_id, {feed for _, feed in entries.feeds_of(db, run.user_id, ids)})
            if not runs_store.lock_held(db, run, worker):
                return
            changed = self._apply(db, run, ids, now) if ids else 0
            runs_store.advance(db, run, before=ids[-1] if ids else run.before_entry_id, changed=changed)
            if len(ids) < CHUNK:
                runs_store.set_state(db, run, RunState.DONE, finished_at=now)
                log.info("rule applied", user=run.user_id, rule=run.rule_id, changed=run.changed + changed)

    def _apply(self, db: Write, run: RuleRun, ids: Sequence[int], now: Instant) -> int:
        """Change entries, and store what they were. Returns how many were changed. The caller has locked counters."""
        actions = decode_actions(run.actions)
        given = labels.of_entries(db, run.user_id, ids)
        snoozes = snoozed.until(db, run.user_id, ids)
        before: list[ChangedEntry] = []
        by_state: dict[tuple[EntryStatus, bool], list[int]] = {}
        by_label: dict[int, list[int]] = {}
        hidden: list[int] = []
        known = set(labels.lock(db, run.user_id, RuleFields(actions=actions).label_ids))
        for entry in entries.get_many(db, run.user_id, ids):
            label_ids = {label.id for label in given.get(entry.id, ())}
            decision = Decision(actions=effective(actions, entry, label_ids, is_snoozed=entry.id in snoozes))
            new_labels = [label_id for label_id in decision.label_ids if label_id in known]
            new = _new_state(entry, decision)
            is_changed = new != (entry.status, bool(entry.starred))
            if entry.status == EntryStatus.REMOVED or not (is_changed or new_labels or decision.is_hide):
                continue
            if decision.is_hide:
                hidden.append(entry.id)
            if is_changed:
                by_state.setdefault(new, []).append(entry.id)
            for label_id in new_labels:
                by_label.setdefault(label_id, []).append(entry.id)
            before.append(
                ChangedEntry(
                    entry.id,
                    entry.status,
                    bool(entry.starred),
                    now if is_changed else entry.changed_at,
                    msgspec.json.encode(new_labels).decode(),
                    decision.is_hide,
                )
            )
        changes = [
            StateChange(run.user_id, changed, status, starred) for (status, starred), changed in by_state.items()
        ]
        if changes:
            entries.change_states(db, changes, now=now)
        if hidden:
            entries.set_hidden(db, run.user_id, hidden, hidden=True)
        for label_id, labelled in by_label.items():
            labels.attach(db, run.user_id, [label_id], labelled)
        runs_store.remember(db, run, before)
        return len(before)

    def _undo_chunk(self, run: RuleRun, worker: str) -> None:
        now = self._clock()
        with self._database.reading() as db:
            changed = runs_store.changed_entries(db, run, limit=CHUNK)
        ids = [one.entry_id for one in changed]
        with self._database.writing() as db:
            counters.lock(db, run.user_id, {feed for _, feed in entries.feeds_of(db, run.user_id, ids)})
            if not runs_store.lock_held(db, run, worker):
                return
            _restore(db, run, changed, now)
            runs_store.forget(db, run, ids)
            runs_store.advance(db, run, before=ids[-1] if ids else None, changed=-len(ids))
            if len(ids) < CHUNK:
                runs_store.set_state(db, run, RunState.UNDONE, finished_at=now)
                log.info("rule undone", user=run.user_id, rule=run.rule_id)


def _fields_of(run: RuleRun) -> RuleFields:
    scope = Scope.FEED if run.feed_id else Scope.CATEGORY if run.category_id else Scope.ALL
    return RuleFields(
        scope=scope,
        feed_id=run.feed_id,
        category_id=run.category_id,
        query=run.query,
        actions=decode_actions(run.actions),
    )


def _new_state(entry: Entry, decision: Decision) -> tuple[EntryStatus, bool]:
    if decision.is_drop:
        return EntryStatus.REMOVED, bool(entry.starred)
    return decision.state_of(EntryStatus(entry.status), starred=bool(entry.starred))


def _restore(db: Write, run: RuleRun, changed: Sequence[ChangedEntry], now: Instant) -> None:
    """Make entries what they were: status and star unless they have changed since; shown again, and without the labels
    they got.
    """
    current = {entry.id: entry for entry in entries.get_many(db, run.user_id, [one.entry_id for one in changed])}
    by_state: dict[tuple[int, bool], list[int]] = {}
    by_label: dict[int, list[int]] = {}
    for one in changed:
        entry = current.get(one.entry_id)
        if entry is None:
            continue
        before = (one.status, bool(one.starred))
        if entry.changed_at == one.changed_at and (entry.status, bool(entry.starred)) != before:
            by_state.setdefault(before, []).append(entry.id)
        for label_id in one.labels:
            by_label.setdefault(label_id, []).append(entry.id)
    changes = [
        StateChange(run.user_id, ids, EntryStatus(status), starred) for (status, starred), ids in by_state.items()
    ]
    if changes:
        entries.change_states(db, changes, now=now)
    if hidden := [one.entry_id for one in changed if one.hidden]:
        entries.set_hidden(db, run.user_id, hidden, hidden=False)
    for label_id in labels.lock(db, run.user_id, by_label) if by_label else ():
        labels.detach(db, run.user_id, [label_id], by_label[label_id], now=now)


def remove_expired(db: Write, now: Instant, limit: int) -> int:
    """Remove what entries were before runs that cannot be undone any more, and old runs. Returns the number of rows."""
    removed = runs_store.remove_old_entries(db, Instant(now - UNDO_TIME), limit)
    return removed + runs_store.remove_old(db, Instant(now - SHOWN_TIME), limit - removed)
