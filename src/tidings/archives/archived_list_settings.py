"""What an archive contains of the order and the layout of single lists, which another slice keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from tidings.archives.records import ArchivedListSetting
from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.engine.database import Read, Write


class ListSettingArchiver(Protocol):
    """What archives need of list settings."""

    def list_all(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the settings of a user: list, direction, density; and feed_id, category_id or label_id, or none."""

    def add(self, db: Write, user_id: int, name: str, values: Mapping[str, str]) -> None:
        """Set direction and density of a list; name: as `list`. Raises InvalidInput."""


def archived_list_settings(
    archiver: ListSettingArchiver,
    db: Read,
    user_id: int,
    category_titles: Mapping[int, str],
    label_names: Mapping[int, str],
) -> Iterator[ArchivedListSetting]:
    """Yield the settings as an archive has them. category_titles, label_names: by id."""
    for one in archiver.list_all(db, user_id):
        place = {
            "feed": one.get("feed_id", 0),
            "category": category_titles.get(one.get("category_id", 0), ""),
            "label": label_names.get(one.get("label_id", 0), ""),
        }
        name = "" if any(place.values()) else one["list"]
        yield ArchivedListSetting(list=name, direction=one["direction"], density=one["density"], **place)


def store_list_settings(
    archiver: ListSettingArchiver,
    db: Write,
    user_id: int,
    settings: Iterable[ArchivedListSetting],
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
    label_ids: Mapping[str, int],
) -> list[str]:
    """Add the settings of lists for which the user has none. Returns what cannot be used, in words.

    feed_ids: by their number in the archive. category_ids, label_ids: by case-folded title and name.
    """
    problems: list[str] = []
    known = {one["list"] for one in archiver.list_all(db, user_id)}
    for one in settings:
        name = _name(one, feed_ids, category_ids, label_ids)
        if not name or name in known:
            continue
        try:
            archiver.add(db, user_id, name, {"direction": one.direction, "density": one.density})
        except InvalidInput as error:
            problems.append(f"order and layout of the list {one.list or one.category or one.label}: {error.message}")
    return problems


def _name(
    one: ArchivedListSetting,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
    label_ids: Mapping[str, int],
) -> str:
    """Return the name of a list in this account; "" if its feed, category or label did not come in."""
    if one.feed:
        return f"f{feed_ids[one.feed]}" if one.feed in feed_ids else ""
    if one.category:
        category_id = category_ids.get(normalize_for_search(one.category))
        return f"c{category_id}" if category_id else ""
    if one.label:
        label_id = label_ids.get(normalize_for_search(one.label))
        return f"l{label_id}" if label_id else ""
    return one.list
