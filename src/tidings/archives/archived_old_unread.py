"""What an archive contains of when old unread entries become read, which another slice keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from tidings.archives.parts import ArchivePart, PlannedChange
from tidings.archives.records import ArchivedReadAfter
from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.engine.database import Read, Write

# Name of a setting among the changes of a review.
OLD_UNREAD = "old_unread"


class ReadAfterArchiver(Protocol):
    """What archives need of old unread entries."""

    def list_all(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the settings of a user: days, category_id and feed_id."""

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a setting with the same members. Raises InvalidInput."""


def archived_read_after(
    archiver: ReadAfterArchiver, db: Read, user_id: int, category_titles: Mapping[int, str]
) -> Iterator[ArchivedReadAfter]:
    """Yield the settings as an archive has them. category_titles: by id."""
    for one in archiver.list_all(db, user_id):
        category = category_titles.get(one["category_id"] or 0, "")
        yield ArchivedReadAfter(one["days"], category, one["feed_id"] or 0)


def store_read_after(
    archiver: ReadAfterArchiver,
    db: Write,
    user_id: int,
    settings: Iterable[ArchivedReadAfter],
    parts: Collection[ArchivePart],
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
) -> list[str]:
    """Add the settings for which the user has none, if rules were asked for. Returns what was left out, in words.

    feed_ids: by their number in the archive. category_ids: by case-folded title in the archive.
    """
    notes: list[str] = []
    known = {_place(one) for one in archiver.list_all(db, user_id)}
    for one in settings:
        values = _values(one, feed_ids, category_ids)
        if values is None or _place(values) in known:
            continue
        title = f"old unread entries after {one.days} days"
        if ArchivePart.RULES not in parts:
            notes.append(f"{title}: left out")
            continue
        try:
            archiver.add(db, user_id, values)
        except InvalidInput as error:
            notes.append(f"{title}: {error.message}")
            continue
        known.add(_place(values))
    return notes


def planned_read_after(
    archiver: ReadAfterArchiver, db: Read, user_id: int, settings: Iterable[ArchivedReadAfter]
) -> list[PlannedChange]:
    """Return when unread entries would become read, if the user has set nothing of that kind."""
    if archiver.list_all(db, user_id):
        return []
    days = sorted({one.days for one in settings})
    return [PlannedChange(ArchivePart.RULES, OLD_UNREAD, after=number) for number in days]


def _place(values: Mapping[str, Any]) -> tuple[int | None, int | None]:
    return values["category_id"], values["feed_id"]


def _values(
    one: ArchivedReadAfter, feed_ids: Mapping[int, int], category_ids: Mapping[str, int]
) -> dict[str, Any] | None:
    """Return a setting for feeds and categories of this account; None if its own did not come in."""
    feed_id = feed_ids.get(one.feed) if one.feed else None
    category_id = category_ids.get(normalize_for_search(one.category)) if one.category and not one.feed else None
    if (one.feed and feed_id is None) or (one.category and not one.feed and category_id is None):
        return None
    return {"days": one.days, "category_id": category_id, "feed_id": feed_id}
