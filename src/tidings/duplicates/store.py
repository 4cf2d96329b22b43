"""The statements of this slice.

A transaction first locks the counters of the feeds whose entries it folds, then the user's scan (`lock_scans`): so two
transactions that store the same article see each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Integer,
    and_,
    bindparam,
    delete,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    union,
    update,
)

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.duplicates.matching import MAX_AGE, Candidate, Keys, keys_of
from tidings.duplicates.tables import duplicate_keys, duplicate_scans
from tidings.engine import full_text
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list, insert_rows, upsert
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.schema import (
    categories,
    duplicates,
    entries,
    entry_labels,
    feed_categories,
    feeds,
    list_versions,
    page_addresses,
    users,
)

# So many entries with the keys of a batch are looked at.
MAX_CANDIDATES = 2_000


class Scan(Struct, frozen=True):
    """How far the entries of a user have been searched for duplicates."""

    user_id: int
    mode: str
    kept_feeds: str
    """JSON: the feeds that are excepted."""
    is_released: bool
    """Whether what an earlier setting did is undone."""
    position: int
    """Id of the last entry that was searched."""


class Wish(Struct, frozen=True):
    """What a user wants, and the scan that was made for it."""

    user_id: int
    duplicates: str
    """The setting of the user."""
    mode: str | None
    """The setting of the scan; None without one."""
    kept_feeds: str | None
    is_released: bool | None
    position: int | None
    newest_id: int | None
    """The entry that was stored last."""


class Member(Struct, frozen=True):
    """An entry of a group: an original, or one that repeats it."""

    group: int
    """Id of the original."""
    feed_id: int
    status: int
    is_original: bool


class Found(Struct, frozen=True):
    """A duplicate to record."""

    entry_id: int
    feed_id: int
    original_id: int
    status: int
    original_status: int
    starred: bool = False
    is_by_page: bool = False
    """Whether only its page says that it repeats the original: then it never takes the other's place."""


class Recorded(Struct, frozen=True):
    """A recorded duplicate as it is now."""

    entry_id: int
    original_id: int
    own_status: int
    original_status: int
    found_at: Instant
    feed_id: int
    status: int
    starred: bool
    changed_at: Instant
    status_of_original: int | None


class Rival(Struct, frozen=True):
    """A folded entry that may take the place of its original."""

    entry_id: int
    original_id: int
    feed_id: int
    status: int
    original_feed_id: int
    original_status: int
    is_kept: bool
    """Whether the original is starred, shared or labelled."""


_user: ColumnElement[int] = bindparam("user", type_=Integer)
_own_entry = full_text.without_index(entries.c.user_id) == _user
_own_key = duplicate_keys.c.user_id == _user
_own_duplicate = duplicates.c.user_id == _user
_own_scan = duplicate_scans.c.user_id == _user
_original = entries.alias("original")
_is_labelled = exists().where(entry_labels.c.entry_id == entries.c.id, entry_labels.c.user_id == entries.c.user_id)
_candidates = (
    select(
        entries.c.id,
        entries.c.feed_id,
        entries.c.status,
        entries.c.url,
        entries.c.hash,
        entries.c.title,
        entries.c.language,
        entries.c.published_at,
        entries.c.starred,
        duplicates.c.original_id,
        or_(entries.c.starred, entries.c.share_code != "", _is_labelled).label("is_kept"),
        page_addresses.c.address.label("page"),
        func.coalesce(duplicates.c.by_page, false()).label("is_by_page"),
    )
    .select_from(
        entries.outerjoin(
            duplicates, and_(duplicates.c.entry_id == entries.c.id, duplicates.c.user_id == entries.c.user_id)
        ).outerjoin(
            page_addresses,
            and_(page_addresses.c.entry_id == entries.c.id, page_addresses.c.user_id == entries.c.user_id),
        )
    )
    .where(
        _own_entry,
        in_list(entries.c.id, "ids"),
        entries.c.status != int(EntryStatus.REMOVED),
    )
    .order_by(entries.c.id)
)
_own_page = page_addresses.c.user_id == _user
# Only entries that were looked up have keys.
_has_keys = and_(duplicate_keys.c.entry_id == page_addresses.c.entry_id, _own_key)
_select_keyed = union(
    *(
        select(duplicate_keys.c.entry_id).where(_own_key, condition)
        for condition in (
            in_list(duplicate_keys.c.address, "addresses"),
            in_list(duplicate_keys.c.identity, "identities"),
            and_(
                in_list(duplicate_keys.c.title, "titles"),
                duplicate_keys.c.published_at >= bindparam("since"),
                duplicate_keys.c.published_at <= bindparam("until"),
            ),
        )
    ),
    select(page_addresses.c.entry_id)
    .select_from(page_addresses.join(duplicate_keys, _has_keys))
    .where(_own_page, in_list(page_addresses.c.address, "addresses")),
).limit(bindparam("limit"))
_select_a_page = select(page_addresses.c.entry_id).where(_own_page).limit(1)
_select_feeds_naming = (
    select(entries.c.feed_id)
    .distinct()
    .select_from(page_addresses.join(entries, entries.c.id == page_addresses.c.entry_id))
    .where(_own_page, in_list(page_addresses.c.address, "addresses"), _own_entry)
)
_add_key = upsert(duplicate_keys, ["entry_id"])
_remove_keys = delete(duplicate_keys).where(
    _own_key, duplicate_keys.c.entry_id.in_(select(duplicate_keys.c.entry_id).where(_own_key).limit(bindparam("limit")))
)
_select_originals = select(
    entries.c.id.label("group"), entries.c.feed_id, entries.c.status, literal_column("1").label("is_original")
).where(_own_entry, in_list(entries.c.id, "ids"), entries.c.status != int(EntryStatus.REMOVED))
_select_repeating = (
    select(
        duplicates.c.original_id.label("group"),
        entries.c.feed_id,
        entries.c.status,
        literal_column("0").label("is_original"),
    )
    .select_from(duplicates.join(entries, entries.c.id == duplicates.c.entry_id))
    .where(_own_duplicate, in_list(duplicates.c.original_id, "ids"), _own_entry)
)
_add_duplicate = upsert(duplicates, ["entry_id"])
_remove_duplicates = delete(duplicates).where(_own_duplicate, in_list(duplicates.c.entry_id, "ids"))
_listed = update(entries).where(_own_entry, in_list(entries.c.id, "ids"))
_set_status = _listed.values(status=bindparam("new_status"))
_set_status_now = _listed.values(status=bindparam("new_status"), changed_at=bindparam("now"))
_with_original = duplicates.join(entries, entries.c.id == duplicates.c.entry_id).outerjoin(
    _original, and_(_original.c.id == duplicates.c.original_id, _original.c.user_id == duplicates.c.user_id)
)
_select_recorded = (
    select(
        duplicates.c.entry_id,
        duplicates.c.original_id,
        duplicates.c.status.label("own_status"),
        duplicates.c.original_status,
        duplicates.c.found_at,
        entries.c.feed_id,
        entries.c.status,
        entries.c.starred,
        entries.c.changed_at,
        _original.c.status.label("status_of_original"),
    )
    .select_from(_with_original)
    .where(_own_duplicate, _own_entry)
    .order_by(duplicates.c.original_id, duplicates.c.entry_id)
    .limit(bindparam("limit"))
)
# A literal, as in the partial index.
_is_uncompared: ColumnElement[bool] = literal_column("duplicates.compared = false")
_select_uncompared = (
    select(duplicates.c.entry_id)
    .where(_own_duplicate, _is_uncompared)
    .order_by(duplicates.c.entry_id)
    .limit(bindparam("limit"))
)
_select_rivals = (
    select(
        duplicates.c.entry_id,
        duplicates.c.original_id,
        entries.c.feed_id,
        entries.c.status,
        _original.c.feed_id.label("original_feed_id"),
        _original.c.status.label("original_status"),
        or_(
            _original.c.starred,
            _original.c.share_code != "",
            exists().where(entry_labels.c.entry_id == _original.c.id, entry_labels.c.user_id == _original.c.user_id),
        ).label("is_kept"),
    )
    .select_from(_with_original)
    .where(_own_duplicate, in_list(duplicates.c.entry_id, "ids"), _own_entry, _original.c.id.is_not(None))
    .order_by(duplicates.c.entry_id)
)
_set_compared = update(duplicates).where(_own_duplicate, in_list(duplicates.c.entry_id, "ids")).values(compared=True)
_select_batch = (
    select(entries.c.id, entries.c.feed_id)
    .where(entries.c.user_id == _user, entries.c.id > bindparam("after"))
    .order_by(entries.c.user_id, entries.c.id)
    .limit(bindparam("limit"))
)

# The worker serves all users.
_select_wishes = (
    select(
        users.c.id.label("user_id"),
        users.c.duplicates,
        duplicate_scans.c.mode,
        duplicate_scans.c.kept_feeds,
        duplicate_scans.c.is_released,
        duplicate_scans.c.position,
    )
    .select_from(users.outerjoin(duplicate_scans, duplicate_scans.c.user_id == users.c.id))
    .where(or_(users.c.duplicates != "off", duplicate_scans.c.user_id.is_not(None)))
    .order_by(users.c.id)
)
# Each user has one row of list_versions, from which the last entry is looked up in its index. Users themselves, which
# each node has, cannot be joined with rows that are distributed.
_select_newest = select(
    list_versions.c.user_id,
    select(func.max(entries.c.id)).where(entries.c.user_id == list_versions.c.user_id).scalar_subquery(),
).where(in_list(list_versions.c.user_id, "users"))
_select_users_with_kept_categories = (
    select(categories.c.user_id).where(literal_column("categories.keep_duplicates = true")).distinct()
)
_select_categories = (
    select(categories.c.user_id, categories.c.id, categories.c.parent_id, categories.c.keep_duplicates)
    .where(in_list(categories.c.user_id, "users"))
    .order_by(categories.c.user_id, categories.c.id)
)
_select_kept_feeds = select(feeds.c.user_id, feeds.c.id).where(literal_column("feeds.keep_duplicates = true"))
_select_feeds_of_categories = union(
    select(feeds.c.user_id, feeds.c.id).where(
        in_list(feeds.c.user_id, "users"), in_list(feeds.c.category_id, "categories")
    ),
    select(feed_categories.c.user_id, feed_categories.c.feed_id.label("id")).where(
        in_list(feed_categories.c.user_id, "users"), in_list(feed_categories.c.category_id, "categories")
    ),
)
_select_with_uncompared = (
    select(duplicates.c.user_id)
    # The second condition is a range, for which SQLite uses the partial index.
    .where(_is_uncompared, duplicates.c.user_id > 0)
    .order_by(duplicates.c.user_id)
    .limit(1)
)
_select_scans = (
    select(*columns(duplicate_scans, Scan))
    .where(in_list(duplicate_scans.c.user_id, "users"))
    .order_by(duplicate_scans.c.user_id)
)
_lock_scans = _select_scans.with_for_update()
_put_scan = upsert(duplicate_scans, ["user_id"], update=("mode", "kept_feeds", "is_released", "position"))
_change_scan = update(duplicate_scans).where(_own_scan)
_move = _change_scan.values(position=bindparam("new_position"))
_set_released = _change_scan.values(is_released=True)
_remove_scan = delete(duplicate_scans).where(_own_scan)


def wishes(db: Read) -> list[Wish]:
    """Return what users want, of those who have duplicates found, or had so until now."""
    found = db.rows(_select_wishes)
    newest = dict(db.tuples(_select_newest, users=[row["user_id"] for row in found])) if found else {}
    return [Wish(**row, newest_id=newest.get(row["user_id"])) for row in found]


def kept_feeds(db: Read) -> dict[int, list[int]]:
    """Return the feeds that users excepted, by user id, in the order of their ids.

    A feed is excepted itself, or with any of its categories.
    """
    kept = {(user_id, feed_id) for user_id, feed_id in db.tuples(_select_kept_feeds)}
    owners, category_ids = _kept_categories(db)
    if category_ids:
        kept.update(db.tuples(_select_feeds_of_categories, users=owners, categories=category_ids))
    found: dict[int, list[int]] = {}
    for user_id, feed_id in sorted(kept):
        found.setdefault(user_id, []).append(feed_id)
    return found


def _kept_categories(db: Read) -> tuple[list[int], list[int]]:
    """Return the users who excepted a category, and the ids of these categories with all below them."""
    owners = sorted(db.scalars(_select_users_with_kept_categories))
    if not owners:
        return [], []
    kept: set[int] = set()
    below: dict[int, list[int]] = {}
    for _, id_, parent_id, is_kept in db.tuples(_select_categories, users=owners):
        if is_kept:
            kept.add(id_)
        if parent_id is not None:
            below.setdefault(parent_id, []).append(id_)
    waiting = list(kept)
    while waiting:
        new = set(below.get(waiting.pop(), ())) - kept
        kept |= new
        waiting += new
    return owners, sorted(kept)


def user_to_compare(db: Read) -> int | None:
    """Return a user with folded entries that may have the whole text; None without any."""
    user_id: int | None = db.scalar(_select_with_uncompared)
    return user_id


def scan(db: Read, user_id: int) -> Scan | None:
    return db.one(Scan, _select_scans, users=[user_id])


def lock_scans(db: Write, user_ids: Collection[int]) -> dict[int, Scan]:
    """Lock the scans of users until the transaction ends, and return them by user id."""
    return {one.user_id: one for one in db.all(Scan, _lock_scans, users=sorted(user_ids))}


def begin(db: Write, user_id: int, mode: str, kept: str, *, is_released: bool) -> None:
    """Let the archive be searched from the beginning. is_released: there is nothing to undo first."""
    values = {"mode": mode, "kept_feeds": kept, "is_released": is_released, "position": 0}
    db.run(_put_scan.values(user_id=user_id, **values))


def set_position(db: Write, user_id: int, position: int) -> None:
    db.run(_move, user=user_id, new_position=position)


def set_released(db: Write, user_id: int) -> None:
    db.run(_set_released, user=user_id)


def end(db: Write, user_id: int) -> None:
    """Forget the scan of a user who no longer has duplicates found."""
    db.run(_remove_scan, user=user_id)


def batch(db: Read, user_id: int, after: int, limit: int) -> list[tuple[int, int]]:
    """Return ids of the user's next entries, each with the id of its feed."""
    return [(id_, feed_id) for id_, feed_id in db.tuples(_select_batch, user=user_id, after=after, limit=limit)]


def by_ids(db: Read, user_id: int, entry_ids: Collection[int]) -> list[Candidate]:
    """Return entries in the order of their ids, without removed ones."""
    return db.all(Candidate, _candidates, user=user_id, ids=sorted(entry_ids)) if entry_ids else []


def add_keys(db: Write, user_id: int, keyed: Sequence[Candidate], keys: Mapping[int, Keys], *, are_new: bool) -> None:
    """Store the keys of entries. keys: by entry id. are_new: none has keys yet; otherwise those that have keep them."""
    rows = [
        {
            "entry_id": entry.id,
            "user_id": user_id,
            "address": keys[entry.id].address,
            "identity": keys[entry.id].identity,
            "title": keys[entry.id].title,
            "published_at": entry.published_at,
        }
        for entry in keyed
    ]
    if are_new:
        insert_rows(db, duplicate_keys, rows)
    else:
        db.run_many(_add_key, rows)


def ids_with_keys(db: Read, user_id: int, keys: Collection[Keys], since: Instant, until: Instant) -> set[int]:
    """Return entries with one of these keys.

    since, until: when the first and the last of the entries that are looked up were published.
    """
    found = db.scalars(
        _select_keyed,
        user=user_id,
        addresses=sorted({address for one in keys for address in (one.address, one.page) if address is not None}),
        identities=sorted({one.identity for one in keys if one.identity is not None}),
        titles=sorted({one.title for one in keys if one.title is not None}),
        since=since - MAX_AGE,
        until=until + MAX_AGE,
        limit=MAX_CANDIDATES,
    )
    return set(found)


def feeds_naming(db: Read, user_id: int, entry_ids: Sequence[int]) -> set[int]:
    """Return the feeds of entries whose pages name the address of one of these entries as their own."""
    if db.scalar(_select_a_page, user=user_id) is None:
        return set()
    keys = [keys_of(entry).address for entry in by_ids(db, user_id, entry_ids)]
    addresses = sorted({address for address in keys if address is not None})
    return set(db.scalars(_select_feeds_naming, user=user_id, addresses=addresses))


def remove_keys(db: Write, user_id: int, limit: int) -> int:
    """Delete keys of the user. Returns how many."""
    return db.run(_remove_keys, user=user_id, limit=limit)


def members(db: Read, user_id: int, original_ids: Collection[int]) -> list[Member]:
    """Return the entries of groups: the originals, unless they are removed, and what repeats them."""
    ids = sorted(original_ids)
    return [
        Member(row["group"], row["feed_id"], row["status"], bool(row["is_original"]))
        for statement in (_select_originals, _select_repeating)
        for row in (db.rows(statement, user=user_id, ids=ids) if ids else ())
    ]


def add(db: Write, user_id: int, found: Sequence[Found], *, compared: bool, now: Instant) -> None:
    """Record duplicates. compared: whether no text need be compared with its original's."""
    if found:
        change_log.note(db, user_id, Kind.ENTRY, [one.entry_id for one in found])
    db.run_many(
        _add_duplicate,
        [
            {
                "entry_id": one.entry_id,
                "user_id": user_id,
                "original_id": one.original_id,
                "status": one.status,
                "original_status": one.original_status,
                "found_at": now,
                "compared": compared or one.is_by_page,
                "by_page": one.is_by_page,
            }
            for one in found
        ],
    )


def remove(db: Write, user_id: int, entry_ids: Collection[int]) -> None:
    """Forget that entries repeat others."""
    db.run(_remove_duplicates, user=user_id, ids=sorted(entry_ids))
    if entry_ids:
        change_log.note(db, user_id, Kind.ENTRY, entry_ids)


def set_status(db: Write, user_id: int, statuses: Mapping[int, int], *, changed_at: Instant | None = None) -> None:
    """Set the status of entries. The caller has locked the counters of their feeds.

    statuses: by entry id. changed_at: None leaves the time of their last change.
    """
    if statuses:
        change_log.note(db, user_id, Kind.ENTRY, statuses)
    by_status: dict[int, list[int]] = {}
    for entry_id, status in statuses.items():
        by_status.setdefault(int(status), []).append(entry_id)
    for status, ids in sorted(by_status.items()):
        given = {"user": user_id, "ids": sorted(ids), "new_status": status}
        if changed_at is None:
            db.run(_set_status, **given)
        else:
            db.run(_set_status_now, **given, now=changed_at)


def recorded(db: Read, user_id: int, limit: int) -> list[Recorded]:
    """Return recorded duplicates of the user, those of one original together."""
    return db.all(Recorded, _select_recorded, user=user_id, limit=limit)


def uncompared(db: Read, user_id: int, limit: int) -> list[int]:
    """Return folded entries that have not been compared with their originals."""
    return db.scalars(_select_uncompared, user=user_id, limit=limit)


def rivals(db: Read, user_id: int, entry_ids: Collection[int]) -> list[Rival]:
    """Return folded entries with their originals."""
    return db.all(Rival, _select_rivals, user=user_id, ids=sorted(entry_ids)) if entry_ids else []


def set_compared(db: Write, user_id: int, entry_ids: Collection[int]) -> None:
    db.run(_set_compared, user=user_id, ids=sorted(entry_ids))
