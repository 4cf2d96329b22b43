"""Imports and exports subscriptions as OPML, and imports plain lists of addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.feeds import feed_lists, opml
from tidings.domain.feeds.categories import CategoryTree
from tidings.engine import notify
from tidings.engine.database import Database, Write
from tidings.net.fetch import FetchRequest
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.services.feeds.categories import ensure_paths
from tidings.services.feeds.feeds import MAX_CATEGORIES
from tidings.services.listeners import FinishedImport, Listeners
from tidings.services.publisher_requests import PoliteFetcher
from tidings.storage.feeds import categories, feeds, further_categories

# A longer report would not be read.
MAX_REMARKS = 100

_ACCEPT = "text/x-opml, application/xml, text/xml, text/plain;q=0.5, */*;q=0.1"


class OpmlImportResult(Struct, frozen=True):
    """The result of an import."""

    new: int
    """Number of feeds stored."""
    known: int
    """Number of outlines skipped: of feeds that the user has, or listed in the same folder before."""
    unusable: tuple[opml.OpmlProblem, ...] = ()
    """Remarks on feeds that were skipped."""
    ignored_settings: tuple[opml.OpmlProblem, ...] = ()
    """Remarks on settings that were not imported."""

    @property
    def message(self) -> str:
        """A report for the user: the counts, then a line for each remark, in the order of the document."""
        counted = [f"Feeds imported: {self.new}."]
        if self.known:
            counted.append(f"Already there: {self.known}.")
        if self.unusable:
            counted.append(f"Not usable: {len(self.unusable)}.")
        remarks = sorted([*self.unusable, *self.ignored_settings], key=lambda remark: remark.line)
        lines = [str(remark) for remark in remarks[:MAX_REMARKS]]
        if len(remarks) > MAX_REMARKS:
            lines.append(f"And {len(remarks) - MAX_REMARKS} more.")
        return "\n".join([" ".join(counted), *lines])


class Opml:
    def __init__(self, database: Database, clock: Clock, fetcher: PoliteFetcher, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._fetcher = fetcher
        self._listeners = listeners

    def export(self, user_id: int) -> bytes:
        """Return all feeds of a user in the tree of categories, as OPML without credentials, cookies and proxies."""
        with self._database.reading() as db:
            tree = CategoryTree(categories.list_all(db, user_id))
            by_category = feeds.for_opml(db, user_id)
        paths = ((folder.id, [one.name for one in tree.line(folder.id)]) for folder, _ in tree.walk())
        return opml.write(((path, by_category.get(number, [])) for number, path in paths), created_at=self._clock())

    def import_(self, user_id: int, body: bytes, origin: str = "") -> OpmlImportResult:
        """Subscribe to all usable feeds of an OPML document or of a list of addresses, one on each line.

        Nothing is fetched; the new feeds are due immediately.

        origin: name of the file, or host of the server; "" if it is not known.
        Raises InvalidInput, and stores nothing, if the document cannot be read or a feed has no category.
        """
        document = feed_lists.read(body)
        added = repeat_if_concurrent(lambda: self._store(user_id, document, origin))
        known = len(document.subscriptions) - sum(map(len, added))
        return OpmlImportResult(len(added), known, tuple(document.unusable), tuple(document.ignored_settings))

    async def import_from(self, user_id: int, url: str) -> OpmlImportResult:
        """Import the document at a URL. Raises InvalidInput as `import_` does, and FetchError."""
        response = await self._fetcher.get(FetchRequest(url=url, accept=_ACCEPT), [user_id], requested_by=user_id)
        return await asyncio.to_thread(self.import_, user_id, response.body, urlsplit(url).hostname or "")

    def subscribe(
        self, user_id: int, subscriptions: Sequence[opml.OpmlSubscription]
    ) -> list[list[opml.OpmlSubscription]]:
        """Subscribe to the feeds that are new, and return what made them: of each feed one for each folder it is in.

        They are due immediately. The first one of a feed says what it is: the one that is marked as such, or else the
        first in the document. Raises InvalidInput as `import_` does.
        """
        with self._database.writing() as db:
            return self._subscribe(db, user_id, subscriptions)

    def _store(self, user_id: int, document: opml.OpmlDocument, origin: str) -> list[list[opml.OpmlSubscription]]:
        """Subscribe to the feeds of a document, and tell that it is imported."""
        with self._database.writing() as db:
            added = self._subscribe(db, user_id, document.subscriptions)
            result = FinishedImport(
                user_id=user_id,
                source="opml",
                origin=origin,
                new_feeds=len(added),
                known_feeds=len(document.subscriptions) - sum(map(len, added)),
                problems=len(document.unusable) + len(document.ignored_settings),
            )
            self._listeners.tell_import_finished(db, result)
        return added

    def _subscribe(
        self, db: Write, user_id: int, subscriptions: Sequence[opml.OpmlSubscription]
    ) -> list[list[opml.OpmlSubscription]]:
        known = feeds.urls(db, user_id)
        by_url: dict[str, dict[tuple[str, ...], opml.OpmlSubscription]] = {}
        for one in subscriptions:
            if (url := one.values["feed_url"]) not in known:
                by_url.setdefault(url, {}).setdefault(one.folders, one)
        added = [_first_ahead(by_folder.values())[:MAX_CATEGORIES] for by_folder in by_url.values()]
        self._listeners.ensure_feeds(db, user_id, len(added))
        self._add(db, user_id, added)
        if added:
            notify.notify(db, notify.FEEDS)
        return added

    def _add(self, db: Write, user_id: int, added: list[list[opml.OpmlSubscription]]) -> None:
        now = self._clock()
        first = categories.first(db, user_id)
        category_ids = ensure_paths(db, user_id, (one.folders for listed in added for one in listed if one.folders))
        for one in (one for listed in added for one in listed):
            if not one.folders and first is None:
                raise InvalidInput(
                    msg(
                        "Line {line}: this feed is outside all folders, and you have no category for it: "
                        "create one first.",
                        line=one.line,
                    )
                )
        if first is not None:
            category_ids[()] = first.id
        due = {"created_at": now, "checked_at": now, "next_check_at": now}
        # Names that differ by case alone are those of one category.
        places = [list(dict.fromkeys(category_ids[one.folders] for one in listed)) for listed in added]
        rows = [listed[0].values | due | {"category_id": ids[0]} for listed, ids in zip(added, places, strict=True)]
        feed_ids = feeds.add_many(db, user_id, rows)
        further = ((feed_id, one) for feed_id, ids in zip(feed_ids, places, strict=True) for one in ids[1:])
        further_categories.add(db, user_id, further)


def _first_ahead(listed: Iterable[opml.OpmlSubscription]) -> list[opml.OpmlSubscription]:
    """Return the outlines of a feed in the order of its categories."""
    return sorted(listed, key=lambda one: not one.is_in_first)
