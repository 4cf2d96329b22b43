"""Reads the rows of an account in the order of their ids, and adds entries that another service had stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, func, select

from tidings.base.times import Instant
from tidings.domain.entries.entries import Enclosure, Entry, EntryStatus
from tidings.engine import statements
from tidings.engine.database import Database, Read, Write, columns
from tidings.engine.statements import in_list
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.entries import counters, duplicates, labels, public_links, search_index, snoozed
from tidings.storage.entries.contents import ContentExtras, body, has_shared
from tidings.storage.polling import entry_writes
from tidings.storage.schema import enclosures, entries, entry_contents, entry_tags, shared_contents, tombstones

BATCH = 500


class EntryRow(Entry, frozen=True):
    """All columns of an entry. The id of an entry to add is 0."""

    fingerprint: bytes | None
    edited: int


class StoredEntry(Struct, frozen=True):
    """An entry of an account."""

    row: EntryRow
    content: str
    enclosures: list[Enclosure]
    labels: list[str]
    """Names of the entry's labels."""
    extras: ContentExtras
    snoozed_until: Instant | None = None


class NewEntry(Struct, frozen=True):
    """An entry to add."""

    entry: EntryRow
    content: str
    tags: Sequence[str]
    enclosures: Sequence[Enclosure]
    """Without ids."""
    extras: ContentExtras = ContentExtras()


_select_entries = (
    select(*columns(entries, EntryRow))
    .where(entries.c.user_id == bindparam("user"), entries.c.id > bindparam("after"))
    .order_by(entries.c.id)
    .limit(BATCH)
)
_count_entries = select(func.count()).select_from(entries).where(entries.c.user_id == bindparam("user"))
_select_contents = (
    select(entry_contents.c.entry_id, body, entry_contents.c.chapters, entry_contents.c.other_content)
    .select_from(entry_contents.outerjoin(shared_contents, has_shared))
    .where(entry_contents.c.user_id == bindparam("user"), in_list(entry_contents.c.entry_id, "ids"))
)
_select_enclosures = (
    select(*columns(enclosures, Enclosure))
    .where(enclosures.c.user_id == bindparam("user"), in_list(enclosures.c.entry_id, "ids"))
    .order_by(enclosures.c.id)
)
_select_tombstones = (
    select(tombstones.c.hash)
    .where(
        tombstones.c.user_id == bindparam("user"),
        tombstones.c.feed_id == bindparam("feed"),
        tombstones.c.hash > bindparam("after"),
    )
    .order_by(tombstones.c.hash)
    .limit(BATCH)
)


def count_entries(db: Read, user_id: int) -> int:
    return int(db.scalar(_count_entries, user=user_id))


def each_entry(database: Database, user_id: int) -> Iterator[StoredEntry]:
    """Yield the user's entries, oldest first.

    Each batch is a separate transaction, so that others can write in between; memory does not grow with the number.
    """
    after = 0
    while True:
        with database.reading() as db:
            rows = db.all(EntryRow, _select_entries, user=user_id, after=after)
            ids = [row.id for row in rows]
            bodies = db.tuples(_select_contents, user=user_id, ids=ids) if ids else ()
            contents = {id_: (content, ContentExtras(*extras)) for id_, content, *extras in bodies}
            attached: dict[int, list[Enclosure]] = {}
            for enclosure in db.all(Enclosure, _select_enclosures, user=user_id, ids=ids) if ids else ():
                attached.setdefault(enclosure.entry_id, []).append(enclosure)
            given = labels.of_entries(db, user_id, ids) if ids else {}
            snoozes = snoozed.until(db, user_id, ids) if ids else {}
            folded = [row.id for row in rows if row.status == EntryStatus.FOLDED]
            alone = duplicates.statuses_alone(db, user_id, folded)
        if not rows:
            return
        for row in (msgspec.structs.replace(one, status=alone.get(one.id, one.status)) for one in rows):
            names = [label.name for label in given.get(row.id, ())]
            content, extras = contents.get(row.id, ("", ContentExtras()))
            yield StoredEntry(row, content, attached.get(row.id, []), names, extras, snoozes.get(row.id))
        after = rows[-1].id


def each_deleted(database: Database, user_id: int, feed_id: int) -> Iterator[bytes]:
    """Yield the hashes of entries that were deleted from a feed, in batches like `each_entry`."""
    after = b""
    while True:
        with database.reading() as db:
            hashes: list[bytes] = db.scalars(_select_tombstones, user=user_id, feed=feed_id, after=after)
        if not hashes:
            return
        yield from hashes
        after = hashes[-1]


def add_entries(db: Write, user_id: int, new: Sequence[NewEntry]) -> list[int]:
    """Add entries to feeds of the user with the times they have. Returns their ids.

    The caller has locked the counters of the feeds. A code of a public link that another entry has is left out.
    """
    delta = counters.CounterDelta()
    rows, contents, tags, attached = [], [], [], []
    codes: set[str] = set()
    for id_, added in zip(statements.take_ids(db, entries, len(new)), new, strict=True):
        row = msgspec.structs.asdict(added.entry) | {"id": id_, "user_id": user_id}
        if row["share_code"] in codes or public_links.by_code(db, row["share_code"]) is not None:
            row["share_code"] = ""
        codes.add(row["share_code"])
        rows.append(row)
        contents.append(
            {"entry_id": id_, "user_id": user_id, "content": added.content} | msgspec.structs.asdict(added.extras)
        )
        tags += entry_writes.tag_rows(user_id, id_, added.tags)
        attached += [_enclosure_row(user_id, id_, enclosure) for enclosure in added.enclosures]
        delta.add(user_id, added.entry.feed_id, added.entry.status, starred=added.entry.starred)
    with statements.references_planned_once(db, len(rows)):
        statements.insert_rows(db, entries, rows)
        statements.insert_rows(db, entry_contents, contents)
        statements.insert_rows(db, entry_tags, tags)
        statements.insert_rows(db, enclosures, attached)
    ids = [row["id"] for row in rows]
    search_index.note_new(db, [(id_, user_id) for id_ in ids])
    delta.write(db)
    change_log.note(db, user_id, Kind.ENTRY, ids)
    return ids


def add_deleted(db: Write, user_id: int, feed_id: int, hashes: Sequence[bytes], *, now: Instant) -> None:
    """Record that entries were deleted from a feed, so that they do not come back. hashes: not recorded yet."""
    row = {"user_id": user_id, "feed_id": feed_id, "seen_at": now}
    statements.insert_rows(db, tombstones, [row | {"hash": hash_} for hash_ in hashes])


def _enclosure_row(user_id: int, entry_id: int, enclosure: Enclosure) -> dict[str, object]:
    row = msgspec.structs.asdict(enclosure) | {"user_id": user_id, "entry_id": entry_id}
    del row["id"]
    return row
