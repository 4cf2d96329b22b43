"""Whose rows are joined: statements join rows of one user, by ids that are unique anyway."""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause

from tidings.engine.full_text import without_index


def of_same_user(one: FromClause, other: FromClause) -> ColumnElement[bool]:
    """Return the condition that rows of two tables belong to the same user.

    It stands next to the ids in a join or a subquery. An engine that distributes rows by user then finds both on one
    node. SQLite does not search by it, since the ids find fewer rows.
    """
    return without_index(one.c.user_id) == without_index(other.c.user_id)
