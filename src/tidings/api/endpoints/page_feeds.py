"""The endpoint that tries selectors on a page that is not a feed."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Struct

from tidings.api.endpoints.discovery import DiscoveryRequest
from tidings.api.endpoints.feeds import Selectors
from tidings.api.schema_annotations import Timestamp, one_of
from tidings.base.errors import InvalidInput
from tidings.content.model import PageKind, ParsedEntry
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.http.json_body import sent
from tidings.net.errors import FetchError
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.services.feeds.page_previews import PagePreview
from tidings.services.feeds.typed_urls import reach

routes = Routes("Feeds")


class PagePreviewRequest(DiscoveryRequest, frozen=True, kw_only=True):
    """url: of a page or of JSON. kind, selectors: as of a feed; without them the response has suggestions only. The
    other members are sent to the host of the page only.
    """

    kind: Annotated[str | None, one_of(PageKind)] = None
    selectors: Selectors | None = None


class PageItemOut(Struct, frozen=True):
    """An entry that the feed would have. content: the beginning of its HTML, not cleaned. published_at: null if there
    is no date, and then it will be the time when the entry is first seen.
    """

    title: str
    url: str
    author: str
    published_at: Timestamp | None
    content: str
    tags: list[str]
    enclosures: list[str]


class PageFieldOut(Struct, frozen=True):
    """hits, misses: numbers of items with and without a value. example: the first value. instead: if no item has one,
    what the first item has.
    """

    field: str
    hits: int
    misses: int
    example: str
    instead: list[str]


class PageSuggestionOut(Struct, frozen=True):
    """Selectors for something that the page repeats. examples: titles of the first items."""

    kind: Annotated[str, one_of(PageKind)]
    selectors: dict[str, str]
    items: int
    examples: list[str]


class PagePreviewOut(Struct, frozen=True):
    """item_count: what the selector of items finds. items: the first 50 entries. problem: why there are none, and what
    the page has instead. suggestions: the likeliest first.
    """

    url: str
    title: str
    item_count: int
    items: list[PageItemOut]
    fields: list[PageFieldOut]
    problem: str
    suggestions: list[PageSuggestionOut]


# Characters of the content that is shown of an item.
_MAX_CONTENT = 2_000


@routes.post("/v1/feeds/preview-page", scope=KeyScope.MANAGE, raises=(InvalidInput, FetchError))
async def preview_page(caller: User, services: Services, body: PagePreviewRequest) -> PagePreviewOut:
    """Try selectors on a page that is not a feed, and suggest some. Nothing is stored."""
    values = sent(body)
    if body.selectors is not None:
        values["selectors"] = msgspec.to_builtins(body.selectors)

    async def preview(url: str) -> PagePreview:
        return await services.feeds.page_previews.preview(caller.id, values | {"url": url})

    has_secrets = bool(body.username or body.password or body.cookie)
    found = await reach(body.url or "", preview, has_secrets=has_secrets, completes=False)
    clock = time_zone(caller.timezone)
    return PagePreviewOut(
        url=found.url,
        title=found.title,
        item_count=found.items,
        items=[_item(entry, clock) for entry in found.entries],
        fields=[PageFieldOut(one.name, one.hits, one.misses, one.example, list(one.instead)) for one in found.fields],
        problem=found.problem.english() if found.problem else "",
        suggestions=[
            PageSuggestionOut(one.kind, one.selectors, one.items, list(one.examples)) for one in found.suggestions
        ],
    )


def _item(entry: ParsedEntry, clock: TimeZone) -> PageItemOut:
    return PageItemOut(
        title=entry.title,
        url=entry.url,
        author=entry.author,
        published_at=clock.format_optional(entry.published_at),
        content=entry.content[:_MAX_CONTENT],
        tags=list(entry.tags),
        enclosures=[one.url for one in entry.enclosures],
    )
