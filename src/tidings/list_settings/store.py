"""The statements of list settings."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from tidings.domain.entries.list_settings import ListSetting
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import upsert
from tidings.list_settings.tables import list_settings

_of_user = list_settings.c.user_id == bindparam("user")
_select = select(*columns(list_settings, ListSetting)).where(_of_user).order_by(list_settings.c.id)
_select_one = _select.where(list_settings.c.list == bindparam("list"))
_put = upsert(list_settings, ["user_id", "list"], update=["direction", "density"])
_delete = delete(list_settings).where(_of_user, list_settings.c.list == bindparam("list"))


def list_all(db: Read, user_id: int) -> list[ListSetting]:
    """Return the lists of a user that have settings of their own."""
    return db.all(ListSetting, _select, user=user_id)


def setting_of(db: Read, user_id: int, name: str) -> ListSetting:
    """Return how a list is shown. name: as in `ListSetting.list`."""
    return db.one(ListSetting, _select_one, user=user_id, list=name) or ListSetting(name)


def put(
    db: Write,
    user_id: int,
    setting: ListSetting,
    *,
    feed_id: int | None = None,
    category_id: int | None = None,
    label_id: int | None = None,
) -> None:
    """Set how a list is shown. feed_id, category_id, label_id: whose list it is, with which the setting is deleted."""
    if not (setting.direction or setting.density):
        db.run(_delete, user=user_id, list=setting.list)
        return
    place = {"feed_id": feed_id, "category_id": category_id, "label_id": label_id}
    row = {"list": setting.list, "direction": setting.direction, "density": setting.density}
    db.run(_put.values(user_id=user_id, **row, **place))
