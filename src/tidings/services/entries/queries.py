"""Reads queries of the query language for lists of entries."""

from __future__ import annotations

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.query import parse
from tidings.query.model import DatedQuery, View, leaves


def dated_query(text: str, *, now: Instant, zone: str) -> DatedQuery | None:
    """Return the query that a text asks now in a time zone; None if it is blank.

    Raises QueryError, which has the position, and InvalidField for a saved view, of which there are none.
    """
    if not text.strip():
        return None
    tree = parse(text)
    for leaf in leaves(tree):
        if isinstance(leaf, View):
            raise InvalidField("query", msg("there is no saved view {name}.", name=leaf.name))
    return DatedQuery(tree, now, zone)
