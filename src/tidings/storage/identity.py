"""The hashes under which a feed's entries are stored, where they change: see `domain.identity`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, exists, select, update

from tidings.domain.identity import Stored
from tidings.storage.database import Read, Write
from tidings.storage.schema import entries, feeds, tombstones

_stored = (
    select(entries.c.id, entries.c.hash, entries.c.url, entries.c.title)
    .where(entries.c.user_id == bindparam("user"), entries.c.feed_id == bindparam("feed"))
    .order_by(entries.c.id.desc())
)
_by_url = select(feeds.c.match_entries_by_url).where(
    feeds.c.user_id == bindparam("user"), feeds.c.id == bindparam("feed")
)
_others = entries.alias()
_taken = exists().where(_others.c.feed_id == bindparam("feed"), _others.c.hash == bindparam("new"))
_rename = (
    update(entries)
    .where(
        entries.c.user_id == bindparam("user"),
        entries.c.feed_id == bindparam("feed"),
        entries.c.id == bindparam("entry"),
        ~_taken,
    )
    .values(hash=bindparam("new"))
)
_buried_twice = tombstones.alias()
_rebury = (
    update(tombstones)
    .where(
        tombstones.c.feed_id == bindparam("feed"),
        tombstones.c.hash == bindparam("old"),
        ~exists().where(_buried_twice.c.feed_id == bindparam("feed"), _buried_twice.c.hash == bindparam("new")),
    )
    .values(hash=bindparam("new"))
)


def matches_by_url(db: Read, user_id: int, feed_id: int) -> bool | None:
    """As the user wants it now; None when the feed is gone."""
    found: bool | None = db.scalar(_by_url, user=user_id, feed=feed_id)
    return found


def stored(db: Read, user_id: int, feed_id: int) -> list[Stored]:
    """All entries of the feed, whatever their status, the newest first."""
    return db.all(Stored, _stored, user=user_id, feed=feed_id)


def rename(db: Write, user_id: int, feed_id: int, hashes: Mapping[int, bytes]) -> None:
    """hashes: new ones by entry id. One that another entry has is passed over. The caller holds the feed's counters."""
    rows = [{"user": user_id, "feed": feed_id, "entry": id_, "new": hash_} for id_, hash_ in hashes.items()]
    db.run_many(_rename, rows)


def rebury(db: Write, feed_id: int, hashes: Sequence[tuple[bytes, bytes]]) -> None:
    """Deleted entries known by another hash from now on. hashes: old and new ones. The caller owns the feed."""
    db.run_many(_rebury, [{"feed": feed_id, "old": old, "new": new} for old, new in hashes])
