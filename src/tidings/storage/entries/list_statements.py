"""The statements of entry lists, built once for each combination of conditions and cached.

`storage.entries.entry_lists` makes pages and totals with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    text,
    tuple_,
    union_all,
)

from tidings.content.search_expressions import Expression, holds_for_nothing
from tidings.domain.entries.entries import (
    UNLISTED,
    Direction,
    Entry,
    EntryFilter,
    EntryStatus,
    Folded,
    Order,
    PageRequest,
)
from tidings.engine import full_text
from tidings.engine.database import columns
from tidings.engine.statements import each_of, ids_of, in_list, joined, joined_ids, number_list
from tidings.storage.entries.folded import is_under_unread
from tidings.storage.entries.query_conditions import (
    FROM_THE_FIRST,
    IN_ONE_INDEX,
    TRUE,
    Shape,
    count_listed,
    count_listed_up_to,
    is_listed,
    lists_entries,
    names_few_entries,
    query_condition,
)
from tidings.storage.schema import categories, entries, entry_labels, entry_tags
from tidings.storage.schema.archive import author_prefix, title_prefix

# As SQL: a value is written into the text at each execution, and the driver could not be given the text.
_LINE_BREAK: Any = literal_column("'\n'")

# matches: the list starts from the matches of the index. is in matches: there are many, so the list is read in its
# order and each entry looked up in the matches. are few: the list starts from the matches, and has tags as well. is
# given: the matches are passed as ids.
Search = Literal["", "matches", "is in matches", "are few", "is given", "does not match"]


# What the category of a filter stands for: itself; it and those below it; these and feeds that are in one of them,
# though the first category of each is another one.
Place = Literal["category_id", "category_ids", "categories_and_feeds"]
PLACES: tuple[Place, ...] = ("category_id", "category_ids", "categories_and_feeds")


class EntryListQuery(NamedTuple):
    """The conditions of a list without their values: the key under which its statements are cached."""

    statuses: tuple[EntryStatus, ...]
    starred: bool | None
    conditions: tuple[str, ...]
    """Keys of CONDITIONS."""
    hidden: bool
    """Whether some feeds are left out."""
    tags: int
    """How many tags are required."""
    search: Search
    labels: int = 0
    """How many labels are required."""
    excluded_labels: int = 0
    """How many labels are excluded."""
    rest: Shape = TRUE
    """The shape of what else a query asks."""
    hidden_entries: bool | None = None
    """Only the entries that are hidden themselves, or False: without them."""
    folded: bool | None = None
    """Whether entries under unread ones are added to those with the statuses; False: they are left out."""
    is_in_order: bool = False
    """Whether a page in the order of publication tests the categories of each entry instead of merging them."""
    has_shared: bool = False
    """Of the search: `full_text.IndexQuery.has_shared`."""

    @classmethod
    def of(
        cls,
        entry_filter: EntryFilter,
        *,
        hidden: bool,
        place: Place = "category_id",
        expression: Expression | None = None,
        rest: Shape = TRUE,
        has_shared: bool = False,
    ) -> EntryListQuery:
        """Return the conditions of a filter. place: what its category stands for."""
        conditions = tuple(
            place if name == "category_id" else name for name in FILTERED if getattr(entry_filter, name) is not None
        )
        statuses, folded = _with_folded(
            set(entry_filter.statuses) or {EntryStatus.UNREAD, EntryStatus.READ}, entry_filter.folded
        )
        search: Search = ""
        if expression is not None:
            search = "does not match" if holds_for_nothing(expression) else "matches"
        return cls(
            statuses,
            entry_filter.starred,
            conditions,
            hidden,
            len(entry_filter.tags),
            search,
            len(entry_filter.label_ids),
            len(entry_filter.excluded_label_ids),
            rest,
            False if entry_filter.globally_visible or entry_filter.excludes_hidden else None,
            folded,
            has_shared=has_shared,
        )

    @property
    def has_stored_total(self) -> bool:
        """Whether the total follows from the stored counters, and the number of hidden entries."""
        if self.tags or self.labels or self.excluded_labels or self.search or set(UNLISTED).intersection(self.statuses):
            return False
        if self.rest != TRUE or self.hidden_entries or self.folded:
            return False
        return set(self.conditions) <= {"feed_id", *PLACES}

    @property
    def opposite(self) -> EntryListQuery | None:
        """The list of the entries that a negated condition leaves out; None if this list has no such condition alone.

        It is counted instead where the number of all entries is stored.
        """
        if self.search == "does not match" and self.rest == TRUE:
            return self._replace(search="matches")
        if not self.search and self.rest[0] == "not":
            return self._replace(rest=self.rest[1])
        return None

    @property
    def is_plain_search(self) -> bool:
        """Whether it is a search in all entries of the user, and nothing else: it can be counted in the index."""
        return self._replace(has_shared=False) == _PLAIN_SEARCH

    @property
    def listed(self) -> Shape:
        """The condition of the list, if it has no other one and an index lists its entries; TRUE otherwise."""
        if self._replace(tags=0) == EVERYTHING and self.tags == 1:
            return ("tag", "tag_0", False)
        is_alone = self._replace(rest=TRUE) == EVERYTHING and self.rest[0] in IN_ONE_INDEX
        return self.rest if is_alone else TRUE

    @property
    def has_every_entry(self) -> bool:
        """Whether it has every entry of the user, or every one with a status."""
        return self._replace(statuses=EVERYTHING.statuses, has_shared=False) == EVERYTHING

    @property
    def tests_everything(self) -> bool:
        """Whether each entry of the user, or with a status, is tested, since no index lists those that can match."""
        return self._replace(rest=TRUE).has_every_entry and not lists_entries(self.rest)

    @property
    def is_narrow(self) -> bool:
        """Whether the matches of a search, a tag, a label, a feed or of public links are read first and then sorted.

        Reading the whole archive in order to pick out these few would cost more. Entries of a label are read in the
        order of its own indexes.
        """
        is_few = (
            self.search in ("matches", "are few", "is given")
            or self.tags
            or self.labels
            or names_few_entries(self.rest)
        )
        return bool(is_few or {"feed_id", "feed", "shared"} & set(self.conditions))

    @property
    def is_merged(self) -> bool:
        """Whether a page in the order of publication merges the first entries of several categories and feeds.

        Starred entries are few: each is tested, in the order of their own index.
        """
        is_of_several = bool(set(PLACES[1:]) & set(self.conditions))
        return is_of_several and not self.is_narrow and not self.starred and not self.is_in_order


def _with_folded(statuses: set[EntryStatus], folded: Folded) -> tuple[tuple[EntryStatus, ...], bool | None]:
    """Return the statuses of a list that has folded entries, and `EntryListQuery.folded`."""
    if folded is Folded.HIDE or EntryStatus.FOLDED in statuses:
        return tuple(sorted(statuses)), None
    is_read, is_unread = EntryStatus.READ in statuses, EntryStatus.UNREAD in statuses
    if is_read:
        statuses = statuses | {EntryStatus.FOLDED}
    is_by_original = folded is Folded.ALL and is_read != is_unread
    return tuple(sorted(statuses)), is_unread if is_by_original else None


EVERYTHING = EntryListQuery((EntryStatus.UNREAD, EntryStatus.READ), None, (), False, 0, "")
_PLAIN_SEARCH = EVERYTHING._replace(search="matches")

# Public links are few, even of all users together: they have an index of their own. The list itself checks the user.
_shared = entries.alias("shared")
CONDITIONS: dict[str, ColumnElement[bool]] = {
    "feed_id": entries.c.feed_id == bindparam("feed_id"),
    "category_id": entries.c.category_id == bindparam("category_id"),
    # A category with those below it: tested in the order of the list, if they are not merged.
    "category_ids": in_list(full_text.without_index(entries.c.category_id), "category_ids"),
    "categories_and_feeds": or_(
        in_list(full_text.without_index(entries.c.category_id), "category_ids"),
        in_list(full_text.without_index(entries.c.feed_id), "further_feeds"),
    ),
    # One of several categories or feeds whose entries are merged.
    "category": entries.c.category_id == literal_column("category.value"),
    "feed": entries.c.feed_id == literal_column("feed.value"),
    "published_before": entries.c.published_at < bindparam("published_before"),
    "published_after": entries.c.published_at > bindparam("published_after"),
    # Mostly leaves out few entries, so its index would not help.
    "changed_before": full_text.without_index(entries.c.changed_at) < bindparam("changed_before"),
    "changed_after": entries.c.changed_at > bindparam("changed_after"),
    # Lists by id are bounded by an id as well (`entry_lists.first_id_created_after`), so this index would not help.
    "created_before": full_text.without_index(entries.c.created_at) < bindparam("created_before"),
    "created_after": full_text.without_index(entries.c.created_at) > bindparam("created_after"),
    "before_entry_id": entries.c.id < bindparam("before_entry_id"),
    "after_entry_id": entries.c.id > bindparam("after_entry_id"),
    "shared": entries.c.id.in_(
        select(_shared.c.id).where(
            # The first as in the partial index; the second is a range, for which SQLite uses it.
            text("shared.share_code <> '' AND shared.share_code > ''"),
            full_text.without_index(_shared.c.user_id) == bindparam("user"),
        )
    ),
}

# Those that are fields of a filter.
FILTERED = tuple(name for name in CONDITIONS if name not in ("category", "feed", *PLACES[1:]))
# A count needs no order: these conditions use their indexes.
_COUNTED_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "category_ids": in_list(entries.c.category_id, "category_ids"),
    "categories_and_feeds": or_(
        in_list(entries.c.category_id, "category_ids"), in_list(entries.c.feed_id, "further_feeds")
    ),
    "created_before": entries.c.created_at < bindparam("created_before"),
    "created_after": entries.c.created_at > bindparam("created_after"),
}

# Every order ends with the id, so that pages neither repeat nor lose an entry. Where the API leaves ties open, they are
# ordered by time of publication, as in the index.
_ORDERS: dict[Order, tuple[ColumnElement[Any], ...]] = {
    Order.ID: (entries.c.id,),
    Order.STATUS: (entries.c.status, entries.c.id),
    Order.PUBLISHED_AT: (entries.c.published_at, entries.c.id),
    Order.CHANGED_AT: (entries.c.changed_at, entries.c.id),
    Order.CREATED_AT: (entries.c.created_at, entries.c.id),
    Order.CATEGORY_ID: (entries.c.category_id, entries.c.published_at, entries.c.id),
    Order.CATEGORY_TITLE: (categories.c.title, categories.c.id, entries.c.published_at, entries.c.id),
    Order.TITLE: (title_prefix, entries.c.title, entries.c.id),
    Order.AUTHOR: (author_prefix, entries.c.author, entries.c.id),
}
# Lists of a label are read in the order of its indexes, which have these columns of the entry.
_OF_LABEL: dict[ColumnElement[Any], ColumnElement[Any]] = {
    entries.c.id: entry_labels.c.entry_id,
    entries.c.published_at: entry_labels.c.published_at,
}
_LABEL_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "published_before": entry_labels.c.published_at < bindparam("published_before"),
    "published_after": entry_labels.c.published_at > bindparam("published_after"),
    "before_entry_id": entry_labels.c.entry_id < bindparam("before_entry_id"),
    "after_entry_id": entry_labels.c.entry_id > bindparam("after_entry_id"),
}
_BY_CATEGORY = {Order.CATEGORY_ID, Order.CATEGORY_TITLE}
_page_end = bindparam("limit", type_=Integer) + bindparam("offset", type_=Integer)


@lru_cache(maxsize=512)
def page_statement(query: EntryListQuery, order: Order, direction: Direction, *, has_cursor: bool) -> Select[Any]:
    """Return the SELECT of a page. Parameters: limit, offset, and the cursor's if there is one."""
    return _ordered(select(*columns(entries, Entry)), query, order, direction, has_cursor=has_cursor)


@lru_cache(maxsize=64)
def sampled_page_statement(query: EntryListQuery, direction: Direction, *, has_cursor: bool) -> Select[Any]:
    """Return the SELECT of the first page of a merged list, from so many entries of each part: parameter `quota`.

    The page is right if no part of it has `quota` entries on it. Other parameters: as `page_statement`.
    """
    quota = bindparam("quota", type_=Integer)
    return _merged(select(*columns(entries, Entry)), query, direction, quota, has_cursor=has_cursor)


@lru_cache(maxsize=256)
def id_page_statement(query: EntryListQuery, direction: Direction) -> Select[Any]:
    """Return the SELECT of the ids of a page in the order of the ids, joined. Parameters: limit and offset."""
    statement = _in_order_of_id(select(entries.c.id), query, direction)
    return joined_ids(statement.limit(bindparam("limit")).offset(bindparam("offset")))


@lru_cache(maxsize=512)
def page_ids_statement(query: EntryListQuery, order: Order, direction: Direction, *, has_cursor: bool) -> Select[Any]:
    """Return the SELECT of the ids of a page, joined, as `page_statement` with the entries themselves."""
    return joined_ids(_ordered(select(entries.c.id), query, order, direction, has_cursor=has_cursor))


@lru_cache(maxsize=512)
def match_test_statement(query: EntryListQuery, order: Order, direction: Direction, *, has_cursor: bool) -> Select[Any]:
    """Return a SELECT of the ids of a page of the list without the search, unordered, and whether each matches it."""
    listed = query._replace(search="")
    page = _ordered(select(entries.c.id), listed, order, direction, has_cursor=has_cursor).subquery()
    expression = full_text.query_expression(bindparam("match_expression"), has_shared=query.has_shared)
    return select(page.c.id, full_text.is_match(page.c.id, expression).label("is_match"))


@lru_cache(maxsize=512)
def tag_test_statement(query: EntryListQuery, order: Order, direction: Direction, *, has_cursor: bool) -> Select[Any]:
    """Return a SELECT of the ids of a page of the list without its tags, unordered, if they have the tags."""
    listed = query._replace(tags=0)
    page = _ordered(select(entries.c.id), listed, order, direction, has_cursor=has_cursor).subquery()
    tagged = (_with_tag(number).where(entry_tags.c.entry_id == page.c.id) for number in range(query.tags))
    return select(page.c.id).where(*(one.correlate(page).exists() for one in tagged))


# The number of entries with the first tag of a list, at most as large as `limit`.
count_tagged = text(
    "SELECT count(*) FROM (SELECT 1 FROM entry_tags WHERE user_id = :user AND tag = :tag_0 LIMIT :limit) AS tagged"
)


def _ordered(
    statement: Select[Any], query: EntryListQuery, order: Order, direction: Direction, *, has_cursor: bool
) -> Select[Any]:
    if order is Order.ID:
        in_order = _in_order_of_id(statement, query, direction)
        return in_order.limit(bindparam("limit")).offset(bindparam("offset"))
    if order is Order.PUBLISHED_AT and query.is_merged:
        return _merged(statement, query, direction, _page_end, has_cursor=has_cursor)
    statement = statement.where(*_conditions(query))
    if order in _BY_CATEGORY and {"feed_id", "category_id"} & set(query.conditions):
        order = Order.PUBLISHED_AT  # within one category both orders are the same
    if order is Order.CATEGORY_TITLE:
        # Reads category after category; with few entries, it looks up the category of each.
        category_id = categories.c.id if query.is_narrow else full_text.without_index(categories.c.id)
        user_id = full_text.without_index(entries.c.user_id) if query.is_narrow else entries.c.user_id
        joined = and_(categories.c.user_id == user_id, category_id == entries.c.category_id)
        statement = statement.select_from(entries.join(categories, joined)).where(
            categories.c.user_id == bindparam("user")
        )
    if has_cursor:
        statement = statement.where(is_after_cursor(order, direction, of_label=query.labels > 0))
    columns_in_order = [_column(query, column) for column in _ORDERS[order]]
    keys = [key.desc() if direction is Direction.DESC else key.asc() for key in columns_in_order]
    return statement.order_by(*keys).limit(bindparam("limit")).offset(bindparam("offset"))


def _merged(
    statement: Select[Any],
    query: EntryListQuery,
    direction: Direction,
    quota: ColumnElement[int],
    *,
    has_cursor: bool,
) -> Select[Any]:
    """Return a page of several categories and feeds: the first of the first entries of each, through its index.

    The cost follows the number of categories and feeds, and the quota of each. statement: selects columns of entries.
    """
    kinds = {"category": "category_ids"}
    if "categories_and_feeds" in query.conditions:
        kinds["feed"] = "further_feeds"

    def listed_in(kind: str) -> tuple[Any, Any]:
        """Return the categories, or the feeds, and the ids of the first entries of each."""
        of_one = query._replace(conditions=tuple(kind if name in PLACES else name for name in query.conditions))
        ordered = _ordered(select(entries.c.id), of_one, Order.PUBLISHED_AT, direction, has_cursor=has_cursor)
        first = ordered.limit(quota).offset(None).subquery()
        each = each_of(number_list(kinds[kind])).table_valued("value", name=kind, joins_implicitly=True)
        found = select(ids_of(first.c.id)).scalar_subquery()
        return each, each_of(found).table_valued("value", name="listed", joins_implicitly=True)

    sources = [listed_in(kind) for kind in kinds]
    if len(sources) > 1:
        found = union_all(*(select(listed.c.value).select_from(each, listed) for each, listed in sources))
        sources = [(found.subquery("listed"),) * 2]
    page = entries.alias("page")
    keys = [key.desc() if direction is Direction.DESC else key.asc() for key in (page.c.published_at, page.c.id)]
    ((each, listed),) = sources
    return (
        select(*(page.c[column.name] for column in statement.selected_columns))
        .select_from(*dict.fromkeys((each, listed)), page)
        .where(page.c.id == listed.c.value, full_text.without_index(page.c.user_id) == bindparam("user"))
        .order_by(*keys)
        .limit(bindparam("limit"))
        .offset(bindparam("offset"))
    )


def _in_order_of_id(statement: Select[Any], query: EntryListQuery, direction: Direction) -> Select[Any]:
    """Return a SELECT from entries with the conditions of a list, in the order of the ids."""
    owner: ColumnElement[bool] | None = None
    keys: list[ColumnElement[Any]] = [_column(query, entries.c.id)]
    if query.starred and not query.labels:
        # They are few: read from their own index and sorted, not picked out of all entries in order.
        keys = [full_text.without_index(entries.c.id)]
    elif not query.is_narrow:
        owner = full_text.is_one_of(entries.c.user_id, bindparam("user"))
        keys = [entries.c.user_id, entries.c.id]
    keys = [key.desc() if direction is Direction.DESC else key.asc() for key in keys]
    return statement.where(*_conditions(query, owner)).order_by(*keys)


def _column(query: EntryListQuery, column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column by which a list is ordered or bounded."""
    return _OF_LABEL.get(column, column) if query.labels else column


def is_after_cursor(order: Order, direction: Direction, *, of_label: bool = False) -> ColumnElement[bool]:
    """Return the condition that an entry comes after the cursor: a row comparison, which can use the index."""
    moment, entry_id = (_OF_LABEL.get(column, column) if of_label else column for column in _ORDERS[order])
    cursor = tuple_(bindparam("cursor_moment", type_=moment.type), bindparam("cursor_id", type_=entry_id.type))
    return tuple_(moment, entry_id) < cursor if direction is Direction.DESC else tuple_(moment, entry_id) > cursor


def cursor_parameters(page: PageRequest) -> dict[str, int]:
    """Return the parameters of `is_after_cursor`; none without a cursor."""
    return {} if page.cursor is None else {"cursor_moment": page.cursor.moment, "cursor_id": page.cursor.entry_id}


@lru_cache(maxsize=128)
def ids_statement(query: EntryListQuery) -> Select[Any]:
    """Return the SELECT of a page of ids, newest first, joined. Parameters: limit and offset."""
    statement = _in_order_of_id(select(entries.c.id), query, Direction.DESC)
    return joined_ids(statement.limit(bindparam("limit")).offset(bindparam("offset")))


@lru_cache(maxsize=128)
def all_ids_statement(query: EntryListQuery) -> Select[Any]:
    """Return the SELECT of all ids, ascending, joined."""
    return joined_ids(_in_order_of_id(select(entries.c.id), query, Direction.ASC))


@lru_cache(maxsize=128)
def texts_statement(query: EntryListQuery, column: str, *, has_breaks: bool) -> Select[Any]:
    """Return the SELECT of the newest ids, joined, and of their titles or URLs as lines. Parameter: limit.

    has_breaks: a text may be of several lines, which takes a third longer.
    """
    # Joined by the database, for the reason of `joined_ids`.
    text_ = func.replace(entries.c[column], "\n", " ") if has_breaks else entries.c[column]
    if query.has_every_entry:
        # From the oldest of them on: SQLite takes twice as long to read texts backwards, and to hand on each row.
        listed = _in_order_of_id(select(entries.c.id), query, Direction.DESC)
        oldest = listed.limit(1).offset(bindparam("limit", type_=Integer) - 1).scalar_subquery()
        lines: ColumnElement[Any] = func.aggregate_strings(text_, _LINE_BREAK)
        return select(joined(entries.c.id), lines).where(*_conditions(query), entries.c.id >= func.coalesce(oldest, 0))
    newest = _in_order_of_id(select(entries.c.id, text_.label("line")), query, Direction.DESC)
    found = newest.limit(bindparam("limit")).subquery()
    found_lines: ColumnElement[Any] = func.aggregate_strings(found.c.line, _LINE_BREAK)
    return select(joined(found.c.id), found_lines)


@lru_cache(maxsize=256)
def count_statement(query: EntryListQuery) -> Select[Any]:
    """Return the SELECT of the total."""
    conditions = _conditions(query, is_counted=True)
    if query.tests_everything:
        # SQLite reads all entries of a user in half the time.
        conditions.append(FROM_THE_FIRST)
    return select(func.count()).select_from(entries).where(*conditions)


@lru_cache(maxsize=256)
def count_up_to_statement(query: EntryListQuery) -> Select[Any]:
    """Return the SELECT of the total, at most as large as parameter `most`."""
    most = bindparam("most", type_=Integer)
    return select(func.count()).select_from(_counted_rows(query).limit(most).subquery("counted"))


def _counted_rows(query: EntryListQuery) -> Select[Any]:
    """Return a SELECT of a row for each entry of a list. With a LIMIT it reads no more than that takes."""
    row: ColumnElement[int] = literal_column("1").label("one")
    if query.search != "matches" or query.tags:
        counted = _conditions(query, is_counted=True)
        return select(row).select_from(entries).where(*counted, *([FROM_THE_FIRST] if query.tests_everything else ()))
    # From the matches on, one after the other. Each is looked up by its id.
    expression = _counted_expressions[query.has_shared]
    found = full_text.each_match(expression).table_valued("entry_id", name="found")
    others = _conditions(query._replace(search=""), entries.c.user_id == bindparam("user"))
    looked_up = full_text.LookedUp(found, entries, entries.c.id == found.c.entry_id)
    return select(row).select_from(looked_up).where(*others)


@lru_cache(maxsize=128)
def count_listed_up_to_statement(listed: Shape) -> Select[Any]:
    """Return the SELECT of how many entries an index lists, removed ones included. Parameter: most."""
    return select(count_listed_up_to(listed))


@lru_cache(maxsize=128)
def count_listed_statement(listed: Shape) -> Select[Any]:
    """Return the SELECT of the total of a list with one condition, counted in its index: `EntryListQuery.listed`."""
    number, is_listed = count_listed(listed)
    return select(number - _removed(is_listed))


def _removed(condition: ColumnElement[Any]) -> ColumnElement[int]:
    """Return how many removed and folded entries meet a condition: lists do not show them, but indexes have them."""
    removed = select(func.count()).select_from(entries)
    own = entries.c.user_id == bindparam("user")
    return removed.where(own, _literal("entries.status >= 2"), condition).scalar_subquery()


def _conditions(
    query: EntryListQuery, owner: ColumnElement[bool] | None = None, *, is_counted: bool = False
) -> list[ColumnElement[bool]]:
    """Return the conditions of a list.

    owner: the condition that an entry belongs to the user, where it matters how this is written. is_counted: the
    entries need no order.
    """
    if owner is None:
        is_narrow = query.is_narrow or (is_counted and lists_entries(query.rest))
        user_id = full_text.without_index(entries.c.user_id) if is_narrow else entries.c.user_id
        owner = user_id == bindparam("user")
    # Status and star are literals, since neither engine uses a partial index for a condition with a parameter.
    conditions = [owner]
    with_status = _status_conditions(query.statuses)
    if query.folded:
        conditions.append(or_(and_(*with_status), is_under_unread))
    else:
        conditions += with_status if query.folded is None else [*with_status, ~is_under_unread]
    if query.starred is not None:
        conditions.append(_literal(f"entries.starred = {str(query.starred).lower()}"))
    if query.hidden_entries is not None:
        conditions.append(_literal(f"entries.hidden = {str(query.hidden_entries).lower()}"))
    bounds = CONDITIONS | (_LABEL_CONDITIONS if query.labels else {}) | (_COUNTED_CONDITIONS if is_counted else {})
    conditions += [bounds[name] for name in query.conditions]
    conditions += has_labels(query.labels, query.excluded_labels)
    if query.hidden:
        conditions.append(entries.c.feed_id.not_in(bindparam("hidden", expanding=True)))
    conditions += [_has_tag(number, is_tested=query.search == "are few") for number in range(query.tags)]
    if query.search:
        conditions.append(_search_condition(query.search, has_shared=query.has_shared))
    if query.rest != TRUE:
        conditions.append(query_condition(query.rest, is_counted=is_counted))
    return conditions


def _search_condition(search: Search, *, has_shared: bool) -> ColumnElement[bool]:
    if search == "is given":
        return entries.c.id.in_(bindparam("given", expanding=True))
    expression = full_text.query_expression(bindparam("match_expression"), has_shared=has_shared)
    if search == "is in matches":
        return full_text.is_in_matches(entries.c.id, expression)
    matches = full_text.matches(entries.c.id, expression)
    return ~matches if search == "does not match" else matches


def _status_conditions(statuses: tuple[EntryStatus, ...]) -> list[ColumnElement[bool]]:
    if len(statuses) == 1:
        return [_literal(f"entries.status = {int(statuses[0])}")]
    # Two statuses are written as "not the others". For a range or a list SQLite would use the index by status, and then
    # sort all entries.
    return [_literal(f"entries.status <> {int(status)}") for status in EntryStatus if status not in statuses]


def _literal(condition: str) -> ColumnElement[bool]:
    return cast("ColumnElement[bool]", text(condition))


_counted_expressions = {
    has_shared: full_text.query_expression(bindparam("match_expression", type_=Text), has_shared=has_shared)
    for has_shared in (False, True)
}
# The matches of a plain search, by `EntryListQuery.has_shared`.
count_plain_search = {
    has_shared: select(
        full_text.count_indexed(expression, bindparam("user")) - _removed(full_text.is_match(entries.c.id, expression))
    )
    for has_shared, expression in _counted_expressions.items()
}
count_matches_up_to = {
    has_shared: select(full_text.counted_up_to(expression, bindparam("most", type_=Integer)))
    for has_shared, expression in _counted_expressions.items()
}
select_removed = (
    select(entries.c.id)
    .where(entries.c.user_id == bindparam("user"), _literal("entries.status >= 2"))
    .limit(bindparam("limit"))
)


def _has_tag(number: int, *, is_tested: bool) -> ColumnElement[bool]:
    return is_listed(("tag", f"tag_{number}", False)) if is_tested else entries.c.id.in_(_with_tag(number))


def _with_tag(number: int) -> Select[Any]:
    """Return the SELECT of the ids of entries with one of a list's tags."""
    return select(entry_tags.c.entry_id).where(
        entry_tags.c.user_id == bindparam("user"), entry_tags.c.tag == bindparam(f"tag_{number}")
    )


def has_labels(labels: int, excluded: int) -> list[ColumnElement[bool]]:
    """Return the conditions that an entry has labels, and none of others. Parameters: `label_parameters`.

    The first one joins `entry_labels`, whose indexes then give the order.
    """
    conditions: list[ColumnElement[bool]] = []
    if labels:
        conditions += [
            entry_labels.c.label_id == bindparam("label_0"),
            entry_labels.c.user_id == bindparam("user"),
            entry_labels.c.entry_id == entries.c.id,
        ]
    conditions += [entries.c.id.in_(_labelled(f"label_{number}")) for number in range(1, labels)]
    # A list that PostgreSQL looks entries up in: by an anti-join it would lose the order of the index.
    return conditions + [entries.c.id.not_in(_labelled(f"excluded_label_{number}")) for number in range(excluded)]


def label_parameters(label_ids: Sequence[int], excluded: Sequence[int]) -> dict[str, int]:
    """Return the parameters of `has_labels`, except the user."""
    given = {f"label_{number}": label_id for number, label_id in enumerate(label_ids)}
    return given | {f"excluded_label_{number}": label_id for number, label_id in enumerate(excluded)}


def _labelled(parameter: str) -> Select[Any]:
    """Return the SELECT of the ids of entries with a label."""
    labelled = entry_labels.alias()
    return select(labelled.c.entry_id).where(
        labelled.c.label_id == bindparam(parameter), labelled.c.user_id == bindparam("user")
    )
