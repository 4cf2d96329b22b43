"""Reads queries of the query language for lists of entries, and puts saved views in their place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from tidings.base.errors import InvalidField
from tidings.base.messages import Message, msg
from tidings.base.text import normalize_for_search
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.saved_views import SavedView
from tidings.engine.database import Database, Read
from tidings.query import QueryError, Tree, parse
from tidings.query.model import (
    DatedQuery,
    Id,
    IdField,
    Text,
    TextField,
    View,
    all_of,
    is_relative,
    leaves,
    replace_views,
)
from tidings.query.names import is_in_words
from tidings.query.parser import MAX_LEAVES
from tidings.services.clock import Clock
from tidings.services.listeners import KeptQuery, Listeners
from tidings.storage.feeds import categories, further_categories

# Views within views within views …
MAX_NESTED = 8


class Queries:
    """Queries of users, in which `S:name` is the query of a saved view."""

    def __init__(self, database: Database, clock: Clock, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners

    def dated(self, user: User, text: str) -> DatedQuery | None:
        """Return the query that a text asks now; None if it is blank.

        Raises QueryError, which has the position, and InvalidField for a saved view that does not exist, refers to
        itself or makes the query too long.
        """
        return self._dated(user, parse(text)) if text.strip() else None

    def views(self, db: Read, user_id: int) -> list[SavedView]:
        """Return the saved views of a user, in the order of the sidebar."""
        return self._listeners.views_of(db, user_id)

    def app_views(self, db: Read, user: User) -> dict[str, DatedQuery]:
        """Return the queries of the views that apps see as labels, by case-folded name.

        A view whose query cannot be read is missing.
        """
        views = self._listeners.views_of(db, user.id)
        resolver, now = Resolver(views), self._clock()
        found: dict[str, DatedQuery] = {}
        for view in views:
            if view.in_apps:
                with suppress(InvalidField):
                    tree = resolver.tree_of(view)
                    found[normalize_for_search(view.name)] = DatedQuery(tree, now, user.timezone)
        return found

    def of_view(self, user: User, view: SavedView) -> DatedQuery:
        """Return the query of a view now. Raises InvalidField as `dated`."""
        return self._dated(user, parse(view.query))

    def change_with_time(self, db: Read, user_id: int, asked: Callable[[SavedView], bool], *texts: str) -> bool:
        """Return whether what queries match depends on the time at which they are asked.

        asked: whether the query of a saved view is one of them. True for one that cannot be read.
        """
        views = self._listeners.views_of(db, user_id)
        resolver, asked_texts = Resolver(views), [*texts, *(view.query for view in views if asked(view))]
        try:
            return any(is_relative(resolver.resolved(_parsed(text))) for text in asked_texts if text.strip())
        except InvalidField:
            return True

    def uses(self, user_id: int, feeds: Mapping[int, str], paths: Mapping[int, str]) -> list[Message]:
        """Return the views and rules that are about some feeds or categories, as parts of a sentence.

        feeds: their titles, by id. paths: of the categories, by id.
        """
        with self._database.reading() as db:
            kept = self._listeners.queries_of(db, user_id)
        return [one.owner for one in kept if _names(one, feeds, paths)]

    def _dated(self, user: User, tree: Tree) -> DatedQuery:
        if any(isinstance(leaf, View) for leaf in leaves(tree)):
            with self._database.reading() as db:
                tree = resolved(tree, self._listeners.views_of(db, user.id))
        return DatedQuery(tree, self._clock(), user.timezone)


def both(one: DatedQuery | None, other: DatedQuery | None) -> DatedQuery | None:
    """Return the query of the entries that match both queries; None is a query that all entries match."""
    if one is None or other is None:
        return one or other
    # Times are relative to when the later one was asked: the other one may have none.
    later = max(one, other, key=lambda query: query.now)
    return DatedQuery(all_of((one.tree, other.tree)), later.now, later.zone)


def in_categories(
    db: Read, user_id: int, category_ids: Collection[int], query: DatedQuery | None
) -> tuple[int | None, DatedQuery | None] | None:
    """Return what a filter needs for the entries in all of some categories: one of these, and a query for the others.

    query: a query that entries match as well. None if nothing can match.
    """
    lowest = categories.lowest(db, user_id, category_ids)
    if lowest is not None or not category_ids:
        return lowest, query
    if not further_categories.of_user(db, user_id):
        return None
    first, *others = sorted(category_ids)
    is_in_others = all_of(Id(IdField.CATEGORY, one) for one in others)
    return first, both(query, DatedQuery(is_in_others, Instant(0), "UTC"))


def _names(kept: KeptQuery, feeds: Mapping[int, str], paths: Mapping[int, str]) -> bool:
    if kept.feed_id in feeds or kept.category_id in paths:
        return True
    try:
        found = list(leaves(_parsed(kept.query)))
    except QueryError:
        return False
    for leaf in found:
        match leaf:
            case Id(IdField.FEED, number) if number in feeds:
                return True
            case Id(IdField.CATEGORY, number) if number in paths:
                return True
            case Text(field=TextField.FEED) if any(is_in_words(leaf, title) for title in feeds.values()):
                return True
            case Text(field=TextField.CATEGORY) if any(is_in_words(leaf, path) for path in paths.values()):
                return True
    return False


def refers_to(text: str, view: SavedView) -> bool:
    """Return whether a query refers to a view by its name or number. A query that cannot be read refers to none."""
    try:
        tree = parse(text)
    except QueryError:
        return False
    known = {normalize_for_search(view.name), str(view.id)}
    return any(isinstance(leaf, View) and normalize_for_search(leaf.name) in known for leaf in leaves(tree))


def resolved(tree: Tree, views: Sequence[SavedView]) -> Tree:
    """Return the tree with the queries of saved views in their place. views: all of the user.

    Raises InvalidField for a view that does not exist or refers to itself, and for a query that gets too long.
    """
    return Resolver(views).resolved(tree)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Tree:
    """Return the tree of a saved query, which every page asks for. Raises QueryError."""
    return parse(text)


class Resolver:
    """Puts the queries of a user's saved views in their place."""

    def __init__(self, views: Sequence[SavedView]) -> None:
        # A name counts before the number of another view.
        self._views = {str(view.id): view for view in views}
        self._views |= {normalize_for_search(view.name): view for view in views}
        self._trees: dict[int, Tree] = {}
        self._open: list[int] = []

    def resolved(self, tree: Tree) -> Tree:
        found = replace_views(tree, self._tree_of)
        if sum(1 for _ in leaves(found)) > MAX_LEAVES:
            problem = msg("with its saved views it has more than {max} words and fields.", max=MAX_LEAVES)
            raise InvalidField("query", problem)
        return found

    def tree_of(self, view: SavedView) -> Tree:
        """Return the tree of a view's query. Raises InvalidField as `resolved`."""
        return self._tree_of(view.name)

    def _tree_of(self, name: str) -> Tree:
        view = self._views.get(normalize_for_search(name))
        if view is None:
            raise InvalidField("query", msg("there is no saved view {name}.", name=name))
        if view.id in self._open:
            raise InvalidField("query", msg("the saved view {name} refers to itself.", name=view.name))
        if len(self._open) == MAX_NESTED:
            raise InvalidField("query", msg("saved views refer to each other at most {max} deep.", max=MAX_NESTED))
        # Once for each view: views that refer to each other many times would take forever.
        if view.id not in self._trees:
            self._open.append(view.id)
            try:
                self._trees[view.id] = self.resolved(_parsed(view.query))
            except QueryError as error:
                raise InvalidField("query", msg("the saved view {name} cannot be read.", name=view.name)) from error
            finally:
                self._open.pop()
        return self._trees[view.id]
