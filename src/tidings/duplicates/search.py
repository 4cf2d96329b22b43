"""Finds duplicates and does with them what their user wants.

new entries      ─► in the transaction that stores them: keys ─► same keys ─► fold, or mark read
stored entries   ─► in the background, a batch at a time, from the first to the last
another setting  ─► undo, a batch at a time; then as for stored entries
folded entries   ─► in the background: one that has the whole text takes the place of its original
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import islice

import msgspec
from msgspec.structs import replace

from tidings.base.times import Instant
from tidings.content.cleaning import text_of
from tidings.content.duplicates import MIN_TEXT
from tidings.domain.entries.entries import EntryStatus
from tidings.duplicates import store
from tidings.duplicates.matching import Candidate, Finder, keys_of
from tidings.duplicates.store import Found, Recorded, Rival, Scan, Wish
from tidings.engine.database import Database, Read, Write
from tidings.services.clock import Clock
from tidings.services.listeners import ArrivingEntries, Completion
from tidings.storage.entries import counters, duplicates, entry_lists

# Values of the setting.
OFF, FOLD = "off", "fold"
# Entries per transaction.
BATCH = 200
KEY_BATCH = 2_000
# The bodies of these entries, and of their originals, are read.
COMPARED_BATCH = 20
# A text so many times as long as another one is the whole one.
WHOLE_TEXT_RATIO = 2


class DuplicateSearch:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def decide_arrivals(self, _db: Write, arriving: Sequence[ArrivingEntries]) -> Completion | None:
        """Let new entries be looked up as soon as they are stored, for users who want that."""
        wanted = [one for one in arriving if one.new and one.user.duplicates != OFF]
        return partial(_look_up, wanted) if wanted else None

    def work(self) -> bool:
        """Take a step for one user. Returns False if there was nothing to do."""
        with self._database.reading() as db:
            wishes = store.wishes(db)
            kept = store.kept_feeds(db) if wishes else {}
            to_compare = store.user_to_compare(db)
        for wish in wishes:
            wanted = msgspec.json.encode(kept.get(wish.user_id, [])).decode()
            if wish.mode != wish.duplicates or (wish.duplicates != OFF and wish.kept_feeds != wanted):
                self._begin(wish, wanted)
                return True
            if not wish.is_released or (wish.newest_id or 0) > (wish.position or 0):
                self._continue(wish.user_id)
                return True
        if to_compare is not None:
            self._compare(to_compare)
        return to_compare is not None

    def _begin(self, wish: Wish, kept: str) -> None:
        with self._database.writing() as db:
            store.begin(db, wish.user_id, wish.duplicates, kept, is_released=wish.mode is None)

    def _continue(self, user_id: int) -> None:
        with self._database.writing() as db:
            scan = store.scan(db, user_id)
            if scan is None:
                return
            if not scan.is_released:
                _release(db, user_id, self._clock())
                return
            batch = store.batch(db, user_id, scan.position, BATCH)
            ids = [id_ for id_, _ in batch]
            naming = store.feeds_naming(db, user_id, ids)
            locked = counters.lock(db, user_id, {feed_id for _, feed_id in batch} | naming)
            if not batch or store.lock_scans(db, [user_id]).get(user_id) != scan:
                # Another worker was faster.
                return
            _find(db, scan, ids, now=self._clock(), locked=locked)
            store.set_position(db, user_id, batch[-1][0])

    def _compare(self, user_id: int) -> None:
        """Let folded entries with the whole text take the places of their originals."""
        with self._database.writing() as db:
            before = store.rivals(db, user_id, store.uncompared(db, user_id, COMPARED_BATCH))
            counters.lock(db, user_id, {id_ for one in before for id_ in (one.feed_id, one.original_feed_id)})
            store.lock_scans(db, [user_id])
            ids = store.uncompared(db, user_id, COMPARED_BATCH)
            replaced: set[int] = set()
            rivals = [one for one in store.rivals(db, user_id, ids) if one in before and _may_replace(one)]
            lengths = _lengths(db, user_id, {id_ for one in rivals for id_ in (one.entry_id, one.original_id)})
            for one in rivals:
                is_whole = lengths[one.entry_id] >= max(MIN_TEXT, WHOLE_TEXT_RATIO * lengths[one.original_id])
                if is_whole and one.original_id not in replaced:
                    _replace(db, user_id, one, self._clock())
                    replaced.add(one.original_id)
            store.set_compared(db, user_id, ids)


def _look_up(arrived: Sequence[ArrivingEntries], db: Write) -> None:
    """Find the new entries that repeat others. These are not announced."""
    ids: defaultdict[int, list[int]] = defaultdict(list)
    for one in arrived:
        ids[one.user.id] += one.ids.values()
    found: set[int] = set()
    for user_id, scan in store.lock_scans(db, ids).items():
        # Until the scan of the archive begins, these are left to it.
        if scan.is_released and scan.mode != OFF:
            found |= _find(db, scan, ids[user_id], now=arrived[0].now)
    for one in arrived if found else ():
        for hash_, id_ in one.ids.items():
            if id_ in found:
                one.new[hash_] = replace(one.new[hash_], status=EntryStatus.READ)


def _find(
    db: Write, scan: Scan, entry_ids: Collection[int], *, now: Instant, locked: Collection[int] | None = None
) -> set[int]:
    """Find entries that repeat others, and fold them or mark them read. Return which.

    The caller has locked the counters of their feeds, and the scan. locked: the feeds whose earlier entries may be
    found to repeat these; None if these have just been stored, which leaves that to the worker.
    """
    are_new = locked is None
    user_id, mode, kept = scan.user_id, scan.mode, msgspec.json.decode(scan.kept_feeds, type=set[int])
    arrived = [one for one in store.by_ids(db, user_id, entry_ids) if one.feed_id not in kept]
    if not arrived:
        return set()
    keys = {entry.id: keys_of(entry) for entry in arrived}
    times = [entry.published_at for entry in arrived]
    others = store.ids_with_keys(db, user_id, keys.values(), min(times), max(times)) - keys.keys()
    store.add_keys(db, user_id, arrived, keys, are_new=are_new)
    finder = Finder([*store.by_ids(db, user_id, others), *arrived], keys)
    texts = _texts(db, user_id, {id_ for entry in arrived for id_ in finder.texts_to_compare(entry)})
    matches: dict[Candidate, list[tuple[Candidate, bool]]] = {}
    for entry in arrived:
        if entry.original_id is None and not (mode == FOLD and entry.is_kept):
            same, named = finder.repeated_by(entry, texts), finder.named_by(entry)
            matches[entry] = [(one, False) for one in same] + [(one, True) for one in named]
    naming = {entry: [one for one in finder.naming(entry) if one.feed_id in (locked or ())] for entry in arrived}
    candidates = {one for entry, found in matches.items() if found for one in (entry, *(other for other, _ in found))}
    candidates |= {one for entry, found in naming.items() if found for one in (entry, *found)}
    groups = _Groups(db, user_id, candidates)
    found: list[Found] = []
    for entry in arrived:
        joined = (groups.join(entry, one, is_by_page=is_by_page) for one, is_by_page in matches.get(entry, ()))
        found += islice(filter(None, joined), 1)
        for one in naming[entry]:
            # It was there first: what the user has looked at stays.
            if one.status == EntryStatus.UNREAD and not one.is_kept:
                found += filter(None, [groups.join(one, entry, is_by_page=True)])
    duplicates.set_originals(db, user_id, groups.moved)
    if are_new:
        found = [replace(one, original_status=int(EntryStatus.UNREAD)) for one in found]
    _apply(db, user_id, mode, found, now)
    return {one.entry_id for one in found}


class _Groups:
    """Originals with what repeats them, while more is found. A group has no two entries of one feed.

    candidates: the entries that may join groups, or have them.
    """

    def __init__(self, db: Read, user_id: int, candidates: Iterable[Candidate]) -> None:
        known = {one.id: one for one in candidates}
        self._originals = {one.id: one.original_id for one in known.values() if one.original_id is not None}
        # What repeats an entry does not repeat what only that entry's page names.
        self._ends = {one.id for one in known.values() if one.is_by_page}
        self.moved: dict[int, int] = {}
        """Originals that repeat an earlier entry, by id, with that entry's original."""
        self._feeds: defaultdict[int, set[int]] = defaultdict(set)
        self._statuses: dict[int, int] = {}
        for member in store.members(db, user_id, {self._originals.get(id_, id_) for id_ in known}):
            self._feeds[member.group].add(member.feed_id)
            if member.is_original:
                self._statuses[member.group] = member.status

    def join(self, entry: Candidate, other: Candidate, *, is_by_page: bool) -> Found | None:
        """Let an entry repeat the original of another one, with what repeats the entry; None if it cannot.

        is_by_page: only its page says so. Then nothing may repeat the entry.
        """
        joining, original_id = self._feeds[entry.id], self._originals.get(other.id, other.id)
        status = self._statuses.get(original_id)
        if status is None or entry.id in self._originals or other.id in self._ends:
            return None
        if joining & self._feeds[original_id] or (is_by_page and joining != {entry.feed_id}):
            return None
        if joining != {entry.feed_id}:
            # These were found while the original had not been searched.
            self.moved[entry.id] = original_id
            self._originals |= {id_: original_id for id_, of in self._originals.items() if of == entry.id}
        self._originals[entry.id] = original_id
        self._feeds[original_id] |= joining
        if is_by_page:
            self._ends.add(entry.id)
        return Found(entry.id, entry.feed_id, original_id, entry.status, status, entry.starred, is_by_page)


def _apply(db: Write, user_id: int, mode: str, found: Sequence[Found], now: Instant) -> None:
    if not found:
        return
    new_status = EntryStatus.FOLDED if mode == FOLD else EntryStatus.READ
    changed = [one for one in found if one.status not in (EntryStatus.FOLDED, new_status)]
    delta = counters.CounterDelta()
    for one in changed:
        # Starred ones are not folded; where they are marked read, they count as such.
        delta.add(user_id, one.feed_id, one.status, starred=one.starred, times=-1)
        delta.add(user_id, one.feed_id, new_status, starred=one.starred)
    statuses = {one.entry_id: int(new_status) for one in changed}
    store.set_status(db, user_id, statuses, changed_at=None if mode == FOLD else now)
    store.add(db, user_id, found, compared=mode != FOLD, now=now)
    delta.write(db)


def _release(db: Write, user_id: int, now: Instant) -> None:
    """Undo a batch of what was folded or marked read."""
    feeds = {one.feed_id for one in store.recorded(db, user_id, BATCH)}
    locked = set(counters.lock(db, user_id, feeds))
    scan = store.lock_scans(db, [user_id]).get(user_id)
    if scan is None or scan.is_released:
        return
    batch = [one for one in store.recorded(db, user_id, BATCH) if one.feed_id in locked]
    if not feeds and not batch:
        if store.remove_keys(db, user_id, KEY_BATCH) == 0:
            (store.end if scan.mode == OFF else store.set_released)(db, user_id)
        return
    delta = counters.CounterDelta()
    unfolded: dict[int, int] = {}
    unread: dict[int, int] = {}
    for one in batch:
        status = _status_after(one)
        if status != one.status:
            (unfolded if one.status == EntryStatus.FOLDED else unread)[one.entry_id] = status
            delta.add(user_id, one.feed_id, one.status, starred=one.starred, times=-1)
            delta.add(user_id, one.feed_id, status, starred=one.starred)
    store.set_status(db, user_id, unfolded)
    store.set_status(db, user_id, unread, changed_at=now)
    store.remove(db, user_id, [one.entry_id for one in batch])
    delta.write(db)


def _status_after(one: Recorded) -> int:
    """Return the status of an entry that no longer counts as a duplicate: its own, or read with its original."""
    own = duplicates.status_alone(one.own_status, one.original_status, one.status_of_original)
    is_as_marked = one.status == EntryStatus.READ and one.changed_at == one.found_at
    return own if one.status == EntryStatus.FOLDED or is_as_marked else one.status


def _may_replace(one: Rival) -> bool:
    """Return whether a folded entry can take the place of its original: nothing was done with that yet."""
    return one.status == EntryStatus.FOLDED and one.original_status == EntryStatus.UNREAD and not one.is_kept


def _replace(db: Write, user_id: int, one: Rival, now: Instant) -> None:
    unread, folded = int(EntryStatus.UNREAD), int(EntryStatus.FOLDED)
    store.set_status(db, user_id, {one.original_id: folded, one.entry_id: unread})
    store.remove(db, user_id, [one.entry_id])
    duplicates.set_originals(db, user_id, {one.original_id: one.entry_id})
    former = Found(one.original_id, one.original_feed_id, one.entry_id, unread, unread)
    store.add(db, user_id, [former], compared=True, now=now)
    delta = counters.CounterDelta()
    delta.add(user_id, one.original_feed_id, unread, starred=False, times=-1)
    delta.add(user_id, one.feed_id, unread, starred=False)
    delta.write(db)


def _texts(db: Read, user_id: int, entry_ids: Collection[int]) -> dict[int, str]:
    bodies = entry_lists.bodies(db, [user_id], sorted(entry_ids)) if entry_ids else {}
    return {id_: text_of(body) for id_, body in bodies.items()}


def _lengths(db: Read, user_id: int, entry_ids: Collection[int]) -> defaultdict[int, int]:
    return defaultdict(int, {id_: len(text) for id_, text in _texts(db, user_id, entry_ids).items()})
