"""Sources: which documents are fetched, and when next. Claiming them is `storage.polling`'s.

A source's next check is the earliest of its enabled feeds. Whoever changes when a feed is due, or whether it is
enabled, says so here in the same transaction; feeds come before sources in every transaction that locks both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, exists, false, func, select, text, update

from tidings.domain.sources import fetch_key, host_of
from tidings.storage.database import Read, Write
from tidings.storage.lists import among
from tidings.storage.schema import feeds, sources

# The row that is there is locked by it: nobody tidies the source away before its feed is written.
_ensure = text(
    "INSERT INTO sources (fetch_key, host) VALUES (:fetch_key, :host)"
    " ON CONFLICT (fetch_key) DO UPDATE SET host = excluded.host RETURNING id"
)
_some = among(sources.c.id, "ids")
_lock = select(sources.c.id).where(_some).order_by(sources.c.id).with_for_update()
_earliest = (
    select(func.min(feeds.c.next_check_at))
    .where(feeds.c.source_id == sources.c.id, feeds.c.disabled == false())
    .scalar_subquery()
)
_touch = update(sources).where(_some).values(next_check_at=_earliest)
_release = (
    update(sources)
    .where(_some, sources.c.claimed_by == bindparam("worker"))
    .values(next_check_at=_earliest, claimed_until=None, claimed_by="")
)
_held = select(sources.c.id).where(_some, sources.c.claimed_by == bindparam("worker"))
_of_feeds = select(feeds.c.source_id).where(among(feeds.c.id, "ids")).distinct()
_remove_unused = delete(sources).where(
    _some, sources.c.next_check_at.is_(None), ~exists().where(feeds.c.source_id == sources.c.id)
)


def ensure(db: Write, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """The ids of the sources of feeds, in their order. rows: columns of feeds, as far as they are given."""
    wanted = {fetch_key(row): host_of(row["feed_url"]) for row in rows}
    # In one order for all: two imports of the same feeds would otherwise wait for each other.
    ids = {key: int(db.scalar(_ensure, fetch_key=key, host=wanted[key])) for key in sorted(wanted)}
    return [ids[fetch_key(row)] for row in rows]


def touch(db: Write, source_ids: Iterable[int]) -> None:
    """Their next check is what their feeds say now."""
    ids = sorted(set(source_ids))
    if ids:
        _hold(db, ids)
        db.run(_touch, ids=ids)


def release(db: Write, source_ids: Iterable[int], worker: str) -> None:
    """Let go of those that the worker holds."""
    ids = sorted(set(source_ids))
    if ids:
        _hold(db, ids)
        db.run(_release, ids=ids, worker=worker)


def _hold(db: Write, ids: list[int]) -> None:
    """First the lock, then the look: what others changed and committed before us is then counted."""
    if db.connection.dialect.name == "postgresql":
        db.scalars(_lock, ids=ids)


def held(db: Read, source_ids: Iterable[int], worker: str) -> set[int]:
    """Those of the sources that the worker still holds."""
    return set(db.scalars(_held, ids=sorted(set(source_ids)), worker=worker))


def of_feeds(db: Read, feed_ids: Iterable[int]) -> list[int]:
    return db.scalars(_of_feeds, ids=list(feed_ids))


def remove_unused(db: Write, source_ids: Iterable[int]) -> None:
    """Those among them that no feed shows any more."""
    db.run(_remove_unused, ids=sorted(set(source_ids)))
