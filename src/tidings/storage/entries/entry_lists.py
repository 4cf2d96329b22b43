"""Pages of entries in any order and under any filter.

A page reads the narrow rows through the index of its order; bodies and enclosures follow for these rows alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from msgspec import Struct
from sqlalchemy import Select, bindparam, func, select

from tidings.domain.entries.entries import Enclosure, Entry, EntryFilter, EntryStatus, PageRequest
from tidings.storage.engine import full_text
from tidings.storage.engine.database import Read, columns
from tidings.storage.engine.id_list import in_list
from tidings.storage.entries import search_index
from tidings.storage.entries.list_statements import (
    BOUNDS,
    NOTHING,
    EntryListQuery,
    count_statement,
    ids_statement,
    page_statement,
    place_of,
)
from tidings.storage.entries.search_plan import SearchMatches, find_matches
from tidings.storage.feeds import feeds as feed_rows
from tidings.storage.schema import enclosures, entry_contents, feed_counters, feeds


class EntryPage(Struct, frozen=True):
    """contents and enclosures: by entry id."""

    total: int
    entries: list[Entry]
    contents: dict[int, str]
    enclosures: dict[int, list[Enclosure]]


class _BoundQuery(Struct, frozen=True):
    """most: how many entries may be asked one by one whether they match what is searched for."""

    shape: EntryListQuery
    parameters: dict[str, Any]
    most: int


def page(db: Read, user_id: int, which: EntryFilter, page: PageRequest) -> EntryPage:
    asked = _bound_query(db, user_id, which)
    if asked is None:
        return EntryPage(0, [], {}, {})
    found = _look(db, asked, page)
    listed = _rows(db, asked, page, found)
    if found and found.is_all and page.cursor is None:
        return with_bodies(db, listed, total=len(found.ids))
    return with_bodies(db, listed, total=_total(db, _counted(db, asked.shape, found), which, asked.parameters))


def rows(db: Read, user_id: int, which: EntryFilter, page: PageRequest) -> list[Entry]:
    """Entries alone, without their bodies and how many there are."""
    asked = _bound_query(db, user_id, which)
    return [] if asked is None else _rows(db, asked, page, _look(db, asked, page))


def _bound_query(db: Read, user_id: int, which: EntryFilter) -> _BoundQuery | None:
    """None when nothing can be found."""
    hidden = feed_rows.hidden(db, user_id) if which.globally_visible else []
    questions = search_index.questions(db, user_id, which.search)
    question = questions[""]
    if which.search and question == NOTHING:
        return None
    shape = EntryListQuery.of(which, hidden=bool(hidden), question=question)
    parameters = _parameters(user_id, which, hidden)
    if not shape.search:
        return _BoundQuery(shape, parameters, 0)
    parameters["question"] = full_text.match_expression(db, user_id, questions)
    return _BoundQuery(shape, parameters, full_text.max_single_matches(db, questions))


def _look(db: Read, asked: _BoundQuery, page: PageRequest) -> SearchMatches | None:
    if asked.most:
        return find_matches(db, asked.shape, page, asked.parameters, most=asked.most)
    if asked.shape.search == "matches" and full_text.is_frequent(db, asked.parameters["question"]):
        return SearchMatches(is_frequent=True)
    return None


def _rows(db: Read, asked: _BoundQuery, page: PageRequest, found: SearchMatches | None) -> list[Entry]:
    shape, parameters, has_place = asked.shape, asked.parameters, page.cursor is not None
    if found and found.is_enough:
        # Their place is known: they were looked for from there on.
        shape, parameters, has_place = shape._replace(search="is given"), parameters | {"given": found.ids}, False
    elif found and found.is_frequent and shape.search == "matches":
        shape = shape._replace(search="is among it")
    statement = page_statement(shape, page.order, page.direction, has_place=has_place)
    return db.all(Entry, statement, **parameters, **place_of(page), limit=page.limit, offset=page.offset)


def _counted(db: Read, shape: EntryListQuery, found: SearchMatches | None) -> EntryListQuery:
    """SQLite counts what was found faster than it looks whether something was found."""
    if found and found.is_frequent and shape.search == "matches" and full_text.counts_by_looking_up(db):
        return shape._replace(search="is among it")
    return shape


def with_bodies(db: Read, rows: list[Entry], *, total: int = 0) -> EntryPage:
    ids = [row.id for row in rows]
    contents = bodies(db, ids)
    attached: dict[int, list[Enclosure]] = {}
    owners = sorted({row.user_id for row in rows})
    for enclosure in db.all(Enclosure, _enclosures, users=owners, ids=ids):
        attached.setdefault(enclosure.entry_id, []).append(enclosure)
    return EntryPage(total, rows, contents, attached)


def bodies(db: Read, entry_ids: list[int]) -> dict[int, str]:
    """By entry id: of entries that are known to be the user's."""
    return dict(db.tuples(_contents, ids=entry_ids))


def ids(db: Read, user_id: int, which: EntryFilter, *, limit: int, offset: int) -> tuple[int, list[int]]:
    """How many there are, and a page of their ids, newest first. A search in the filter is not heard."""
    shape = EntryListQuery.of(which, hidden=False)
    parameters = _parameters(user_id, which, [])
    found = db.scalars(ids_statement(shape), **parameters, limit=limit, offset=offset)
    return _total(db, shape, which, parameters), found


_contents = select(entry_contents.c.entry_id, entry_contents.c.content).where(in_list(entry_contents.c.entry_id, "ids"))
_enclosures = (
    select(*columns(enclosures, Enclosure))
    .where(in_list(enclosures.c.user_id, "users"), in_list(enclosures.c.entry_id, "ids"))
    .order_by(enclosures.c.entry_id, enclosures.c.id)
)


def _parameters(user_id: int, which: EntryFilter, hidden: list[int]) -> dict[str, Any]:
    parameters: dict[str, Any] = {"user": user_id}
    parameters |= {name: value for name in BOUNDS if (value := getattr(which, name)) is not None}
    parameters |= {f"tag_{number}": tag for number, tag in enumerate(which.tags)}
    if hidden:
        parameters["hidden"] = hidden
    return parameters


def _total(db: Read, shape: EntryListQuery, which: EntryFilter, parameters: dict[str, Any]) -> int:
    if not shape.counted:
        return cast("int", db.scalar(count_statement(shape), **parameters))
    wanted = ("feed_id", "category_id", "user", "hidden")
    counts = db.tuples(_sums(shape.bounds, shape.hidden), **{k: parameters[k] for k in wanted if k in parameters})[0]
    unread, read, starred_unread, starred_read = (int(number or 0) for number in counts)
    by_status = {EntryStatus.UNREAD: (unread, starred_unread), EntryStatus.READ: (read, starred_read)}
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
