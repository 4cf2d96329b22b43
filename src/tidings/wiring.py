"""The one place that builds everything and joins it."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from urllib.parse import urlsplit

from tidings import __version__, metrics
from tidings.api import ROUTES
from tidings.api.app import Api
from tidings.api.metrics import Metrics
from tidings.api.reference import openapi
from tidings.api.websub import Callbacks, Limits
from tidings.domain.integrations.leaves import apprise
from tidings.front import Front
from tidings.net.fetch import Fetcher, FetchSettings
from tidings.net.guard import AddressGuard
from tidings.net.hubs import Hubs
from tidings.net.sending import SETTING, Sender
from tidings.services import Services
from tidings.services.api_keys import ApiKeys
from tidings.services.articles import Articles
from tidings.services.attempts import Attempts
from tidings.services.authentication import Authentication
from tidings.services.bulk import Bulk
from tidings.services.categories import Categories
from tidings.services.checking import Checking
from tidings.services.clock import Clock, system_clock
from tidings.services.crawling import Crawler
from tidings.services.deliveries import Deliveries
from tidings.services.delivering import Delivering
from tidings.services.discovery import Discovery
from tidings.services.enclosures import Enclosures
from tidings.services.entries import Entries
from tidings.services.extraction import Extraction
from tidings.services.feeds import Feeds
from tidings.services.fetching import PoliteFetcher
from tidings.services.icons import Icons
from tidings.services.integrations import Integrations
from tidings.services.list_links import ListLinks
from tidings.services.marks import Marks
from tidings.services.notifications import Notifications
from tidings.services.opml import Opml
from tidings.services.polling import Politeness, Polling
from tidings.services.pushes import Pushes
from tidings.services.recent import RecentDocuments
from tidings.services.search import Search
from tidings.services.sessions import Sessions
from tidings.services.shares import Shares
from tidings.services.status import Status
from tidings.services.tidying import Tidying
from tidings.services.trials import Trials
from tidings.services.users import Users
from tidings.services.waking import FEEDS, Bell
from tidings.services.websub import WebSub
from tidings.settings import Settings
from tidings.shares import access_to_metrics, callback_base, home_of, instance_of, schedule_of, tidying_of
from tidings.storage import migrate, search, space
from tidings.storage.database import Database
from tidings.web import ROUTES as PAGES
from tidings.web.app import Pages
from tidings.web.reference import Reference
from tidings.worker.deliverer import Deliverer
from tidings.worker.indexer import Indexer
from tidings.worker.poller import Poller
from tidings.worker.refresh import Refreshed, refresh
from tidings.worker.tidier import Tidier, tidy_now
from tidings.worker.websub import Subscriber

# A claim outlasts the longest fetch and the storing after it; what a dead or frozen worker held is free a little later.
LEASE_BEYOND_TIMEOUT = timedelta(seconds=15)
# In a worker one thread reads documents all the time, and the one that fetches asks for a turn at each packet: at the
# usual 5 ms, answers come in more slowly than they are read.
TURN_S = 0.001
# Most of a request is spent in C or in the database; more threads than this only wait for each other.
API_THREADS = 8
# A page is made by Python for the most part.
PAGE_THREADS = 4


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
        watch(self._settings)
        sys.setswitchinterval(TURN_S)
        asyncio.run(self._poll(stop))

    def refresh(self, username: str | None, progress: Callable[[int, int], None]) -> Refreshed:
        """Check every enabled feed, due or not; of one user, or of all."""
        return asyncio.run(self._refresh(username, progress))

    def tidy(self, progress: Callable[[int, int], None]) -> Mapping[str, int] | None:
        """Remove now what is old; how many of what. None when a worker is at it."""
        return tidy_now(self.services.tidying, f"tidings tidy {os.getpid()}", progress)

    def compact(self) -> None:
        """Write an SQLite file anew, as small as it can be. PostgreSQL looks after its own."""
        if self.database.is_sqlite:
            with self.database.writing() as db:
                search.compact(db)
            space.write_anew(self.database)

    def close(self) -> None:
        self.database.close()

    async def _poll(self, stop: threading.Event) -> None:
        bell = Bell(self.database, FEEDS)
        poller = Poller(self.services.polling, bell, places=self._settings.worker_pool_size)
        stopping = asyncio.Event()
        waiting = asyncio.get_running_loop().run_in_executor(None, stop.wait)
        waiting.add_done_callback(lambda _: stopping.set())
        try:
            await asyncio.gather(
                poller.run(stopping),
                Indexer(self.services.search, lambda: poller.is_busy).run(stopping),
                Tidier(self.services.tidying, poller.name).run(stopping),
                Deliverer(self.services.delivering).run(stopping),
                Subscriber(self.services.websub, self.services.pushes).run(stopping),
            )
        finally:
            # The thread that waits for it would keep a failed process alive, without polling.
            stop.set()
            await bell.close()
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
    fetching = FetchSettings(
        user_agent=settings.http_client_user_agent,
        allow_private_networks=settings.fetcher_allow_private_networks,
        max_body_size=settings.http_client_max_body_size,
        timeout_s=settings.http_client_timeout.total_seconds(),
        proxy_url=settings.http_client_proxy or "",
    )
    instance = instance_of(settings)
    fetcher = PoliteFetcher(Fetcher(fetching), database, clock)
    websub = WebSub(database, Hubs(fetching), clock, callback_base=callback_base(settings))
    recent = RecentDocuments(clock)
    icons = Icons(database, fetcher, clock)
    articles = Articles(database, fetcher, Extraction(), instance=instance)
    crawler = Crawler(database, articles, clock, instance=instance)
    schedule = schedule_of(settings)
    checking = Checking(
        database,
        fetcher,
        clock,
        icons=icons,
        crawler=crawler,
        websub=websub,
        schedule=schedule,
        instance=instance,
    )
    outward = AddressGuard(allow_private_networks=settings.integration_allow_private_networks, setting=SETTING)
    notifications = Notifications(database, guard=outward)
    attempts = Attempts(sender_for(settings), clock, callers={apprise.NAME: notifications.send})
    connected = Integrations(database, clock, guard=outward, notifications=notifications)
    politeness = Politeness(settings.polling_limit_per_host, settings.polling_gap_per_host)
    lease = settings.http_client_timeout + LEASE_BEYOND_TIMEOUT
    return Services(
        database=database,
        clock=clock,
        fetcher=fetcher,
        authentication=Authentication(database, clock),
        users=Users(database, clock),
        sessions=Sessions(database, clock),
        api_keys=ApiKeys(database, clock),
        categories=Categories(database, clock),
        feeds=Feeds(
            database,
            fetcher,
            clock,
            recent=recent,
            icons=icons,
            crawler=crawler,
            websub=websub,
            schedule=schedule,
            check=connected.check_feed,
            instance=instance,
        ),
        bulk=Bulk(database, clock, schedule=schedule),
        trials=Trials(database, clock, instance=instance),
        entries=Entries(database, clock, instance=instance),
        marks=Marks(database, clock),
        shares=Shares(database),
        list_links=ListLinks(database, clock),
        articles=articles,
        enclosures=Enclosures(database),
        polling=Polling(database, clock, checking, politeness=politeness, lease=lease),
        search=Search(database),
        opml=Opml(database, clock),
        discovery=Discovery(fetcher, recent),
        websub=websub,
        pushes=Pushes(database, clock, is_on=websub.is_on, instance=instance),
        status=Status(database, clock, fresh_for=settings.metrics_refresh_interval),
        tidying=Tidying(database, clock, tidying_of(settings)),
        integrations=connected,
        notifications=notifications,
        deliveries=Deliveries(database, attempts, clock),
        delivering=Delivering(database, attempts, clock),
    )


def sender_for(settings: Settings) -> Sender:
    return Sender(
        user_agent=f"Tidings/{__version__}", allow_private_networks=settings.integration_allow_private_networks
    )


def watch(settings: Settings) -> None:
    """Count from now on what this process does, if anybody wants to know."""
    if settings.metrics_collector:
        metrics.start(settings.data_dir / "metrics")


def pages_over(services: Services, settings: Settings) -> Pages:
    trusted = settings.trusted_reverse_proxy_networks
    return Pages(services, PAGES, home_of(settings), threads=PAGE_THREADS, trusted=trusted)


def asgi_app(settings: Settings) -> Front:
    """What each web worker runs; it closes everything when the server ends it (ASGI lifespan)."""
    watch(settings)
    application = Application(settings)
    api = Api(application.services, ROUTES, threads=API_THREADS, trusted=settings.trusted_reverse_proxy_networks)
    base_path = urlsplit(settings.base_url).path.rstrip("/")
    reference = Reference(partial(openapi, base_path or "/"))
    limits = Limits(settings.http_client_max_body_size, settings.http_client_timeout.total_seconds())
    return Front(
        application.services,
        api,
        reference,
        pages_over(application.services, settings),
        callbacks=Callbacks(application.services.pushes, limits),
        metrics=Metrics(application.services.status, access_to_metrics(settings)),
        base_path=base_path,
    )
