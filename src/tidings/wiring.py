"""The one place that builds everything and joins it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from urllib.parse import urlsplit

from tidings.api import ROUTES
from tidings.api.app import Api
from tidings.api.reference import openapi
from tidings.front import Front
from tidings.net.fetch import Fetcher, FetchSettings
from tidings.services import Services
from tidings.services.api_keys import ApiKeys
from tidings.services.articles import Articles
from tidings.services.authentication import Authentication
from tidings.services.categories import Categories
from tidings.services.clock import Clock, system_clock
from tidings.services.crawling import Crawler
from tidings.services.discovery import Discovery
from tidings.services.enclosures import Enclosures
from tidings.services.entries import Entries
from tidings.services.extraction import Extraction
from tidings.services.feeds import Feeds
from tidings.services.icons import Icons
from tidings.services.opml import Opml
from tidings.services.polling import Polling
from tidings.services.recent import RecentDocuments
from tidings.services.search import Search
from tidings.services.users import Users
from tidings.settings import Settings
from tidings.storage import migrate
from tidings.storage.database import Database
from tidings.web.app import Pages
from tidings.web.reference import Reference
from tidings.worker.indexer import Indexer
from tidings.worker.poller import Poller
from tidings.worker.refresh import Refreshed, refresh

# A claim outlasts the longest fetch and the storing after it; what a dead or frozen worker held is free a little later.
LEASE_BEYOND_TIMEOUT = timedelta(seconds=15)
# Most of a request is spent in C or in the database; more threads than this only wait for each other.
API_THREADS = 8


class Application:
    """The service over one database: what the command line asks for."""

    def __init__(self, settings: Settings, *, clock: Clock = system_clock) -> None:
        self._settings = settings
        self.database = Database(settings.database_url, pool_size=settings.database_max_conns)
        self.services = services_over(self.database, settings, clock=clock)

    def migrate(self) -> list[str]:
        """Bring the database to today's schema; the steps that were taken."""
        return migrate.upgrade(self.database)

    def check(self) -> None:
        """StartError unless the database is at today's schema."""
        migrate.check(self.database)

    def run_worker(self, stop: threading.Event) -> None:
        """Poll until told to stop."""
        asyncio.run(self._poll(stop))

    def refresh(self, username: str | None, progress: Callable[[int, int], None]) -> Refreshed:
        """Check every enabled feed, due or not; of one user, or of all."""
        return asyncio.run(self._refresh(username, progress))

    def close(self) -> None:
        self.database.close()

    async def _poll(self, stop: threading.Event) -> None:
        poller = Poller(
            self.services.polling,
            places=self._settings.worker_pool_size,
            per_host=self._settings.polling_limit_per_host,
        )
        stopping = asyncio.Event()
        waiting = asyncio.get_running_loop().run_in_executor(None, stop.wait)
        waiting.add_done_callback(lambda _: stopping.set())
        try:
            await asyncio.gather(poller.run(stopping), Indexer(self.services.search).run(stopping))
        finally:
            # The thread that waits for it would keep a failed process alive, without polling.
            stop.set()
            await self.services.disconnect()

    async def _refresh(self, username: str | None, progress: Callable[[int, int], None]) -> Refreshed:
        try:
            return await refresh(self.services, username, progress=progress, places=self._settings.worker_pool_size)
        finally:
            await self.services.disconnect()


@contextmanager
def build(settings: Settings) -> Iterator[Application]:
    application = Application(settings)
    try:
        yield application
    finally:
        application.close()


def services_over(database: Database, settings: Settings, *, clock: Clock = system_clock) -> Services:
    fetcher = Fetcher(
        FetchSettings(
            user_agent=settings.http_client_user_agent,
            allow_private_networks=settings.fetcher_allow_private_networks,
            max_body_size=settings.http_client_max_body_size,
            timeout_s=settings.http_client_timeout.total_seconds(),
        )
    )
    recent = RecentDocuments(clock)
    icons = Icons(database, fetcher, clock)
    articles = Articles(database, fetcher, Extraction())
    crawler = Crawler(database, articles, clock)
    base = settings.polling_frequency
    lease = settings.http_client_timeout + LEASE_BEYOND_TIMEOUT
    return Services(
        database=database,
        clock=clock,
        fetcher=fetcher,
        authentication=Authentication(database, clock),
        users=Users(database, clock),
        api_keys=ApiKeys(database, clock),
        categories=Categories(database, clock),
        feeds=Feeds(database, fetcher, clock, recent=recent, icons=icons, crawler=crawler, base=base),
        entries=Entries(database, clock),
        articles=articles,
        enclosures=Enclosures(database),
        polling=Polling(database, fetcher, clock, icons=icons, crawler=crawler, base=base, lease=lease),
        search=Search(database),
        opml=Opml(database, clock),
        discovery=Discovery(fetcher, recent),
    )


def asgi_app(settings: Settings) -> Front:
    """What each web worker runs; it closes everything when the server ends it (ASGI lifespan)."""
    application = Application(settings)
    api = Api(application.services, ROUTES, threads=API_THREADS, trusted=settings.trusted_reverse_proxy_networks)
    base_path = urlsplit(settings.base_url).path.rstrip("/")
    reference = Reference(partial(openapi, base_path or "/"))
    return Front(application.services, api, reference, Pages(settings.base_url.rstrip("/")), base_path=base_path)
