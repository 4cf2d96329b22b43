"""Feeds: a user's subscriptions. Polling is in `storage.polling`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct
from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Integer,
    and_,
    bindparam,
    delete,
    false,
    func,
    insert,
    literal_column,
    or_,
    select,
    true,
    update,
)

from tidings.base.text import sort_key
from tidings.base.times import Instant
from tidings.domain.feeds.feeds import NEWSLETTERS_URL, RSSHUB_SCHEME, Feed
from tidings.domain.feeds.opml import OpmlFeed
from tidings.domain.feeds.opml_settings import WRITTEN
from tidings.domain.feeds.own_bridges import OFFER_MARK
from tidings.domain.polling.shared_sources import NO_VALIDATORS, SHARED_OPTIONS
from tidings.engine import distribution, full_text
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list, insert_rows, lockable_together, references_planned_once, take_ids
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.entries import counters
from tidings.storage.feeds import further_categories, own_bridges
from tidings.storage.feeds.categories import select_hidden_ids, select_with_below
from tidings.storage.ownership import users_and_feeds
from tidings.storage.polling import sources
from tidings.storage.schema import categories, entries, feed_categories, feed_counters, feeds, icons


class FeedOrigin(Struct, frozen=True):
    """What apps show of an entry's feed."""

    id: int
    title: str
    site_url: str
    category_title: str
    further_titles: tuple[str, ...] = ()
    """Of its categories after the first."""


_select_by_user = select(*columns(feeds, Feed)).where(feeds.c.user_id == bindparam("user"))
_select_by_id = _select_by_user.where(feeds.c.id == bindparam("id"))
_select_by_ids = _select_by_user.where(feeds.c.id.in_(bindparam("ids", expanding=True)))
_is_owned = in_list(feeds.c.user_id, "users"), in_list(feeds.c.id, "feeds")
_select_owned = select(*columns(feeds, Feed)).where(*_is_owned).order_by(feeds.c.id)
_lock_icons = (
    select(feeds.c.id, feeds.c.user_id, feeds.c.icon_id)
    .where(*_is_owned)
    .order_by(feeds.c.id)
    .with_for_update(key_share=True)
)
_select_id_by_url = select(feeds.c.id).where(feeds.c.user_id == bindparam("user"), feeds.c.feed_url == bindparam("url"))
_select_ids_by_url = select(feeds.c.feed_url, feeds.c.id).where(
    feeds.c.user_id == bindparam("user"), in_list(feeds.c.feed_url, "urls")
)
_select_owned_ids = select(feeds.c.id).where(feeds.c.user_id == bindparam("user"), in_list(feeds.c.id, "ids"))
_select_urls = select(feeds.c.feed_url).where(feeds.c.user_id == bindparam("user"))
# Failing ones first, then by title without case and accents.
IN_ORDER = (feeds.c.parsing_error_count.desc(), feeds.c.title_key, feeds.c.id)
_select_ordered = _select_by_user.order_by(*IN_ORDER)


def _is_set(column: Column[Any]) -> ColumnElement[bool]:
    """Return the condition that a setting is not empty, no, nothing or 0, as those of a new feed are."""
    if isinstance(column.type, Boolean):
        return column == true()
    return column != literal_column("0" if isinstance(column.type, Integer) else "''")


_has_settings = or_(*(_is_set(feeds.c[name]) for name in WRITTEN))
_select_for_opml = (
    select(
        *(feeds.c[name] for name in ("id", "category_id", "title", "feed_url", "site_url", "description")),
        func.coalesce(_has_settings, false()),
    )
    .where(feeds.c.user_id == bindparam("user"), ~feeds.c.feed_url.startswith(NEWSLETTERS_URL))
    .order_by(feeds.c.title_key, feeds.c.id)
)
_select_settings_for_opml = select(feeds.c.id, *(feeds.c[name] for name in WRITTEN)).where(
    feeds.c.user_id == bindparam("user"), _has_settings
)
_below = select_with_below("categories")
_in_first = feeds.alias("in_first")
# By their first category, or by another one.
_is_below = feeds.c.id.in_(
    select(_in_first.c.id)
    .where(_in_first.c.user_id == bindparam("user"), _in_first.c.category_id.in_(_below))
    .union_all(
        select(feed_categories.c.feed_id).where(
            feed_categories.c.user_id == bindparam("user"), feed_categories.c.category_id.in_(_below)
        )
    )
)
_select_counted_ids = (
    select(feeds.c.id)
    .select_from(counters.counted_feeds)
    .order_by(
        feeds.c.disabled,
        feeds.c.parsing_error_count.desc(),
        feed_counters.c.unread.desc(),
        feeds.c.title,
        feeds.c.id,
    )
)
_select_ids_of_category = _select_counted_ids.where(
    feeds.c.user_id == bindparam("user"), feeds.c.category_id == bindparam("category")
)
# SQLite would look at all feeds of the user instead of those of a few categories.
_select_ids_with_below = _select_counted_ids.where(
    full_text.without_index(feeds.c.user_id) == bindparam("user"), _is_below
)
_select_icon_names = (
    select(feeds.c.id.label("feed_id"), icons.c.external_id)
    .select_from(feeds.join(icons, icons.c.id == feeds.c.icon_id))
    .where(feeds.c.user_id == bindparam("user"))
)
_select_origins = (
    select(feeds.c.id, feeds.c.title, feeds.c.site_url, categories.c.title.label("category_title"))
    .select_from(further_categories.with_first)
    .where(feeds.c.user_id == bindparam("user"), in_list(feeds.c.id, "ids"))
)
# An imported feed has the time of its import, until its document is read.
_is_unchecked = and_(feeds.c.body_digest.is_(None), feeds.c.checked_at <= feeds.c.created_at)
_select_last_check = select(func.max(feeds.c.checked_at)).where(feeds.c.user_id == bindparam("user"), ~_is_unchecked)
_select_last_check_of_feed = _select_last_check.where(feeds.c.id == bindparam("feed"))
_select_last_check_in_category = _select_last_check.where(_is_below)
_count_due = (
    select(func.count())
    .select_from(feeds)
    .where(feeds.c.user_id == bindparam("user"), ~feeds.c.disabled, feeds.c.next_check_at <= bindparam("now"))
)
_count_due_in_category = _count_due.where(_is_below)
_hidden = select_hidden_ids()
# A feed in several categories is seen as long as one of them is.
_is_seen_elsewhere = feeds.c.id.in_(
    select(feed_categories.c.feed_id).where(
        feed_categories.c.user_id == bindparam("user"), feed_categories.c.category_id.not_in(_hidden)
    )
)
_select_hidden = select(feeds.c.id).where(
    feeds.c.user_id == bindparam("user"),
    feeds.c.hide_globally | and_(feeds.c.category_id.in_(_hidden), ~_is_seen_elsewhere),
)

_set_source = (
    update(feeds)
    .where(feeds.c.user_id == bindparam("user"), feeds.c.id == bindparam("feed"))
    .values(source_id=bindparam("source"), own_bridge=bindparam("is_own"))
)
_is_bridged = or_(
    feeds.c.own_bridge,
    feeds.c.fetch_via_flaresolverr,
    feeds.c.feed_url.startswith(RSSHUB_SCHEME),
    feeds.c.feed_url.contains(OFFER_MARK),
)
_select_bridged_ids = select(feeds.c.id).where(feeds.c.user_id == bindparam("user"), _is_bridged).order_by(feeds.c.id)
_forget_documents = (
    update(feeds).where(feeds.c.user_id == bindparam("user"), in_list(feeds.c.id, "ids")).values(**NO_VALIDATORS)
)

# Columns that decide what is fetched, or when.
_SOURCE_COLUMNS = frozenset({*SHARED_OPTIONS, "disabled", "next_check_at"})

# Values of columns that a row does not give.
_DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(Feed)}


def list_all(db: Read, user_id: int) -> list[Feed]:
    """Return the user's feeds, failing ones first, then by title without case."""
    return db.all(Feed, _select_ordered, user=user_id)


def _settings_for_opml(db: Read, user_id: int) -> dict[int, list[Any]]:
    return {feed_id: settings for feed_id, *settings in db.tuples(_select_settings_for_opml, user=user_id)}


def for_opml(db: Read, user_id: int) -> dict[int, list[OpmlFeed]]:
    """Return what OPML contains of the user's feeds, by id of the category, ordered by title without case.

    A feed in several categories is in each. Feeds of letters, which no other reader can fetch, are left out.
    """
    by_category: dict[int, list[OpmlFeed]] = {}
    further = further_categories.of_user(db, user_id)
    found = db.tuples(_select_for_opml, user=user_id)
    # Most feeds have no settings, and there are many of them.
    settings = _settings_for_opml(db, user_id) if any(row[-1] for row in found) else {}
    for feed_id, first, title, feed_url, site_url, description, _ in found:
        feed = OpmlFeed(title, feed_url, site_url, description, settings.get(feed_id, ()))
        others = further.get(feed_id, ())
        in_first = msgspec.structs.replace(feed, is_in_first=True) if others else feed
        by_category.setdefault(first, []).append(in_first)
        for category_id in others:
            by_category.setdefault(category_id, []).append(feed)
    return by_category


def ids_of_category(db: Read, user_id: int, category_id: int, *, with_below: bool = True) -> list[int]:
    """Return ids of a category's feeds: enabled ones first, then failing ones, then those with most unread entries.

    with_below: whether to return those of the categories below it, too, and those for which it is not the first.
    """
    if with_below:
        return db.scalars(_select_ids_with_below, user=user_id, categories=[category_id])
    return db.scalars(_select_ids_of_category, user=user_id, category=category_id)


def get(db: Read, user_id: int, feed_id: int) -> Feed | None:
    return db.one(Feed, _select_by_id, user=user_id, id=feed_id)


def get_many(db: Read, user_id: int, feed_ids: Iterable[int]) -> list[Feed]:
    """Return the feeds with these ids that belong to the user."""
    return db.all(Feed, _select_by_ids, user=user_id, ids=list(feed_ids))


def owned_by(db: Read, owned: Collection[tuple[int, int]]) -> list[Feed]:
    """Return feeds of several users. owned: user id and feed id of each."""
    users, ids = users_and_feeds(owned)
    return db.all(Feed, _select_owned, users=users, feeds=ids)


def origins(db: Read, user_id: int, feed_ids: Iterable[int]) -> dict[int, FeedOrigin]:
    """Return the origins of the feeds that belong to the user, by id."""
    found = {origin.id: origin for origin in db.all(FeedOrigin, _select_origins, user=user_id, ids=feed_ids)}
    for feed_id, titles in further_categories.titles_of_feeds(db, user_id, found).items():
        found[feed_id] = msgspec.structs.replace(found[feed_id], further_titles=titles)
    return found


def id_by_url(db: Read, user_id: int, feed_url: str) -> int | None:
    feed_id: int | None = db.scalar(_select_id_by_url, user=user_id, url=feed_url)
    return feed_id


def ids_by_url(db: Read, user_id: int, feed_urls: Iterable[str]) -> dict[str, int]:
    """Return the ids of the user's feeds with these URLs."""
    wanted = sorted(set(feed_urls))
    rows = db.rows(_select_ids_by_url, user=user_id, urls=wanted) if wanted else ()
    return {row["feed_url"]: row["id"] for row in rows}


def owned_ids(db: Read, user_id: int, feed_ids: Iterable[int]) -> set[int]:
    """Return the ids of the list that are feeds of the user."""
    wanted = sorted(set(feed_ids))
    return set(db.scalars(_select_owned_ids, user=user_id, ids=wanted)) if wanted else set()


def urls(db: Read, user_id: int) -> set[str]:
    """Return the URLs of the user's feeds."""
    return set(db.scalars(_select_urls, user=user_id))


def icon_names(db: Read, user_id: int) -> dict[int, str]:
    """Return the public names of icons by feed id; a feed without an icon is missing."""
    return {row["feed_id"]: row["external_id"] for row in db.rows(_select_icon_names, user=user_id)}


def last_check(db: Read, user_id: int, *, feed_id: int | None = None, category_id: int | None = None) -> Instant | None:
    """Return when a feed of the user was last checked; None if none ever was.

    feed_id, category_id: look only there, and in what is below the category.
    """
    given: dict[str, Any] = {}
    statement = _select_last_check
    if feed_id is not None:
        statement, given = _select_last_check_of_feed, {"feed": feed_id}
    elif category_id is not None:
        statement, given = _select_last_check_in_category, {"categories": [category_id]}
    checked_at: Instant | None = db.scalar(statement, user=user_id, **given)
    return checked_at


def count_due(db: Read, user_id: int, now: Instant, *, category_id: int | None = None) -> int:
    """Return the number of the user's enabled feeds that wait for a worker.

    category_id: count only there, and in what is below it.
    """
    if category_id is None:
        return cast("int", db.scalar(_count_due, user=user_id, now=now))
    return cast("int", db.scalar(_count_due_in_category, user=user_id, now=now, categories=[category_id]))


def hidden_feed_ids(db: Read, user_id: int) -> list[int]:
    """Return the ids of feeds that are hidden globally: by themselves, or by all of their categories.

    A category hides, too, if it is below a hidden one.
    """
    return db.scalars(_select_hidden, user=user_id)


def add(db: Write, user_id: int, **values: Any) -> int:
    """Add a feed and return its id. values: columns; `category_id`, `feed_url` and `title` are required."""
    values |= {"user_id": user_id, "title_key": sort_key(values["title"])}
    (values["own_bridge"],) = own_bridges.are_fetched(db, user_id, [values])
    (source_id,) = sources.ensure_sources(db, [values])
    feed_id = db.insert(insert(feeds).values(source_id=source_id, **values))
    counters.add(db, user_id, feed_id)
    change_log.note(db, user_id, Kind.FEED, [feed_id])
    sources.touch_sources(db, [source_id])
    return feed_id


def add_many(db: Write, user_id: int, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Like `add`, for many feeds in a fixed number of statements. Returns the ids in the order of `rows`."""
    owned = [
        {**row, "user_id": user_id, "title_key": sort_key(row["title"]), "own_bridge": is_own}
        for row, is_own in zip(rows, own_bridges.are_fetched(db, user_id, rows), strict=True)
    ]
    # All rows of one statement have the same columns.
    names = sorted({name for row in owned for name in row})
    source_ids = sources.ensure_sources(db, owned)
    ids = take_ids(db, feeds, len(owned)) if owned else []
    insert_rows(
        db,
        feeds,
        [
            {"id": id_, "source_id": source_id} | {name: row.get(name, _DEFAULTS.get(name)) for name in names}
            for id_, source_id, row in zip(ids, source_ids, owned, strict=True)
        ],
    )
    counters.add_many(db, user_id, ids)
    change_log.note(db, user_id, Kind.FEED, ids)
    sources.touch_sources(db, source_ids)
    return ids


def change(db: Write, user_id: int, feed_id: int, **values: Any) -> None:
    """Write columns of a feed, and what follows from them in its source and its entries."""
    if not values:
        return
    if "title" in values:
        values["title_key"] = sort_key(values["title"])
    db.run(update(feeds).where(feeds.c.user_id == user_id, feeds.c.id == feed_id).values(**values))
    change_log.note(db, user_id, Kind.FEED, [feed_id])
    if values.keys() & _SOURCE_COLUMNS:
        _update_source(db, user_id, feed_id)
    if "category_id" in values:
        entries_of_feed = update(entries).where(entries.c.user_id == user_id, entries.c.feed_id == feed_id)
        db.run(entries_of_feed.values(category_id=values["category_id"]))
        further_categories.remove(db, user_id, [feed_id], [values["category_id"]])


def _update_source(db: Write, user_id: int, feed_id: int) -> None:
    """Assign the source that fits the feed's columns, and set when its sources are due."""
    feed = get(db, user_id, feed_id)
    if feed is None:
        return
    before = sources.of_feeds(db, [feed_id], user_id)
    values = msgspec.structs.asdict(feed)
    (values["own_bridge"],) = own_bridges.are_fetched(db, user_id, [values])
    after = sources.ensure_sources(db, [values])
    if before != after:
        db.run(_set_source, user=user_id, feed=feed_id, source=after[0], is_own=values["own_bridge"])
    sources.touch_sources(db, before + after)


def follow_bridges(db: Write, user_id: int) -> None:
    """Assign the sources that fit after a user has changed their own bridges. Documents will be read again."""
    ids = db.scalars(_select_bridged_ids, user=user_id)
    if not ids:
        return
    sources.lock_feeds(db, ids, user_id)
    bridged = get_many(db, user_id, ids)
    rows = [msgspec.structs.asdict(feed) for feed in bridged]
    for row, is_own in zip(rows, own_bridges.are_fetched(db, user_id, rows), strict=True):
        row["own_bridge"] = is_own
    before = sources.of_feeds(db, ids, user_id)
    after = sources.ensure_sources(db, rows)
    db.run_many(
        _set_source,
        [
            {"user": user_id, "feed": row["id"], "source": source_id, "is_own": row["own_bridge"]}
            for row, source_id in zip(rows, after, strict=True)
        ],
    )
    db.run(_forget_documents, user=user_id, ids=ids)
    sources.touch_sources(db, before + after)


def set_icons(db: Write, owned: Collection[tuple[int, int]], *, icon_id: int | None, checked_at: Instant) -> None:
    """Record that the icon of feeds was looked for. icon_id: None if none was found; feeds keep the icon they have.

    owned: user id and feed id of each.
    """
    users, ids = users_and_feeds(owned)
    locked = [row for some in lockable_together(db, users) for row in db.rows(_lock_icons, users=some, feeds=ids)]
    values: dict[str, Any] = {"icon_checked_at": checked_at} | ({} if icon_id is None else {"icon_id": icon_id})
    db.run(update(feeds).where(*_is_owned).values(**values), users=users, feeds=ids)
    for row in locked:
        if icon_id is not None and row["icon_id"] != icon_id:
            change_log.note(db, row["user_id"], Kind.FEED, [row["id"]])


def remove(db: Write, user_id: int, feed_id: int) -> bool:
    """Delete a feed with its entries and tombstones. Returns False if the user has no such feed."""
    source_ids = sources.of_feeds(db, [feed_id], user_id)
    distribution.clear_references(db, feeds, user_id, [feed_id])
    with references_planned_once(db):
        is_removed = db.run(delete(feeds).where(feeds.c.user_id == user_id, feeds.c.id == feed_id)) > 0
    if is_removed:
        change_log.note_removed_feeds(db, user_id, [feed_id])
        sources.touch_sources(db, source_ids)
        sources.remove_unused_sources(db, source_ids)
    return is_removed
