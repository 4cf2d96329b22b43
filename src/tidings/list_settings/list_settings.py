"""Order and layout of single lists: which lists can have them, and what they can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.domain.entries.entries import Direction
from tidings.domain.entries.list_settings import ListSetting
from tidings.domain.entries.saved_views import DENSITIES
from tidings.engine.database import Database, Read, Write
from tidings.list_settings import store
from tidings.storage.entries import labels
from tidings.storage.feeds import categories, feeds

STANDARD: Final = ("unread", "starred", "history", "shared")
DIRECTIONS: Final = ("", *Direction)
# By the first letter of a list's name: the column with the id that follows.
_COLUMNS: Final = {"f": "feed_id", "c": "category_id", "l": "label_id"}
_CHOICES: Final[Mapping[str, Sequence[str]]] = {"direction": DIRECTIONS, "density": DENSITIES}


class ListSettings:
    """What users have set about single lists."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_all(self, user_id: int) -> list[ListSetting]:
        with self._database.reading() as db:
            return store.list_all(db, user_id)

    def change(self, user_id: int, name: str, values: Mapping[str, str]) -> ListSetting:
        """Set direction or density of a list and return what it has now; empty ones are as everywhere.

        Raises InvalidField for a list that the user does not have, and for a value that is not offered.
        """
        with self._database.writing() as db:
            return change(db, user_id, name, values)


def change(db: Write, user_id: int, name: str, values: Mapping[str, str]) -> ListSetting:
    """Set direction or density of a list in a transaction, as `ListSettings.change`."""
    for field, value in values.items():
        if value not in _CHOICES[field]:
            allowed = ", ".join(choice or '""' for choice in _CHOICES[field])
            raise InvalidField(field, msg("{value} is not one of {values}.", value=repr(value[:40]), values=allowed))
    place = _place(db, user_id, name)
    setting = replace(store.setting_of(db, user_id, name), **values)
    store.put(db, user_id, setting, **place)
    return setting


def place_of(name: str) -> tuple[str, int]:
    """Return the column and the id that a list's name stands for; a standard list has neither."""
    column, number = _COLUMNS.get(name[:1], ""), name[1:]
    is_id = number.isascii() and number.isdigit() and len(number) < 10
    return (column, int(number)) if column and is_id else ("", 0)


def _place(db: Read, user_id: int, name: str) -> dict[str, int]:
    """Return the column and the id of a list's feed, category or label. Raises InvalidField unless the user has it."""
    if name in STANDARD:
        return {}
    column, number = place_of(name)
    # f07 would be another name of f7.
    is_owned = name[1:] == str(number) and (
        (column == "feed_id" and bool(feeds.owned_ids(db, user_id, [number])))
        or (column == "category_id" and any(one.id == number for one in categories.list_all(db, user_id)))
        or (column == "label_id" and bool(labels.owned(db, user_id, [number])))
    )
    if not is_owned:
        raise InvalidField("list", msg("there is no list {name}.", name=repr(name[:40])))
    return {column: number}
