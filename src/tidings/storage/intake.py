"""Storing what polls found: new entries, changed ones, their bodies, tags and enclosures, and the counters.

A transaction holds the counters of each feed that it stores entries of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select, update

from tidings.domain.entries import Edited, tag_key
from tidings.domain.feeds import ParsedEnclosure
from tidings.domain.ingestion import ReadyEntry
from tidings.domain.times import Instant
from tidings.storage import counters, many, search
from tidings.storage.database import Read, Write
from tidings.storage.schema import enclosures, entries, entry_contents, entry_tags


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


_met = """
    SELECT asked.feed_id, asked.hash, entries.id, entries.fingerprint
    FROM asked JOIN entries ON entries.feed_id = asked.feed_id AND entries.hash = asked.hash
    UNION ALL
    SELECT asked.feed_id, asked.hash, NULL, NULL
    FROM asked JOIN tombstones ON tombstones.feed_id = asked.feed_id AND tombstones.hash = asked.hash
"""
_add_tag = insert(entry_tags)
_add_enclosure = insert(enclosures)

# Rows of so many entries are in memory at a time, beside the entries: one may have a thousand tags.
_AT_ONCE = 500
# Hashes in one look: SQLite takes no more parameters.
_ASKED_AT_ONCE = 10_000


def met(db: Read, asked: Mapping[int, Iterable[bytes]]) -> dict[int, Met]:
    """By feed, with one look for all. asked: hashes by feed."""
    pairs = [(feed_id, hash_) for feed_id, hashes in asked.items() for hash_ in hashes]
    known_: defaultdict[int, dict[bytes, KnownEntry]] = defaultdict(dict)
    buried_: defaultdict[int, set[bytes]] = defaultdict(set)
    for start in range(0, len(pairs), _ASKED_AT_ONCE):
        for feed_id, hash_, id_, print_ in many.asked(db, _met, pairs[start : start + _ASKED_AT_ONCE]):
            if id_ is None:
                buried_[feed_id].add(hash_)
            else:
                known_[feed_id][hash_] = KnownEntry(id_, hash_, print_)
    return {feed_id: Met(known_[feed_id], frozenset(buried_[feed_id])) for feed_id in asked}


def met_by(db: Read, feed_id: int, hashes: Iterable[bytes]) -> Met:
    """The same of one feed."""
    return met(db, {feed_id: hashes})[feed_id]


class Addition(Struct, frozen=True):
    """What a feed gets, in this order: the first has the lowest id. The caller holds the feed's counters."""

    user_id: int
    feed_id: int
    category_id: int
    new: Sequence[ReadyEntry]
    now: Instant


def add(
    db: Write, user_id: int, feed_id: int, category_id: int, new: Sequence[ReadyEntry], *, now: Instant
) -> list[int]:
    """To one feed, see `add_all`."""
    return add_all(db, [Addition(user_id, feed_id, category_id, new, now)])[0]


def add_all(db: Write, additions: Sequence[Addition]) -> list[list[int]]:
    """The ids that each gets."""
    owned = [(one, entry) for one in additions for entry in one.new]
    ids = many.take_ids(db, entries, len(owned)) if owned else []
    numbered = [(id_, one, entry) for id_, (one, entry) in zip(ids, owned, strict=True)]
    for start in range(0, len(numbered), _AT_ONCE):
        part = numbered[start : start + _AT_ONCE]
        many.add(db, entries, [_entry_row(id_, one, entry) for id_, one, entry in part])
        many.add(db, entry_contents, [{"entry_id": id_, "content": entry.content} for id_, _, entry in part])
        many.add(db, entry_tags, [row for id_, one, entry in part for row in _tag_rows(one.user_id, id_, entry)])
        enclosed = [(id_, one.user_id, enclosure) for id_, one, entry in part for enclosure in entry.enclosures]
        many.add(db, enclosures, [_enclosure_row(user_id, id_, enclosure) for id_, user_id, enclosure in enclosed])
        search.note_new(db, [(id_, one.user_id) for id_, one, _ in part])
    shift = counters.Shift()
    for one, entry in owned:
        shift.add(one.feed_id, entry.status, starred=entry.starred)
    shift.write(db)
    numbers = iter(ids)
    return [[next(numbers) for _ in one.new] for one in additions]


def _entry_row(id_: int, one: Addition, entry: ReadyEntry) -> dict[str, Any]:
    owner = {"id": id_, "user_id": one.user_id, "feed_id": one.feed_id, "category_id": one.category_id}
    return owner | {"created_at": one.now, "changed_at": one.now} | _columns(entry)


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
