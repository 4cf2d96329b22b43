"""The statements of saved views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from tidings.base.text import normalize_for_search
from tidings.domain.entries.saved_views import SavedView
from tidings.engine.database import Read, Write
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import ANY, Kind
from tidings.views.tables import views

_columns = [
    views.c.entry_order.label(name) if name == "order" else views.c[name] for name in SavedView.__struct_fields__
]
_select_by_user = select(*_columns).where(views.c.user_id == bindparam("user")).order_by(views.c.position, views.c.id)
_select_by_id = select(*_columns).where(views.c.user_id == bindparam("user"), views.c.id == bindparam("id"))
_is_owned = (views.c.user_id == bindparam("user"), views.c.id == bindparam("view"))
_set_position = update(views).where(*_is_owned).values(position=bindparam("place"))
_leave_home = update(views).where(views.c.user_id == bindparam("user"), views.c.is_home).values(is_home=False)
_delete = delete(views).where(*_is_owned)


def list_all(db: Read, user_id: int) -> list[SavedView]:
    """Return the views of a user in the order of the sidebar."""
    return db.all(SavedView, _select_by_user, user=user_id)


def get(db: Read, user_id: int, view_id: int) -> SavedView | None:
    return db.one(SavedView, _select_by_id, user=user_id, id=view_id)


def add(db: Write, user_id: int, values: Mapping[str, Any]) -> int:
    """Add a view and return its id. values: fields of SavedView."""
    view_id = db.insert(insert(views).values(user_id=user_id, **_row(values)))
    change_log.note(db, user_id, Kind.VIEW, [view_id])
    return view_id


def change(db: Write, user_id: int, view_id: int, values: Mapping[str, Any]) -> None:
    """Set fields of a view."""
    if values:
        db.run(update(views).where(*_is_owned).values(**_row(values)), user=user_id, view=view_id)
        change_log.note(db, user_id, Kind.VIEW, [view_id])


def leave_home(db: Write, user_id: int) -> None:
    """Make no view the first page."""
    db.run(_leave_home, user=user_id)
    change_log.note(db, user_id, Kind.VIEW, [ANY])


def set_order(db: Write, user_id: int, view_ids: Sequence[int]) -> None:
    """Number views in this order, from 1 on."""
    rows = [{"user": user_id, "view": view_id, "place": place} for place, view_id in enumerate(view_ids, 1)]
    db.run_many(_set_position, rows)
    change_log.note(db, user_id, Kind.VIEW, view_ids)


def remove(db: Write, user_id: int, view_id: int) -> None:
    db.run(_delete, user=user_id, view=view_id)
    change_log.note(db, user_id, Kind.VIEW, [view_id])


def _row(values: Mapping[str, Any]) -> dict[str, Any]:
    row = {"entry_order" if name == "order" else name: value for name, value in values.items()}
    return row | {"name_key": normalize_for_search(row["name"])} if "name" in row else row
