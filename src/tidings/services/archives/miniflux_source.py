"""Reads an account from a running Miniflux, or from another Tidings, through the REST API."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self

from tidings.domain.archives import miniflux
from tidings.domain.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.net.guard import AddressGuard
from tidings.net.json_api import JsonApi

_ENTRIES: Final = f"/v1/entries?order=id&direction=asc&limit={miniflux.PAGE}&after_entry_id="


class MinifluxSource:
    """An `AccountSource`, used as a context manager. base_url: of the server, with or without /v1."""

    application = "Miniflux"

    def __init__(self, base_url: str, api_key: str, *, guard: AddressGuard) -> None:
        base_url = base_url.strip().rstrip("/").removesuffix("/v1")
        self._api = JsonApi(base_url, headers={"X-Auth-Token": api_key}, guard=guard)
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
        """Yields all entries, the oldest id first. The next page is fetched while the caller works on one.

        Pages begin behind the last id of the page before, so that entries which arrive meanwhile shift nothing.
        """
        request = self._api.request(f"{_ENTRIES}0")
        while True:
            page = miniflux.read_entries(request.result())
            # The first total is that of all.
            self.entry_count = self.entry_count or page.total
            if not page.entries:
                return
            request = self._api.request(f"{_ENTRIES}{page.last_id}")
            yield from page.entries
