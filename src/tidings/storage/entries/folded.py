"""Folded entries in lists of apps, for users who want to see them there (`domain.entries.entries.Folded`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Select, and_, bindparam, case, func, literal_column, select

from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Folded
from tidings.engine import full_text
from tidings.engine.database import Read
from tidings.engine.statements import in_list, joined
from tidings.storage.entries import counters
from tidings.storage.entries.counters import FeedCounters
from tidings.storage.schema import duplicates, entries, users


class FoldedCounts(Struct, frozen=True):
    """How many entries of a feed are folded, and of these, how many under an unread one."""

    feed_id: int
    total: int
    unread: int


_original = entries.alias("original")
_is_original = and_(_original.c.id == duplicates.c.original_id, _original.c.user_id == duplicates.c.user_id)
_with_original = duplicates.join(_original, _is_original)
_is_owned = duplicates.c.user_id == bindparam("user")
_own_entry = full_text.without_index(entries.c.user_id) == bindparam("user")
# Literals, as in partial indexes.
_is_folded: ColumnElement[bool] = literal_column("entries.status = 3")
_under_unread = (
    select(duplicates.c.entry_id)
    .select_from(_with_original)
    .where(
        _is_owned,
        full_text.without_index(_original.c.user_id) == bindparam("user"),
        literal_column("original.status = 0"),
    )
)
is_under_unread: ColumnElement[bool] = and_(_is_folded, entries.c.id.in_(_under_unread))
"""The condition that an entry is folded under an unread one. Parameter: user."""

_folded = duplicates.join(entries, entries.c.id == duplicates.c.entry_id)
_select_counts = (
    select(
        entries.c.feed_id,
        func.count().label("total"),
        func.sum(case((literal_column("original.status = 0"), 1), else_=0)).label("unread"),
    )
    .select_from(_folded.join(_original, _is_original))
    .where(_is_owned, _own_entry, _is_folded)
    .group_by(entries.c.feed_id)
)
_select_unread_of_categories = (
    select(entries.c.category_id, func.count().label("unread"))
    .select_from(_folded)
    .where(_is_owned, _own_entry, is_under_unread)
    .group_by(entries.c.category_id)
)
_select_unread_ids: Select[Any] = (
    select(joined(entries.c.id)).select_from(_folded).where(_is_owned, _own_entry, is_under_unread)
)
_select_statuses = (
    select(duplicates.c.entry_id, _original.c.status)
    .select_from(_with_original)
    .where(_is_owned, in_list(duplicates.c.entry_id, "ids"))
)


_select_setting = select(users.c.duplicates, users.c.duplicates_in_apps).where(users.c.id == bindparam("user"))


def seen_by_apps(db: Read, user_id: int) -> Folded:
    """Return what the apps of a user see of folded entries."""
    (row,) = db.rows(_select_setting, user=user_id) or ({"duplicates": "off"},)
    return Folded(row["duplicates_in_apps"]) if row["duplicates"] == "fold" else Folded.HIDE


def counts(db: Read, user_id: int) -> dict[int, FoldedCounts]:
    """Return the number of folded entries of each feed that has any, by feed id."""
    rows = db.rows(_select_counts, user=user_id)
    return {row["feed_id"]: FoldedCounts(row["feed_id"], row["total"], int(row["unread"])) for row in rows}


def counters_for_apps(db: Read, user: User) -> list[FeedCounters]:
    """Return the counters of the user's feeds as apps see them."""
    found, folded_as = counters.list_all(db, user.id), Folded.for_apps(user)
    if folded_as is Folded.HIDE:
        return found
    folded = counts(db, user.id)
    nothing = FoldedCounts(0, 0, 0)
    return [
        replace(feed, unread=feed.unread + of.unread, read=feed.read + of.total - of.unread)
        if folded_as is Folded.ALL
        else replace(feed, read=feed.read + of.total)
        for feed in found
        for of in (folded.get(feed.feed_id, nothing),)
    ]


def unread_of_categories(db: Read, user: User) -> dict[int, int]:
    """Return how many entries apps see as unread that are folded, by category id."""
    if Folded.for_apps(user) is not Folded.ALL:
        return {}
    return {row["category_id"]: row["unread"] for row in db.rows(_select_unread_of_categories, user=user.id)}


def unread_of_feeds(db: Read, user: User) -> dict[int, int]:
    """Return how many entries apps see as unread that are folded, by feed id."""
    if Folded.for_apps(user) is not Folded.ALL:
        return {}
    return {feed_id: of.unread for feed_id, of in counts(db, user.id).items()}


def joined_unread_ids(db: Read, user_id: int) -> str:
    """Return the ids of entries that are folded under unread ones, separated by commas."""
    return cast("str", db.scalar(_select_unread_ids, user=user_id) or "")


def originals(
    db: Read, user_id: int, conditions: Sequence[ColumnElement[bool]], parameters: Mapping[str, Any]
) -> list[int]:
    """Return the unread entries that represent folded ones that meet conditions."""
    statement = select(duplicates.c.original_id).distinct().select_from(_folded)
    found = statement.where(_is_owned, _own_entry, is_under_unread, *conditions)
    return sorted(db.scalars(found, **parameters, user=user_id))


def statuses(db: Read, user_id: int, entry_ids: Collection[int]) -> dict[int, int]:
    """Return the statuses of the entries that represent folded ones, by the ids of these."""
    found = db.tuples(_select_statuses, user=user_id, ids=sorted(entry_ids)) if entry_ids else ()
    return {entry_id: int(status) for entry_id, status in found}
