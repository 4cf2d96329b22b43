"""What changed for each user, in the order of commits: versions of lists, and the log from which clients sync.

A transaction that changes what a user sees says so with `note`. Just before it commits, it gives its users another
version, and writes one row of the log for each: a number and the ids of what it changed. On PostgreSQL the rows of
`list_versions` are locked for that moment alone, in the order of the users, and as the last of all locks. So two
transactions of one user have different numbers, the lower one commits first, and a reader who sees a number sees all
changes up to it.

What a check of a feed writes each time (`CHECK_COLUMNS`) has no part in it: otherwise a version would last for minutes.
"""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select, update

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine import notify
from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list, insert_rows, lock_rows, lockable_together
from tidings.storage.schema import changes, duplicates, entries, list_versions

# Columns of feeds that checks write although the feed stays as it is. No list shows them but the feeds of the API,
# which may show the first four as they were some time ago.
CHECK_COLUMNS = frozenset({
    "checked_at", "next_check_at", "etag_header", "last_modified_header",
    "body_digest", "failed_checks", "is_failing", "limits_reached", "moved_times", "moved_to", "news_gap_s",
    "parsed_at", "parsing_error_form", "publisher_hints", "source_id", "took_ms",
})  # fmt: skip


class Kind(StrEnum):
    """What an id in the log stands for."""

    SETTINGS = "settings"
    """The user's, with the user's id."""
    CATEGORY = "categories"
    LABEL = "labels"
    VIEW = "views"
    RULE = "rules"
    FEED = "feeds"
    ENTRY = "entries"
    # For live events alone.
    NEW_ENTRY = "new_entries"
    """In addition to ENTRY."""
    DELIVERY = "deliveries"
    """One that failed, or that succeeded after it had failed."""
    IMPORT = "imports"
    """Of which a user has one."""
    RULE_RUN = "rule_runs"
    """With the id of the rule."""


# Stands for any object of a kind of which clients get all when one has changed.
ANY = 0
MAX_NUMBER = 2**63 - 1
# Ids by kind.
Changed = dict[Kind, set[int]]


class Point(Struct, frozen=True):
    """A row of a user's log: the state after its transaction.

    Its version is random. A number alone would be right again some time after a backup was restored.
    """

    number: int
    version: int


class LoggedChange(Struct, frozen=True):
    """A row of a user's log with what its transaction changed."""

    point: Point
    objects: str
    """JSON: ids by kind."""

    @property
    def changed(self) -> dict[Kind, list[int]]:
        """The ids of what was added, changed or deleted."""
        return msgspec.json.decode(self.objects, type=dict[Kind, list[int]])


_select = select(list_versions.c.version).where(list_versions.c.user_id == bindparam("user"))
_is_owned = changes.c.user_id == bindparam("user")
_select_last = select(changes.c.number, changes.c.version).where(_is_owned).order_by(changes.c.number.desc()).limit(1)
_select_from = (
    select(changes.c.number, changes.c.version, changes.c.objects)
    .where(_is_owned, changes.c.number >= bindparam("first"), changes.c.number <= bindparam("last"))
    .order_by(changes.c.number)
    .limit(bindparam("limit"))
)
_select_numbers = select(list_versions.c.user_id, list_versions.c.number).where(
    in_list(list_versions.c.user_id, "users")
)
_is_listed = in_list(list_versions.c.user_id, "users")
_lock = select(list_versions.c.user_id).where(_is_listed).order_by(list_versions.c.user_id).with_for_update()
_renew = update(list_versions).where(_is_listed).values(version=bindparam("new_version"))
_advance = _renew.values(number=list_versions.c.number + 1).returning(list_versions.c.user_id, list_versions.c.number)
_advance_all = update(list_versions).values(version=bindparam("new_version"), number=list_versions.c.number + 1)
_add = insert(list_versions)
_add_changes = insert(changes)
_delete_all = delete(changes)
_now = bindparam("now", type_=changes.c.made_at.type)
_nothing = bindparam("nothing", type_=changes.c.objects.type)
_restart_all = insert(changes).from_select(
    ["user_id", "number", "version", "made_at", "objects"],
    select(list_versions.c.user_id, list_versions.c.number, list_versions.c.version, _now, _nothing),
)
_select_folded = (
    select(entries.c.id)
    .select_from(duplicates.join(entries, entries.c.id == duplicates.c.entry_id))
    .where(
        duplicates.c.user_id == bindparam("user"),
        entries.c.user_id == bindparam("user"),
        entries.c.status == int(EntryStatus.FOLDED),
    )
)


def version(db: Read, user_id: int) -> int | None:
    """Return the version of a user's lists; None for a user who does not exist.

    Read it before what it stands for: it may then be older, and never newer.
    """
    found: int | None = db.scalar(_select, user=user_id)
    return found


def last_point(db: Read, user_id: int) -> Point | None:
    """Return the last row of a user's log; None for a user who does not exist."""
    row = db.row(_select_last, user=user_id)
    return None if row is None else Point(row["number"], row["version"])


def last_numbers(db: Read, user_ids: Collection[int]) -> dict[int, int]:
    """Return the number of the last row of the log of each of these users who exist."""
    return dict(db.tuples(_select_numbers, users=sorted(user_ids))) if user_ids else {}


def rows(db: Read, user_id: int, first: int, last: int = MAX_NUMBER, *, limit: int) -> list[LoggedChange]:
    """Return the rows of a user's log with the numbers from `first` to `last`, in their order.

    A client that has a point asks from its number on: the first row is then its own, or the point is not known any
    more. All rows up to one that is seen are there; none is added between two that were seen.
    """
    found = db.tuples(_select_from, user=user_id, first=first, last=last, limit=limit)
    return [LoggedChange(Point(number, version), objects) for number, version, objects in found]


def begin(db: Write, user_id: int) -> None:
    """Begin the log of a new user."""
    first = _new_version()
    db.run(_add, user_id=user_id, version=first)
    db.run(_add_changes, **_row(user_id, 0, first, {}))


def note(db: Write, user_id: int, kind: Kind | None = None, ids: Iterable[int] = ()) -> None:
    """Note that this transaction changes what a user sees.

    kind, ids: what was added, changed or deleted; nothing if only lists show the difference. Entries of a feed that is
    deleted or moved are not named.
    """
    changed = db.collect(_write, _make)[user_id]
    if kind is not None:
        changed[kind].update(ids)


def note_removed_feeds(db: Write, user_id: int, feed_ids: Iterable[int]) -> None:
    """Note that feeds are deleted. Rules that were about them or their categories do nothing any more."""
    note(db, user_id, Kind.FEED, feed_ids)
    note(db, user_id, Kind.RULE, [ANY])


def note_folded(db: Write, user_id: int) -> None:
    """Note the folded entries of a user, who has changed how apps see them."""
    note(db, user_id, Kind.ENTRY, db.scalars(_select_folded, user=user_id))


def restart_all(db: Write) -> None:
    """Let all clients of all users begin again, since what was changed may belong to any of them."""
    db.run(_advance_all, new_version=_new_version())
    db.run(_delete_all)
    db.run(_restart_all, now=_time(), nothing=_encoded({}))
    notify.notify_afterwards(db, notify.CHANGES)


def _make() -> defaultdict[int, defaultdict[Kind, set[int]]]:
    return defaultdict(lambda: defaultdict(set))


def _write(db: Write, noted: Mapping[int, Mapping[Kind, set[int]]]) -> None:
    if len(noted) > 1:
        # All before the first is written, in the order in which others lock them.
        for users in lockable_together(db, noted):
            lock_rows(db, _lock, users=users)
    new = _new_version()
    logged = sorted(user_id for user_id, changed in noted.items() if any(changed.values()))
    if unlogged := sorted(noted.keys() - set(logged)):
        db.run(_renew, users=unlogged, new_version=new)
    # Missing: the transaction has deleted the user, too.
    numbers: dict[int, int] = dict(db.tuples(_advance, users=logged, new_version=new)) if logged else {}
    added = [_row(id_, numbers[id_], new, noted[id_]) for id_ in logged if id_ in numbers]
    if len(added) > 1:
        insert_rows(db, changes, added)
    else:
        # Most transactions are about one user: a statement that is kept takes a third of the time.
        db.run_many(_add_changes, added)
    if added:
        notify.notify_afterwards(db, notify.CHANGES)


def _row(user_id: int, number: int, version: int, changed: Mapping[Kind, Collection[int]]) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "number": number,
        "version": version,
        "made_at": _time(),
        "objects": _encoded(changed),
    }


def _encoded(changed: Mapping[Kind, Collection[int]]) -> str:
    return msgspec.json.encode({kind: sorted(ids) for kind, ids in changed.items() if ids}).decode()


def _time() -> Instant:
    # Of the machine, not of a clock that callers pass on: it only decides how long the row is kept.
    return Instant(time.time_ns() // 1000)


def _new_version() -> int:
    """Return a random version: of a restored backup, a sequential one could stand for other content."""
    return secrets.randbits(53)
