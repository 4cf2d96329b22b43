"""What an archive contains of the lists of feeds that a user follows, which another slice keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from tidings.archives.records import ArchivedListedFeed, ArchivedOpmlSubscription
from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.base.times import Instant, from_datetime, to_datetime
from tidings.engine.database import Read, Write

# Characters of an address in a report.
_MAX_URL_CHARS = 200

# The address of a feed, its id if it was added for the list, and since when the list does not name it any more.
Listed = tuple[str, int | None, Instant | None]


class OpmlArchiver(Protocol):
    """What archives need of live OPML."""

    def list_all(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the lists of a user: url, category_id and feeds, as `Listed`."""

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a list with the same members, without fetching it. Raises InvalidInput."""


def archived_lists(
    archiver: OpmlArchiver, db: Read, user_id: int, category_titles: Mapping[int, str]
) -> Iterator[ArchivedOpmlSubscription]:
    """Yield the lists as an archive has them. category_titles: by id."""
    for one in archiver.list_all(db, user_id):
        feeds = [
            ArchivedListedFeed(url, feed_id or 0, None if missing is None else to_datetime(missing))
            for url, feed_id, missing in one["feeds"]
        ]
        yield ArchivedOpmlSubscription(one["url"], category_titles.get(one["category_id"], ""), feeds)


def store_lists(
    archiver: OpmlArchiver,
    db: Write,
    user_id: int,
    lists: Iterable[ArchivedOpmlSubscription],
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
) -> list[str]:
    """Add the lists that the user does not follow. Returns what was left out, in words.

    A feed that did not come in is left to the next check of its list.
    feed_ids: by their number in the archive. category_ids: by case-folded title in the archive.
    """
    notes: list[str] = []
    known = {one["url"] for one in archiver.list_all(db, user_id)}
    for one in lists:
        if one.url in known:
            continue
        title = f"list {one.url[:_MAX_URL_CHARS]}"
        category_id = category_ids.get(normalize_for_search(one.category))
        if category_id is None:
            notes.append(f"{title}: its category did not come in")
            continue
        try:
            archiver.add(
                db, user_id, {"url": one.url, "category_id": category_id, "feeds": _listed(one.feeds, feed_ids)}
            )
        except InvalidInput as error:
            notes.append(f"{title}: {error.message}")
            continue
        known.add(one.url)
    return notes


def _listed(feeds: Iterable[ArchivedListedFeed], feed_ids: Mapping[int, int]) -> list[Listed]:
    return [
        (one.url, feed_ids.get(one.feed), None if one.missing_since is None else from_datetime(one.missing_since))
        for one in feeds
        if not one.feed or one.feed in feed_ids
    ]
