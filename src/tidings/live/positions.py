"""The ids of events: the cursors of /v1/sync of a client that has everything up to a point.

A client may go on with /v1/sync after any event, and with events after the last page of /v1/sync.
"""

from __future__ import annotations

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.services.sync_cursor import Cursor, read_cursor
from tidings.storage.accounts.change_log import Point


def encode(point: Point, user_id: int) -> str:
    """Return the id of the event after which a client of the user has everything up to a point."""
    return Cursor(point, point).encode(user_id)


def decode(text: str, user_id: int) -> Point:
    """Return what a client has. Raises InvalidField for a text that is damaged, another user's, or of a middle page."""
    cursor = read_cursor(text, user_id)
    if not cursor.is_complete:
        raise InvalidField("cursor", msg("more pages follow the one that this is of: get these first."))
    return cursor.until
