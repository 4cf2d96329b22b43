"""Creates, changes, orders and deletes saved views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import Message, msg
from tidings.base.text import normalize_for_search
from tidings.domain.entries.entries import Direction
from tidings.domain.entries.manual_order import moved
from tidings.domain.entries.saved_views import DENSITIES, ICONS, MAX_VIEWS, ORDERS, SavedView, validate_view_name
from tidings.engine.database import Database, Read, Write
from tidings.query import parse
from tidings.query.model import View
from tidings.services.entries.queries import refers_to, resolved
from tidings.services.listeners import KeptQuery, Listeners
from tidings.views import store

_CHOICES: Mapping[str, Sequence[str]] = {
    "order": ORDERS,
    "direction": tuple(Direction),
    "density": DENSITIES,
    "icon": ICONS,
}


class SavedViews:
    def __init__(self, database: Database, listeners: Listeners) -> None:
        self._database = database
        self._listeners = listeners

    def get(self, user_id: int, view_id: int) -> SavedView:
        """Return a view of the user. Raises NotFound."""
        with self._database.reading() as db:
            return owned_view(db, user_id, view_id)

    def list_all(self, user_id: int) -> list[SavedView]:
        """Return the views of a user in the order of the sidebar."""
        with self._database.reading() as db:
            return store.list_all(db, user_id)

    def create(self, user_id: int, values: Mapping[str, Any]) -> SavedView:
        """Create a view and return it.

        values: fields of SavedView, with at least name and query. Raises InvalidInput, and QueryError with the
        position for a query that cannot be read.
        """
        with self._database.writing() as db:
            return add(db, user_id, values)

    def update(self, user_id: int, view_id: int, values: Mapping[str, Any]) -> SavedView:
        """Set fields of a view and return it.

        Raises NotFound, and InvalidInput as `create`, also for a new name of a view that other queries refer to.
        """
        with self._database.writing() as db:
            known = owned_view(db, user_id, view_id)
            views = store.list_all(db, user_id)
            checked = _checked(known, values, views)
            if normalize_for_search(checked.name) != normalize_for_search(known.name):
                self._ensure_unused(db, known)
            if checked.is_home and not known.is_home:
                store.leave_home(db, user_id)
            changes = {name: getattr(checked, name) for name in values if name != "position"}
            store.change(db, user_id, view_id, changes)
            if checked.position != known.position:
                store.set_order(db, user_id, moved([view.id for view in views], view_id, checked.position))
            return owned_view(db, user_id, view_id)

    def delete(self, user_id: int, view_id: int) -> None:
        """Delete a view. Raises NotFound, and InvalidInput, which names them, if other queries refer to it."""
        with self._database.writing() as db:
            self._ensure_unused(db, owned_view(db, user_id, view_id))
            store.remove(db, user_id, view_id)
            store.set_order(db, user_id, [view.id for view in store.list_all(db, user_id)])

    def uses(self, user_id: int, view_id: int) -> list[Message]:
        """Return what refers to a view in its query. Raises NotFound."""
        with self._database.reading() as db:
            return self._uses(db, owned_view(db, user_id, view_id))

    def _uses(self, db: Read, view: SavedView) -> list[Message]:
        kept = self._listeners.queries_of(db, view.user_id)
        return [one.owner for one in kept if refers_to(one.query, view)]

    def _ensure_unused(self, db: Read, view: SavedView) -> None:
        if uses := self._uses(db, view):
            text = msg("The view {name} is used by {uses}: change these first.", name=view.name, uses=tuple(uses))
            raise InvalidInput(text, field="name")


class SavedViewArchiver:
    """What archives need of saved views, inside of their transactions."""

    def list_all(self, db: Read, user_id: int) -> Sequence[SavedView]:
        """Return the views of a user in their order."""
        return store.list_all(db, user_id)

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> SavedView:
        """Add a view as the last one. Raises InvalidInput."""
        return add(db, user_id, values)


def add(db: Write, user_id: int, values: Mapping[str, Any]) -> SavedView:
    """Add a view, at its position or as the last one, and return it. Raises InvalidInput as `SavedViews.create`."""
    views = store.list_all(db, user_id)
    if len(views) >= MAX_VIEWS:
        raise InvalidInput(msg("You have {max} views, which is the maximum: delete one first.", max=MAX_VIEWS))
    last = len(views) + 1
    checked = _checked(SavedView(id=0, user_id=user_id, name="", query="", position=last), values, views)
    if checked.is_home:
        store.leave_home(db, user_id)
    fields = {name: value for name, value in structs.asdict(checked).items() if name not in ("id", "user_id")}
    view_id = store.add(db, user_id, fields)
    if checked.position != last:
        store.set_order(db, user_id, moved([view.id for view in views], view_id, checked.position))
    return owned_view(db, user_id, view_id)


def owned_view(db: Read, user_id: int, view_id: int) -> SavedView:
    """Return a view of the user. Raises NotFound."""
    view = store.get(db, user_id, view_id)
    if view is None:
        raise NotFound(msg("There is no view {id}.", id=view_id))
    return view


def kept_queries(db: Read, user_id: int) -> list[KeptQuery]:
    """Return the queries of the user's views, which may refer to other views."""
    return [KeptQuery(msg("the view {name}", name=view.name), view.query) for view in store.list_all(db, user_id)]


def _checked(known: SavedView, values: Mapping[str, Any], views: Sequence[SavedView]) -> SavedView:
    """Return a view with new values. known: with id 0 if it is new. views: all of the user. Raises InvalidInput."""
    for name, choices in _CHOICES.items():
        if (value := values.get(name, choices[0])) not in choices:
            problem = msg("{value} is not one of {values}.", value=repr(value[:40]), values=", ".join(choices))
            raise InvalidField(name, problem)
    changed = structs.replace(known, **values)
    if "name" in values or not known.id:
        changed = structs.replace(changed, name=validate_view_name(changed.name))
    others = [view for view in views if view.id != known.id]
    if any(normalize_for_search(view.name) == normalize_for_search(changed.name) for view in others):
        raise InvalidInput(msg("You already have a view called {name}.", name=repr(changed.name)), field="name")
    if "query" in values or not known.id:
        parse(changed.query)
        # From its name on, so that a view that refers to itself is found.
        resolved(View(changed.name), [*others, changed])
    return changed


def synced(db: Read, user_id: int) -> list[dict[str, Any]]:
    """Return the views of a user for clients that sync, in the order of the sidebar."""
    return [structs.asdict(view) for view in store.list_all(db, user_id)]
