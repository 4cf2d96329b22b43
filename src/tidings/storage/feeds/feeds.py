"""Feeds: a user's subscriptions. Polling them is `storage.polling`'s."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, insert, select, update

from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.sources import SHARED_OPTIONS
from tidings.domain.text import normalize_for_search
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.entries import counters
from tidings.storage.polling import sources
from tidings.storage.schema import categories, entries, feed_counters, feeds, icons

_mine = select(*columns(feeds, Feed)).where(feeds.c.user_id == bindparam("user"))
_by_id = _mine.where(feeds.c.id == bindparam("id"))
_by_ids = _mine.where(feeds.c.id.in_(bindparam("ids", expanding=True)))
_by_url = select(feeds.c.id).where(feeds.c.user_id == bindparam("user"), feeds.c.feed_url == bindparam("url"))
_urls = select(feeds.c.feed_url).where(feeds.c.user_id == bindparam("user"))
_add_many = insert(feeds).returning(feeds.c.id, sort_by_parameter_order=True)
_listed = _mine.order_by(feeds.c.parsing_error_count.desc(), feeds.c.title_key, feeds.c.id)
_of_category = (
    select(*columns(feeds, Feed))
    .select_from(feeds.join(feed_counters, feed_counters.c.feed_id == feeds.c.id))
    .where(feeds.c.user_id == bindparam("user"), feeds.c.category_id == bindparam("category"))
    .order_by(
        feeds.c.disabled,
        feeds.c.parsing_error_count.desc(),
        feed_counters.c.unread.desc(),
        feeds.c.title,
        feeds.c.id,
    )
)
_icon_names = (
    select(feeds.c.id, icons.c.external_id)
    .select_from(feeds.join(icons, icons.c.id == feeds.c.icon_id))
    .where(feeds.c.user_id == bindparam("user"))
)
_hidden = (
    select(feeds.c.id)
    .select_from(feeds.join(categories, categories.c.id == feeds.c.category_id))
    .where(feeds.c.user_id == bindparam("user"), feeds.c.hide_globally | categories.c.hide_globally)
)

_set_source = (
    update(feeds)
    .where(feeds.c.user_id == bindparam("user"), feeds.c.id == bindparam("feed"))
    .values(source_id=bindparam("source"))
)

# A change of one of these changes what is fetched, or when.
_SCHEDULED = frozenset({*SHARED_OPTIONS, "disabled", "next_check_at"})

# What a column holds when a row leaves it out.
_DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(Feed)}


def list_all(db: Read, user_id: int) -> list[Feed]:
    """The failing ones first, then by title without case."""
    return db.all(Feed, _listed, user=user_id)


def of_category(db: Read, user_id: int, category_id: int) -> list[Feed]:
    """Enabled first, then the failing ones, then those with most unread."""
    return db.all(Feed, _of_category, user=user_id, category=category_id)


def get(db: Read, user_id: int, feed_id: int) -> Feed | None:
    return db.one(Feed, _by_id, user=user_id, id=feed_id)


def get_many(db: Read, user_id: int, feed_ids: Iterable[int]) -> list[Feed]:
    return db.all(Feed, _by_ids, user=user_id, ids=list(feed_ids))


def id_by_url(db: Read, user_id: int, feed_url: str) -> int | None:
    found: int | None = db.scalar(_by_url, user=user_id, url=feed_url)
    return found


def urls(db: Read, user_id: int) -> set[str]:
    """Of all feeds."""
    return set(db.scalars(_urls, user=user_id))


def icon_names(db: Read, user_id: int) -> dict[int, str]:
    """By feed id: the public name of the icon of each feed that has one."""
    return dict(db.tuples(_icon_names, user=user_id))


def hidden(db: Read, user_id: int) -> list[int]:
    """Feeds that are left out where only globally visible ones are asked for."""
    return db.scalars(_hidden, user=user_id)


def add(db: Write, user_id: int, **values: Any) -> int:
    """values: columns of the table, `category_id`, `feed_url` and `title` at least."""
    values["title_key"] = normalize_for_search(values["title"])
    (source_id,) = sources.ensure(db, [values])
    feed_id = db.insert(insert(feeds).values(user_id=user_id, source_id=source_id, **values))
    counters.start(db, user_id, feed_id)
    sources.touch(db, [source_id])
    return feed_id


def add_many(db: Write, user_id: int, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """As `add`, for feeds without entries; in few statements, however many they are. Their ids, in that order."""
    owned = [{**row, "user_id": user_id, "title_key": normalize_for_search(row["title"])} for row in rows]
    # One statement serves rows with the same columns only.
    names = {name for row in owned for name in row}
    source_ids = sources.ensure(db, owned)
    ids = db.insert_many(
        _add_many,
        [
            {name: row.get(name, _DEFAULTS.get(name)) for name in names} | {"source_id": source_id}
            for row, source_id in zip(owned, source_ids, strict=True)
        ],
    )
    counters.start_many(db, user_id, ids)
    sources.touch(db, source_ids)
    return ids


def change(db: Write, user_id: int, feed_id: int, **values: Any) -> None:
    if not values:
        return
    if "title" in values:
        values["title_key"] = normalize_for_search(values["title"])
    db.run(update(feeds).where(feeds.c.user_id == user_id, feeds.c.id == feed_id).values(**values))
    if values.keys() & _SCHEDULED:
        _settle_source(db, user_id, feed_id)
    if "category_id" in values:
        moved = update(entries).where(entries.c.user_id == user_id, entries.c.feed_id == feed_id)
        db.run(moved.values(category_id=values["category_id"]))


def _settle_source(db: Write, user_id: int, feed_id: int) -> None:
    """After a change of what is fetched for the feed, or when."""
    feed = get(db, user_id, feed_id)
    if feed is None:
        return
    before = sources.of_feeds(db, [feed_id])
    after = sources.ensure(db, [msgspec.structs.asdict(feed)])
    if before != after:
        db.run(_set_source, user=user_id, feed=feed_id, source=after[0])
    sources.touch(db, before + after)


def set_icon(db: Write, user_id: int, feed_id: int, *, icon_id: int | None, checked_at: Instant) -> None:
    """icon_id: None when none was found: the feed keeps what it has."""
    values: dict[str, Any] = {"icon_checked_at": checked_at}
    if icon_id is not None:
        values["icon_id"] = icon_id
    change(db, user_id, feed_id, **values)


def remove(db: Write, user_id: int, feed_id: int) -> bool:
    """With its entries and the memory of deleted ones."""
    source_ids = sources.of_feeds(db, [feed_id])
    is_removed = db.run(delete(feeds).where(feeds.c.user_id == user_id, feeds.c.id == feed_id)) > 0
    if is_removed:
        sources.touch(db, source_ids)
        sources.remove_unused(db, source_ids)
    return is_removed
