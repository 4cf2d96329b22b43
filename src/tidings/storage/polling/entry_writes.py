"""Writes the results of checks: columns of feeds; new, changed and renamed entries with their bodies and counters.

A transaction locks the counters of each feed whose entries it stores.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Select, Update, and_, bindparam, delete, exists, insert, or_, select, update

from tidings.base.times import Instant
from tidings.content.model import ParsedEnclosure
from tidings.domain.entries import retention
from tidings.domain.entries.entries import EditedEntryField, ReadyEntry, chapters_text, match_enclosures, tag_key
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import KnownEntries, StoredEntry, StoredIdentity, is_undated
from tidings.engine import statements
from tidings.engine.database import Read, Write, is_distributed
from tidings.engine.statements import in_list, upsert
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import CHECK_COLUMNS, Kind
from tidings.storage.entries import counters, labels, page_addresses, search_index
from tidings.storage.entries.contents import FeedContent, set_of_feed, share
from tidings.storage.ownership import of_same_user, users_and_feeds
from tidings.storage.schema import enclosures, entries, entry_contents, entry_tags, feeds, sources, tombstones

_SELECT_KNOWN = """
    SELECT wanted.feed_id, wanted.hash, entries.id, entries.fingerprint
    FROM wanted JOIN entries ON entries.feed_id = wanted.feed_id AND entries.hash = wanted.hash
    UNION ALL
    SELECT wanted.feed_id, wanted.hash, NULL, NULL
    FROM wanted JOIN tombstones ON tombstones.feed_id = wanted.feed_id AND tombstones.hash = wanted.hash
"""
# For a distributed PostgreSQL, which otherwise looks into the entries of all users, and stores the results of both
# halves of a UNION before it joins them.
_SELECT_KNOWN_OF_USERS = (
    """
    SELECT wanted.feed_id, wanted.hash, entries.id, entries.fingerprint
    FROM wanted JOIN entries ON entries.feed_id = wanted.feed_id AND entries.hash = wanted.hash
    WHERE entries.user_id = ANY (%s::integer[])
    """,
    """
    SELECT wanted.feed_id, wanted.hash, NULL, NULL
    FROM wanted JOIN tombstones ON tombstones.feed_id = wanted.feed_id AND tombstones.hash = wanted.hash
    WHERE tombstones.user_id = ANY (%s::integer[])
    """,
)
_add_tag = insert(entry_tags)
_add_enclosure = insert(enclosures)

# How many entries are turned into rows at a time: one entry may have a thousand tags.
_INSERT_BATCH = 500
# Hashes per statement, by the limit of parameters of SQLite.
_LOOK_UP_BATCH = 10_000


def look_up(
    db: Read, hashes: Mapping[int, Iterable[bytes]], users: Collection[int] | None = None
) -> dict[int, KnownEntries]:
    """Return which hashes each feed has, as entries or as deleted ones; one or two statements for all feeds.

    hashes: by feed id. The result is by feed id as well. users: the feeds' owners; a distributed database asks only the
    servers with their rows then.
    """
    selects: Sequence[str] = [_SELECT_KNOWN]
    parameters: list[list[int]] = []
    if users is not None and is_distributed(db.connection):
        selects, parameters = _SELECT_KNOWN_OF_USERS, [sorted(set(users))]
    pairs = [(feed_id, hash_) for feed_id, wanted in hashes.items() for hash_ in wanted]
    ids: dict[int, dict[bytes, int]] = {feed_id: {} for feed_id in hashes}
    fingerprints: dict[int, dict[bytes, bytes | None]] = {feed_id: {} for feed_id in hashes}
    deleted: dict[int, set[bytes]] = {feed_id: set() for feed_id in hashes}
    for start, statement in itertools.product(range(0, len(pairs), _LOOK_UP_BATCH), selects):
        for feed_id, hash_, id_, print_ in statements.select_by_hash(
            db, statement, pairs[start : start + _LOOK_UP_BATCH], parameters=parameters
        ):
            if id_ is None:
                deleted[feed_id].add(hash_)
            else:
                ids[feed_id][hash_] = id_
                fingerprints[feed_id][hash_] = print_
    return {
        feed_id: KnownEntries(ids[feed_id], fingerprints[feed_id], frozenset(deleted[feed_id])) for feed_id in hashes
    }


_select_with_entries = select(feeds.c.id).where(
    in_list(feeds.c.user_id, "users"),
    in_list(feeds.c.id, "feeds"),
    or_(
        *(exists().where(of_same_user(table, feeds), table.c.feed_id == feeds.c.id) for table in (entries, tombstones))
    ),
)


def with_entries(db: Read, owned: Collection[tuple[int, int]]) -> set[int]:
    """Return the ids of those feeds that have entries, or deleted ones. owned: user id and feed id of each."""
    users, ids = users_and_feeds(owned)
    return set(db.scalars(_select_with_entries, users=users, feeds=ids))


# The plus sign keeps SQLite from looking at all entries of the user with a date, instead of the feed's.
_SELECT_BY_DATE = """
    SELECT entries.id, entries.feed_id, entries.hash, entries.fingerprint, entries.url, entries.title,
        entries.published_at
    FROM wanted JOIN entries ON entries.feed_id = wanted.feed_id AND entries.published_at = wanted.published_at
        AND +entries.user_id = wanted.user_id
"""
_SELECT_BY_DATE_OF_USERS = f"{_SELECT_BY_DATE} WHERE entries.user_id = ANY (%s::integer[])"


def of_dates(db: Read, dates: Mapping[tuple[int, int], Iterable[Instant]]) -> dict[int, list[StoredEntry]]:
    """Return the entries that feeds have with these dates, by feed id; one statement for all feeds.

    dates: by the ids of a user and of a feed. A feed without such an entry is missing from the result.
    """
    wanted = [(*ids, date) for ids, of_feed in dates.items() for date in sorted(of_feed)]
    found: defaultdict[int, list[StoredEntry]] = defaultdict(list)
    statement, parameters = _SELECT_BY_DATE, list[list[int]]()
    if is_distributed(db.connection):
        statement, parameters = _SELECT_BY_DATE_OF_USERS, [sorted({user_id for user_id, _ in dates})]
    for row in statements.select_by_date(db, statement, wanted, parameters=parameters):
        found[row.feed_id].append(StoredEntry(*row))
    return dict(found)


def add_all(db: Write, new: Iterable[tuple[Feed, int, Instant, Iterable[ReadyEntry]]]) -> list[int]:
    """Add new entries of feeds and return their ids, the first with the lowest.

    new: feeds with the ids of their categories, the time, and the entries. The caller has locked the feeds' counters.
    """
    return _add(
        db,
        [
            (feed.user_id, feed.id, category_id, now, entry)
            for feed, category_id, now, entries_ in new
            for entry in entries_
        ],
    )


def add(
    db: Write, user_id: int, feed_id: int, category_id: int, new: Sequence[ReadyEntry], *, now: Instant
) -> list[int]:
    """As `add_all`, for one feed. Return the ids."""
    return _add(db, [(user_id, feed_id, category_id, now, entry) for entry in new])


def _add(db: Write, owned: Sequence[tuple[int, int, int, Instant, ReadyEntry]]) -> list[int]:
    """owned: entries with the ids of their user, feed and category, and the time."""
    ids = statements.take_ids(db, entries, len(owned)) if owned else []
    for start in range(0, len(ids), _INSERT_BATCH):
        batch = ids[start : start + _INSERT_BATCH]
        _add_rows(db, list(zip(batch, owned[start : start + _INSERT_BATCH], strict=True)))
    delta = counters.CounterDelta()
    for user_id, feed_id, _, _, entry in owned:
        delta.add(user_id, feed_id, entry.status, starred=entry.starred)
    delta.write(db)
    ids_of: defaultdict[int, list[int]] = defaultdict(list)
    for (user_id, *_), id_ in zip(owned, ids, strict=True):
        ids_of[user_id].append(id_)
    for user_id, added in ids_of.items():
        change_log.note(db, user_id, Kind.ENTRY, added)
        change_log.note(db, user_id, Kind.NEW_ENTRY, added)
    return ids


def _add_rows(db: Write, numbered: Sequence[tuple[int, tuple[int, int, int, Instant, ReadyEntry]]]) -> None:
    shared = share(db, [FeedContent(owned[0], owned[1], owned[-1].content) for _, owned in numbered])
    rows: list[dict[str, Any]] = []
    contents: list[dict[str, Any]] = []
    tags: list[dict[str, Any]] = []
    attached: list[dict[str, Any]] = []
    pages: list[dict[str, Any]] = []
    for id_, (user_id, feed_id, category_id, now, entry) in numbered:
        owner = {"id": id_, "user_id": user_id, "feed_id": feed_id, "category_id": category_id}
        rows.append(owner | {"created_at": now, "changed_at": now} | _columns(entry))
        shared_id = shared.get(FeedContent(user_id, feed_id, entry.content))
        contents.append(
            {
                "entry_id": id_,
                "user_id": user_id,
                "content": entry.content if shared_id is None else "",
                "chapters": chapters_text(entry.chapters),
                "shared_id": shared_id,
            }
        )
        tags += tag_rows(user_id, id_, entry.tags)
        attached += [_enclosure_row(user_id, id_, enclosure) for enclosure in entry.enclosures]
        if (page := page_addresses.row(user_id, id_, entry.url, entry.page_url)) is not None:
            pages.append(page)
    with statements.references_planned_once(db, len(rows)):
        statements.insert_rows(db, entries, rows)
        statements.insert_rows(db, entry_contents, contents)
        statements.insert_rows(db, entry_tags, tags)
        statements.insert_rows(db, enclosures, attached)
        page_addresses.add(db, pages)
        search_index.note_new(db, [(id_, owned[0]) for id_, owned in numbered])


def _columns(entry: ReadyEntry) -> dict[str, Any]:
    return {
        "hash": entry.hash,
        "fingerprint": entry.fingerprint,
        "status": int(entry.status),
        "starred": entry.starred,
        "hidden": entry.hidden,
        "published_at": entry.published_at,
        "reading_time": entry.reading_time,
        "title": entry.title,
        "url": entry.url,
        "author": entry.author,
        "comments_url": entry.comments_url,
        "language": entry.language,
        "tags": msgspec.json.encode(entry.tags).decode(),
    }


def change(db: Write, user_id: int, changed: Mapping[int, ReadyEntry], *, now: Instant) -> None:
    """Write changes by the publisher, except to fields that the user edited. Status and star stay, and so does the
    date, unless the entry had none when it was stored.

    changed: by entry id. The caller has locked the feed's counters. The user may have edited or deleted entries since
    the look-up.
    """
    if not changed:
        return
    present = {row["id"]: row for row in db.rows(_select_edited, user=user_id, ids=list(changed))}
    arriving = {
        id_: FeedContent(user_id, row["feed_id"], changed[id_].content)
        for id_, row in present.items()
        if EditedEntryField.CONTENT not in EditedEntryField(row["edited"])
    }
    shared = share(db, arriving.values())
    for id_, entry in changed.items():
        if (stored := present.get(id_)) is None:
            continue
        edited = EditedEntryField(stored["edited"])
        values = _columns(entry) | {"changed_at": now}
        for kept in ("hash", "status", "starred", "hidden"):
            del values[kept]
        # An imported entry has no fingerprint.
        was_undated = is_undated(stored["published_at"], stored["created_at"]) and bool(stored["fingerprint"])
        if entry.published_at == now or not was_undated:
            del values["published_at"]
        else:
            labels.set_published(db, user_id, id_, entry.published_at)
        if EditedEntryField.TITLE in edited:
            del values["title"]
        is_shown = EditedEntryField.CONTENT not in edited
        if not is_shown:
            del values["reading_time"]
        shared_id = shared.get(arriving[id_]) if is_shown else None
        chapters = chapters_text(entry.chapters)
        set_of_feed(db, user_id, id_, entry.content, chapters, is_shown=is_shown, shared_id=shared_id)
        db.run(update(entries).where(entries.c.user_id == user_id, entries.c.id == id_).values(**values))
        _replace_details(db, user_id, id_, entry)
    search_index.note_changed(db, user_id, list(changed))
    change_log.note(db, user_id, Kind.ENTRY, changed)


_select_edited = select(
    entries.c.id,
    entries.c.feed_id,
    entries.c.edited,
    entries.c.published_at,
    entries.c.created_at,
    entries.c.fingerprint,
).where(
    entries.c.user_id == bindparam("user"),
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
)
_delete_tags = delete(entry_tags).where(
    entry_tags.c.user_id == bindparam("user"), entry_tags.c.entry_id == bindparam("entry")
)
_select_enclosures = select(enclosures.c.id, enclosures.c.url, enclosures.c.mime_type, enclosures.c.size).where(
    enclosures.c.user_id == bindparam("user"), enclosures.c.entry_id == bindparam("entry")
)
_is_enclosure = and_(enclosures.c.user_id == bindparam("user"), enclosures.c.id == bindparam("enclosure"))
_delete_enclosure = delete(enclosures).where(_is_enclosure)
_update_enclosure = (
    update(enclosures)
    .where(_is_enclosure)
    .values(url=bindparam("new_url"), mime_type=bindparam("new_type"), size=bindparam("new_size"))
)


def _replace_details(db: Write, user_id: int, entry_id: int, entry: ReadyEntry) -> None:
    db.run(_delete_tags, user=user_id, entry=entry_id)
    db.run_many(_add_tag, tag_rows(user_id, entry_id, entry.tags))
    # An enclosure that stays keeps its id, and with it the playback position of the user.
    rows = db.rows(_select_enclosures, user=user_id, entry=entry_id)
    stored = {row["id"]: ParsedEnclosure(row["url"], row["mime_type"], row["size"]) for row in rows}
    matched = match_enclosures(stored, entry.enclosures)
    db.run_many(_delete_enclosure, [{"user": user_id, "enclosure": id_} for id_ in stored if id_ not in matched])
    db.run_many(
        _update_enclosure,
        [
            {"user": user_id, "enclosure": id_, "new_url": one.url, "new_type": one.mime_type, "new_size": one.size}
            for id_, one in matched.items()
            if one != stored[id_]
        ],
    )
    kept = set(matched.values())
    added = [_enclosure_row(user_id, entry_id, one) for one in entry.enclosures if one not in kept]
    db.run_many(_add_enclosure, added)


def tag_rows(user_id: int, entry_id: int, tags: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows of `entry_tags` of an entry."""
    keys = sorted({key for tag in tags if (key := tag_key(tag))})
    return [{"user_id": user_id, "tag": key, "entry_id": entry_id} for key in keys]


def _enclosure_row(user_id: int, entry_id: int, enclosure: ParsedEnclosure) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "entry_id": entry_id,
        "url": enclosure.url,
        "mime_type": enclosure.mime_type,
        "size": enclosure.size,
        "media_progression": 0,
    }


_is_listed = tombstones.c.hash.in_(bindparam("hashes", expanding=True))
_is_deleted_from = and_(tombstones.c.user_id == bindparam("user"), tombstones.c.feed_id == bindparam("feed"))
_select_last_seen = select(tombstones.c.hash, tombstones.c.seen_at).where(_is_deleted_from, _is_listed)
_set_seen = (
    update(tombstones)
    .where(_is_deleted_from, tombstones.c.hash == bindparam("which"))
    .values(seen_at=bindparam("moment"))
)


def mark_seen(db: Write, user_id: int, feed_id: int, hashes: Collection[bytes], *, now: Instant) -> int:
    """Record that deleted entries are still in the feed's document. Return how many rows were written."""
    if not hashes:
        return 0
    found = db.rows(_select_last_seen, user=user_id, feed=feed_id, hashes=sorted(hashes))
    known = {row["hash"]: row["seen_at"] for row in found}
    rows = [
        {"user": user_id, "feed": feed_id, "which": hash_, "moment": now}
        for hash_, seen_at in sorted(known.items())
        if retention.needs_seen_update(seen_at, now)
    ]
    db.run_many(_set_seen, rows)
    return len(rows)


_refuse = upsert(tombstones, ["feed_id", "hash"])


def refuse(db: Write, user_id: int, feed_id: int, hashes: Collection[bytes], *, now: Instant) -> None:
    """Remember entries that are not stored, so that they are not when the feed's document has them again."""
    row = {"user_id": user_id, "feed_id": feed_id, "seen_at": now}
    db.run_many(_refuse, [row | {"hash": hash_} for hash_ in sorted(hashes)])


_select_stored = (
    select(entries.c.id, entries.c.hash, entries.c.url, entries.c.title)
    .where(entries.c.user_id == bindparam("user"), entries.c.feed_id == bindparam("feed"))
    .order_by(entries.c.id.desc())
)
_others = entries.alias()
_is_taken = exists().where(
    _others.c.user_id == bindparam("user"), _others.c.feed_id == bindparam("feed"), _others.c.hash == bindparam("new")
)
_rename = (
    update(entries)
    .where(
        entries.c.user_id == bindparam("user"),
        entries.c.feed_id == bindparam("feed"),
        entries.c.id == bindparam("entry"),
        ~_is_taken,
    )
    .values(hash=bindparam("new"))
)
_deleted_twice = tombstones.alias()
_rename_deleted = (
    update(tombstones)
    .where(
        _is_deleted_from,
        tombstones.c.hash == bindparam("old"),
        ~exists().where(
            of_same_user(_deleted_twice, tombstones),
            _deleted_twice.c.feed_id == bindparam("feed"),
            _deleted_twice.c.hash == bindparam("new"),
        ),
    )
    .values(hash=bindparam("new"))
)


def stored(db: Read, user_id: int, feed_id: int) -> list[StoredIdentity]:
    """Return all entries of the feed with any status, the newest first."""
    return db.all(StoredIdentity, _select_stored, user=user_id, feed=feed_id)


def rename(db: Write, user_id: int, feed_id: int, hashes: Mapping[int, bytes]) -> None:
    """Set the hashes of entries, except where another entry of the feed has the new hash.

    hashes: new ones by entry id. The caller has locked the feed's counters.
    """
    rows = [{"user": user_id, "feed": feed_id, "entry": id_, "new": hash_} for id_, hash_ in hashes.items()]
    db.run_many(_rename, rows)
    if rows:
        change_log.note(db, user_id, Kind.ENTRY, hashes)


def rename_deleted(db: Write, user_id: int, feed_id: int, hashes: Sequence[tuple[bytes, bytes]]) -> None:
    """Change the hashes of deleted entries. hashes: pairs of old and new."""
    db.run_many(_rename_deleted, [{"user": user_id, "feed": feed_id, "old": old, "new": new} for old, new in hashes])


_select_current = select(
    feeds.c.id.label("feed_id"),
    feeds.c.category_id,
    feeds.c.match_entries_by_url,
    feeds.c.body_digest,
    feeds.c.source_id,
).where(in_list(feeds.c.user_id, "users"), in_list(feeds.c.id, "feeds"))


_select_claims = select(sources.c.id, sources.c.claimed_by).where(in_list(sources.c.id, "ids"))


class CurrentFeed(Struct, frozen=True):
    """The columns of a feed that a transaction reads again after it has locked the feed."""

    feed_id: int
    category_id: int
    match_entries_by_url: bool
    body_digest: bytes | None
    source_id: int
    claimed_by: str
    """The worker that has claimed the source, or ""."""


def current(db: Read, owned: Collection[tuple[int, int]]) -> dict[int, CurrentFeed]:
    """Return feeds by id; they may differ from those at the claim. owned: user id and feed id of each."""
    users, ids = users_and_feeds(owned)
    rows = db.rows(_select_current, users=users, feeds=ids)
    claims = dict(db.tuples(_select_claims, ids=sorted({row["source_id"] for row in rows}))) if rows else {}
    return {row["feed_id"]: CurrentFeed(**row, claimed_by=claims.get(row["source_id"], "")) for row in rows}


def record(db: Write, results: Iterable[tuple[Feed, Mapping[str, Any]]]) -> None:
    """Write columns of feeds that were checked. The next check of their sources is written by `touch_sources`.

    Feeds that get the same values, as the subscribers of a source do, are written by one statement.
    """
    in_order = sorted(results, key=lambda pair: pair[0].id)
    _note_changed(db, in_order)
    equal: defaultdict[tuple[tuple[str, Any], ...], list[Feed]] = defaultdict(list)
    for feed, columns in in_order:
        equal[tuple(sorted(columns.items()))].append(feed)
    by_columns: defaultdict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for pairs, members in equal.items():
        values = {f"set_{name}": value for name, value in pairs}
        if len(members) > 1:
            owners, ids = sorted({feed.user_id for feed in members}), [feed.id for feed in members]
            db.run(_update_statement(tuple(values), for_many=True), users=owners, feeds=ids, **values)
        else:
            by_columns[tuple(values)].append(values | {"feed": members[0].id, "user": members[0].user_id})
    for names, rows in by_columns.items():
        db.run_many(_update_statement(names), rows)


def _note_changed(db: Write, results: Sequence[tuple[Feed, Mapping[str, Any]]]) -> None:
    """Lock feeds, and note those of which lists will show something else, compared with what is stored now.

    A feed as it was when its check began may have been changed by its user since.
    """
    names = {name for _, columns in results for name in columns} - CHECK_COLUMNS
    owners, ids = ({getattr(feed, name) for feed, _ in results} for name in ("user_id", "id"))
    lock = _lock_shown(tuple(sorted(names)))
    locked = [
        row for users in statements.lockable_together(db, owners) for row in db.rows(lock, users=users, ids=sorted(ids))
    ]
    stored = {row["id"]: row for row in locked}
    for feed, columns in results:
        present = stored.get(feed.id)
        if present is not None and any(columns[name] != present[name] for name in names.intersection(columns)):
            change_log.note(db, feed.user_id, Kind.FEED, [feed.id])


@lru_cache(maxsize=64)
def _lock_shown(names: tuple[str, ...]) -> Select[Any]:
    """Return a SELECT of columns of feeds, which locks them in the order of their ids."""
    return (
        select(feeds.c.id, *(feeds.c[name] for name in names))
        .where(in_list(feeds.c.user_id, "users"), in_list(feeds.c.id, "ids"))
        .order_by(feeds.c.id)
        .with_for_update(key_share=True)
    )


@lru_cache(maxsize=64)
def _update_statement(names: tuple[str, ...], *, for_many: bool = False) -> Update:
    """Return an UPDATE of a feed, or of a list of feeds and their users.

    names: of parameters, `set_` and the column; a few dozen combinations occur.
    """
    changed: dict[str, Any] = {name.removeprefix("set_"): bindparam(name) for name in names}
    chosen = (
        (in_list(feeds.c.user_id, "users"), in_list(feeds.c.id, "feeds"))
        if for_many
        else (feeds.c.id == bindparam("feed"), feeds.c.user_id == bindparam("user"))
    )
    return update(feeds).where(*chosen).values(**changed)
