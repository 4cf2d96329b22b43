"""Endpoints that change states and labels of entries, single ones or a whole stream. Changes are idempotent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.base.text import normalize_for_search
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryFilter, EntryStatus
from tidings.greader import item_ids, streams
from tidings.http import forms
from tidings.http.binding import QueryOrForm
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.services import Services
from tidings.storage.entries import labels

routes = Routes("Changes")

# Labels and folders of one request: each has statements of its own.
MAX_LABELS: Final = 100

# By state: the status of an entry with it, and of one from which it was removed.
_STATUSES: Final = {
    "read": (EntryStatus.READ, EntryStatus.UNREAD),
    "unread": (EntryStatus.UNREAD, EntryStatus.READ),
    "kept-unread": (EntryStatus.UNREAD, EntryStatus.READ),
}


class EditTag(QueryOrForm, frozen=True):
    """i: entries. a, r: states and labels to add and to remove."""

    i: tuple[str, ...] = ()
    a: tuple[str, ...] = ()
    r: tuple[str, ...] = ()


class MarkAll(QueryOrForm, frozen=True):
    """s: streams. ts: entries stored later stay unread; default: now."""

    s: tuple[str, ...] = ()
    ts: str = ""


class NewState(Struct, frozen=True):
    """status, starred: None leaves them unchanged. labels: by name, whether each is added or removed."""

    status: EntryStatus | None = None
    starred: bool | None = None
    labels: dict[str, bool] = {}


@routes.post("/reader/api/0/edit-tag")
def edit_tags(caller: User, services: Services, query: EditTag, request: Request) -> str:
    """Set states and labels of entries. Of contradictions the last wins.

    Removed entries and other users' entries, unsupported states and the names of folders are ignored: an entry is in
    the folder of its feed. Readrops makes a folder by adding its label to no item. FeedFlow sends nothing to add and to
    remove where it means disable-tag, and goes on if that is not refused.
    """
    if not query.i and query.r and not query.a:
        raise InvalidInput(verbatim("i: send the ids of items."), field="i")
    if not query.i:
        names = [streams.label_name(text) for text in dict.fromkeys(query.a)]
        _refuse_many(len(names))
        _ensure_folders(services, caller.id, names)
        return "OK"
    ids = item_ids.parse_all(query.i)
    sent = [*request.query, *forms.fields(request)]
    state = new_state((text, name == "a") for name, text in sent if name in ("a", "r"))
    _refuse_many(len(state.labels))
    if ids and state.labels:
        with services.reading() as db:
            views = services.entries.queries.app_views(db, caller)
        # An entry is in a view by what it is.
        added = [
            name for name, is_added in state.labels.items() if is_added and normalize_for_search(name) not in views
        ]
        removed = [name for name, is_added in state.labels.items() if not is_added]
        services.entries.labels.change(caller.id, ids, add=added, remove=removed)
    if ids and (state.status is not None or state.starred is not None):
        services.entries.changes.update(caller, ids, status=state.status, starred=state.starred, is_repeatable=True)
    return "OK"


def _refuse_many(count: int) -> None:
    if count > MAX_LABELS:
        raise InvalidInput(verbatim(f"a, r: send {MAX_LABELS} labels at most in one request."), field="a")


def _ensure_folders(services: Services, user_id: int, names: list[str]) -> None:
    """Create the folders of these names that do not exist, except for those that are labels."""
    with services.reading() as db:
        keys = {normalize_for_search(label.name) for label in labels.list_all(db, user_id)}
    for name in names:
        if normalize_for_search(name) not in keys:
            services.feeds.categories.ensure(user_id, name)


def new_state(changes: Iterable[tuple[str, bool]]) -> NewState:
    """Return the change. changes: states in the order sent, and whether each is added; later ones take precedence."""
    status: EntryStatus | None = None
    starred: bool | None = None
    by_key: dict[str, tuple[str, bool]] = {}
    for text, is_added in changes:
        stream = streams.parse(text)
        if stream.kind == "label":
            by_key[normalize_for_search(stream.name)] = stream.name, is_added
        elif stream.kind != "state":
            continue
        elif stream.name == "starred":
            starred = is_added
        elif stream.name in _STATUSES:
            with_state, without_state = _STATUSES[stream.name]
            status = with_state if is_added else without_state
    return NewState(status, starred, dict(by_key.values()))


@routes.post("/reader/api/0/mark-all-as-read")
def mark_all_read(caller: User, services: Services, query: MarkAll) -> str:
    """Mark the entries of streams as read that were stored up to `ts`."""
    wanted = streams.parse_distinct(query.s)
    if not wanted:
        raise InvalidInput(verbatim("s: send a stream."), field="s")
    before = Instant(streams.stored_until(query.ts, services.clock()) + 1)
    with services.reading() as db:
        views = services.entries.queries.app_views(db, caller) if any(one.kind == "label" for one in wanted) else {}
        found = {one: streams.view_of(db, caller.id, one, views) for one in wanted}
        others = [one for one in wanted if not found[one]]
        # Several in one statement. One alone, which is what apps send, is found by the index of its list.
        lists = streams.unread_lists(db, caller.id, others) if len(others) > 1 else None
        selection = streams.condition(db, caller.id, others[0], views) if len(others) == 1 else EntryFilter()
    for query_of_view in filter(None, found.values()):
        services.entries.read_marker.mark_stored_read(caller.id, EntryFilter(query=query_of_view), before)
    if not others:
        return "OK"
    if lists is not None:
        services.entries.read_marker.mark_lists_read(caller.id, lists, before)
    elif selection is not None and selection.statuses != (EntryStatus.READ,):
        services.entries.read_marker.mark_stored_read(caller.id, selection, before)
    return "OK"
