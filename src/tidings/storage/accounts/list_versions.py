"""The version of what each user's lists show, by which clients ask whether something has changed.

A transaction that changes what lists show says so with `note`. Just before it commits, it gives its users another
version. On PostgreSQL the rows are locked for that moment alone, in the order of the users, and as the last of all
locks: so two transactions of one user have different versions, and a version that a reader sees has all its changes.

What a check of a feed writes each time (`CHECK_COLUMNS`) has no part in it: otherwise a version would last for minutes.
"""

from __future__ import annotations

import secrets

from sqlalchemy import bindparam, insert, select, update

from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list, lock_rows
from tidings.storage.schema import list_versions

# Columns of feeds that checks write although the feed stays as it is. No list shows them but the feeds of the API,
# which may show the first four as they were some time ago.
CHECK_COLUMNS = frozenset({
    "checked_at", "next_check_at", "etag_header", "last_modified_header",
    "body_digest", "failed_checks", "limits_reached", "moved_times", "moved_to", "news_gap_s", "parsed_at",
    "parsing_error_form", "publisher_hints", "source_id", "took_ms",
})  # fmt: skip

_select = select(list_versions.c.version).where(list_versions.c.user_id == bindparam("user"))
_is_listed = in_list(list_versions.c.user_id, "users")
_lock = select(list_versions.c.user_id).where(_is_listed).order_by(list_versions.c.user_id).with_for_update()
_set = update(list_versions).where(_is_listed).values(version=bindparam("new_version"))
_set_all = update(list_versions).values(version=bindparam("new_version"))
_add = insert(list_versions)


def get(db: Read, user_id: int) -> int | None:
    """Return the version of a user's lists; None for a user who does not exist.

    Read it before what it stands for: it may then be older, and never newer.
    """
    version: int | None = db.scalar(_select, user=user_id)
    return version


def add(db: Write, user_id: int) -> None:
    """Give a new user a version."""
    db.run(_add, user_id=user_id, version=_new_version())


def note(db: Write, *user_ids: int) -> None:
    """Note that this transaction changes what lists of these users show."""
    db.collect(_renew, set[int]).update(user_ids)


def renew_all(db: Write) -> None:
    """Give all users another version, since what was changed may belong to any of them."""
    db.run(_set_all, new_version=_new_version())


def _renew(db: Write, user_ids: set[int]) -> None:
    if len(user_ids) > 1:
        # An UPDATE of several rows locks them in any order.
        lock_rows(db, _lock, users=sorted(user_ids))
    if user_ids:
        db.run(_set, users=sorted(user_ids), new_version=_new_version())


def _new_version() -> int:
    """Return a random version: of a restored backup, a sequential one could stand for other content."""
    return secrets.randbits(53)
