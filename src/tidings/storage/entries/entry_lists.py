"""Pages of entries in any order and with any filter.

A page reads rows of `entries` through the index of its order, then the bodies and enclosures of these rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, cast

from msgspec import Struct, structs
from sqlalchemy import ColumnElement, Select, Table, bindparam, func, literal_column, or_, select

from tidings.base.times import Instant
from tidings.content.search_expressions import Expression, joined_expressions
from tidings.domain.entries.entries import (
    Direction,
    Enclosure,
    Entry,
    EntryFilter,
    EntryStatus,
    Folded,
    Order,
    PageRequest,
    Total,
)
from tidings.engine import full_text
from tidings.engine.database import Read, columns
from tidings.engine.statements import in_list, split_ids
from tidings.query.model import PatternField
from tidings.storage.entries import folded, query_filter, search_index
from tidings.storage.entries.contents import body, has_body, has_shared
from tidings.storage.entries.counters import counted_feeds
from tidings.storage.entries.list_statements import (
    EVERYTHING,
    FILTERED,
    EntryListQuery,
    Place,
    all_ids_statement,
    count_listed_statement,
    count_listed_up_to_statement,
    count_matches_up_to,
    count_plain_search,
    count_statement,
    count_up_to_statement,
    cursor_parameters,
    id_page_statement,
    ids_statement,
    label_parameters,
    page_ids_statement,
    page_statement,
    sampled_page_statement,
    select_removed,
    texts_statement,
)
from tidings.storage.entries.query_conditions import TRUE, Shape, names_few_entries
from tidings.storage.entries.query_filter import QueryNames
from tidings.storage.entries.search_plan import SearchMatches, find_matches, find_tagged
from tidings.storage.feeds import categories, further_categories
from tidings.storage.feeds.feeds import hidden_feed_ids
from tidings.storage.ownership import is_own
from tidings.storage.schema import (
    enclosures,
    entries,
    entry_contents,
    entry_labels,
    feed_counters,
    feeds,
    shared_contents,
)

# In archives of fewer entries, SQLite collects all matches in less time than it tests the entries of a page.
COLLECTED = 200_000
# SQLite looks up one match in the entries in the time in which it looks up so many entries in the matches.
LOOKUPS_OF_A_MATCH = 3
# A page merges whole pages of its categories up to so many entries; beyond, fewer of each are tried first.
MAX_MERGED = 2_000


class EntryPage(Struct, frozen=True):
    """A page of entries."""

    total: Total
    """Of the whole list."""
    entries: list[Entry]
    contents: dict[int, str]
    """By entry id."""
    enclosures: dict[int, list[Enclosure]]
    """By entry id."""
    may_have_labels: bool = True
    """False if none of the entries has one."""


class AppEntry(Struct, frozen=True):
    """An entry as apps of the other protocols show it: fewer columns, and its body.

    If has_enclosures or has_labels is False, as for most entries, these need not be read.
    """

    id: int
    feed_id: int
    status: int
    starred: bool
    published_at: Instant
    created_at: Instant
    title: str
    url: str
    author: str
    tags: str
    content: str | None
    """None if missing."""
    has_enclosures: bool
    has_labels: bool


class BoundQuery(Struct, frozen=True):
    """A list with its parameters."""

    query: EntryListQuery
    parameters: dict[str, Any]
    max_single_matches: int
    """Maximum number of entries that may be tested one by one for a search."""
    total: int | None = None
    """The number of entries, if it is known already."""


class Parts(Struct, frozen=True):
    """What a page has of its entries besides their rows."""

    contents: bool = True
    enclosures: bool = True


WHOLE = Parts()
# Of entries that are not a page of a list.
NO_TOTAL = Total(0)


def page(db: Read, user_id: int, entry_filter: EntryFilter, page: PageRequest, parts: Parts = WHOLE) -> EntryPage:
    """Return a page of the list with bodies, enclosures and the total."""
    bound = bound_query(db, user_id, entry_filter)
    if bound is None:
        return EntryPage(Total(0), [], {}, {})
    if (few := _few(db, bound, page)) is not None:
        query = bound.query._replace(search="is given", rest=TRUE)
        given = bound.parameters | {"given": few[page.offset : page.offset + page.limit]}
        statement = page_statement(query, page.order, page.direction, has_cursor=False)
        listed = db.all(Entry, statement, **given, limit=page.limit, offset=0)
        return with_bodies(db, listed, total=Total(len(few)), parts=parts)
    matches = _search(db, bound, page)
    listed = _rows(db, bound, page, matches)
    return with_bodies(db, listed, total=_total_of_page(db, bound, page, matches, len(listed)), parts=parts)


def page_ids(db: Read, user_id: int, entry_filter: EntryFilter, page: PageRequest) -> tuple[list[int], Total]:
    """Return the ids of a page in its order, and the total."""
    bound = bound_query(db, user_id, entry_filter)
    if bound is None:
        return [], Total(0)
    if (few := _few(db, bound, page)) is not None:
        return few[page.offset : page.offset + page.limit], Total(len(few))
    matches = _search(db, bound, page)
    listed = split_ids(_joined_ids(db, bound, page, matches))
    return listed, _total_of_page(db, bound, page, matches, len(listed))


def _few(db: Read, bound: BoundQuery, page: PageRequest) -> list[int] | None:
    """Return the ids of a whole list in its order, if few entries can be in it: this makes the page and the total.

    None for others, for a search, and for a page that begins at a cursor.
    """
    if bound.total is not None or page.cursor is not None or bound.query.search:
        return None
    if not names_few_entries(bound.query.rest):
        return None
    statement = page_ids_statement(bound.query, page.order, page.direction, has_cursor=False)
    return split_ids(db.scalar(statement, **bound.parameters, limit=query_filter.FEW, offset=0))


def found_ids(db: Read, user_id: int, entry_filter: EntryFilter, page: PageRequest) -> str:
    """Return the ids of a page in its order, separated by commas; the list may be a search. Nothing is counted."""
    bound = bound_query(db, user_id, entry_filter)
    return "" if bound is None else _joined_ids(db, bound, page, _search(db, bound, page))


def _joined_ids(db: Read, bound: BoundQuery, page: PageRequest, matches: SearchMatches | None) -> str:
    query, parameters, has_cursor = _located(db, bound, page, matches)
    statement = page_ids_statement(query, page.order, page.direction, has_cursor=has_cursor)
    return db.scalar(statement, **parameters, **cursor_parameters(page), limit=page.limit, offset=page.offset) or ""


def _total_of_page(db: Read, bound: BoundQuery, page: PageRequest, matches: SearchMatches | None, found: int) -> Total:
    """Return the total of a list. found: how many entries the page has."""
    if bound.total is not None:
        return Total(bound.total)
    if page.cursor is None and found < page.limit and (found or not page.offset):
        # The last page.
        return Total(page.offset + found)
    if matches and matches.is_all and page.cursor is None:
        return Total(len(matches.ids))
    if page.count_up_to is not None:
        return _total_up_to(db, bound, matches, page.count_up_to)
    if matches and matches.is_frequent and bound.query.is_plain_search and _counts_in_index(db, bound.parameters):
        return Total(_count_in_index(db, bound.query, bound.parameters))
    return Total(_total(db, _counted(db, bound.query, bound.parameters, matches), bound.parameters))


def _total_up_to(db: Read, bound: BoundQuery, matches: SearchMatches | None, number: int) -> Total:
    """Return the total of a list, or `number` if it has more entries, and counting them takes longer."""
    query, parameters = bound.query, bound.parameters
    if query.has_stored_total or query.opposite:
        return Total(_total(db, _counted(db, query, parameters, matches), parameters))
    if query.listed != TRUE or query.is_plain_search:
        unlisted = _most_unlisted(db, query, parameters)
        if unlisted is not None:
            count = (
                count_matches_up_to[query.has_shared] if query.search else count_listed_up_to_statement(query.listed)
            )
            indexed = db.scalar(count, **parameters, most=number + 1 + unlisted)
            if indexed > number + unlisted:
                return Total(number, is_exact=False)
            if not unlisted:
                return Total(indexed)
            if query.search:
                return Total(_count_in_index(db, query, parameters))
            return Total(cast("int", db.scalar(count_listed_statement(query.listed), **parameters)))
    others = query._replace(search="")
    is_frequent = matches and matches.is_frequent and query.search == "matches"
    if is_frequent and others.has_stored_total and _stored_total(db, others, parameters) <= number:
        # Each match would be looked up among the entries, of which few are in the list.
        query = query._replace(search="is in matches")
    counted = db.scalar(count_up_to_statement(_with_few_matches(query, matches)), **parameters, most=number + 1)
    return Total(min(counted, number), is_exact=counted <= number)


def _most_unlisted(db: Read, query: EntryListQuery, parameters: dict[str, Any]) -> int | None:
    """Return how many entries that lists do not show an index has at most; None if these may be many."""
    most = full_text.max_removed(db)
    removed = _removed(db, parameters)
    if removed > most or (query.search and full_text.has_many_deleted(db, most)):
        return None
    return removed + (most if query.search and not full_text.counts_by_looking_up(db) else 0)


def _counts_in_index(db: Read, parameters: dict[str, Any]) -> bool:
    """Whether the matches among removed and deleted entries, which are tested one by one, are counted quickly."""
    return _has_few_removed(db, parameters) and not full_text.has_many_deleted(db, full_text.max_removed(db))


def _has_few_removed(db: Read, parameters: dict[str, Any]) -> bool:
    return _removed(db, parameters) <= full_text.max_removed(db)


def _removed(db: Read, parameters: dict[str, Any]) -> int:
    """Return how many removed and folded entries a user has, at most one more than `max_removed`."""
    return len(db.scalars(select_removed, user=parameters["user"], limit=full_text.max_removed(db) + 1))


def rows(db: Read, user_id: int, entry_filter: EntryFilter, page: PageRequest) -> list[Entry]:
    """Return the entries of a page, without bodies and total."""
    bound = bound_query(db, user_id, entry_filter)
    return [] if bound is None else _rows(db, bound, page, _search(db, bound, page))


def bound_query(
    db: Read, user_id: int, entry_filter: EntryFilter, *, counted_names: QueryNames | None = None
) -> BoundQuery | None:
    """Return the list of a filter with its parameters; None if nothing can match.

    counted_names: if the list is only counted, names that queries of the user compare.
    """
    hidden = [
        *entry_filter.excluded_feed_ids,
        *(hidden_feed_ids(db, user_id) if entry_filter.globally_visible else ()),
    ]
    candidates = partial(_texts, db, user_id, hidden)
    is_counted = counted_names is not None
    planned = query_filter.plan(db, user_id, entry_filter, candidates, names=counted_names, is_counted=is_counted)
    if planned is None:
        return None
    expressions = planned.expressions
    if entry_filter.search:
        searched = search_index.parse_queries(db, user_id, entry_filter.search)
        if not searched:
            return None
        expressions = joined_expressions(searched, expressions)
    bound = _bound(db, user_id, planned.entry_filter, hidden, expressions, planned.rest)
    bound.parameters.update(planned.parameters)
    return bound if entry_filter.search else structs.replace(bound, total=planned.total)


def _bound(
    db: Read,
    user_id: int,
    entry_filter: EntryFilter,
    hidden: list[int],
    expressions: Mapping[str, Expression],
    rest: Shape = TRUE,
) -> BoundQuery:
    parameters = _parameters(db, user_id, entry_filter, hidden)
    searched = full_text.index_query(db, user_id, expressions) if expressions else None
    query = EntryListQuery.of(
        entry_filter,
        hidden=bool(hidden),
        place=_place(parameters),
        expression=next(iter(expressions.values()), None),
        rest=rest,
        has_shared=searched is not None and searched.has_shared,
    )
    if searched is None:
        return BoundQuery(query, parameters, 0)
    parameters["match_expression"] = searched.text
    return BoundQuery(query, parameters, full_text.max_single_matches(db, expressions))


def _texts(
    db: Read,
    user_id: int,
    hidden: list[int],
    field: PatternField,
    entry_filter: EntryFilter,
    expressions: Mapping[str, Expression],
) -> tuple[list[int], str]:
    """Return the newest entries of a list, and a line with the title or URL of each, for regular expressions."""
    bound = _bound(db, user_id, entry_filter, hidden, expressions)
    ids: list[int] = []
    lines = ""
    # Hardly any title or URL has a line break.
    for has_breaks in (False, True):
        statement = texts_statement(bound.query, field.value, has_breaks=has_breaks)
        ((joined_ids, joined_lines),) = db.tuples(statement, **bound.parameters, limit=query_filter.MAX_TESTED)
        ids, lines = split_ids(joined_ids), joined_lines or ""
        if lines.count("\n") < max(len(ids), 1):
            break
    return ids, lines


def _search(db: Read, bound: BoundQuery, page: PageRequest) -> SearchMatches | None:
    if bound.query.tags and not bound.query.search:
        return find_tagged(db, bound.query, page, bound.parameters)
    if not bound.query.search:
        return None
    is_frequent = full_text.is_frequent(db, bound.parameters["match_expression"])
    if is_frequent is False:
        return SearchMatches(is_rare=True)
    is_tested = bound.max_single_matches and not (is_frequent and _entries_of(db, bound.parameters["user"]) < COLLECTED)
    if is_tested:
        return find_matches(db, bound.query, page, bound.parameters, max_tests=bound.max_single_matches)
    return SearchMatches(is_frequent=True) if is_frequent and bound.query.search == "matches" else None


def _rows(db: Read, bound: BoundQuery, page: PageRequest, matches: SearchMatches | None) -> list[Entry]:
    query, parameters, has_cursor = _located(db, bound, page, matches)
    given = {**parameters, **cursor_parameters(page), "limit": page.limit, "offset": page.offset}
    if query.is_merged and page.order is Order.PUBLISHED_AT and page.offset == 0:
        statement = sampled_page_statement(query, page.direction, has_cursor=has_cursor)
        further = set(parameters.get("further_feeds", ()))
        for quota in _quotas(page.limit, len(parameters["category_ids"]) + len(further)):
            listed = db.all(Entry, statement, **given, quota=quota)
            # Ids of feeds are counted apart from those of categories.
            parts = Counter(-one.feed_id if one.feed_id in further else one.category_id for one in listed)
            if max(parts.values(), default=0) < quota:
                return listed
    statement = page_statement(query, page.order, page.direction, has_cursor=has_cursor)
    return db.all(Entry, statement, **given)


def _quotas(limit: int, parts: int) -> list[int]:
    """Return how many entries of each part to try, one after the other, for a page of many categories and feeds.

    Few of them have most of the newest entries, and most have none on the page.
    """
    smallest = max(10, 2 * limit // parts)
    return [quota for quota in (smallest, 4 * smallest) if limit * parts > MAX_MERGED and 2 * quota <= limit]


def _located(
    db: Read, bound: BoundQuery, page: PageRequest, matches: SearchMatches | None
) -> tuple[EntryListQuery, dict[str, Any], bool]:
    """Return the query of a page with its parameters, and whether it begins at the cursor."""
    query, parameters, has_cursor = bound.query, bound.parameters, page.cursor is not None
    if matches and matches.is_enough:
        # The matches were searched from the cursor on, among entries that have the tags.
        return query._replace(search="is given", tags=0), parameters | {"given": matches.ids}, False
    if matches and matches.is_frequent and query.search == "matches":
        query = query._replace(search="is in matches")
    if query.is_merged and page.order is Order.PUBLISHED_AT and _is_far(db, query, parameters, page):
        query = query._replace(is_in_order=True)
    return _with_few_matches(query, matches), parameters, has_cursor


def _is_far(db: Read, query: EntryListQuery, parameters: dict[str, Any], page: PageRequest) -> bool:
    """Return whether a page so far from the first one is read faster in order than merged from its categories.

    In order each entry of the user is tested until the page is full. Merged, each category yields all its entries up to
    the page's end, and one of these takes as long as three tests.
    """
    end, parts = page.offset + page.limit, len(parameters["category_ids"]) + len(parameters.get("further_feeds", ()))
    if not page.offset or end * parts <= MAX_MERGED or not query.has_stored_total:
        return False
    listed = _stored_total(db, query, parameters)
    everything = _stored_total(db, query._replace(conditions=()), parameters)
    return end * everything < 3 * min(listed, end * parts) * listed


def _with_few_matches(query: EntryListQuery, matches: SearchMatches | None) -> EntryListQuery:
    """Return the query of a list with tags that starts from the matches of its search if they are few."""
    is_few = matches and matches.is_rare and query.tags and query.search == "matches"
    return query._replace(search="are few") if is_few else query


def _counted(
    db: Read, query: EntryListQuery, parameters: dict[str, Any], matches: SearchMatches | None
) -> EntryListQuery:
    """Return the query to count."""
    is_frequent = matches and matches.is_frequent and query.search == "matches"
    if is_frequent and (full_text.counts_by_looking_up(db) or query.tags or _is_shorter(db, query, parameters)):
        return query._replace(search="is in matches")
    return _with_few_matches(query, matches)


def _is_shorter(db: Read, query: EntryListQuery, parameters: dict[str, Any]) -> bool:
    """Whether SQLite looks up each entry of the list in the matches faster than each match in the entries."""
    others = query._replace(search="")
    if not others.has_stored_total:
        return False
    number = _stored_total(db, others, parameters) // LOOKUPS_OF_A_MATCH
    return full_text.has_matches(db, parameters["match_expression"], number)


def with_bodies(db: Read, rows: list[Entry], *, total: Total = NO_TOTAL, parts: Parts = WHOLE) -> EntryPage:
    """Return a page of these entries with their bodies and enclosures. Only the wanted parts are read."""
    ids = [row.id for row in rows]
    user_ids = sorted({row.user_id for row in rows})
    with db.by_key() as keyed:
        contents = bodies(keyed, user_ids, ids) if parts.contents else {}
        attached = enclosures_of(keyed, user_ids, ids) if parts.enclosures else {}
    return EntryPage(total, rows, contents, attached)


def single(db: Read, user_id: int, entry_id: int) -> EntryPage:
    """Return an entry of the user as a page, whose total is not known; an empty page if there is no such entry.

    Read with its body in one statement, which also says whether its enclosures and labels have to be read.
    """
    found = db.joined(Entry, _select_single, user=user_id, id=entry_id)
    if not found:
        return EntryPage(NO_TOTAL, [], {}, {})
    entry, row = found[0]
    attached = enclosures_of(db, [user_id], [entry_id]) if row["has_enclosures"] else {}
    return EntryPage(
        NO_TOTAL, [entry], {entry_id: row["content"] or ""}, attached, may_have_labels=bool(row["has_labels"])
    )


def bodies(db: Read, user_ids: Iterable[int], entry_ids: Iterable[int]) -> dict[int, str]:
    """Return the bodies of the entries that belong to these users, by entry id."""
    # Where rows are distributed by user, a statement for no user would ask all servers.
    wanted = list(entry_ids)
    rows = db.rows(_select_contents, users=user_ids, ids=wanted) if wanted else ()
    return {row["entry_id"]: row["content"] for row in rows}


def newest_by_feed(db: Read, user_id: int, limit: int) -> dict[int, Instant]:
    """Return when the newest entry of a feed was stored, by feed id, for feeds among the last `limit` entries."""
    return {row["feed_id"]: row["stored_at"] for row in db.rows(_select_newest_by_feed, user=user_id, most=limit)}


def for_apps(db: Read, user_id: int, entry_ids: Iterable[int], *, folded_as: Folded = Folded.ALL) -> list[AppEntry]:
    """Return the entries that belong to the user and are not removed, in no order.

    folded_as: whether folded ones have the status of the entry that represents them, or are read.
    """
    found = db.all(AppEntry, _select_for_apps, user=user_id, ids=list(entry_ids))
    are_folded = [entry.id for entry in found if entry.status == EntryStatus.FOLDED]
    if not are_folded:
        return found
    represented = {} if folded_as is Folded.READ else folded.statuses(db, user_id, are_folded)
    read = int(EntryStatus.READ)
    return [
        structs.replace(entry, status=represented.get(entry.id, read)) if entry.status == EntryStatus.FOLDED else entry
        for entry in found
    ]


def enclosures_of(db: Read, user_ids: Iterable[int], entry_ids: Iterable[int]) -> dict[int, list[Enclosure]]:
    """Return the enclosures of entries of these users, by entry id."""
    attached: dict[int, list[Enclosure]] = {}
    wanted = list(entry_ids)
    for enclosure in db.all(Enclosure, _select_enclosures, users=user_ids, ids=wanted) if wanted else ():
        attached.setdefault(enclosure.entry_id, []).append(enclosure)
    return attached


def ids(db: Read, user_id: int, entry_filter: EntryFilter, *, limit: int, offset: int) -> tuple[int, str]:
    """Return the total and a page of ids, newest first, separated by commas.

    A search or a query in the filter is ignored.
    """
    query, parameters = _without_search(db, user_id, entry_filter)
    listed = db.scalar(ids_statement(query), **parameters, limit=limit, offset=offset)
    return _total(db, query, parameters), listed or ""


def id_page(db: Read, user_id: int, entry_filter: EntryFilter, *, direction: Direction, limit: int) -> str:
    """Return ids in their order, separated by commas, up to `limit`. A search or a query in the filter is ignored.

    Nothing is counted.
    """
    query, parameters = _without_search(db, user_id, entry_filter)
    return db.scalar(id_page_statement(query, direction), **parameters, limit=limit, offset=0) or ""


def joined_ids(db: Read, user_id: int, entry_filter: EntryFilter) -> str:
    """Return the ids of a list, ascending and separated by commas. A search or a query in the filter is ignored."""
    query, parameters = _without_search(db, user_id, entry_filter)
    return db.scalar(all_ids_statement(query), **parameters) or ""


def total(db: Read, user_id: int, entry_filter: EntryFilter) -> int:
    """Return the number of entries in a list. A search or a query in the filter is ignored."""
    query, parameters = _without_search(db, user_id, entry_filter)
    return _total(db, query, parameters)


def _without_search(db: Read, user_id: int, entry_filter: EntryFilter) -> tuple[EntryListQuery, dict[str, Any]]:
    excluded = list(entry_filter.excluded_feed_ids)
    parameters = _parameters(db, user_id, entry_filter, excluded)
    query = EntryListQuery.of(entry_filter, hidden=bool(excluded), place=_place(parameters))
    return query, parameters


def is_older_than_all(db: Read, user_id: int, moment: Instant) -> bool:
    """Whether all entries of the user were stored after a moment. True if there are none."""
    oldest: int | None = db.scalar(_select_oldest, user=user_id)
    return oldest is None or oldest > moment


def first_id_created_after(db: Read, user_id: int, moment: Instant) -> int | None:
    """Return the lowest id of the entries that were stored after a moment, None if there are none."""
    entry_id: int | None = db.scalar(_select_first_id, user=user_id, moment=moment)
    return entry_id


def newest_id(db: Read, user_id: int) -> int:
    """Return the id of the entry of the user that was stored last, 0 if there are none."""
    entry_id: int | None = db.scalar(_select_newest_id, user=user_id)
    return entry_id or 0


_select_newest_id = select(func.max(entries.c.id)).where(entries.c.user_id == bindparam("user"))
_select_oldest = (
    select(entries.c.created_at)
    .where(entries.c.user_id == bindparam("user"))
    .order_by(entries.c.created_at, entries.c.id)
    .limit(1)
)
_select_first_id = select(func.min(entries.c.id)).where(
    entries.c.user_id == bindparam("user"), entries.c.created_at > bindparam("moment")
)
_last_stored = (
    select(entries.c.feed_id, entries.c.created_at)
    .where(entries.c.user_id == bindparam("user"))
    .order_by(entries.c.created_at.desc(), entries.c.id.desc())
    .limit(bindparam("most"))
    .subquery()
)
_stored_at = func.max(_last_stored.c.created_at).label("stored_at")
_select_newest_by_feed = select(_last_stored.c.feed_id, _stored_at).group_by(_last_stored.c.feed_id)


def _has_any(table: Table) -> ColumnElement[bool]:
    """Return the condition that an entry has a row in a table, which is looked up for each entry.

    Without the OFFSET, PostgreSQL would read the whole table instead.
    """
    return (
        select(literal_column("1"))
        .where(table.c.entry_id == entries.c.id, is_own(table, entries))
        .offset(literal_column("0"))
        .exists()
    )


_with_body = entries.outerjoin(entry_contents, has_body).outerjoin(shared_contents, has_shared)
_has_more = (_has_any(enclosures).label("has_enclosures"), _has_any(entry_labels).label("has_labels"))
_select_single = (
    select(*columns(entries, Entry), body, *_has_more)
    .select_from(_with_body)
    .where(entries.c.user_id == bindparam("user"), entries.c.id == bindparam("id"))
)
# Found by the ids: SQLite would read all entries of the user and pick out the listed ones.
_select_for_apps = (
    select(*(entries.c[name] for name in AppEntry.__struct_fields__ if name in entries.c), body, *_has_more)
    .select_from(_with_body)
    .where(
        full_text.without_index(entries.c.user_id) == bindparam("user"),
        in_list(entries.c.id, "ids"),
        entries.c.status != int(EntryStatus.REMOVED),
    )
)
_select_contents = (
    select(entry_contents.c.entry_id, body)
    .select_from(entry_contents.outerjoin(shared_contents, has_shared))
    .where(in_list(entry_contents.c.user_id, "users"), in_list(entry_contents.c.entry_id, "ids"))
)
_select_enclosures = (
    select(*columns(enclosures, Enclosure))
    .where(in_list(enclosures.c.user_id, "users"), in_list(enclosures.c.entry_id, "ids"))
    .order_by(enclosures.c.entry_id, enclosures.c.id)
)


def _parameters(db: Read, user_id: int, entry_filter: EntryFilter, hidden: list[int]) -> dict[str, Any]:
    """Return the parameters of a list.

    `category_ids` instead of `category_id` if there are others below it, or if it has `further_feeds`.
    """
    parameters: dict[str, Any] = {"user": user_id}
    parameters |= {name: value for name in FILTERED if (value := getattr(entry_filter, name)) is not None}
    if entry_filter.category_id is not None:
        category_ids = categories.with_below(db, user_id, [entry_filter.category_id])
        further = further_categories.feeds_in(db, user_id, category_ids)
        if len(category_ids) > 1 or further:
            del parameters["category_id"]
            parameters["category_ids"] = category_ids
        if further:
            parameters["further_feeds"] = further
    parameters |= {f"tag_{number}": tag for number, tag in enumerate(entry_filter.tags)}
    parameters |= label_parameters(entry_filter.label_ids, entry_filter.excluded_label_ids)
    if hidden:
        parameters["hidden"] = hidden
    return parameters


def _place(parameters: Mapping[str, Any]) -> Place:
    if "further_feeds" in parameters:
        return "categories_and_feeds"
    return "category_ids" if "category_ids" in parameters else "category_id"


def _total(db: Read, query: EntryListQuery, parameters: dict[str, Any]) -> int:
    if query.has_stored_total:
        return _stored_total(db, query, parameters)
    everything = query._replace(search="", rest=TRUE)
    if query.opposite and everything.has_stored_total:
        return _stored_total(db, everything, parameters) - _total_of_opposite(db, query.opposite, parameters)
    if query.listed != TRUE and _has_few_removed(db, parameters):
        return cast("int", db.scalar(count_listed_statement(query.listed), **parameters))
    return cast("int", db.scalar(count_statement(query), **parameters))


def _total_of_opposite(db: Read, query: EntryListQuery, parameters: dict[str, Any]) -> int:
    """Return the total of a list whose search has not been tried on the first entries of a page."""
    if query.is_plain_search and _counts_in_index(db, parameters):
        expression = parameters["match_expression"]
        # SQLite tests the removed entries one by one, which few matches are not worth.
        if full_text.counts_by_looking_up(db) or full_text.is_frequent(db, expression):
            return _count_in_index(db, query, parameters)
    return _total(db, query, parameters)


def _count_in_index(db: Read, query: EntryListQuery, parameters: dict[str, Any]) -> int:
    """Return the total of a plain search."""
    return cast("int", db.scalar(count_plain_search[query.has_shared], **parameters))


def _entries_of(db: Read, user_id: int) -> int:
    """Return how many entries a user has, from the counters."""
    return _stored_total(db, EVERYTHING, {"user": user_id})


def _stored_total(db: Read, query: EntryListQuery, parameters: dict[str, Any]) -> int:
    wanted = ("feed_id", "category_id", "category_ids", "further_feeds", "user", "hidden")
    sums = db.rows(_sums(query.conditions, query.hidden), **{k: parameters[k] for k in wanted if k in parameters})[0]
    counts = {name: int(number or 0) for name, number in sums.items()}
    by_status = {
        EntryStatus.UNREAD: (counts["unread"], counts["starred_unread"]),
        EntryStatus.READ: (counts["read"], counts["starred_read"]),
    }
    chosen = [by_status[status] for status in query.statuses]
    if query.starred is None:
        total = sum(every for every, _ in chosen)
    else:
        total = sum(starred if query.starred else every - starred for every, starred in chosen)
    if query.hidden_entries is False:
        total -= db.scalar(count_statement(query._replace(hidden_entries=True)), **parameters)
    return total


@lru_cache(maxsize=16)
def _sums(conditions: tuple[str, ...], hidden: bool) -> Select[Any]:
    counts = feed_counters.c
    statement = select(
        func.sum(counts.unread).label("unread"),
        func.sum(counts.read).label("read"),
        func.sum(counts.starred_unread).label("starred_unread"),
        func.sum(counts.starred_read).label("starred_read"),
    ).where(counts.user_id == bindparam("user"))
    if "feed_id" in conditions:
        statement = statement.where(counts.feed_id == bindparam("feed_id"))
    in_several = in_list(feeds.c.category_id, "category_ids")
    places: dict[str, ColumnElement[bool]] = {
        "category_id": feeds.c.category_id == bindparam("category_id"),
        "category_ids": in_several,
        "categories_and_feeds": or_(in_several, in_list(feeds.c.id, "further_feeds")),
    }
    if place := next((name for name in conditions if name in places), None):
        statement = statement.select_from(counted_feeds).where(places[place])
    if hidden:
        statement = statement.where(counts.feed_id.not_in(bindparam("hidden", expanding=True)))
    return statement
