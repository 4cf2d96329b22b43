"""Endpoints that mark entries as read or starred, single ones or a whole stream. Changes are idempotent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.domain.errors import InvalidInput
from tidings.domain.messages import verbatim
from tidings.domain.times import Instant
from tidings.greader import item_ids, streams
from tidings.greader.streams import StreamFilter
from tidings.http import forms
from tidings.http.binding import QueryOrForm
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.services import Services

routes = Routes("Changes")

# By state: the status of an entry with it, and of one from which it was removed.
_STATUSES: Final = {
    "read": (EntryStatus.READ, EntryStatus.UNREAD),
    "unread": (EntryStatus.UNREAD, EntryStatus.READ),
    "kept-unread": (EntryStatus.UNREAD, EntryStatus.READ),
}


class EditTag(QueryOrForm, frozen=True):
    """i: entries. a, r: states to add and to remove."""

    i: tuple[str, ...] = ()
    a: tuple[str, ...] = ()
    r: tuple[str, ...] = ()


class MarkAll(QueryOrForm, frozen=True):
    """s: a stream. ts: entries stored later stay unread; default: now."""

    s: str = ""
    ts: str = ""


class NewState(Struct, frozen=True):
    """status, starred: None leaves them unchanged."""

    status: EntryStatus | None = None
    starred: bool | None = None


@routes.post("/reader/api/0/edit-tag")
def edit_tags(caller: User, services: Services, query: EditTag, request: Request) -> str:
    """Set states of entries. Entries of other users and unsupported tags are ignored. Of contradictions the last wins.

    Labels of single entries do not exist here: a label is a folder of feeds. Readrops makes a folder by adding
    its label to no item.
    """
    if not query.i and query.a:
        for name in [streams.label_name(text) for text in query.a]:
            services.categories.ensure(caller.id, name)
        return "OK"
    if not query.i:
        raise InvalidInput(verbatim("i: send the ids of items."), field="i")
    ids = item_ids.parse_all(query.i)
    sent = [*request.query, *forms.fields(request)]
    state = new_state((text, name == "a") for name, text in sent if name in ("a", "r"))
    if ids and state != NewState():
        services.entries.update(caller.id, ids, status=state.status, starred=state.starred)
    return "OK"


def new_state(changes: Iterable[tuple[str, bool]]) -> NewState:
    """Returns the change. changes: states in the order sent, and whether each is added; later ones take precedence."""
    status: EntryStatus | None = None
    starred: bool | None = None
    for text, is_added in changes:
        stream = streams.parse(text)
        if stream.kind != "state":
            continue
        if stream.name == "starred":
            starred = is_added
        elif stream.name in _STATUSES:
            with_state, without_state = _STATUSES[stream.name]
            status = with_state if is_added else without_state
    return NewState(status, starred)


@routes.post("/reader/api/0/mark-all-as-read")
def mark_all_read(caller: User, services: Services, query: MarkAll) -> str:
    """Mark the entries of a stream as read that were stored up to `ts`."""
    if not query.s.strip():
        raise InvalidInput(verbatim("s: send a stream."), field="s")
    until = streams.moment(query.ts) or services.clock()
    with services.reading() as db:
        selection = streams.entry_filter(db, caller.id, query.s, StreamFilter())
    if selection is not None and EntryStatus.UNREAD in selection.statuses:
        services.read_marker.mark_stored_read(caller.id, selection, Instant(until + 1))
    return "OK"
