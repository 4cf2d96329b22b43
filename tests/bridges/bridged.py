"""A service with bridges in a private network, which nobody may reach otherwise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any, Self

from support.people import PASSWORD
from support.publisher import Publisher
from support.running import environment_for
from tidings.bridges.services import BridgeServices
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.domain.feeds.feeds import Feed
from tidings.domain.feeds.own_bridges import OwnBridges
from tidings.engine.database import Database
from tidings.services.polling.lease import RefreshFailed
from tidings.settings import load
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import feeds
from tidings.storage.polling import sources
from tidings.wiring.services import AllServices, build_services

# Nothing is sent there: its pages are fetched through the operator's proxy, which the publisher plays. A number, so
# that no test waits for a name server.
SITE = "http://93.184.215.14"
NO_FEED = "<html><body><p>Nothing to follow here.</p></body></html>"


class BridgedService:
    """A user of a service with these settings."""

    def __init__(self, database: Database, folder: Path, **settings: str) -> None:
        self._database = database
        self._folder = folder
        self._set(settings)
        self.user: User = self._services().accounts.users.create("alice", PASSWORD)

    def with_settings(self, **settings: str) -> Self:
        """Return the service with other settings."""
        changed = copy(self)
        changed._set(settings)
        return changed

    def as_user(self, name: str) -> Self:
        """Return the service for another user, who is new."""
        changed = copy(self)
        changed.user = self._services().accounts.users.create(name, PASSWORD)
        return changed

    def set_up(self, **addresses: str) -> OwnBridges:
        """Set the user's own bridges."""

        async def run(services: AllServices) -> OwnBridges:
            return await asyncio.to_thread(services.of(BridgeServices).own.update, self.user.id, addresses)

        found: OwnBridges = self.run(run)
        return found

    def source_of(self, feed_id: int) -> int:
        """Return the id of the source that a feed shows."""
        with self._database.reading() as db:
            (found,) = sources.of_feeds(db, [feed_id])
        return found

    def _set(self, settings: Mapping[str, str]) -> None:
        given = {"fetcher_allow_private_networks": "0", **settings}
        self._environment = environment_for("sqlite:///unused", self._folder, **given)

    def run(self, work: Callable[[AllServices], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            services = self._services()
            try:
                return await work(services)
            finally:
                await services.disconnect()

        return asyncio.run(run())

    def discover(self, url: str, **options: Any) -> list[tuple[str, str]]:
        """Return the titles and URLs of the feeds that are found."""
        fields = {"url": url, "fetch_via_proxy": True, **options}
        found = self.run(lambda services: services.feeds.discovery.find(self.user.id, fields))
        return [(feed.title, feed.url) for feed in found]

    def subscribe(self, url: str, **given: Any) -> int:
        fields = {"feed_url": url, **given}
        return int(self.run(lambda services: services.feeds.subscriptions.create(self.user, fields)))

    def import_opml(self, *urls: str) -> Any:
        outlines = "".join(f'<outline text="A feed" xmlUrl="{url}"/>' for url in urls)
        document = f'<opml version="2.0"><body><outline text="All">{outlines}</outline></body></opml>'.encode()

        async def run(services: AllServices) -> Any:
            return await asyncio.to_thread(services.feeds.opml.import_, self.user.id, document)

        return self.run(run)

    def refresh(self, feed_id: int) -> Feed:
        """Check a feed, and return it afterwards."""
        with suppress(RefreshFailed):
            self.run(lambda services: services.polling.claims.refresh_now(self.user.id, feed_id))
        return self.feed(feed_id)

    def feed(self, feed_id: int) -> Feed:
        with self._database.reading() as db:
            found = feeds.get(db, self.user.id, feed_id)
        assert found is not None
        return found

    def update(self, feed_id: int, **fields: Any) -> None:
        async def run(services: AllServices) -> None:
            await asyncio.to_thread(services.feeds.subscriptions.update, self.user.id, feed_id, fields)

        self.run(run)

    def contents(self, feed_id: int) -> str:
        """Return the contents of all entries of a feed."""
        with self._database.reading() as db:
            found = entry_lists.page(db, self.user.id, EntryFilter(feed_id=feed_id), PageRequest())
        return "\n".join(found.contents.values())

    def titles(self, feed_id: int) -> list[str]:
        """Return the titles of a feed's entries."""
        with self._database.reading() as db:
            found = entry_lists.page(db, self.user.id, EntryFilter(feed_id=feed_id), PageRequest())
        return [entry.title for entry in found.entries]

    def feed_ids(self) -> list[int]:
        with self._database.reading() as db:
            return [feed.id for feed in feeds.list_all(db, self.user.id)]

    def _services(self) -> AllServices:
        return build_services(self._database, load(self._environment, None))


def atom(*titles: str) -> str:
    entries = "".join(
        f"<entry><title>{title}</title><id>urn:{title}</id><link href='https://example.org/{title}'/></entry>"
        for title in titles
    )
    return f"<feed xmlns='http://www.w3.org/2005/Atom'><title>Bridged</title><id>urn:1</id>{entries}</feed>"


def answer_findfeed(bridge: Publisher, *found: Mapping[str, str], path: str = "/") -> None:
    """Let `findfeed` answer with these parameters, as RSS-Bridge writes them, or that it knows no bridge."""
    if not found:
        no = json.dumps({"message": "No bridge found for given url"})
        bridge.serve(path, no, status=404, headers=[("Content-Type", "application/json")])
        return
    answer = [
        {
            "url": "./?action=display&" + "&".join(f"{name}={value}" for name, value in parameters.items()),
            "bridgeParams": dict(parameters),
            "bridgeData": {"context": {"name": "Context", "value": "By user"}},
            "bridgeMeta": {"name": "Picture site", "description": "", "parameters": [], "icon": ""},
        }
        for parameters in found
    ]
    bridge.serve(path, json.dumps(answer), headers=[("Content-Type", "application/json")])
