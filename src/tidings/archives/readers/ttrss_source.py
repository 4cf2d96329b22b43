"""Reads an account from a running Tiny Tiny RSS through its JSON API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from tidings.archives.formats import ttrss
from tidings.archives.formats.listed_items import identity_of, unnamed_feed
from tidings.archives.formats.ttrss import Headline
from tidings.archives.readers.json_api import JsonApi
from tidings.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.base.errors import InvalidInput
from tidings.net.errors import FetchError
from tidings.net.guard import AddressGuard

# Entries that two pages share, to notice when entries were removed, which moves all later ones.
_OVERLAP: Final = 1


class TtrssSource:
    """An `AccountSource`, used as a context manager. base_url: the server's URL, with or without /api.

    The password goes into the body of requests, so that the server does not log it. The session is ended at the end.
    """

    application = "Tiny Tiny RSS"

    def __init__(self, base_url: str, username: str, password: str, *, guard: AddressGuard) -> None:
        base_url = base_url.strip().rstrip("/").removesuffix("/api")
        self._api = JsonApi(base_url, headers={}, guard=guard, credential="user and password")
        self.username = username
        self._password = password
        self._session_id = ""
        self._categories: dict[int, ArchivedCategory] = {}
        self._feeds: list[int] = []
        self.entry_count = 0
        self.problems: list[str] = []

    def __enter__(self) -> Self:
        self._api.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(FetchError):
            if self._session_id:
                self._call("logout")
        self._api.__exit__(kind, error, trace)

    def settings(self) -> dict[str, Any]:
        """Log in and return no settings: the server's preferences have no counterpart here."""
        login = ttrss.read_login(self._call("login", user=self.username, password=self._password))
        self._session_id = login.session_id
        return {}

    def categories(self) -> list[ArchivedCategory]:
        titles = ttrss.read_categories(self._call("getCategories", include_empty=True))
        tree, parents = self._call("getFeedTree", include_empty=True), dict[int, int]()
        try:
            parents = ttrss.read_parents(tree)
        except InvalidInput as error:
            self.problems.append(f"nested categories are side by side: {error.message}")
        self._categories = ttrss.archived_categories(titles, parents)
        return list(self._categories.values())

    def feeds(self) -> list[ArchivedFeed]:
        feeds = ttrss.read_feeds(self._call("getFeeds", cat_id=ttrss.ALL_FEEDS), self._categories)
        if self._page(ttrss.ARCHIVED, 0, limit=1):
            feeds.append(unnamed_feed(self.application, ttrss.ARCHIVED))
        self._feeds = [feed.number for feed in feeds]
        return feeds

    def labels(self) -> list[ArchivedLabel]:
        return ttrss.read_labels(self._call("getLabels"))

    def entries(self) -> Iterator[ArchivedEntry]:
        """Yield the entries feed by feed, so that for each page the server sorts the entries of one feed only."""
        for feed in self._feeds:
            hashes: set[str] = set()
            for headline in self._headlines(feed):
                yield _with_own_hash(headline, hashes)

    def _headlines(self, feed: int) -> Iterator[Headline]:
        """Yield the entries of a feed once each.

        Pages are counted by entries, so entries that arrive or are removed during the import move the others. Each page
        begins with the last entry of the page before; if that is another one, the page before is read again.
        """
        known: set[int] = set()
        skip, furthest = 0, -1
        while True:
            page = self._page(feed, skip)
            has_gap = skip > 0 and bool(page) and page[0].id not in known
            new = {headline.id: headline for headline in page if headline.id not in known}
            known.update(new)
            yield from new.values()
            if has_gap:
                furthest, skip = max(furthest, skip), max(0, skip - ttrss.PAGE)
            elif len(page) < ttrss.PAGE or (not new and skip > furthest):
                # A server that ignores `skip` would never end.
                return
            else:
                furthest, skip = max(furthest, skip), skip + ttrss.PAGE - _OVERLAP

    def _page(self, feed: int, skip: int, *, limit: int = ttrss.PAGE) -> list[Headline]:
        """Return entries after the first `skip` ones, in the only order that has hardly any ties."""
        document = self._call(
            "getHeadlines",
            feed_id=feed, limit=limit, skip=skip, order_by="title", view_mode="all_articles", is_cat=False,
            show_content=True, show_excerpt=False, include_attachments=True, sanitize=False,
        )  # fmt: skip
        return ttrss.read_headlines(document, feed)

    def _call(self, operation: str, **values: Any) -> bytes:
        return self._api.post("/api/", msgspec.json.encode({"op": operation, "sid": self._session_id, **values}))


def _with_own_hash(headline: Headline, hashes: set[str]) -> ArchivedEntry:
    """Return the entry; with a hash of its id at the server if another entry of the feed has the same URL."""
    entry = headline.entry
    if entry.hash in hashes:
        entry = msgspec.structs.replace(entry, hash=identity_of(headline.guid, str(headline.id)))
    hashes.add(entry.hash)
    return entry
