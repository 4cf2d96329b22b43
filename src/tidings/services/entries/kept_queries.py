"""Reads queries that are tried on entries in memory, in which `S:name` is the query of a saved view."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Final

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.engine.database import Read
from tidings.query import QueryError, Tree, normal_form, parse
from tidings.query.model import View, leaves
from tidings.services.entries.queries import Resolver
from tidings.services.listeners import Listeners

_parsed: Final = lru_cache(maxsize=4096)(parse)


class KeptQueries:
    """Reads queries of one user. The saved views are read when the first query names one, and are as they are then."""

    def __init__(self, db: Read, user_id: int, listeners: Listeners) -> None:
        self._db = db
        self._user_id = user_id
        self._listeners = listeners

    @cached_property
    def _resolver(self) -> Resolver:
        return Resolver(self._listeners.views_of(self._db, self._user_id))

    def tree(self, text: str) -> Tree:
        """Return the tree of a query. Raises QueryError.

        Raises InvalidField for a view that does not exist, refers to itself or makes the query too long.
        """
        tree = _parsed(text)
        return self._resolver.resolved(tree) if _names_views(tree) else tree

    def without_views(self, text: str) -> str:
        """Return a query in which the queries of views are in their place. Raises InvalidField as `tree`."""
        if not _names_views(_parsed(text)):
            return text
        written = normal_form(self.tree(text))
        try:
            parse(written)
        except QueryError as error:
            raise InvalidField("query", msg("with its saved views it is too long.")) from error
        return written


def _names_views(tree: Tree) -> bool:
    return any(isinstance(leaf, View) for leaf in leaves(tree))
