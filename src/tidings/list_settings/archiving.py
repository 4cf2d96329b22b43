"""Order and layout of single lists, as archives have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidings.engine.database import Read, Write
from tidings.list_settings import store
from tidings.list_settings.list_settings import change, place_of


class ListSettingArchiver:
    """Lists what a user has set for an archive, and adds what an archive has."""

    def list_all(self, db: Read, user_id: int) -> list[dict[str, Any]]:
        """Return the settings of a user: list, direction, density; and feed_id, category_id or label_id, or none."""
        found = []
        for one in store.list_all(db, user_id):
            column, number = place_of(one.list)
            place = {column: number} if column else {}
            found.append({"list": one.list, "direction": one.direction, "density": one.density, **place})
        return found

    def add(self, db: Write, user_id: int, name: str, values: Mapping[str, str]) -> None:
        """Set direction and density of a list. Raises InvalidInput."""
        change(db, user_id, name, values)
