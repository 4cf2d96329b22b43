"""Reads an account from a running Miniflux, or from another Tidings, through the REST API."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Final, Self

from tidings.archives.formats import miniflux
from tidings.archives.readers.json_api import JsonApi
from tidings.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.net.guard import AddressGuard

_OLDEST: Final = "/v1/entries?order=id&direction=asc&limit=1"
_NEWEST: Final = "/v1/entries?order=id&direction=desc&limit=1"
_ENTRIES: Final = "/v1/entries?order=id&direction=asc"


class MinifluxSource:
    """An `AccountSource`, used as a context manager. base_url: the server's URL, with or without /v1.

    page: maximum number of entries of a request.
    """

    application = "Miniflux"

    def __init__(self, base_url: str, api_key: str, *, guard: AddressGuard, page: int = miniflux.PAGE) -> None:
        base_url = base_url.strip().rstrip("/").removesuffix("/v1")
        self._api = JsonApi(base_url, headers={"X-Auth-Token": api_key}, guard=guard)
        self._limit = page
        self.username = ""
        self.entry_count = 0
        self.problems: list[str] = []

    def __enter__(self) -> Self:
        self._api.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._api.__exit__(kind, error, trace)

    def settings(self) -> dict[str, Any]:
        settings = miniflux.read_settings(self._api.get("/v1/me"))
        self.username = str(settings.get("username", ""))
        return settings

    def categories(self) -> list[ArchivedCategory]:
        return miniflux.read_categories(self._api.get("/v1/categories"))

    def feeds(self) -> list[ArchivedFeed]:
        return miniflux.read_feeds(self._api.get("/v1/feeds"))

    def labels(self) -> list[ArchivedLabel]:
        return []

    def entries(self) -> Iterator[ArchivedEntry]:
        """Yield all entries, the oldest id first. The next page is fetched while the caller works on one.

        A page is a range of ids, from the oldest to what is the newest at the start: Miniflux counts all entries that
        match, whatever the limit, so that 100,000 entries without an upper bound take twice as long. Entries that
        arrive during the import shift nothing, and come last.
        """
        oldest, newest = (miniflux.read_entries(self._api.get(path)) for path in (_OLDEST, _NEWEST))
        self.entry_count = newest.total
        after, width = max(oldest.last_id - 1, 0), self._limit
        request, before = self._page(after, width, newest.last_id)
        while True:
            page = miniflux.read_entries(request.result())
            if not page.entries and before is None:
                return
            is_cut = page.total > self._limit
            if is_cut:
                width = max(width // 2, self._limit)
            elif page.total <= self._limit // 2:
                # The ids in between belong to other users of the server.
                width *= 2
            after = (page.last_id or after) if is_cut or before is None else before - 1
            request, before = self._page(after, width, newest.last_id)
            yield from page.entries

    def _page(self, after: int, width: int, newest: int) -> tuple[Future[bytes], int | None]:
        """Request the entries with ids above `after`. Returns the request, and the id before which it ends, if any."""
        path = f"{_ENTRIES}&limit={self._limit}&after_entry_id={after}"
        if after >= newest:
            return self._api.request(path), None
        before = min(after + width, newest) + 1
        return self._api.request(f"{path}&before_entry_id={before}"), before
