"""Endpoints that edit, import and save entries, and flush the history."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from starlette.responses import Response

from tidings.api.entry_lists import EntryOut, serialize_entry
from tidings.api.feed_style import FeedStyle
from tidings.api.schema_annotations import Required, one_of
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import STATUS_BY_NAME
from tidings.http.binding import LazyBody
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64, sent
from tidings.http.responses import json
from tidings.services import Services
from tidings.services.entries.entries import invalid_feed_id, owned_entry
from tidings.services.entries.labels import check_owned
from tidings.storage.feeds import feeds

routes = Routes("Entries")


class EntryUpdate(Struct, frozen=True):
    """title: plain text. content: HTML; it is sanitized.

    labels: ids of your labels, all that the entry is to have.
    """

    title: str | None = None
    content: str | None = None
    labels: list[Int64] | None = None


class EntryImport(Struct, frozen=True):
    """external_id: identifies the entry within its feed; default: its url.

    published_at: Unix seconds; default: now. status: default read.
    """

    url: Required[str] = None
    title: str | None = None
    author: str | None = None
    content: str | None = None
    published_at: Int64 | None = None
    status: Annotated[str | None, one_of(STATUS_BY_NAME)] = None
    starred: bool | None = None
    tags: list[str] | None = None
    external_id: str | None = None
    comments_url: str | None = None


class EntryImported(Struct, frozen=True):
    id: int


@routes.put("/v1/entries/{entry_id}", scope=KeyScope.WRITE, status=201, raises=(InvalidInput, NotFound))
def update_entry(caller: User, services: Services, style: FeedStyle, entry_id: int, body: EntryUpdate) -> EntryOut:
    """Change the title, the content or the labels of an entry. Later changes of the publisher do not overwrite them."""
    if body.labels is not None:
        with services.reading() as db:
            owned_entry(db, caller.id, entry_id)
            check_owned(db, caller.id, body.labels, field="labels")
    services.entries.changes.edit(caller, entry_id, title=body.title, content=body.content)
    if body.labels is not None:
        services.entries.labels.set_of_entry(caller.id, entry_id, body.labels)
    with services.reading() as db:
        return serialize_entry(db, caller, entry_id, style)


@routes.put("/v1/entries/{entry_id}/switch-content", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def switch_content(caller: User, services: Services, entry_id: int) -> None:
    """Show the content of the feed instead of the article that was fetched from its page, or the reverse."""
    services.entries.changes.switch_content(caller, entry_id)


@routes.post(
    "/v1/feeds/{feed_id}/entries/import",
    scope=KeyScope.WRITE,
    raises=(InvalidInput,),
    responses={200: EntryImported, 201: EntryImported},
)
def import_entry(caller: User, services: Services, feed_id: int, body: LazyBody[EntryImport]) -> Response:
    """Add an entry to a feed. Returns 200 if the feed has the entry: then only its status and star are set."""
    with services.reading() as db:
        if feeds.get(db, caller.id, feed_id) is None:
            raise invalid_feed_id(feed_id)
    entry_id, is_new = services.entries.changes.import_one(caller, feed_id, sent(body.read()))
    return json(EntryImported(entry_id), 201 if is_new else 200)


@routes.post("/v1/entries/{entry_id}/save", scope=KeyScope.WRITE, status=202, raises=(InvalidInput, NotFound))
def save_entry(caller: User, services: Services, entry_id: int) -> None:
    """Queue an entry for all services that you save entries to."""
    services.entries.changes.save(caller, entry_id)


@routes.put("/v1/flush-history", scope=KeyScope.WRITE, status=202)
@routes.delete("/v1/flush-history", scope=KeyScope.WRITE, status=202)
def flush_history(caller: User, services: Services) -> None:
    """Delete read entries, except starred, shared, labelled and snoozed ones. They are not added again."""
    services.entries.changes.flush_history(caller.id)
