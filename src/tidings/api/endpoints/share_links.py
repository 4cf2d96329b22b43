"""Endpoints for share links, with which anyone can read an entry."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from starlette.responses import Response

from tidings.api.fields import Fields, lean
from tidings.api.paging import next_link, read_cursor
from tidings.api.public_address import PublicAddress
from tidings.api.schema_annotations import up_to
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, Entry, EntryFilter, Order, PageRequest
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import json
from tidings.services import Services
from tidings.services.entries.entries import owned_entry

routes = Routes("Share links")

DEFAULT_LIMIT = 100
MAX_LIMIT = 1_000


class ShareLinkOut(Struct, frozen=True):
    """The share link of an entry. url: the article's. share_url: where anyone can read the entry.

    share_code: the last part of share_url, as entries have it.
    """

    entry_id: int
    feed_id: int
    title: str
    url: str
    share_code: str
    share_url: str


class ShareLinkList(Struct, frozen=True):
    share_links: list[ShareLinkOut]


class ShareLinksQuery(Query, frozen=True):
    """limit: 1 to 1000, default 100. cursor: the place after which the page begins, from the link to the next page."""

    limit: Annotated[int | None, up_to(MAX_LIMIT, minimum=1)] = None
    cursor: str = ""


@routes.get("/v1/share-links", lists=ShareLinkOut, raises=(InvalidInput,), responses={200: ShareLinkList})
def list_share_links(
    caller: User, services: Services, address: PublicAddress, request: Request, fields: Fields, query: ShareLinksQuery
) -> Response:
    """List your entries that anyone can read, the one that was published last first."""
    limit = DEFAULT_LIMIT if query.limit is None else query.limit
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(verbatim(f"limit: expected a number from 1 to {MAX_LIMIT:,}."), field="limit")
    cursor = read_cursor(query.cursor, Order.PUBLISHED_AT) if query.cursor else None
    page = PageRequest(direction=Direction.DESC, limit=limit + 1, cursor=cursor)
    entry_filter = EntryFilter(shared=True)
    with services.entries.listing.of(caller.id, entry_filter) as lists:
        found = lists.rows(entry_filter, page)
    listed = ShareLinkList([_out(entry, entry.share_code, address) for entry in found[:limit]])
    headers = next_link(request, page, found[limit - 1]) if len(found) > limit else None
    return json(lean(listed, fields), headers=headers)


@routes.post("/v1/entries/{entry_id}/share", scope=KeyScope.WRITE, status=201, raises=(InvalidInput, NotFound))
def share_entry(caller: User, services: Services, address: PublicAddress, entry_id: int) -> ShareLinkOut:
    """Make a link with which anyone can read an entry, or return the one that it has."""
    code = services.entries.public_links.create(caller.id, entry_id)
    with services.reading() as db:
        return _out(owned_entry(db, caller.id, entry_id), code, address)


@routes.delete("/v1/entries/{entry_id}/share", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def unshare_entry(caller: User, services: Services, entry_id: int) -> None:
    """Revoke the share link of an entry, if it has one. Sharing it again makes another link."""
    services.entries.public_links.revoke(caller.id, entry_id)


def _out(entry: Entry, code: str, address: PublicAddress) -> ShareLinkOut:
    return ShareLinkOut(entry.id, entry.feed_id, entry.title, entry.url, code, address.url(f"/share/{code}"))
