"""Tries selectors on a page that is not a feed, and suggests some. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from tidings.base.messages import Message
from tidings.base.times import Instant
from tidings.content.errors import PageUnreadable
from tidings.content.model import ParsedEntry
from tidings.content.pages import (
    FieldReport,
    PageKind,
    PageSelectors,
    Pick,
    Picked,
    Suggestion,
    parse_reading,
    selectors_text,
    written_selectors,
)
from tidings.domain.feeds import feed_changes
from tidings.net.fetch import FetchResponse
from tidings.services.clock import Clock
from tidings.services.feeds.discovery import page_request
from tidings.services.feeds.recent_documents import RecentDocuments
from tidings.services.polling.page_reader import PageReader
from tidings.services.publisher_requests import PoliteFetcher

# Items that are shown.
MAX_ITEMS = 50


class PagePreview(Struct, frozen=True):
    """What a feed of this page would have."""

    url: str
    """Where the page was found."""
    title: str = ""
    items: int = 0
    """Number of matches of the item's selector."""
    entries: tuple[ParsedEntry, ...] = ()
    """The first of them."""
    fields: tuple[FieldReport, ...] = ()
    problem: Message | None = None
    """Why there are no entries, None if there are some or none were asked for."""
    suggestions: tuple[Suggestion, ...] = ()
    marks: dict[str, list[int]] = {}
    """If asked for: numbers of the items and of their fields' elements, by part, as the page's outline has them."""
    now: Instant | None = None


class PagePreviews:
    """recent: pages that were just fetched. A preview leaves them there: the next one, and the subscription, want the
    same page.
    """

    def __init__(self, fetcher: PoliteFetcher, recent: RecentDocuments, pages: PageReader, clock: Clock) -> None:
        self._fetcher = fetcher
        self._recent = recent
        self._pages = pages
        self._clock = clock

    async def preview(self, user_id: int, fields: Mapping[str, Any], *, wants_marks: bool = False) -> PagePreview:
        """Return what selectors find on a page, and suggestions.

        fields: fields of the API: `url`, `kind` and `selectors`, and options for fetching. Without selectors there are
        suggestions only. Raises InvalidInput for invalid fields, and FetchError if the page cannot be fetched.
        """
        selectors = _selectors(fields)
        response = await self._page(user_id, fields)
        now = self._clock()
        try:
            result = await self._pages.look(response, now, selectors, wants_suggestions=True, wants_marks=wants_marks)
        except PageUnreadable as error:
            return PagePreview(response.url, problem=error.text, now=now)
        preview = PagePreview(response.url, problem=result.problem, suggestions=result.suggestions, now=now)
        if result.reading is None:
            return preview
        return msgspec.structs.replace(
            preview,
            title=result.reading.feed.title,
            items=result.reading.items,
            entries=result.reading.feed.entries[:MAX_ITEMS],
            fields=result.reading.fields,
            marks=result.marks,
        )

    async def outline(self, user_id: int, fields: Mapping[str, Any]) -> str:
        """Return a page as harmless HTML with numbered elements, for picking; "" if it has no text.

        fields: as of `preview`; of the selectors, `script` counts. Raises InvalidInput, FetchError, and PageUnreadable.
        """
        kind, script = _reading(fields)
        return await self._pages.outline(await self._page(user_id, fields), kind, script)

    async def pick(self, user_id: int, fields: Mapping[str, Any], wanted: Pick) -> Picked:
        """Return the selectors with a picked element, or why there are none. fields, errors: as of `outline`."""
        kind, script = _reading(fields)
        return await self._pages.pick(await self._page(user_id, fields), wanted, kind, script)

    async def _page(self, user_id: int, fields: Mapping[str, Any]) -> FetchResponse:
        request = page_request(
            user_id, {name: value for name, value in fields.items() if name not in ("kind", "selectors")}
        )
        response = self._recent.take(user_id, request)
        response = response or await self._fetcher.get(request, [user_id], requested_by=user_id)
        self._recent.add(user_id, request, response)
        return response


def _reading(fields: Mapping[str, Any]) -> tuple[PageKind, str]:
    return parse_reading(fields.get("kind") or PageKind.CSS, fields.get("selectors") or {})


def _selectors(fields: Mapping[str, Any]) -> PageSelectors | None:
    selectors = selectors_text(written_selectors(fields.get("selectors") or {}))
    return feed_changes.check_page(fields.get("kind") or "", selectors) if selectors else None
