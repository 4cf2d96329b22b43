"""Pages of entries in any order and under any filter.

The statements differ only with which conditions are given, so each shape is built once and kept. A page reads the
narrow rows through the index of its order; bodies and enclosures follow for these rows alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

from msgspec import Struct
from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select, text, tuple_

from tidings.domain.entries import Direction, Enclosure, Entry, EntryFilter, Order, Page, Status
from tidings.domain.search import Question, parse
from tidings.storage import dialect
from tidings.storage import feeds as feed_rows
from tidings.storage.database import Read, columns
from tidings.storage.schema import (
    categories,
    enclosures,
    entries,
    entry_contents,
    entry_tags,
    feed_counters,
    feeds,
)
from tidings.storage.schema.archive import author_prefix, title_prefix


class EntryPage(Struct, frozen=True):
    """contents and enclosures: by entry id."""

    total: int
    entries: list[Entry]
    contents: dict[int, str]
    enclosures: dict[int, list[Enclosure]]


def page(db: Read, user_id: int, which: EntryFilter, page: Page) -> EntryPage:
    asked = _asked(db, user_id, which)
    if asked is None:
        return EntryPage(0, [], {}, {})
    shape, parameters = asked
    return with_bodies(db, _rows(db, shape, page, parameters), total=_total(db, shape, which, parameters))


def rows(db: Read, user_id: int, which: EntryFilter, page: Page) -> list[Entry]:
    """Entries alone, without their bodies and how many there are."""
    asked = _asked(db, user_id, which)
    return [] if asked is None else _rows(db, asked[0], page, asked[1])


def _asked(db: Read, user_id: int, which: EntryFilter) -> tuple[_Shape, dict[str, Any]] | None:
    """None when nothing can be found."""
    hidden = feed_rows.hidden(db, user_id) if which.globally_visible else []
    question = parse(which.search)
    if which.search and question == NOTHING:
        return None
    shape = _Shape.of(which, hidden=bool(hidden), question=question)
    parameters = _parameters(user_id, which, hidden)
    if shape.search:
        parameters["question"] = dialect.asked(db, user_id, question)
    return shape, parameters


def _rows(db: Read, shape: _Shape, page: Page, parameters: dict[str, Any]) -> list[Entry]:
    statement = _page_statement(shape, page.order, page.direction, has_place=page.beyond is not None)
    place = {} if page.beyond is None else {"beyond_moment": page.beyond.moment, "beyond_id": page.beyond.entry_id}
    return db.all(Entry, statement, **parameters, **place, limit=page.limit, offset=page.offset)


NOTHING = Question()


def with_bodies(db: Read, rows: list[Entry], *, total: int = 0) -> EntryPage:
    ids = [row.id for row in rows]
    contents = bodies(db, ids)
    attached: dict[int, list[Enclosure]] = {}
    for enclosure in db.all(Enclosure, _enclosures, ids=ids):
        attached.setdefault(enclosure.entry_id, []).append(enclosure)
    return EntryPage(total, rows, contents, attached)


def bodies(db: Read, entry_ids: list[int]) -> dict[int, str]:
    """By entry id: of entries that are known to be the user's."""
    return dict(db.tuples(_contents, ids=entry_ids))


def ids(db: Read, user_id: int, which: EntryFilter, *, limit: int, offset: int) -> tuple[int, list[int]]:
    """How many there are, and a page of their ids, newest first. A search in the filter is not heard."""
    shape = _Shape.of(which, hidden=False)
    parameters = _parameters(user_id, which, [])
    found = db.scalars(_ids_statement(shape), **parameters, limit=limit, offset=offset)
    return _total(db, shape, which, parameters), found


_contents = select(entry_contents.c.entry_id, entry_contents.c.content).where(
    entry_contents.c.entry_id.in_(bindparam("ids", expanding=True))
)
_enclosures = (
    select(*columns(enclosures, Enclosure))
    .where(enclosures.c.entry_id.in_(bindparam("ids", expanding=True)))
    .order_by(enclosures.c.entry_id, enclosures.c.id)
)


_Search = Literal["", "matches", "does not match"]


class _Shape(NamedTuple):
    """Which conditions are given; the key under which a statement is kept."""

    statuses: tuple[Status, ...]
    starred: bool | None
    bounds: tuple[str, ...]
    hidden: bool
    tags: int
    search: _Search

    @classmethod
    def of(cls, which: EntryFilter, *, hidden: bool, question: Question = NOTHING) -> _Shape:
        given = tuple(name for name in _BOUNDS if getattr(which, name) is not None)
        statuses = tuple(sorted(set(which.statuses))) or (Status.UNREAD, Status.READ)
        search: _Search = "matches" if question.required else "does not match" if question.excluded else ""
        return cls(statuses, which.starred, given, hidden, len(which.tags), search)

    @property
    def counted(self) -> bool:
        """Whether the kept counters know the total."""
        if self.tags or self.search or Status.REMOVED in self.statuses:
            return False
        return set(self.bounds) <= {"feed_id", "category_id"}

    @property
    def is_narrow(self) -> bool:
        """Whether it starts from what a search, a tag or a feed has, and sorts that.

        To pick these few out while walking the whole archive in order would cost more.
        """
        return bool(self.search == "matches" or self.tags or "feed_id" in self.bounds)


_BOUNDS: dict[str, ColumnElement[bool]] = {
    "feed_id": entries.c.feed_id == bindparam("feed_id"),
    "category_id": entries.c.category_id == bindparam("category_id"),
    "published_before": entries.c.published_at < bindparam("published_before"),
    "published_after": entries.c.published_at > bindparam("published_after"),
    # Leaves out little, as a rule: nothing to come from, and sort the rest.
    "changed_before": dialect.off_index(entries.c.changed_at) < bindparam("changed_before"),
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
def _page_statement(shape: _Shape, order: Order, direction: Direction, *, has_place: bool) -> Select[Any]:
    statement = select(*columns(entries, Entry)).where(*_conditions(shape))
    if order in _BY_CATEGORY and {"feed_id", "category_id"} & set(shape.bounds):
        order = Order.PUBLISHED_AT  # that is what is left of it within one category
    if order is Order.CATEGORY_TITLE:
        # From category to category, each in its order; but from few entries to theirs.
        category_id = categories.c.id if shape.is_narrow else dialect.off_index(categories.c.id)
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


@lru_cache(maxsize=128)
def _ids_statement(shape: _Shape) -> Select[Any]:
    found = select(entries.c.id).where(*_conditions(shape)).order_by(entries.c.id.desc())
    return found.limit(bindparam("limit")).offset(bindparam("offset"))


@lru_cache(maxsize=256)
def _count_statement(shape: _Shape) -> Select[Any]:
    return select(func.count()).select_from(entries).where(*_conditions(shape))


def _conditions(shape: _Shape) -> list[ColumnElement[bool]]:
    # Status and star stand as literals: neither engine uses a partial index for a parameter.
    owner = dialect.off_index(entries.c.user_id) if shape.is_narrow else entries.c.user_id
    conditions = [owner == bindparam("user"), *_status_conditions(shape.statuses)]
    if shape.starred is not None:
        conditions.append(_literal(f"entries.starred = {str(shape.starred).lower()}"))
    conditions += [_BOUNDS[name] for name in shape.bounds]
    if shape.hidden:
        conditions.append(entries.c.feed_id.not_in(bindparam("hidden", expanding=True)))
    conditions += [_has_tag(number) for number in range(shape.tags)]
    if shape.search:
        matches = dialect.matches(entries.c.id, bindparam("question"))
        conditions.append(matches if shape.search == "matches" else ~matches)
    return conditions


def _status_conditions(statuses: tuple[Status, ...]) -> list[ColumnElement[bool]]:
    if len(statuses) == 1:
        return [_literal(f"entries.status = {int(statuses[0])}")]
    # Of two, the third is left out. Asked for as a range or a list, SQLite would take them from the index by status,
    # and then sort them all.
    return [_literal(f"entries.status <> {int(status)}") for status in Status if status not in statuses]


def _literal(condition: str) -> ColumnElement[bool]:
    return cast("ColumnElement[bool]", text(condition))


def _has_tag(number: int) -> ColumnElement[bool]:
    tagged = select(entry_tags.c.entry_id).where(
        entry_tags.c.user_id == bindparam("user"), entry_tags.c.tag == bindparam(f"tag_{number}")
    )
    return entries.c.id.in_(tagged)


def _parameters(user_id: int, which: EntryFilter, hidden: list[int]) -> dict[str, Any]:
    parameters: dict[str, Any] = {"user": user_id}
    parameters |= {name: value for name in _BOUNDS if (value := getattr(which, name)) is not None}
    parameters |= {f"tag_{number}": tag for number, tag in enumerate(which.tags)}
    if hidden:
        parameters["hidden"] = hidden
    return parameters


def _total(db: Read, shape: _Shape, which: EntryFilter, parameters: dict[str, Any]) -> int:
    if not shape.counted:
        return cast("int", db.scalar(_count_statement(shape), **parameters))
    wanted = ("feed_id", "category_id", "user", "hidden")
    counts = db.tuples(_sums(shape.bounds, shape.hidden), **{k: parameters[k] for k in wanted if k in parameters})[0]
    unread, read, starred_unread, starred_read = (int(number or 0) for number in counts)
    by_status = {Status.UNREAD: (unread, starred_unread), Status.READ: (read, starred_read)}
    chosen = [by_status[status] for status in shape.statuses]
    if which.starred is None:
        return sum(every for every, _ in chosen)
    return sum(starred if which.starred else every - starred for every, starred in chosen)


@lru_cache(maxsize=16)
def _sums(bounds: tuple[str, ...], hidden: bool) -> Select[Any]:
    counts = feed_counters.c
    statement = select(
        func.sum(counts.unread),
        func.sum(counts.read),
        func.sum(counts.starred_unread),
        func.sum(counts.starred_read),
    ).where(counts.user_id == bindparam("user"))
    if "feed_id" in bounds:
        statement = statement.where(counts.feed_id == bindparam("feed_id"))
    if "category_id" in bounds:
        statement = statement.select_from(feed_counters.join(feeds, feeds.c.id == counts.feed_id)).where(
            feeds.c.category_id == bindparam("category_id")
        )
    if hidden:
        statement = statement.where(counts.feed_id.not_in(bindparam("hidden", expanding=True)))
    return statement
