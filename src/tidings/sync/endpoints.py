"""The endpoint with which clients stay in step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs
from starlette.responses import Response

from tidings.api.feed_style import FeedStyle
from tidings.api.fields import Fields
from tidings.api.objects import CategoryOut, EnclosureOut, FeedOut, LabelOut, UserOut, enclosure_out, feeds_of
from tidings.api.schema_annotations import Timestamp, one_of, up_to
from tidings.base.errors import CursorExpired, InvalidField, InvalidInput
from tidings.base.messages import msg
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import STATUS_BY_NAME, Enclosure, Entry, EntryStatus
from tidings.engine.database import Read
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.http.responses import json
from tidings.services.clock import time_zone
from tidings.storage.accounts.change_log import Kind
from tidings.storage.entries import entry_lists, labels
from tidings.sync.services import SyncServices
from tidings.sync.sync import Page, shown_entries

routes = Routes("Sync", after="Entries")

DEFAULT_LIMIT: Final = 500
MAX_LIMIT: Final = 1_000
# Of entries and of feeds: a client shows them in the user's zone, which may change.
_UTC: Final = time_zone("UTC")


class SyncedEntry(Struct, frozen=True, omit_defaults=True):
    """An entry, with the members that were asked for. content: cleaned HTML. reading_time: minutes. Times are in UTC.

    hidden: a rule keeps it out of the lists of all feeds. label_ids: of the labels of the user.
    """

    id: int
    user_id: int | UnsetType = UNSET
    feed_id: int | UnsetType = UNSET
    title: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    comments_url: str | UnsetType = UNSET
    author: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    share_code: str | UnsetType = UNSET
    starred: bool | UnsetType = UNSET
    hidden: bool | UnsetType = UNSET
    reading_time: int | UnsetType = UNSET
    status: Annotated[str, one_of(STATUS_BY_NAME)] | UnsetType = UNSET
    hash: str | UnsetType = UNSET
    published_at: Timestamp | UnsetType = UNSET
    created_at: Timestamp | UnsetType = UNSET
    changed_at: Timestamp | UnsetType = UNSET
    content: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    enclosures: list[EnclosureOut] | UnsetType = UNSET
    label_ids: list[int] | UnsetType = UNSET


class Removed(Struct, frozen=True):
    """Ids of what was deleted. With a feed, its entries are deleted."""

    categories: list[int]
    labels: list[int]
    views: list[int]
    rules: list[int]
    feeds: list[int]
    entries: list[int]


class Synced(Struct, frozen=True):
    """What has changed, as it is now. Times are in UTC, except those of settings.

    settings: as GET /v1/me, null if unchanged. categories, labels, views, rules: all of them, in their order, null if
    none has changed. views: as GET /v1/views. rules: as GET /v1/rules, without statistics. feeds, entries: those that
    changed. next_cursor: to be sent next time. has_more: there is another page already.
    """

    settings: UserOut | None
    categories: list[CategoryOut] | None
    labels: list[LabelOut] | None
    views: list[dict[str, Any]] | None
    rules: list[dict[str, Any]] | None
    feeds: list[FeedOut]
    entries: list[SyncedEntry]
    removed: Removed
    next_cursor: str
    has_more: bool


class SyncQuery(Query, frozen=True):
    """cursor: next_cursor of the last response; without one, everything is listed.

    limit: the largest number of feeds and entries together, default 500.
    """

    cursor: str = ""
    limit: Annotated[int | None, up_to(MAX_LIMIT, minimum=1)] = None

    def size(self) -> int:
        """Return the limit. Raises InvalidField for one that is not possible."""
        if self.limit is None:
            return DEFAULT_LIMIT
        if not 1 <= self.limit <= MAX_LIMIT:
            raise InvalidField("limit", msg("send a whole number from 1 to {max:,}.", max=MAX_LIMIT))
        return self.limit


@routes.get("/v1/sync", lists=SyncedEntry, raises=(InvalidInput, CursorExpired), responses={200: Synced})
def sync(caller: User, services: SyncServices, style: FeedStyle, fields: Fields, query: SyncQuery) -> Response:
    """Get what has changed since a cursor: everything without one.

    Nothing is missing or repeated, whoever writes at the same time. fields: of entries; their id is always there.
    410 when what has changed is not known any more, or a backup was restored: begin again without a cursor.
    """
    members = frozenset({"id", *fields.names} if fields.names else SyncedEntry.__struct_fields__)
    with services.sync.page(caller, query.cursor, query.size()) as (db, page):
        return json(_synced(db, caller, page, members, style))


def _synced(db: Read, user: User, page: Page, members: frozenset[str], style: FeedStyle) -> Synced:
    small = {kind: list(found.values()) for kind, found in page.small.items()}
    in_utc = structs.replace(user, timezone="UTC")
    feeds = feeds_of(db, in_utc, page.feed_ids, style) if page.feed_ids else {}
    shown = shown_entries(db, user, page.entry_ids)
    present = {entry.id for entry, _ in shown}
    removed = {kind: page.removed.get(kind, []) for kind in (Kind.CATEGORY, Kind.LABEL, Kind.VIEW, Kind.RULE)}
    removed[Kind.FEED] = [id_ for id_ in page.feed_ids if id_ not in feeds]
    removed[Kind.ENTRY] = [id_ for id_ in page.entry_ids if id_ not in present] if page.is_of_changes else []
    return Synced(
        settings=next(iter(small.get(Kind.SETTINGS, ())), None),
        **{kind.value: small.get(kind) for kind in (Kind.CATEGORY, Kind.LABEL, Kind.VIEW, Kind.RULE)},
        feeds=[feeds[id_] for id_ in page.feed_ids if id_ in feeds],  # type: ignore[misc]
        entries=_entries(db, user, shown, members),
        removed=Removed(**{kind.value: ids for kind, ids in removed.items()}),
        next_cursor=page.following.encode(user.id),
        has_more=page.has_more,
    )


def _entries(db: Read, user: User, shown: Sequence[tuple[Entry, int]], members: frozenset[str]) -> list[SyncedEntry]:
    ids = [entry.id for entry, _ in shown]
    contents = entry_lists.bodies(db, [user.id], ids) if ids and "content" in members else {}
    attached = entry_lists.enclosures_of(db, [user.id], ids) if ids and "enclosures" in members else {}
    given = labels.of_entries(db, user.id, ids) if ids and "label_ids" in members else {}
    made: Mapping[str, Callable[[Entry, int], Any]] = {
        "status": lambda _, status: EntryStatus(status).api_name,
        "hash": lambda entry, _: entry.hash.hex(),
        "published_at": lambda entry, _: _UTC.format(entry.published_at),
        "created_at": lambda entry, _: _UTC.format(entry.created_at),
        "changed_at": lambda entry, _: _UTC.format(entry.changed_at),
        "content": lambda entry, _: contents.get(entry.id, ""),
        # Stored as JSON and sent as JSON, without decoding.
        "tags": lambda entry, _: msgspec.Raw(entry.tags.encode()),
        "enclosures": lambda entry, _: [enclosure_out(one) for one in attached.get(entry.id, _NONE)],
        "label_ids": lambda entry, _: sorted(label.id for label in given.get(entry.id, ())),
    }
    own = [(name, made[name]) for name in SyncedEntry.__struct_fields__ if name in members and name in made]
    plain = [name for name in SyncedEntry.__struct_fields__ if name in members and name not in made]
    return [
        SyncedEntry(
            **{name: getattr(entry, name) for name in plain}, **{name: make(entry, status) for name, make in own}
        )
        for entry, status in shown
    ]


_NONE: list[Enclosure] = []
