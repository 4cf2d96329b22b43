"""Endpoints for earlier versions of entries."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.schema_annotations import Timestamp
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.users import User
from tidings.history.versions import compare_version, versions_of
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.clock import time_zone

routes = Routes("Entries")


class EntryVersionOut(Struct, frozen=True):
    """An earlier version of an entry. version: counted from 1. replaced_at: when the next one was stored."""

    version: int
    title: str
    replaced_at: Timestamp


class ComparedVersionOut(Struct, frozen=True):
    """An earlier version of an entry. content: cleaned HTML.

    title_differences, content_differences: HTML of the present title and content, in which <del> has the words that
    were removed since this version, and <ins> those that were added.
    """

    version: int
    title: str
    replaced_at: Timestamp
    content: str
    title_differences: str
    content_differences: str


@routes.get("/v1/entries/{entry_id}/versions", lists=EntryVersionOut, raises=(InvalidInput, NotFound))
def list_entry_versions(caller: User, services: Services, entry_id: int) -> list[EntryVersionOut]:
    """List the earlier versions of an entry that its publisher changed, the newest first: at most five."""
    clock = time_zone(caller.timezone)
    with services.reading() as db:
        return [
            EntryVersionOut(one.version, one.title, clock.format(one.replaced_at))
            for one in versions_of(db, caller.id, entry_id)
        ]


@routes.get("/v1/entries/{entry_id}/versions/{version}", raises=(InvalidInput, NotFound))
def get_entry_version(caller: User, services: Services, entry_id: int, version: int) -> ComparedVersionOut:
    """Get an earlier version of an entry, and the differences by word to the present one."""
    with services.reading() as db:
        found = compare_version(db, caller.id, entry_id, version)
    return ComparedVersionOut(
        version=found.version,
        title=found.earlier.title,
        replaced_at=time_zone(caller.timezone).format(found.replaced_at),
        content=found.earlier.content,
        title_differences=found.title_differences,
        content_differences=found.content_differences,
    )
