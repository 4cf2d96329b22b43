"""Imports and exports subscriptions as OPML."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.feeds import opml
from tidings.domain.feeds.categories import CategoryTree
from tidings.engine import notify
from tidings.engine.database import Database, Write
from tidings.net.fetch import FetchRequest
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.services.feeds.categories import ensure_paths
from tidings.services.publisher_requests import PoliteFetcher
from tidings.storage.feeds import categories, feeds

# A longer report would not be read.
MAX_REMARKS = 100

_ACCEPT = "text/x-opml, application/xml, text/xml, */*;q=0.1"


class OpmlImportResult(Struct, frozen=True):
    """The result of an import."""

    new: int
    """Number of feeds stored."""
    known: int
    """Number of feeds skipped as already subscribed to or listed twice."""
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
    def __init__(self, database: Database, clock: Clock, fetcher: PoliteFetcher) -> None:
        self._database = database
        self._clock = clock
        self._fetcher = fetcher

    def export(self, user_id: int) -> bytes:
        """Return all feeds of a user in the tree of categories, as OPML without credentials, cookies and proxies."""
        with self._database.reading() as db:
            tree = CategoryTree(categories.list_all(db, user_id))
            by_category = feeds.for_opml(db, user_id)
        paths = ((folder.id, [one.name for one in tree.line(folder.id)]) for folder, _ in tree.walk())
        return opml.write(((path, by_category.get(number, [])) for number, path in paths), created_at=self._clock())

    def import_(self, user_id: int, body: bytes) -> OpmlImportResult:
        """Subscribe to all usable feeds of a document. Nothing is fetched; the new feeds are due immediately.

        Raises InvalidInput, and stores nothing, if the document cannot be read or a feed has no category.
        """
        document = opml.read(body)
        new = repeat_if_concurrent(lambda: self.subscribe(user_id, document.subscriptions))
        return OpmlImportResult(
            new, len(document.subscriptions) - new, tuple(document.unusable), tuple(document.ignored_settings)
        )

    async def import_from(self, user_id: int, url: str) -> OpmlImportResult:
        """Import the document at a URL. Raises InvalidInput as `import_` does, and FetchError."""
        response = await self._fetcher.get(FetchRequest(url=url, accept=_ACCEPT), [user_id], requested_by=user_id)
        return await asyncio.to_thread(self.import_, user_id, response.body)

    def subscribe(self, user_id: int, subscriptions: Sequence[opml.OpmlSubscription]) -> int:
        """Subscribe to the feeds that are new, and return their number. They are due immediately.

        Raises InvalidInput as `import_` does.
        """
        with self._database.writing() as db:
            known = feeds.urls(db, user_id)
            new = {subscription.values["feed_url"]: subscription for subscription in reversed(subscriptions)}
            added = [subscription for url, subscription in reversed(new.items()) if url not in known]
            feeds.add_many(db, user_id, self._rows(db, user_id, added))
            if added:
                notify.notify(db, notify.FEEDS)
        return len(added)

    def _rows(self, db: Write, user_id: int, added: list[opml.OpmlSubscription]) -> list[dict[str, Any]]:
        now = self._clock()
        first = categories.first(db, user_id)
        category_ids = ensure_paths(db, user_id, (one.folders for one in added if one.folders))
        for one in added:
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
        return [
            subscription.values | due | {"category_id": category_ids[subscription.folders]} for subscription in added
        ]
