"""The SQL conditions of queries, built from their shape: a tree without values, under which statements are cached.

`storage.entries.query_filter` makes the shape and the values. A page tests conditions on the entries of a list in its
order, or on the few that the rest of the list leaves. A count needs no order: indexes find its entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Select,
    TextualSelect,
    and_,
    bindparam,
    distinct,
    false,
    func,
    literal_column,
    not_,
    or_,
    select,
    true,
)

from tidings.engine import full_text
from tidings.engine.database import Read
from tidings.engine.statements import in_list
from tidings.engine.text_conditions import contains
from tidings.storage.schema import duplicates, enclosures, entries, entry_labels, entry_tags
from tidings.storage.schema.archive import author_prefix, enclosure_kind, language_prefix

# ("and", shape, …), ("or", shape, …), ("not", shape), or the name of a condition with what it needs. The values are
# parameters, whose names begin with the one in the shape.
Shape: TypeAlias = tuple[Any, ...]
# The condition that makes SQLite test all entries of a user in the order of the table.
FROM_THE_FIRST: ColumnElement[bool] = literal_column("entries.id > 0")
# How a condition uses a column: as it is, or `without_index`.
Use: TypeAlias = Callable[[ColumnElement[Any]], ColumnElement[Any]]

TRUE: Shape = ("true",)
FALSE: Shape = ("false",)


def names_few_entries(shape: Shape) -> bool:
    """Return whether a condition names the entries themselves, and these are few."""
    return shape[0] == "few" or (shape[0] == "and" and any(part[0] == "few" for part in shape[1:]))


def lists_entries(shape: Shape) -> bool:
    """Return whether indexes list every entry that can match, so that no other one has to be read."""
    kind, *parts = shape
    if kind == "and":
        return any(map(lists_entries, parts))
    if kind == "or":
        return all(map(lists_entries, parts))
    return kind in _LISTS or kind in ("matches", "words", "ids", "few")


def list_of(db: Read, shape: Shape, *, tests_everything: bool = False) -> Select[Any] | TextualSelect | None:
    """Return the SELECT of the ids that one condition lists, possibly some more than once; None if it lists none.

    tests_everything: even if that takes a test of each entry of the user. Parameter: limit.
    """
    kind, *parts = shape
    found = select(entries.c.id).where(entries.c.user_id == bindparam("user")).limit(bindparam("limit"))
    if kind == "minutes":
        return found.where(_TESTED[kind](_as_it_is, *parts))
    if kind == "url" and tests_everything:
        # In the order of the table: in the order of a list, SQLite takes twice as long to find that few match.
        return found.where(FROM_THE_FIRST, _TESTED[kind](_as_it_is, *parts))
    if kind == "matches":
        return full_text.select_matches(db, parts[0], has_shared=parts[1])
    if kind == "words":
        return full_text.select_with_words(db, f"{parts[0]}_first", f"{parts[0]}_last")
    return _LISTS[kind](_as_it_is, *parts).limit(bindparam("limit")) if kind in _LISTS else None


def query_condition(shape: Shape, *, is_counted: bool = False) -> ColumnElement[bool]:
    """Return the condition of a shape."""
    kind, *parts = shape
    if kind == "and":
        return and_(*(query_condition(part, is_counted=is_counted) for part in parts))
    if kind == "or":
        return or_(*(query_condition(part, is_counted=is_counted) for part in parts))
    if kind == "not":
        return not_(query_condition(parts[0], is_counted=is_counted))
    # Lists are read in their order: SQLite would rather begin with these conditions.
    use: Use = _as_it_is if is_counted else full_text.without_index
    if kind in _LISTS:
        return entries.c.id.in_(_LISTS[kind](_as_it_is, *parts)) if is_counted else is_listed(shape)
    if is_counted and kind in _COUNTED:
        return _COUNTED[kind](*parts)
    return _TESTED[kind](use, *parts)


def is_listed(shape: Shape) -> ColumnElement[bool]:
    """Return the condition that an entry is in a list of an index, which is not where an engine begins."""
    kind, *parts = shape
    rows = _LISTS[kind](full_text.without_index, *parts)
    has_row = rows.where(rows.selected_columns[0] == entries.c.id).correlate(entries).exists()
    return full_text.is_listed(entries.c.id.in_(_LISTS[kind](_as_it_is, *parts)), has_row)


def count_listed(shape: Shape) -> tuple[ColumnElement[int], ColumnElement[Any]]:
    """Return how many entries an index lists under a condition of IN_ONE_INDEX, and the condition for a single entry.

    Those that lists do not show are among them.
    """
    kind, *parts = shape
    if kind == "words":
        words = _word_counts(parts[0])
        return full_text.count_with_words(*words), full_text.has_words_itself(entries.c.id, *words)
    ids = _LISTS[kind](_as_it_is, *parts)
    number = ids.with_only_columns(func.count(distinct(ids.selected_columns[0])))
    return number.scalar_subquery(), is_listed(shape)


def count_listed_up_to(shape: Shape) -> ColumnElement[int]:
    """Return how many entries an index lists under a condition of IN_ONE_INDEX, at most as many as parameter `most`."""
    kind, *parts = shape
    if kind == "words":
        return full_text.count_with_words_up_to(*_word_counts(parts[0]), bindparam("most"))
    found = _LISTS[kind](_as_it_is, *parts).distinct().limit(bindparam("most")).subquery()
    return select(func.count()).select_from(found).scalar_subquery()


def _as_it_is(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return column


def _expression(name: str, has_shared: bool) -> ColumnElement[Any]:
    return full_text.query_expression(bindparam(name), has_shared=has_shared)


def _labelled(_use: Use, name: str) -> Select[Any]:
    return select(entry_labels.c.entry_id).where(
        entry_labels.c.user_id == bindparam("user"), in_list(entry_labels.c.label_id, name)
    )


def _tagged(use: Use, name: str, is_prefix: bool) -> Select[Any]:
    tagged, user_id, tag = select(entry_tags.c.entry_id), entry_tags.c.user_id, entry_tags.c.tag
    if not is_prefix:
        return tagged.where(user_id == bindparam("user"), tag == bindparam(name))
    return tagged.where(
        use(user_id) == bindparam("user"), use(tag) >= bindparam(name), use(tag) < bindparam(f"{name}_end")
    )


def _attached(use: Use, kind: str) -> Select[Any]:
    attached, user_id = select(enclosures.c.entry_id), enclosures.c.user_id
    if kind:
        return attached.where(user_id == bindparam("user"), enclosure_kind == f"{kind}/")
    return attached.where(use(user_id) == bindparam("user"))


def _duplicated(use: Use) -> Select[Any]:
    return select(duplicates.c.entry_id).where(use(duplicates.c.user_id) == bindparam("user"))


_other = entries.alias("other")


def _others(condition: str) -> Select[Any]:
    # A literal, since neither engine uses a partial index for a condition with a parameter.
    chosen: ColumnElement[bool] = literal_column(condition)
    return select(_other.c.id).where(_other.c.user_id == bindparam("user"), chosen)


def _time(use: Use, column: str, name: str, has_first: bool, has_end: bool) -> ColumnElement[bool]:
    moment = use(entries.c[column])
    bounds = [moment >= bindparam(f"{name}_first")] if has_first else []
    return and_(true(), *bounds, *([moment < bindparam(f"{name}_end")] if has_end else []))


def _took_minutes(use: Use, name: str) -> ColumnElement[bool]:
    return use(entries.c.reading_time).between(bindparam(f"{name}_first"), bindparam(f"{name}_last"))


def _word_counts(name: str) -> tuple[ColumnElement[Any], ...]:
    return bindparam("user"), bindparam(f"{name}_first"), bindparam(f"{name}_last")


# The lists of entries that indexes have. For a single entry, columns by which no index finds it are `without_index`.
_LISTS: dict[str, Callable[..., Select[Any]]] = {
    "labels": _labelled,
    "tag": _tagged,
    "attached": _attached,
    "starred": lambda _use: _others("other.starred = true"),
    "hidden": lambda _use: _others("other.hidden = true"),
    "duplicates": _duplicated,
    # The first as in the partial index; the second is a range, for which SQLite uses it.
    "shared": lambda _use: _others("other.share_code <> '' AND other.share_code > ''"),
}
# Conditions whose entries are counted in the index alone.
IN_ONE_INDEX = ("words", "attached", "labels", "tag")
_COUNTED: dict[str, Callable[..., ColumnElement[Any]]] = {
    "matches": lambda name, has_shared: full_text.matches(entries.c.id, _expression(name, has_shared)),
    "words": lambda name: full_text.has_words(entries.c.id, *_word_counts(name)),
}
_TESTED: dict[str, Callable[..., ColumnElement[Any]]] = {
    "true": lambda _use: true(),
    "false": lambda _use: false(),
    "few": lambda _use, name: in_list(entries.c.id, name),
    "ids": lambda use, name: in_list(use(entries.c.id), name),
    "matches": lambda _use, name, has_shared: full_text.is_in_matches(entries.c.id, _expression(name, has_shared)),
    # Mostly many have as many words: each entry is tested.
    "words": lambda _use, name: full_text.has_words_itself(entries.c.id, *_word_counts(name)),
    "feeds": lambda use, name: in_list(use(entries.c.feed_id), name),
    "categories": lambda use, name: in_list(use(entries.c.category_id), name),
    "authors": lambda use, name: in_list(use(author_prefix), name),
    "languages": lambda use, name: in_list(use(language_prefix), name),
    "url": lambda _use, name: contains(entries.c.url, bindparam(name)),
    "status": lambda use, status: use(entries.c.status) == status,
    "minutes": _took_minutes,
    "time": _time,
}
