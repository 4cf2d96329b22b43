"""What a list of entries is asked for, as statements: each shape is built once and kept.

Shapes differ only with which conditions are given. How a list is put together from them: `storage.entries.entry_lists`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select, text, tuple_

from tidings.domain.entries.entries import Direction, Entry, EntryFilter, EntryStatus, Order, PageRequest
from tidings.domain.entries.search import SearchQuery
from tidings.storage.engine import full_text
from tidings.storage.engine.database import columns
from tidings.storage.schema import categories, entries, entry_tags
from tidings.storage.schema.archive import author_prefix, title_prefix

NOTHING = SearchQuery()

# matches: a list starts from what the index has. is among it: much of the list was found, which is read in its order.
# is given: what was found is known by id.
Search = Literal["", "matches", "is among it", "is given", "does not match"]


class EntryListQuery(NamedTuple):
    """Which conditions are given; the key under which a statement is kept."""

    statuses: tuple[EntryStatus, ...]
    starred: bool | None
    bounds: tuple[str, ...]
    hidden: bool
    tags: int
    search: Search

    @classmethod
    def of(cls, which: EntryFilter, *, hidden: bool, question: SearchQuery = NOTHING) -> EntryListQuery:
        given = tuple(name for name in BOUNDS if getattr(which, name) is not None)
        statuses = tuple(sorted(set(which.statuses))) or (EntryStatus.UNREAD, EntryStatus.READ)
        search: Search = "matches" if question.required else "does not match" if question.excluded else ""
        return cls(statuses, which.starred, given, hidden, len(which.tags), search)

    @property
    def counted(self) -> bool:
        """Whether the kept counters know the total."""
        if self.tags or self.search or EntryStatus.REMOVED in self.statuses:
            return False
        return set(self.bounds) <= {"feed_id", "category_id"}

    @property
    def is_narrow(self) -> bool:
        """Whether it starts from what a search, a tag or a feed has, and sorts that.

        To pick these few out while walking the whole archive in order would cost more.
        """
        return bool(self.search in ("matches", "is given") or self.tags or "feed_id" in self.bounds)


BOUNDS: dict[str, ColumnElement[bool]] = {
    "feed_id": entries.c.feed_id == bindparam("feed_id"),
    "category_id": entries.c.category_id == bindparam("category_id"),
    "published_before": entries.c.published_at < bindparam("published_before"),
    "published_after": entries.c.published_at > bindparam("published_after"),
    # Leaves out little, as a rule: nothing to come from, and sort the rest.
    "changed_before": full_text.without_index(entries.c.changed_at) < bindparam("changed_before"),
    "changed_after": entries.c.changed_at > bindparam("changed_after"),
    "before_entry_id": entries.c.id < bindparam("before_entry_id"),
    "after_entry_id": entries.c.id > bindparam("after_entry_id"),
}

# An order ends with the id, so that pages neither repeat nor lose an entry. Where the contract leaves equals open, they
# come by time of publishing: that is what an index has.
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
_BY_CATEGORY = {Order.CATEGORY_ID, Order.CATEGORY_TITLE}


@lru_cache(maxsize=512)
def page_statement(shape: EntryListQuery, order: Order, direction: Direction, *, has_place: bool) -> Select[Any]:
    """Takes limit and offset, and a place if there is one."""
    return _ordered(select(*columns(entries, Entry)), shape, order, direction, has_place=has_place)


@lru_cache(maxsize=512)
def look_statement(shape: EntryListQuery, order: Order, direction: Direction, *, has_place: bool) -> Select[Any]:
    """Of a page of a list that nothing is searched in: the ids, in no order, and whether the index has them for it."""
    listed = shape._replace(search="")
    page = _ordered(select(entries.c.id), listed, order, direction, has_place=has_place).subquery()
    return select(page.c.id, full_text.is_match(page.c.id, bindparam("question")))


def _ordered(
    statement: Select[Any], shape: EntryListQuery, order: Order, direction: Direction, *, has_place: bool
) -> Select[Any]:
    statement = statement.where(*_conditions(shape))
    if order in _BY_CATEGORY and {"feed_id", "category_id"} & set(shape.bounds):
        order = Order.PUBLISHED_AT  # that is what is left of it within one category
    if order is Order.CATEGORY_TITLE:
        # From category to category, each in its order; but from few entries to theirs.
        category_id = categories.c.id if shape.is_narrow else full_text.without_index(categories.c.id)
        joined = and_(categories.c.user_id == entries.c.user_id, category_id == entries.c.category_id)
        statement = statement.select_from(entries.join(categories, joined)).where(
            categories.c.user_id == bindparam("user")
        )
    if has_place:
        statement = statement.where(is_beyond(order, direction))
    keys = [key.desc() if direction is Direction.DESC else key.asc() for key in _ORDERS[order]]
    return statement.order_by(*keys).limit(bindparam("limit")).offset(bindparam("offset"))


def is_beyond(order: Order, direction: Direction) -> ColumnElement[bool]:
    """As one comparison of pairs: both engines read the index from there on."""
    moment, entry_id = _ORDERS[order]
    place = tuple_(bindparam("beyond_moment", type_=moment.type), bindparam("beyond_id", type_=entry_id.type))
    return tuple_(moment, entry_id) < place if direction is Direction.DESC else tuple_(moment, entry_id) > place


def place_of(page: PageRequest) -> dict[str, int]:
    """For `is_beyond`."""
    return {} if page.cursor is None else {"beyond_moment": page.cursor.moment, "beyond_id": page.cursor.entry_id}


@lru_cache(maxsize=128)
def ids_statement(shape: EntryListQuery) -> Select[Any]:
    found = select(entries.c.id).where(*_conditions(shape)).order_by(entries.c.id.desc())
    return found.limit(bindparam("limit")).offset(bindparam("offset"))


@lru_cache(maxsize=256)
def count_statement(shape: EntryListQuery) -> Select[Any]:
    return select(func.count()).select_from(entries).where(*_conditions(shape))


def _conditions(shape: EntryListQuery) -> list[ColumnElement[bool]]:
    # Status and star stand as literals: neither engine uses a partial index for a parameter.
    owner = full_text.without_index(entries.c.user_id) if shape.is_narrow else entries.c.user_id
    conditions = [owner == bindparam("user"), *_status_conditions(shape.statuses)]
    if shape.starred is not None:
        conditions.append(_literal(f"entries.starred = {str(shape.starred).lower()}"))
    conditions += [BOUNDS[name] for name in shape.bounds]
    if shape.hidden:
        conditions.append(entries.c.feed_id.not_in(bindparam("hidden", expanding=True)))
    conditions += [_has_tag(number) for number in range(shape.tags)]
    if shape.search:
        conditions.append(_search_condition(shape.search))
    return conditions


def _search_condition(search: Search) -> ColumnElement[bool]:
    if search == "is given":
        return entries.c.id.in_(bindparam("given", expanding=True))
    question: ColumnElement[Any] = bindparam("question")
    if search == "is among it":
        return full_text.is_in_matches(entries.c.id, question)
    matches = full_text.matches(entries.c.id, question)
    return matches if search == "matches" else ~matches


def _status_conditions(statuses: tuple[EntryStatus, ...]) -> list[ColumnElement[bool]]:
    if len(statuses) == 1:
        return [_literal(f"entries.status = {int(statuses[0])}")]
    # Of two, the third is left out. Asked for as a range or a list, SQLite would take them from the index by status,
    # and then sort them all.
    return [_literal(f"entries.status <> {int(status)}") for status in EntryStatus if status not in statuses]


def _literal(condition: str) -> ColumnElement[bool]:
    return cast("ColumnElement[bool]", text(condition))


def _has_tag(number: int) -> ColumnElement[bool]:
    tagged = select(entry_tags.c.entry_id).where(
        entry_tags.c.user_id == bindparam("user"), entry_tags.c.tag == bindparam(f"tag_{number}")
    )
    return entries.c.id.in_(tagged)
