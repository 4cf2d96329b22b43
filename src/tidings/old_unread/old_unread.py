"""Decides which unread entries are old, and marks them as read.

The nearest setting wins: the feed's, then its category's, then those of the categories above, then the user's for all
feeds. The age of an entry counts from its last change, as in `domain.entries.retention`: an entry that its user has
marked as unread again stays so for the whole time. Starred entries are never marked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.times import DAY, Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.domain.entries.state_changes import StateChange
from tidings.domain.feeds.categories import CategoryTree
from tidings.engine.database import Database, Read, Write
from tidings.old_unread import store
from tidings.old_unread.store import ReadAfter
from tidings.storage.entries import entries
from tidings.storage.feeds import categories, feeds

MAX_DAYS = 3_650
# Feeds and categories with days of their own.
MAX_SETTINGS = 500


class OldUnread:
    """What users have set about old unread entries."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def settings(self, user_id: int) -> list[ReadAfter]:
        with self._database.reading() as db:
            return store.settings(db, user_id)

    def update(
        self,
        user_id: int,
        *,
        days: int | None = None,
        category_days: Mapping[int, int | None],
        feed_days: Mapping[int, int | None],
    ) -> None:
        """Set days, in one transaction; 0 is never. days: of all feeds; None leaves them as they are.

        category_days, feed_days: by id; None removes a setting.
        Raises InvalidInput for a number that is not allowed, and for feeds and categories that are not the user's.
        """
        check_days("days", [days])
        check_days("categories", category_days.values())
        check_days("feeds", feed_days.values())
        with self._database.writing() as db:
            check_places(db, user_id, category_days, feed_days)
            if days is not None:
                store.put(db, user_id, _setting(days), category_id=None, feed_id=None)
            for category_id, number in category_days.items():
                store.put(db, user_id, _setting(number), category_id=category_id, feed_id=None)
            for feed_id, number in feed_days.items():
                store.put(db, user_id, _setting(number), category_id=None, feed_id=feed_id)
            ensure_few(len(store.settings(db, user_id)))


def days_by_feed(
    settings: Iterable[ReadAfter], feed_categories: Mapping[int, int], tree: CategoryTree
) -> dict[int, int]:
    """Return after how many days the entries of each feed become read; feeds without are left out."""
    general = 0
    by_category: dict[int, int] = {}
    by_feed: dict[int, int] = {}
    for one in settings:
        if one.feed_id is not None:
            by_feed[one.feed_id] = one.days
        elif one.category_id is not None:
            by_category[one.category_id] = one.days
        else:
            general = one.days
    of_category = {
        category_id: next(
            (by_category[above.id] for above in reversed(tree.line(category_id)) if above.id in by_category), general
        )
        for category_id in {*feed_categories.values()}
    }
    days = {feed_id: by_feed.get(feed_id, of_category[category]) for feed_id, category in feed_categories.items()}
    return {feed_id: number for feed_id, number in days.items() if number}


def mark_old(db: Write, now: Instant, limit: int) -> int:
    """Mark old unread entries of all users as read, at most `limit`. Returns their number."""
    changes: list[StateChange] = []
    for user_id in store.users(db):
        left = limit - sum(len(one.entry_ids) for one in changes)
        if left <= 0:
            break
        if ids := _old_entries(db, user_id, now, left):
            changes.append(StateChange(user_id, ids, EntryStatus.READ, is_repeatable=True))
    if changes:
        entries.change_states(db, changes, now=now)
    return sum(len(one.entry_ids) for one in changes)


def _old_entries(db: Read, user_id: int, now: Instant, limit: int) -> list[int]:
    tree = CategoryTree(categories.list_all(db, user_id))
    feeds_by_days: defaultdict[int, list[int]] = defaultdict(list)
    for feed_id, days in days_by_feed(store.settings(db, user_id), store.feed_categories(db, user_id), tree).items():
        feeds_by_days[days].append(feed_id)
    found: list[int] = []
    for days, feed_ids in sorted(feeds_by_days.items()):
        before = Instant(now - days * DAY)
        found += store.old_entries(db, user_id, feed_ids, before=before, limit=limit - len(found))
        if len(found) >= limit:
            break
    return found


def ensure_few(count: int) -> None:
    """Raise InvalidField if a user may not have so many settings."""
    if count > MAX_SETTINGS:
        raise InvalidField("feeds", msg("at most {max} feeds and categories may have days.", max=MAX_SETTINGS))


def check_days(field: str, days: Iterable[int | None]) -> None:
    """Raise InvalidField for a number that is not allowed."""
    for number in days:
        if number is not None and not 0 <= number <= MAX_DAYS:
            raise InvalidField(field, msg("send days from 1 to {max}, or 0 for never.", max=MAX_DAYS))


def check_places(db: Read, user_id: int, category_ids: Iterable[int], feed_ids: Iterable[int]) -> None:
    """Raise InvalidField for categories and feeds that are not the user's."""
    known = {one.id for one in categories.list_all(db, user_id)}
    for category_id in category_ids:
        if category_id not in known:
            raise InvalidField("categories", msg("there is no category {id}.", id=category_id))
    for feed_id in {*feed_ids} - feeds.owned_ids(db, user_id, feed_ids):
        raise InvalidField("feeds", msg("there is no feed {id}.", id=feed_id))


def _setting(days: int | None) -> ReadAfter | None:
    return None if days is None else ReadAfter(days)
