"""Parses streams, the lists of the Google Reader API, and converts them to filters of entries.

    feed/12  feed/https://example.org/feed.xml  user/-/label/NAME  user/-/state/com.google/STATE

A label is a folder, which is a category, or else a label of entries, or else a saved view: all have one namespace.
Instead of "-" clients also send a name or a number, which is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from msgspec import Struct, structs

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.base.text import normalize_for_search, reject_nul
from tidings.base.times import LATEST, SECOND, Instant
from tidings.domain.entries.entries import EntryFilter, EntryStatus, Folded, UnreadLists
from tidings.domain.entries.labels import Label
from tidings.domain.entries.saved_views import SavedView
from tidings.domain.feeds.categories import Category
from tidings.engine.database import Read
from tidings.query.model import DatedQuery, negated
from tidings.services.entries.queries import both, in_categories
from tidings.services.feeds.typed_urls import complete_url
from tidings.storage.entries import labels
from tidings.storage.feeds import categories, feeds

STATE: Final = "user/-/state/com.google/"
READING_LIST: Final = STATE + "reading-list"
READ: Final = STATE + "read"
STARRED: Final = STATE + "starred"
LABEL: Final = "user/-/label/"
FEED: Final = "feed/"

# The queries of saved views by case-folded name.
Views: TypeAlias = Mapping[str, DatedQuery]

# States of other services are treated as unknown states.
_USER: Final = re.compile(r"user/[^/]*/(?:(label)/|state/(?:(?:com\.google|org\.freshrss)/)?+)(.+)", re.DOTALL)
_BOTH: Final = (EntryStatus.UNREAD, EntryStatus.READ)
_STATUS: Final = {"read": EntryStatus.READ, "unread": EntryStatus.UNREAD, "kept-unread": EntryStatus.UNREAD}
_EVERYTHING: Final = ("reading-list", "main")
# Each stream that a list is narrowed by makes its statement longer.
MAX_NARROWING: Final = 100


class Stream(Struct, frozen=True):
    """kind: feed, label or state. name: an id or a URL, a title, or a state."""

    kind: str
    name: str


class StreamFilter(Struct, frozen=True, kw_only=True):
    """Narrows a stream. include, exclude: other streams. since, until: when entries were stored, inclusive.

    search: words to search for. folded: what the user's apps see of folded entries.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    since: Instant | None = None
    until: Instant | None = None
    search: str = ""
    folded: Folded = Folded.HIDE


def parse(text: str) -> Stream:
    """Return the stream that a text names; "" is the reading list. Raises InvalidInput for any other text."""
    text = _unescaped(text)
    if not text.strip():
        return Stream("state", "reading-list")
    reject_nul(text, field="s")
    if text.startswith(FEED) and len(text) > len(FEED):
        return Stream("feed", text.removeprefix(FEED))
    match = _USER.fullmatch(text)
    if match is None and text in (*_EVERYTHING, "starred"):
        # Scripts for FreshRSS send only this part.
        return Stream("state", text)
    if match is None:
        raise InvalidInput(verbatim(f"{text[:80]!r} is not a stream."), field="s")
    return Stream("label" if match[1] else "state", match[2])


def parse_distinct(texts: Iterable[str]) -> list[Stream]:
    """Return each stream once, in the order sent; blank texts are left out. Raises InvalidInput as `parse`."""
    return list(dict.fromkeys(parse(text) for text in dict.fromkeys(_not_blank(texts))))


def _unescaped(text: str) -> str:
    """RSS Guard 4.8 escapes a label twice, if a % is anywhere in its request."""
    return unquote(text) if text.startswith(("user%2F", "user%2f")) else text


def label_name(text: str) -> str:
    """Return the name of a label, given as a stream or alone. Raises InvalidInput for any other stream."""
    text = _unescaped(text)
    if not text.startswith(("user/", FEED)):
        return text
    stream = parse(text)
    if stream.kind != "label":
        raise InvalidInput(verbatim(f"{text[:80]!r} is not a label."), field="s")
    return stream.name


def moment(text: str) -> Instant | None:
    """Return a time that a client sent, None for no number. A fraction is dropped.

    Seconds; clients send milliseconds, microseconds and nanoseconds as well, told apart by their number of digits.
    """
    digits = text.strip().partition(".")[0]
    if not (digits.isascii() and digits.isdigit()):
        return None
    if len(digits) > _MAX_DIGITS:
        return LATEST
    scale, divisor = next((scale, part) for most, scale, part in _SCALES if len(digits) <= most)
    return Instant(min(int(digits) * scale // divisor, LATEST))


def stored_until(text: str, now: Instant) -> Instant:
    """Return the time until which the client has seen all stored entries; `now` for "" and 0.

    Raises InvalidInput for any other text that is not a time: as "now" it would mark entries that the client never saw.
    """
    if not text.strip():
        return now
    until = moment(text)
    if until is None:
        raise InvalidInput(verbatim(f"ts: {text[:40]!r} is not a time: send seconds since 1970."), field="ts")
    return until or now


# Maximum number of digits, multiplier, divisor.
_SCALES: Final = ((11, SECOND, 1), (14, 1000, 1), (17, 1, 1), (30, 1, 1000))
_MAX_DIGITS: Final = _SCALES[-1][0]


def feed_id(db: Read, user_id: int, stream: Stream) -> int:
    """Return the id of a user's feed. Raises NotFound."""
    if stream.name.isascii() and stream.name.isdigit():
        number = int(stream.name) if len(stream.name) < 11 else 0
        found = number if 0 < number < 2**31 and feeds.get(db, user_id, number) else None
    else:
        found = feeds.id_by_url(db, user_id, complete_url(stream.name))
    if found is None:
        raise _unknown_feed()
    return found


def feed_ids(db: Read, user_id: int, wanted: Sequence[Stream]) -> dict[Stream, int | None]:
    """Return the ids of the user's feeds among these streams, None for any other, in two statements."""
    numbers, addresses = {}, {}
    for stream in wanted:
        if stream.name.isascii() and stream.name.isdigit():
            numbers[stream] = int(stream.name) if len(stream.name) < 11 else 0
        else:
            addresses[stream] = complete_url(stream.name)
    own = feeds.owned_ids(db, user_id, [number for number in numbers.values() if 0 < number < 2**31])
    by_url = feeds.ids_by_url(db, user_id, addresses.values())
    return {
        stream: by_url.get(addresses[stream])
        if stream in addresses
        else (numbers[stream] if numbers[stream] in own else None)
        for stream in wanted
    }


def unread_lists(db: Read, user_id: int, wanted: Sequence[Stream]) -> UnreadLists | None:
    """Return the lists of unread entries that streams name, None for all. Raises NotFound.

    Takes as many statements for many streams as for two.
    """
    states = {stream.name for stream in wanted if stream.kind == "state"}
    found = feed_ids(db, user_id, [stream for stream in wanted if stream.kind == "feed"])
    if None in found.values():
        raise _unknown_feed()
    names = {normalize_for_search(stream.name) for stream in wanted if stream.kind == "label"}
    folders = {normalize_for_search(each.title): each.id for each in categories.list_all(db, user_id)} if names else {}
    mine = labels.list_all(db, user_id) if names - folders.keys() else []
    own = {normalize_for_search(label.name): label.id for label in mine}
    if names - folders.keys() - own.keys():
        raise _unknown_label()
    if states & {*_EVERYTHING, "unread", "kept-unread"}:
        return None
    return UnreadLists(
        feed_ids=tuple(sorted(id_ for id_ in found.values() if id_ is not None)),
        category_ids=tuple(sorted(folders[name] for name in names & folders.keys())),
        label_ids=tuple(sorted(own[name] for name in names - folders.keys())),
        starred="starred" in states,
    )


def folder_or_label(db: Read, user_id: int, name: str) -> Category | Label:
    """Return what a label names: a user's category, or else a label of entries. Raises NotFound."""
    key = normalize_for_search(name)
    found = categories.by_key(db, user_id, key) or labels.by_key(db, user_id, key)
    if found is None:
        raise _unknown_label()
    return found


def _unknown_feed() -> NotFound:
    return NotFound(verbatim("There is no such feed."))


def _unknown_label() -> NotFound:
    return NotFound(verbatim("There is no such folder or label."))


def view_of(db: Read, user_id: int, stream: Stream, views: Views) -> DatedQuery | None:
    """Return the query of the saved view that a stream names; None if it names something else."""
    if stream.kind != "label" or (query := views.get(normalize_for_search(stream.name))) is None:
        return None
    try:
        folder_or_label(db, user_id, stream.name)
    except NotFound:
        return query
    return None


def visible_views(db: Read, user_id: int, views: Iterable[SavedView]) -> list[SavedView]:
    """Return the views that no folder or label hides by having the same name. views: those that apps see."""
    wanted = list(views)
    if not wanted:
        return []
    hidden = {normalize_for_search(category.title) for category in categories.list_all(db, user_id)}
    hidden |= {normalize_for_search(label.name) for label in labels.list_all(db, user_id)}
    return [view for view in wanted if normalize_for_search(view.name) not in hidden]


def visible_labels(db: Read, user_id: int) -> list[Label]:
    """Return the labels of entries that no folder hides by having the same name."""
    titles = {normalize_for_search(category.title) for category in categories.list_all(db, user_id)}
    return [label for label in labels.list_all(db, user_id) if normalize_for_search(label.name) not in titles]


def entry_filter(db: Read, user_id: int, stream: str, stream_filter: StreamFilter, views: Views) -> EntryFilter | None:
    """Return the filter of the entries of a stream, None if nothing can match. Raises NotFound and InvalidInput.

    views: those of the user that apps see.
    """
    selection: EntryFilter | None = EntryFilter(
        statuses=_BOTH,
        created_after=None if stream_filter.since is None else Instant(stream_filter.since - 1),
        created_before=None if stream_filter.until is None else Instant(stream_filter.until + 1),
        search=stream_filter.search,
        folded=stream_filter.folded,
    )
    for each in (parse(stream), *_narrowing(stream_filter.include, field="it")):
        selection = selection and _intersection(db, user_id, selection, condition(db, user_id, each, views))
    for each in _narrowing(stream_filter.exclude, field="xt"):
        selection = selection and _without(db, user_id, selection, each, views)
    return selection


def _narrowing(texts: Sequence[str], *, field: str) -> list[Stream]:
    distinct = parse_distinct(texts)
    if len(distinct) > MAX_NARROWING:
        raise InvalidInput(verbatim(f"{field}: send {MAX_NARROWING} streams at most."), field=field)
    return distinct


def _not_blank(texts: Iterable[str]) -> Iterable[str]:
    return (text for text in texts if text.strip())


def condition(db: Read, user_id: int, stream: Stream, views: Views) -> EntryFilter | None:
    """Return the filter of a stream alone, None for states that no entry ever has, such as like."""
    if query := view_of(db, user_id, stream, views):
        return EntryFilter(statuses=_BOTH, query=query)
    if stream.kind == "feed":
        return EntryFilter(statuses=_BOTH, feed_id=feed_id(db, user_id, stream))
    if stream.kind == "label":
        found = folder_or_label(db, user_id, stream.name)
        if isinstance(found, Label):
            return EntryFilter(statuses=_BOTH, label_ids=(found.id,))
        return EntryFilter(statuses=_BOTH, category_id=found.id)
    if stream.name in _EVERYTHING:
        return EntryFilter(statuses=_BOTH)
    if stream.name == "starred":
        return EntryFilter(statuses=_BOTH, starred=True)
    status = _STATUS.get(stream.name)
    return None if status is None else EntryFilter(statuses=(status,))


def _intersection(db: Read, user_id: int, first: EntryFilter, second: EntryFilter | None) -> EntryFilter | None:
    """Return the filter of the entries that match both, None if nothing can match."""
    if second is None:
        return None
    statuses = tuple(status for status in first.statuses if status in second.statuses)
    values: dict[str, Any] = {
        "label_ids": tuple(dict.fromkeys((*first.label_ids, *second.label_ids))),
    }
    wanted_ids = {one.category_id for one in (first, second) if one.category_id is not None}
    place = in_categories(db, user_id, wanted_ids, both(first.query, second.query))
    if place is None:
        return None
    values["category_id"], values["query"] = place
    for name in ("feed_id", "starred"):
        wanted, required = getattr(first, name), getattr(second, name)
        if None not in (wanted, required) and wanted != required:
            return None
        values[name] = required if wanted is None else wanted
    return structs.replace(first, statuses=statuses, **values) if statuses else None


def _without(db: Read, user_id: int, selection: EntryFilter, stream: Stream, views: Views) -> EntryFilter | None:
    """Return the filter without the entries of a stream. A stream that does not exist excludes nothing."""
    if stream.kind == "state":
        return _without_state(selection, stream.name)
    if query := view_of(db, user_id, stream, views):
        others = structs.replace(query, tree=negated(query.tree))
        return structs.replace(selection, query=both(selection.query, others))
    try:
        if stream.kind == "feed":
            excluded = [feed_id(db, user_id, stream)]
        elif isinstance(found := folder_or_label(db, user_id, stream.name), Label):
            return structs.replace(selection, excluded_label_ids=(*selection.excluded_label_ids, found.id))
        else:
            excluded = feeds.ids_of_category(db, user_id, found.id)
    except NotFound:
        return selection
    return structs.replace(selection, excluded_feed_ids=(*selection.excluded_feed_ids, *excluded))


def _without_state(selection: EntryFilter, state: str) -> EntryFilter | None:
    if state in _EVERYTHING:
        return None
    if state == "starred":
        return None if selection.starred else structs.replace(selection, starred=False)
    statuses = tuple(status for status in selection.statuses if status != _STATUS.get(state))
    return structs.replace(selection, statuses=statuses) if statuses else None
