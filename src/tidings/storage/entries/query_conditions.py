"""The SQL conditions of queries, built from their shape: a tree without values, under which statements are cached.

`storage.entries.query_filter` makes the shape and the values. Conditions are tested on the entries of a list in its
order, or on the few that the rest of the list leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, and_, bindparam, exists, false, func, not_, or_, select, true

from tidings.engine import full_text
from tidings.engine.statements import in_list
from tidings.engine.text_conditions import ascii_lower, contains
from tidings.storage.schema import enclosures, entries, entry_labels, entry_tags
from tidings.storage.schema.archive import author_prefix

# ("and", shape, …), ("or", shape, …), ("not", shape), or the name of a condition with what it needs. The values are
# parameters, whose names begin with the one in the shape.
Shape: TypeAlias = tuple[Any, ...]

TRUE: Shape = ("true",)
FALSE: Shape = ("false",)


def names_few_entries(shape: Shape) -> bool:
    """Return whether a condition names the entries themselves, and these are few."""
    return shape[0] == "few" or (shape[0] == "and" and any(part[0] == "few" for part in shape[1:]))


def query_condition(shape: Shape) -> ColumnElement[bool]:
    """Return the condition of a shape."""
    kind, *parts = shape
    if kind == "and":
        return and_(*map(query_condition, parts))
    if kind == "or":
        return or_(*map(query_condition, parts))
    if kind == "not":
        return not_(query_condition(parts[0]))
    return _CONDITIONS[kind](*parts)


# Lists are read in their order: SQLite would rather begin with these.
_id = full_text.without_index(entries.c.id)


def _matches(name: str) -> ColumnElement[Any]:
    return full_text.is_in_matches(entries.c.id, bindparam(name))


def _time(column: str, name: str, has_first: bool, has_end: bool) -> ColumnElement[bool]:
    moment = full_text.without_index(entries.c[column])
    bounds = [moment >= bindparam(f"{name}_first")] if has_first else []
    return and_(true(), *bounds, *([moment < bindparam(f"{name}_end")] if has_end else []))


def _labelled(name: str) -> ColumnElement[bool]:
    labelled = select(entry_labels.c.entry_id).where(
        entry_labels.c.user_id == bindparam("user"), in_list(entry_labels.c.label_id, name)
    )
    return _id.in_(labelled)


def _tagged(name: str, is_prefix: bool) -> ColumnElement[bool]:
    tag = entry_tags.c.tag
    key = and_(tag >= bindparam(name), tag < bindparam(f"{name}_end")) if is_prefix else tag == bindparam(name)
    return _id.in_(select(entry_tags.c.entry_id).where(entry_tags.c.user_id == bindparam("user"), key))


def _attached(kind: str) -> ColumnElement[bool]:
    attached = exists().where(enclosures.c.entry_id == entries.c.id, enclosures.c.user_id == bindparam("user"))
    return attached.where(func.substr(enclosures.c.mime_type, 1, len(kind) + 1) == f"{kind}/") if kind else attached


def _language(name: str) -> ColumnElement[bool]:
    # de- is the beginning of de- and de-at-, not of den-.
    language = ascii_lower(entries.c.language).op("||")("-")
    return func.substr(language, 1, bindparam(f"{name}_length")) == bindparam(name)


_CONDITIONS: dict[str, Callable[..., ColumnElement[Any]]] = {
    "true": true,
    "false": false,
    "matches": _matches,
    "feeds": lambda name: in_list(full_text.without_index(entries.c.feed_id), name),
    "categories": lambda name: in_list(full_text.without_index(entries.c.category_id), name),
    "authors": lambda name: in_list(author_prefix, name),
    "ids": lambda name: in_list(_id, name),
    "few": lambda name: in_list(entries.c.id, name),
    "labels": _labelled,
    "tag": _tagged,
    "url": lambda name: contains(ascii_lower(entries.c.url), bindparam(name)),
    "language": _language,
    "attached": _attached,
    "status": lambda status: full_text.without_index(entries.c.status) == status,
    "starred": lambda: entries.c.starred.is_(true()),
    "shared": lambda: entries.c.share_code != "",
    "minutes": lambda name: entries.c.reading_time.between(bindparam(f"{name}_first"), bindparam(f"{name}_last")),
    "words": lambda name: full_text.has_words(
        _id, bindparam("user"), bindparam(f"{name}_first"), bindparam(f"{name}_last")
    ),
    "time": _time,
}
