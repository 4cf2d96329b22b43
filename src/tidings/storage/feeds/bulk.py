"""The same change to many feeds, in a fixed number of statements.

The caller has locked their counters, so that no check writes to them now. Ids of other users' feeds are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, false, select, true, update

from tidings.base.times import Instant
from tidings.domain.feeds.feeds import NEWSLETTERS_URL, SAVED_PAGES_URL
from tidings.domain.polling.shared_sources import NO_VALIDATORS
from tidings.engine import distribution
from tidings.engine.database import Write
from tidings.engine.statements import references_planned_once
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.feeds import further_categories
from tidings.storage.polling import sources
from tidings.storage.schema import entries, feeds

_is_listed = (feeds.c.user_id == bindparam("user"), feeds.c.id.in_(bindparam("ids", expanding=True)))
# In the order of ids, as every transaction locks feeds, or two would wait for each other.
_lock = select(feeds.c.id).where(*_is_listed).order_by(feeds.c.id).with_for_update()
_lock_in_other_category = _lock.where(feeds.c.category_id != bindparam("category"))
_lock_disabled = _lock.where(
    feeds.c.disabled == true(), *(~feeds.c.feed_url.startswith(url) for url in (SAVED_PAGES_URL, NEWSLETTERS_URL))
)
_lock_enabled = _lock.where(feeds.c.disabled == false())
_move = update(feeds).where(*_is_listed).values(category_id=bindparam("category"))
_move_entries = (
    update(entries)
    .where(entries.c.user_id == bindparam("user"), entries.c.feed_id.in_(bindparam("ids", expanding=True)))
    .values(category_id=bindparam("category"))
)
_enable = (
    update(feeds)
    .where(*_is_listed)
    .values(
        disabled=False,
        disabled_reason="",
        next_check_at=bindparam("now"),
        failed_checks=0,
        parsing_error_count=0,
        parsing_error_message="",
        parsing_error_form="",
    )
)
_disable = update(feeds).where(*_is_listed).values(disabled=True)
_set_interval = (
    update(feeds)
    .where(feeds.c.user_id == bindparam("user"), feeds.c.id == bindparam("feed"))
    .values(check_interval_minutes=bindparam("minutes"), next_check_at=bindparam("next"))
)
_forget_documents = update(feeds).where(feeds.c.user_id == bindparam("user")).values(**NO_VALIDATORS)
_delete = delete(feeds).where(*_is_listed)


def move(db: Write, user_id: int, feed_ids: Sequence[int], category_id: int) -> int:
    """Make a category the first one of feeds; others they are in stay. Returns for how many another was the first."""
    moving = db.scalars(_lock_in_other_category, user=user_id, ids=list(feed_ids), category=category_id)
    if moving:
        change_log.note(db, user_id, Kind.FEED, moving)
        db.run(_move, user=user_id, ids=moving, category=category_id)
        db.run(_move_entries, user=user_id, ids=moving, category=category_id)
        further_categories.remove(db, user_id, moving, [category_id])
    return len(moving)


def enable(db: Write, user_id: int, feed_ids: Sequence[int], now: Instant) -> int:
    """Enable feeds: they are due immediately, and their errors are cleared. Returns how many were disabled.

    Feeds that are never fetched stay disabled.
    """
    return _set_enabled(db, user_id, db.scalars(_lock_disabled, user=user_id, ids=list(feed_ids)), now=now)


def disable(db: Write, user_id: int, feed_ids: Sequence[int]) -> int:
    """Disable feeds. Returns how many were enabled."""
    return _set_enabled(db, user_id, db.scalars(_lock_enabled, user=user_id, ids=list(feed_ids)), now=None)


def _set_enabled(db: Write, user_id: int, feed_ids: list[int], *, now: Instant | None) -> int:
    """Enable or disable feeds. now: the current time to enable, None to disable."""
    if feed_ids:
        change_log.note(db, user_id, Kind.FEED, feed_ids)
        if now is None:
            db.run(_disable, user=user_id, ids=feed_ids)
        else:
            db.run(_enable, user=user_id, ids=feed_ids, now=now)
        sources.touch_sources(db, sources.of_feeds(db, feed_ids, user_id))
    return len(feed_ids)


def set_interval(db: Write, user_id: int, minutes: int, next_checks: Mapping[int, Instant]) -> None:
    """Set the check interval of feeds. next_checks: when each feed is due with its new interval, by feed id."""
    rows = [
        {"user": user_id, "feed": feed_id, "minutes": minutes, "next": moment}
        for feed_id, moment in sorted(next_checks.items())
    ]
    db.run_many(_set_interval, rows)
    change_log.note(db, user_id, Kind.FEED, next_checks)
    sources.touch_sources(db, sources.of_feeds(db, next_checks, user_id))


def forget_documents(db: Write, user_id: int) -> None:
    """Let the next checks of all feeds of the user read their documents, even if those have not changed."""
    db.run(_forget_documents, user=user_id)
    change_log.note(db, user_id)


def remove(db: Write, user_id: int, feed_ids: Sequence[int]) -> int:
    """Delete feeds with their entries and tombstones. Returns how many."""
    owned = db.scalars(_lock, user=user_id, ids=list(feed_ids))
    source_ids = sources.of_feeds(db, owned, user_id)
    distribution.clear_references(db, feeds, user_id, owned)
    with references_planned_once(db):
        count = db.run(_delete, user=user_id, ids=owned)
    change_log.note_removed_feeds(db, user_id, owned)
    sources.touch_sources(db, source_ids)
    sources.remove_unused_sources(db, source_ids)
    return count
