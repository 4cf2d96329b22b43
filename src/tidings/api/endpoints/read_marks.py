"""Endpoints that mark a part of a list of entries as read, and undo that."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.entry_filters import EntriesQuery
from tidings.api.read_ranges import MarkedRead, MarkRead, marked_list
from tidings.api.schema_annotations import Required
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.base.times import LATEST, Instant
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services

routes = Routes("Entries")


class UndoMarkRead(Struct, frozen=True):
    """undo_token: from the response of what is undone."""

    undo_token: Required[str] = None


class MarkedUnread(Struct, frozen=True):
    """marked_unread: how many entries are unread again."""

    marked_unread: int


@routes.put("/v1/entries/mark-as-read", scope=KeyScope.WRITE, raises=(InvalidInput, NotFound))
def mark_entries_read(caller: User, services: Services, query: EntriesQuery, body: MarkRead) -> MarkedRead:
    """Mark the entries of a list as read, or those above or below one of them.

    The parameters are those of the list, with its order; limit, offset and cursor do not matter. Entries dated in the
    future stay unread, except those that search or query has found.
    """
    return marked_list(caller, services, query, body)


@routes.post("/v1/entries/undo-mark-as-read", scope=KeyScope.WRITE, raises=(InvalidInput,))
def undo_mark_read(caller: User, services: Services, body: UndoMarkRead) -> MarkedUnread:
    """Mark exactly those entries unread again that one request has marked and that have not changed since."""
    text = body.undo_token or ""
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= LATEST):
        raise InvalidInput(verbatim("undo_token: send the one of the response of what to undo."), field="undo_token")
    return MarkedUnread(services.entries.read_marker.undo(caller.id, Instant(int(text))))
