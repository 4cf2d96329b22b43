"""When old unread entries become read, as archives have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from tidings.engine.database import Read, Write
from tidings.old_unread import store
from tidings.old_unread.old_unread import check_days, check_places, ensure_few


class DaysArchiver:
    """Lists what a user has set for an archive, and adds what an archive has."""

    def list_all(self, db: Read, user_id: int) -> list[dict[str, Any]]:
        """Return the settings of a user: days, category_id and feed_id."""
        return [asdict(one) for one in store.settings(db, user_id)]

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a setting. Raises InvalidInput."""
        setting = store.ReadAfter(**values)
        check_days("days", [setting.days])
        category_ids = [] if setting.category_id is None else [setting.category_id]
        check_places(db, user_id, category_ids, [] if setting.feed_id is None else [setting.feed_id])
        ensure_few(len(store.settings(db, user_id)) + 1)
        store.put(db, user_id, setting, category_id=setting.category_id, feed_id=setting.feed_id)
