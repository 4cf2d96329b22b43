"""Storing what a poll found: new entries, changed ones, their bodies, tags and enclosures, and the counters.

Everything here runs inside the one transaction of its feed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, null, select, union_all, update

from tidings.domain.entries import Edited, tag_key
from tidings.domain.feeds import ParsedEnclosure
from tidings.domain.ingestion import ReadyEntry
from tidings.domain.times import Instant
from tidings.storage import counters, search
from tidings.storage.database import Read, Write
from tidings.storage.dialect import take_ids
from tidings.storage.schema import enclosures, entries, entry_contents, entry_tags, tombstones


class Met(Struct, frozen=True):
    """Which of some hashes a feed has met before. buried: deleted, and must not come back."""

    known: dict[bytes, KnownEntry]
    buried: frozenset[bytes]

    def __contains__(self, hash_: bytes) -> bool:
        return hash_ in self.known or hash_ in self.buried


class KnownEntry(Struct, frozen=True):
    """fingerprint: of the entry as published when it was last written."""

    id: int
    hash: bytes
    fingerprint: bytes | None


_known = select(entries.c.id, entries.c.hash, entries.c.fingerprint).where(
    entries.c.feed_id == bindparam("feed"), entries.c.hash.in_(bindparam("hashes", expanding=True))
)
_is_asked = tombstones.c.hash.in_(bindparam("hashes", expanding=True))
_buried = select(tombstones.c.hash).where(tombstones.c.feed_id == bindparam("feed"), _is_asked)
_met = union_all(
    _known, select(null(), tombstones.c.hash, null()).where(tombstones.c.feed_id == bindparam("feed"), _is_asked)
)
_add_entry = insert(entries)
_add_content = insert(entry_contents)
_add_tag = insert(entry_tags)
_add_enclosure = insert(enclosures)

# Rows of so many entries are in memory at a time, beside the entries: one may have a thousand tags.
_AT_ONCE = 500


def met(db: Read, feed_id: int, hashes: Sequence[bytes]) -> Met:
    """`known` and `buried` with one look."""
    rows = db.tuples(_met, feed=feed_id, hashes=list(hashes)) if hashes else []
    return Met(
        {hash_: KnownEntry(id_, hash_, fingerprint) for id_, hash_, fingerprint in rows if id_ is not None},
        frozenset(hash_ for id_, hash_, _ in rows if id_ is None),
    )


def known(db: Read, feed_id: int, hashes: Sequence[bytes]) -> dict[bytes, KnownEntry]:
    """Those of the hashes that the feed already has, whatever their status."""
    rows = db.all(KnownEntry, _known, feed=feed_id, hashes=list(hashes)) if hashes else []
    return {row.hash: row for row in rows}


def buried(db: Read, feed_id: int, hashes: Sequence[bytes]) -> set[bytes]:
    """Those of the hashes that were deleted and must not come back."""
    return set(db.scalars(_buried, feed=feed_id, hashes=list(hashes))) if hashes else set()


def add(
    db: Write, user_id: int, feed_id: int, category_id: int, new: Sequence[ReadyEntry], *, now: Instant
) -> list[int]:
    """Their ids, in the order given: the first gets the lowest. The caller holds the feed's counters."""
    if not new:
        return []
    owner = {
        "user_id": user_id,
        "feed_id": feed_id,
        "category_id": category_id,
        "created_at": now,
        "changed_at": now,
    }
    ids = take_ids(db, entries, len(new))
    numbered = list(zip(ids, new, strict=True))
    for start in range(0, len(numbered), _AT_ONCE):
        part = numbered[start : start + _AT_ONCE]
        db.run_many(_add_entry, [{"id": id_} | owner | _columns(entry) for id_, entry in part])
        _write_details(db, user_id, part)
    shift = counters.Shift()
    for entry in new:
        shift.add(feed_id, entry.status, starred=entry.starred)
    shift.write(db)
    search.note(db, user_id, ids)
    return ids


def _columns(entry: ReadyEntry) -> dict[str, Any]:
    return {
        "hash": entry.hash,
        "fingerprint": entry.fingerprint,
        "status": int(entry.status),
        "starred": entry.starred,
        "published_at": entry.published_at,
        "reading_time": entry.reading_time,
        "title": entry.title,
        "url": entry.url,
        "author": entry.author,
        "comments_url": entry.comments_url,
        "language": entry.language,
        "tags": msgspec.json.encode(entry.tags).decode(),
    }


def change(db: Write, user_id: int, changed: Sequence[tuple[KnownEntry, ReadyEntry]], *, now: Instant) -> None:
    """What the publisher changed, but for the fields that the user set; status, star and times of birth stay.

    The caller holds the feed's counters. Since the entries were looked at, their user may have edited or flushed some.
    """
    if not changed:
        return
    present = dict(db.tuples(_edited, user=user_id, ids=[known_entry.id for known_entry, _ in changed]))
    for known_entry, entry in changed:
        if known_entry.id not in present:
            continue
        edited = Edited(present[known_entry.id])
        values = _columns(entry) | {"changed_at": now}
        for kept in ("hash", "status", "starred", "published_at"):
            del values[kept]
        if Edited.TITLE in edited:
            del values["title"]
        if Edited.CONTENT in edited:
            del values["reading_time"]
        else:
            db.run(_set_content, entry=known_entry.id, body=entry.content)
        db.run(update(entries).where(entries.c.user_id == user_id, entries.c.id == known_entry.id).values(**values))
        _replace_details(db, user_id, known_entry.id, entry)
    search.note(db, user_id, [known_entry.id for known_entry, _ in changed])


_edited = select(entries.c.id, entries.c.edited).where(
    entries.c.user_id == bindparam("user"),
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
)
_set_content = (
    update(entry_contents).where(entry_contents.c.entry_id == bindparam("entry")).values(content=bindparam("body"))
)
_drop_tags = delete(entry_tags).where(entry_tags.c.entry_id == bindparam("entry"))
_enclosures_of = select(enclosures.c.id, enclosures.c.url).where(enclosures.c.entry_id == bindparam("entry"))
_drop_enclosure = delete(enclosures).where(enclosures.c.id == bindparam("enclosure"))


def _replace_details(db: Write, user_id: int, entry_id: int, entry: ReadyEntry) -> None:
    db.run(_drop_tags, entry=entry_id)
    db.run_many(_add_tag, _tag_rows(user_id, entry_id, entry))
    # An enclosure that stays keeps its id, and with it the position up to which its user listened.
    present = {url: id_ for id_, url in db.tuples(_enclosures_of, entry=entry_id)}
    wanted = {one.url for one in entry.enclosures}
    db.run_many(_drop_enclosure, [{"enclosure": id_} for url, id_ in present.items() if url not in wanted])
    db.run_many(
        _add_enclosure,
        [_enclosure_row(user_id, entry_id, one) for one in entry.enclosures if one.url not in present],
    )


def _write_details(db: Write, user_id: int, numbered: Sequence[tuple[int, ReadyEntry]]) -> None:
    db.run_many(_add_content, [{"entry_id": id_, "content": entry.content} for id_, entry in numbered])
    db.run_many(_add_tag, [row for id_, entry in numbered for row in _tag_rows(user_id, id_, entry)])
    db.run_many(
        _add_enclosure,
        [_enclosure_row(user_id, id_, one) for id_, entry in numbered for one in entry.enclosures],
    )


def _tag_rows(user_id: int, entry_id: int, entry: ReadyEntry) -> list[dict[str, Any]]:
    keys = sorted({key for tag in entry.tags if (key := tag_key(tag))})
    return [{"user_id": user_id, "tag": key, "entry_id": entry_id} for key in keys]


def _enclosure_row(user_id: int, entry_id: int, one: ParsedEnclosure) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "entry_id": entry_id,
        "url": one.url,
        "mime_type": one.mime_type,
        "size": one.size,
        "media_progression": 0,
    }
