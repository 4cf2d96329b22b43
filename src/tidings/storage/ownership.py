"""Whose rows are joined: statements join rows of one user, by ids that are unique anyway."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, FromClause, bindparam

from tidings.engine.full_text import without_index
from tidings.engine.statements import if_distributed


def users_and_feeds(owned: Collection[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the ids of users and those of feeds, in their order. owned: user id and feed id of each feed."""
    return sorted({user_id for user_id, _ in owned}), sorted({feed_id for _, feed_id in owned})


def of_same_user(one: FromClause, other: FromClause) -> ColumnElement[bool]:
    """Return the condition that rows of two tables belong to the same user.

    It stands next to the ids in a join or a subquery. An engine that distributes rows by user then finds both on one
    node. SQLite does not search by it, since the ids find fewer rows.
    """
    return without_index(one.c.user_id) == without_index(other.c.user_id)


def is_own(table: FromClause, outer: FromClause) -> ColumnElement[bool]:
    """Return `of_same_user` for a subquery whose value is selected: of a statement for the parameter `user`.

    Where rows are distributed by user, the subquery has to name the user itself: from the rows around it, it is not
    concluded that all are on one node, and the statement would ask all of them.
    """
    return if_distributed(table.c.user_id == bindparam("user"), of_same_user(table, outer))
