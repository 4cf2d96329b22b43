"""Counts the unread entries of many queries of one user together.

queries ─► those about feeds, categories and stars alone ─► the stored counters
        ─► all others                                    ─► one statement with a count for each
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import BindParameter, CompoundSelect, Select, bindparam, func, literal_column, select, union_all
from sqlalchemy.sql.visitors import replacement_traverse

from tidings.base.errors import InvalidField
from tidings.domain.entries.entries import EntryFilter, EntryStatus, Total
from tidings.engine.database import Read
from tidings.query.model import DatedQuery
from tidings.storage.entries.counters import counted_feeds
from tidings.storage.entries.entry_lists import BoundQuery, bound_query
from tidings.storage.entries.list_statements import EntryListQuery, count_up_to_statement
from tidings.storage.entries.query_conditions import FALSE, TRUE, Shape
from tidings.storage.entries.query_filter import QueryNames
from tidings.storage.schema import feed_counters, feeds

_select_counters = (
    select(
        feed_counters.c.feed_id,
        feeds.c.category_id,
        feed_counters.c.unread - feed_counters.c.starred_unread,
        feed_counters.c.starred_unread,
    )
    .select_from(counted_feeds)
    .where(feed_counters.c.user_id == bindparam("user"), feed_counters.c.unread > 0)
)
# Each number is below 2^53: the sum of thousands must fit a column of 64 bits.
_select_state = select(func.count(), func.sum(feed_counters.c.version % literal_column("1000000007"))).where(
    feed_counters.c.user_id == bindparam("user")
)


def state(db: Read, user_id: int) -> tuple[int, int]:
    """Return what is another one after entries of the user were added, removed, read, starred or moved."""
    ((count, versions),) = db.tuples(_select_state, user=user_id)
    return int(count), int(versions or 0)


def count(db: Read, user_id: int, queries: Mapping[int, DatedQuery], *, up_to: int) -> dict[int, Total]:
    """Return the number of unread entries that match each query.

    up_to: where counting stops, except for what the stored counters say. A query is missing if it cannot be answered:
    its regular expressions take too long.
    """
    names = QueryNames(db, user_id)
    counts: dict[int, Total] = {}
    bound: dict[int, BoundQuery] = {}
    for number, query in queries.items():
        unread = EntryFilter(statuses=(EntryStatus.UNREAD,), query=query)
        with suppress(InvalidField):
            found = bound_query(db, user_id, unread, counted_names=names)
            if found is None:
                counts[number] = Total(0)
            elif found.total is not None:
                counts[number] = Total(found.total)
            else:
                bound[number] = found
    stored = {number: one for number, one in bound.items() if _is_stored(one.query)}
    if stored:
        counters = db.tuples(_select_counters, user=user_id)
        counts |= {number: Total(_from_counters(one, counters)) for number, one in stored.items()}
    if others := [(number, one) for number, one in bound.items() if number not in stored]:
        counts |= _counted(db, user_id, others, up_to)
    return counts


def _counted(db: Read, user_id: int, bound: Sequence[tuple[int, BoundQuery]], up_to: int) -> dict[int, Total]:
    statement = _count_statement(tuple(one.query for _, one in bound))
    parameters: dict[str, Any] = {"user": user_id, "most": up_to + 1}
    for place, (_, one) in enumerate(bound):
        parameters |= {_name(place, name): value for name, value in one.parameters.items() if name != "user"}
    found = dict(db.tuples(statement, **parameters))
    return {
        number: Total(min(found[place], up_to), is_exact=found[place] <= up_to)
        for place, (number, _) in enumerate(bound)
    }


@lru_cache(maxsize=256)
def _count_statement(queries: tuple[EntryListQuery, ...]) -> Select[Any] | CompoundSelect[Any]:
    """Return the SELECT of the place and the total of each list. Their parameters begin with the place.

    Counting stops at parameter `most`.
    """
    selects = [_count_at(query, place) for place, query in enumerate(queries)]
    return selects[0] if len(selects) == 1 else union_all(*selects)


@lru_cache(maxsize=2048)
def _count_at(query: EntryListQuery, place: int) -> Select[Any]:
    def renamed(element: Any, **_: Any) -> Any:
        if not isinstance(element, BindParameter) or element.key in ("user", "most") or element.unique:
            return None
        return bindparam(
            _name(place, element.key),
            type_=element.type,
            expanding=element.expanding,
            literal_execute=element.literal_execute,
        )

    counted: Any = replacement_traverse(count_up_to_statement(query), {}, renamed)
    return cast("Select[Any]", counted.with_only_columns(literal_column(str(place)), func.count()))


def _name(place: int, parameter: str) -> str:
    return f"n{place}_{parameter}"


def _is_stored(query: EntryListQuery) -> bool:
    """Return whether the number of unread entries in a list follows from the counters of feeds alone."""
    has_hidden = query.hidden_entries is None
    return has_hidden and query._replace(rest=TRUE).has_stored_total and _is_about_feeds(query.rest)


def _is_about_feeds(shape: Shape) -> bool:
    kind, *parts = shape
    if kind in ("and", "or", "not"):
        return all(map(_is_about_feeds, parts))
    return shape in (TRUE, FALSE) or kind in ("feeds", "categories", "starred", "status")


def _from_counters(bound: BoundQuery, counters: Sequence[Any]) -> int:
    query, parameters = bound.query, bound.parameters
    total = 0
    for feed_id, category_id, plain, starred in counters:
        if parameters.get("feed_id", feed_id) != feed_id:
            continue
        if parameters.get("category_id", category_id) != category_id:
            continue
        is_inside = category_id in parameters.get("category_ids", (category_id,))
        if not is_inside and feed_id not in parameters.get("further_feeds", ()):
            continue
        for is_starred, times in ((False, plain), (True, starred)):
            if query.starred in (None, is_starred) and times:
                entry = {"feeds": feed_id, "categories": category_id, "starred": is_starred}
                total += times if _matches(query.rest, parameters, entry) else 0
    return total


def _matches(shape: Shape, parameters: Mapping[str, Any], entry: Mapping[str, int]) -> bool:
    """Return whether an unread entry matches a condition about feeds. entry: its values by kind of condition."""
    kind, *parts = shape
    match kind:
        case "and":
            return all(_matches(part, parameters, entry) for part in parts)
        case "or":
            return any(_matches(part, parameters, entry) for part in parts)
        case "not":
            return not _matches(parts[0], parameters, entry)
        case "starred":
            return bool(entry["starred"])
        case "status":
            return bool(parts[0] == EntryStatus.UNREAD)
        case "feeds" | "categories":
            return entry[kind] in parameters[parts[0]]
        case _:
            return shape == TRUE
