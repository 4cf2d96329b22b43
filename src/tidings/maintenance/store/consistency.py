"""Finds and repairs what should never be: rows without their owner, wrong counters, entries that no search finds.

Each check is one statement, so that it sees one state of the database while Tidings runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Executable,
    ForeignKey,
    FromClause,
    LargeBinary,
    Table,
    and_,
    case,
    cast,
    delete,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    true,
    update,
)

from tidings.deliveries.tables import deliveries, receivers
from tidings.domain.entries.entries import EntryStatus
from tidings.engine import full_text
from tidings.engine.columns import CompressedText, is_placed_by_user
from tidings.engine.database import Read, Write, is_distributed
from tidings.engine.statements import if_distributed, in_list, lockable_together
from tidings.maintenance.store import table_copy
from tidings.storage.accounts import change_log
from tidings.storage.entries import counters
from tidings.storage.polling.sources import ensure_sources, touch_sources
from tidings.storage.schema import (
    categories,
    changes,
    duplicates,
    enclosures,
    entries,
    entry_contents,
    entry_labels,
    entry_tags,
    feed_categories,
    feed_counters,
    feeds,
    labels,
    list_versions,
    search_pending,
    shared_contents,
    sources,
    users,
)

# An empty body, as `CompressedText` stores it.
_EMPTY_BODY = b"\0"


class Rule(Struct, frozen=True):
    """Something that must hold in a database."""

    area: str
    """Part of the report to which the rule belongs."""
    problem: str
    """What is wrong with the rows that `count` counts."""
    count: Callable[[Read], int]
    repair: Callable[[Write], object] | None
    """Corrects the rows; None if they cannot be repaired."""


def rules(db: Read) -> list[Rule]:
    """Return all rules for the engine of this connection, in the order in which they are repaired."""
    search = _search_rules(full_text.index_table(db), full_text.is_found(db))
    owners = _ownership_rules(is_distributed=is_distributed(db.connection))
    of_entries = (*_content_rules(), *_folding_rules())
    return [*_reference_rules(), *owners, *of_entries, *_counter_rules(), *search]


def _run(*statements: Executable) -> Callable[[Write], object]:
    return lambda db: [db.run(statement) for statement in statements]


def _counting(statement: Executable) -> Callable[[Read], int]:
    return lambda db: int(db.scalar(statement))


def _counted(table: Table, wrong: ColumnElement[bool]) -> Callable[[Read], int]:
    return _counting(select(func.count()).select_from(table).where(wrong))


# References


def _reference_rules() -> Iterator[Rule]:
    for table in table_copy.tables():
        for key in sorted(table.foreign_keys, key=lambda one: one.parent.name):
            if key.parent is not feeds.c.source_id:
                yield _reference_rule(table, key)
    yield Rule(
        "references",
        "feeds without a source, which are never checked",
        _counted(feeds, _lacks_source()),
        _find_sources,
    )

    last = and_(changes.c.user_id == list_versions.c.user_id, changes.c.number == list_versions.c.number)
    with_log = select(list_versions.c.user_id).select_from(list_versions.join(changes, last))
    # Repairs begin the log of every user again.
    yield Rule(
        "references",
        "users without the last row of their changes",
        _counted(users, users.c.id.not_in(with_log)),
        _add_log,
    )


def _add_log(db: Write) -> None:
    without = select(users.c.id).where(users.c.id.not_in(select(list_versions.c.user_id)))
    for user_id in db.scalars(without):
        change_log.begin(db, user_id)


def _find_sources(db: Write) -> None:
    rows = db.rows(select(feeds).where(_lacks_source()))
    ids = ensure_sources(db, [dict(row) for row in rows])
    for row, source_id in zip(rows, ids, strict=True):
        is_feed = and_(feeds.c.user_id == row["user_id"], feeds.c.id == row["id"])
        db.run(update(feeds).where(is_feed).values(source_id=source_id))
    touch_sources(db, ids)


def _lacks_source() -> ColumnElement[bool]:
    # Sources are on the coordinator, feeds on other servers: they are given the list of all sources.
    of_none = feeds.c.source_id.not_in(select(sources.c.id))
    missing = if_distributed(of_none, ~_exists(sources, sources.c.id == feeds.c.source_id))
    return or_(feeds.c.source_id.is_(None), missing)


def _reference_rule(table: Table, key: ForeignKey) -> Rule:
    column, parent = key.parent, key.column.table
    orphaned = and_(column.is_not(None), ~_exists(parent, and_(key.column == column, _of_one_user(table, parent))))
    repair = update(table).values({column: None}) if key.ondelete == "SET NULL" else delete(table)
    return Rule(
        "references",
        f"rows of {table.name} whose {column.name} is not in {parent.name}",
        _counted(table, orphaned),
        _run(repair.where(orphaned)),
    )


def _of_one_user(one: Table, other: Table) -> ColumnElement[bool]:
    """Return the condition that rows of both tables have one owner, for a database distributed by user.

    There it always holds, since keys contain the owner, and a statement has to say so. Elsewhere it is no condition.
    """
    if is_placed_by_user(one) and is_placed_by_user(other):
        return if_distributed(one.c.user_id == other.c.user_id, true())
    return true()


def _exists(table: FromClause, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return select(literal(1)).select_from(table).where(condition).exists()


# Copies of a column in another table


def _ownership_rules(*, is_distributed: bool) -> Iterator[Rule]:
    if not is_distributed:
        # There references contain the owner.
        yield from _owner_rules()
    yield _copied_column(entries, feeds, entries.c.feed_id, "category_id")
    yield _copied_column(entry_labels, entries, entry_labels.c.entry_id, "published_at")
    is_first = and_(
        feeds.c.id == feed_categories.c.feed_id,
        feeds.c.category_id == feed_categories.c.category_id,
        _of_one_user(feeds, feed_categories),
    )
    of_another = if_distributed(false(), _exists(categories, _is_category_of_another(feed_categories)))
    unfit = or_(of_another, _exists(feeds, is_first))
    yield Rule(
        "owners",
        "further categories of feeds that are another user's, or the first of the feed",
        _counted(feed_categories, unfit),
        _run(delete(feed_categories).where(unfit)),
    )
    above = categories.alias("above")
    is_above = and_(above.c.id == categories.c.parent_id, above.c.user_id == categories.c.user_id)
    lost = and_(categories.c.parent_id.is_not(None), ~_exists(above, is_above))
    to_top = _run(update(categories).where(lost).values(parent_id=None))
    yield Rule("owners", "categories under a category of another user, or of none", _counted(categories, lost), to_top)


def _owner_rules() -> Iterator[Rule]:
    yield _copied_column(entries, feeds, entries.c.feed_id, "user_id")
    yield _copied_column(feed_counters, feeds, feed_counters.c.feed_id, "user_id")
    yield _copied_column(entry_contents, entries, entry_contents.c.entry_id, "user_id")
    yield _copied_column(enclosures, entries, enclosures.c.entry_id, "user_id")
    yield _copied_column(entry_tags, entries, entry_tags.c.entry_id, "user_id")
    yield _copied_column(entry_labels, entries, entry_labels.c.entry_id, "user_id")
    of_another = _exists(
        labels, and_(labels.c.id == entry_labels.c.label_id, labels.c.user_id != entry_labels.c.user_id)
    )
    yield Rule(
        "owners",
        "entries with a label of another user",
        _counted(entry_labels, of_another),
        _run(delete(entry_labels).where(of_another)),
    )
    yield _copied_column(feed_categories, feeds, feed_categories.c.feed_id, "user_id")
    foreign = _exists(categories, _is_category_of_another(feeds))
    yield Rule("owners", "feeds in a category of another user", _counted(feeds, foreign), None)


def _is_category_of_another(table: Table) -> ColumnElement[bool]:
    return and_(categories.c.id == table.c.category_id, categories.c.user_id != table.c.user_id)


def _copied_column(table: Table, parent: Table, key: ColumnElement[Any], name: str) -> Rule:
    is_parent = and_(parent.c.id == key, true() if name == "user_id" else _of_one_user(table, parent))
    right = select(parent.c[name]).where(is_parent).scalar_subquery()
    wrong = _exists(parent, and_(is_parent, parent.c[name] != table.c[name]))
    return Rule(
        "owners",
        f"rows of {table.name} with another {name} than their row of {parent.name}",
        _counted(table, wrong),
        _run(update(table).where(wrong).values({name: right})),
    )


# Bodies


def _content_rules() -> Iterator[Rule]:
    is_of_entry = and_(entry_contents.c.entry_id == entries.c.id, _of_one_user(entry_contents, entries))
    missing = ~_exists(entry_contents, is_of_entry)
    without_body = select(entries.c.id, entries.c.user_id, literal(_EMPTY_BODY, LargeBinary)).where(missing)
    yield Rule(
        "bodies",
        "entries without a body",
        _counted(entries, missing),
        _run(
            # The publisher's next version is taken, even if it is the same as before.
            update(entries).where(missing).values(fingerprint=None),
            insert(entry_contents).from_select(["entry_id", "user_id", "content"], without_body),
        ),
    )


def number_of_bodies(db: Read) -> int:
    """Return the number of stored bodies."""
    return table_copy.count_rows(db, entry_contents) + table_copy.count_rows(db, shared_contents)


def unreadable_bodies(db: Read, progress: Callable[[int], None]) -> list[int]:
    """Return the ids of the entries with a body that cannot be decompressed. progress: called with bodies read."""
    unreadable = _unreadable(db, entry_contents, ("content", "other_content"), progress)
    read = table_copy.count_rows(db, entry_contents)
    shared = _unreadable(db, shared_contents, ("content",), lambda more: progress(read + more))
    referring = select(entry_contents.c.entry_id).where(in_list(entry_contents.c.shared_id, "ids"))
    of_entries = db.scalars(referring, ids=shared) if shared else []
    return sorted({*unreadable, *of_entries})


def _unreadable(db: Read, table: Table, names: Sequence[str], progress: Callable[[int], None]) -> list[int]:
    """Return the keys of the rows with a body that cannot be decompressed. names: the columns with bodies."""
    compressed = CompressedText()
    columns = [column.name for column in table.columns]
    places = [columns.index(name) for name in names]
    (key,) = (columns.index(column.name) for column in table.primary_key)
    unreadable, read = [], 0
    for page in table_copy.pages(db, table):
        for row in page:
            try:
                for place in places:
                    compressed.process_result_value(row[place], None)
            except Exception:  # noqa: BLE001  (whatever damaged bytes make the decompressor raise)
                unreadable.append(int(row[key]))
        read += len(page)
        progress(read)
    return unreadable


def empty_bodies(db: Write, entry_ids: Sequence[int]) -> None:
    """Replace bodies by empty ones. The publisher's next version of these entries is taken, even if it is the same."""
    referred = select(entry_contents.c.shared_id).where(in_list(entry_contents.c.entry_id, "ids"))
    shared = {id_ for id_ in db.scalars(referred, ids=entry_ids) if id_ is not None}
    for entry_id in entry_ids:
        bodies = update(entry_contents).where(entry_contents.c.entry_id == entry_id)
        db.run(bodies.values(content="", other_content=None, shared_id=None))
        db.run(update(entries).where(entries.c.id == entry_id).values(fingerprint=None))
    # A damaged one has no entry any more, and must not be found by its digest.
    in_use = select(entry_contents.c.shared_id).where(in_list(entry_contents.c.shared_id, "ids")).distinct()
    unused = sorted(shared.difference(db.scalars(in_use, ids=sorted(shared))))
    db.run(delete(shared_contents).where(in_list(shared_contents.c.id, "ids")), ids=unused)
    table_copy.request_indexing(db)


# Folded entries


def _folding_rules() -> Iterator[Rule]:
    original = entries.alias("original")
    is_original = and_(
        original.c.id == duplicates.c.original_id, if_distributed(original.c.user_id == duplicates.c.user_id, true())
    )
    has_original = and_(entries.c.id == duplicates.c.original_id, _of_one_user(entries, duplicates))
    is_represented = (
        select(literal(1))
        .select_from(duplicates.join(original, is_original))
        .where(
            duplicates.c.entry_id == entries.c.id,
            _of_one_user(duplicates, entries),
            original.c.status != int(EntryStatus.FOLDED),
        )
        .exists()
    )
    is_lost = and_(entries.c.status == int(EntryStatus.FOLDED), ~is_represented)
    yield Rule(
        "references",
        "folded entries that no other one represents, which no list shows",
        _counted(entries, is_lost),
        # The counters are checked afterwards.
        _run(
            update(entries).where(is_lost).values(status=int(EntryStatus.UNREAD)),
            delete(duplicates).where(~_exists(entries, has_original)),
        ),
    )


# Counters


def _number_of(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((and_(*conditions), 1), else_=0)), 0)


_is_unread, _is_read = (entries.c.status == status for status in (EntryStatus.UNREAD, EntryStatus.READ))
_COUNTED = {
    "unread": _number_of(_is_unread),
    "read": _number_of(_is_read),
    "starred_unread": _number_of(_is_unread, entries.c.starred == true()),
    "starred_read": _number_of(_is_read, entries.c.starred == true()),
}


def _counter_rules() -> Iterator[Rule]:
    is_of_feed = and_(feed_counters.c.feed_id == feeds.c.id, _of_one_user(feed_counters, feeds))
    missing = ~_exists(feed_counters, is_of_feed)
    yield Rule(
        "counters",
        "feeds without counters",
        _counted(feeds, missing),
        _run(
            insert(feed_counters).from_select(
                ["feed_id", "user_id"], select(feeds.c.id, feeds.c.user_id).where(missing)
            )
        ),
    )
    yield Rule("counters", "feeds whose counters differ from their entries", _count_wrong_counters(), _recount)
    yield Rule("counters", "queues whose counters differ from their deliveries", _count_wrong_queues(), _requeue)


def _count_wrong_counters() -> Callable[[Read], int]:
    recount = (
        select(entries.c.user_id, entries.c.feed_id, *(value.label(name) for name, value in _COUNTED.items()))
        .group_by(entries.c.user_id, entries.c.feed_id)
        .subquery("recount")
    )
    is_of_feed = and_(recount.c.feed_id == feed_counters.c.feed_id, recount.c.user_id == feed_counters.c.user_id)
    joined = feed_counters.outerjoin(recount, is_of_feed)
    differs = or_(*(feed_counters.c[name] != func.coalesce(recount.c[name], 0) for name in _COUNTED))
    return _counting(select(func.count()).select_from(joined).where(differs))


def _recount(db: Write) -> None:
    own = in_list(feed_counters.c.user_id, "users")
    lock = select(feed_counters.c.feed_id).where(own).order_by(feed_counters.c.feed_id).with_for_update()
    of_feed = and_(entries.c.feed_id == feed_counters.c.feed_id, entries.c.user_id == feed_counters.c.user_id)
    recount = update(feed_counters).values(
        {name: select(value).where(of_feed).scalar_subquery() for name, value in _COUNTED.items()}
        | {"version": counters.new_version()}
    )
    # Changes of entries lock these rows first: afterwards no other transaction changes a counter.
    for some in lockable_together(db, db.scalars(select(users.c.id))):
        db.scalars(lock, users=some)
        db.run(recount.where(own), users=some)


_queued = and_(deliveries.c.receiver_id == receivers.c.id, text("deliveries.state = 'pending'"))
_QUEUED = {
    "pending": select(func.count()).select_from(deliveries).where(_queued).correlate(receivers).scalar_subquery(),
    "pending_bytes": select(cast(func.coalesce(func.sum(deliveries.c.size), 0), BigInteger))
    .where(_queued)
    .correlate(receivers)
    .scalar_subquery(),
}


def _count_wrong_queues() -> Callable[[Read], int]:
    return _counted(receivers, or_(*(receivers.c[name] != value for name, value in _QUEUED.items())))


def _requeue(db: Write) -> None:
    db.scalars(select(receivers.c.id).order_by(receivers.c.id).with_for_update())
    db.run(update(receivers).values(_QUEUED))


# The search index


def _search_rules(index: Table, is_found: ColumnElement[bool]) -> Iterator[Rule]:
    yield Rule("search", "entries that differ between the parts of the index", full_text.count_differing, reindex)
    missing = and_(
        ~_exists(index, and_(index.c.entry_id == entries.c.id, _of_one_user(index, entries), is_found)),
        ~_exists(
            search_pending,
            and_(search_pending.c.entry_id == entries.c.id, _of_one_user(search_pending, entries)),
        ),
    )
    request = insert(search_pending).from_select(
        ["entry_id", "user_id"], select(entries.c.id, entries.c.user_id).where(missing)
    )
    yield Rule("search", "entries that no search finds", _counted(entries, missing), _run(request))


def reindex(db: Write) -> None:
    """Empty the search index and mark all entries as waiting to be indexed."""
    full_text.clear(db)
    table_copy.request_indexing(db)
