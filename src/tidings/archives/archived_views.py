"""What an archive contains of a user's saved views, which another slice keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from tidings.archives.records import ArchivedView
from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.domain.entries.saved_views import SavedView
from tidings.engine.database import Read, Write

# Characters of a name in a report.
_MAX_NAME_CHARS = 200


class ViewArchiver(Protocol):
    """What archives need of saved views."""

    def list_all(self, db: Read, user_id: int) -> Sequence[SavedView]:
        """Return the views of a user in their order."""

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> SavedView:
        """Add a view as the last one. values: fields of SavedView. Raises InvalidInput."""


def archived(views: Iterable[SavedView]) -> Iterator[ArchivedView]:
    """Yield the views as an archive has them, in their order."""
    for view in views:
        yield ArchivedView(**{name: getattr(view, name) for name in ArchivedView.__struct_fields__})


def store_views(archiver: ViewArchiver, db: Write, user_id: int, views: Iterable[ArchivedView]) -> list[str]:
    """Add the views that the user does not have by their names. Returns what cannot be used, in words.

    A view is added after those that its query refers to. The home page stays if the user has chosen a view for it.
    """
    known = archiver.list_all(db, user_id)
    names = {normalize_for_search(view.name) for view in known}
    has_home = any(view.is_home for view in known)
    waiting = {normalize_for_search(view.name): view for view in views}
    problems: dict[str, str] = {}
    is_stuck = False
    while not is_stuck:
        is_stuck = True
        for key, view in waiting.items():
            if key in names:
                continue
            values = msgspec.structs.asdict(view) | ({"is_home": False} if has_home else {})
            try:
                archiver.add(db, user_id, values)
            except InvalidInput as error:
                problems[key] = f"view {view.name[:_MAX_NAME_CHARS]}: {error.message}"
            else:
                is_stuck = False
                names.add(key)
                problems.pop(key, None)
    return list(problems.values())
