"""Builds all parts of the service from the settings and connects them."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from tidings import __version__, asgi, metrics
from tidings.api import ROUTES
from tidings.api.app import Api
from tidings.api.reference import openapi
from tidings.archives.account_export import AccountExport
from tidings.archives.account_import import AccountImport
from tidings.archives.background_imports import BackgroundImports
from tidings.archives.foreign_import import ForeignImport
from tidings.archives.import_runner import ProcessImportRunner
from tidings.archives.readers.file_sources import DatabaseSource, FileSource, database_source, file_source
from tidings.archives.readers.miniflux_source import MinifluxSource
from tidings.archives.readers.ttrss_source import TtrssSource
from tidings.base.times import to_datetime
from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.attempts import EventSender
from tidings.deliveries.integrations import Integrations
from tidings.deliveries.providers import apprise
from tidings.deliveries.queue import DeliveryQueue
from tidings.deliveries.redelivery import Deliveries
from tidings.deliveries.worker import Deliverer
from tidings.engine import disk_space
from tidings.engine.database import Database
from tidings.fever import ROUTES as FEVER_ROUTES
from tidings.fever.app import Fever
from tidings.greader import ROUTES as READER_ROUTES
from tidings.greader.app import GoogleReader
from tidings.http.front_door import FrontDoor
from tidings.http.uploads import UploadFolder
from tidings.maintenance.backup_worker import BackupWorker
from tidings.maintenance.cleanup import Cleanup
from tidings.maintenance.cleanup_worker import CleanupWorker, run_cleanup
from tidings.maintenance.clock_repair import ClockRepair, ScheduleLimits
from tidings.maintenance.clock_watch import ClockWatch
from tidings.maintenance.integrity import IntegrityCheck, Problem
from tidings.maintenance.metrics_endpoint import Metrics
from tidings.maintenance.readiness import Readiness
from tidings.maintenance.scheduled_backup import ScheduledBackup
from tidings.maintenance.status import StatusReader
from tidings.maintenance.store import backup, move, restore
from tidings.maintenance.store.table_copy import Progress
from tidings.media.cache import MediaCache
from tidings.media.episode_parts import EpisodeParts
from tidings.media.policy import MediaPolicy
from tidings.media.proxy import MAX_PICTURE_BYTES, TIMEOUT_S, MediaProxy
from tidings.media.queue import MediaQueue
from tidings.net.fetch import Fetcher, FetchSettings
from tidings.net.guard import AddressGuard
from tidings.net.post import SETTING, Sender
from tidings.net.relay import MediaRelay
from tidings.runtime import allocator
from tidings.runtime.demand import WorkerLifetime
from tidings.runtime.script_minifier import minify_script
from tidings.services import Services
from tidings.services.accounts.api_keys import ApiKeys
from tidings.services.accounts.api_passwords import ApiPasswords
from tidings.services.accounts.app_logins import AppLogins
from tidings.services.accounts.authentication import Authentication
from tidings.services.accounts.sessions import Sessions
from tidings.services.accounts.users import Users
from tidings.services.clock import Clock, system_clock
from tidings.services.entries.app_marks import AppMarks
from tidings.services.entries.article_extraction import ArticleExtractor
from tidings.services.entries.enclosures import Enclosures
from tidings.services.entries.entries import Entries
from tidings.services.entries.feed_links import FeedLinks
from tidings.services.entries.fetch_content import ArticleFetcher
from tidings.services.entries.full_content import FullContent
from tidings.services.entries.labels import Labels
from tidings.services.entries.listing import EntryListReader
from tidings.services.entries.public_links import PublicLinks
from tidings.services.entries.read_state import ReadMarker
from tidings.services.entries.reading_times import ReadingTimes
from tidings.services.entries.saved_pages import SavedPages
from tidings.services.entries.search_index import SearchIndexer
from tidings.services.entries.unread_ids import UnreadIdTexts
from tidings.services.feeds.bulk import BulkFeedChanges
from tidings.services.feeds.categories import Categories
from tidings.services.feeds.discovery import Discovery
from tidings.services.feeds.feeds import Feeds
from tidings.services.feeds.icons import Icons
from tidings.services.feeds.opml import Opml
from tidings.services.feeds.rule_preview import RulePreviewer
from tidings.services.pictures import PictureDecoder
from tidings.services.polling.check import FeedChecker
from tidings.services.polling.claims import HostLimits, Polling
from tidings.services.polling.fetched_documents import RecentDocuments
from tidings.services.polling.ingest import IngestQueue
from tidings.services.polling.rate_limit import PoliteFetcher
from tidings.services.wakeup import FEEDS, WakeupEvent
from tidings.settings import Settings
from tidings.settings_views import (
    backup_settings,
    check_schedule,
    cleanup_settings,
    instance_settings,
    metrics_access,
    site_config,
    websub_callback_base,
)
from tidings.storage import migrate, revision
from tidings.storage.entries import search_index as search_index_storage
from tidings.web import ROUTES as PAGES
from tidings.web.app import Pages
from tidings.web.assets import Assets, StaticFiles
from tidings.web.pages.api_reference import Reference
from tidings.websub.endpoints import CallbackLimits, Callbacks
from tidings.websub.hubs import HubClient
from tidings.websub.pushes import Pushes
from tidings.websub.subscriptions import WebSub
from tidings.websub.worker import Subscriber
from tidings.worker.idle_end import end_when_idle
from tidings.worker.indexer import Indexer
from tidings.worker.names import worker_name
from tidings.worker.poller import Poller
from tidings.worker.reading_times import ReadingTimeWorker
from tidings.worker.refresh import RefreshSummary, refresh

# A claim lasts longer than the longest fetch and the write after it; claims of a dead worker expire soon after.
LEASE_BEYOND_TIMEOUT = timedelta(seconds=15)
# In a worker one thread parses documents all the time, and the event loop needs the interpreter for each packet. At
# Python's default of 5 ms responses arrive more slowly than they are parsed.
THREAD_SWITCH_INTERVAL_S = 0.001
# Folder of uploaded files, in that of the data.
IMPORTS = "imports"


class Application:
    """The service on one database, with the operations of the command line."""

    def __init__(self, settings: Settings, *, clock: Clock = system_clock) -> None:
        self._settings = settings
        self.database = Database(
            settings.database_url,
            replica_url=settings.database_read_url or "",
            pool_size=settings.database_max_conns,
        )
        self.services = build_services(self.database, settings, clock=clock)

    def migrate(self) -> list[str]:
        """Upgrade the database to the current schema. Returns the names of the migrations applied."""
        return migrate.upgrade(self.database)

    def partition(self, count: int) -> bool:
        """Divide the tables of entries by user. Returns False if they already are. Raises StartError otherwise."""
        return migrate.partition(self.database, count)

    def check(self) -> None:
        """Raises StartError unless the database has the current schema."""
        migrate.check(self.database)

    def expect_schema(self) -> None:
        """Refuse writes from now on when the SQLite file has another schema than this version of Tidings."""
        self.database.expect_revision(revision.current())

    def ping(self) -> None:
        """Raises StoreUnavailable if the database does not answer."""
        self.database.ping()

    def run_worker(self, stop: threading.Event, name: str, lifetime: WorkerLifetime) -> None:
        """Run the worker loops until `stop` is set. name: holds the leases; "" to generate one."""
        self.expect_schema()
        allocator.release_regularly(self.database.close_unused)
        start_metrics(self._settings)
        sys.setswitchinterval(THREAD_SWITCH_INTERVAL_S)
        asyncio.run(self._poll(stop, name or worker_name(), lifetime))

    def release_leases(self, name: str) -> int:
        """Release the leases of an ended worker, so that others can claim at once. Returns their number."""
        return self.services.polling.release_all(name) + self.services.delivery_queue.release_all(name)

    def refresh(self, username: str | None, progress: Callable[[int, int], None]) -> RefreshSummary:
        """Check all enabled feeds, due or not, of one user or of all. Raises NotFound for an unknown username."""
        return asyncio.run(self._refresh(username, progress))

    def clean_up(self, progress: Callable[[int, int], None]) -> Mapping[str, int] | None:
        """Run the cleanup now. Returns the numbers of rows removed by kind, or None if a worker is running it."""
        return run_cleanup(self.services.cleanup, f"tidings cleanup {os.getpid()}", progress)

    def compact(self) -> None:
        """Rewrite an SQLite file, as small as possible. Does nothing on PostgreSQL, which reuses space by itself."""
        with self.database.writing() as db:
            search_index_storage.compact(db)
        disk_space.vacuum(self.database)

    def backup(self, path: Path, progress: Progress) -> int:
        """Copy the database to a new file. Returns its size in bytes. Raises StartError."""
        return backup.copy_to(self.database, path, progress)

    def restore(self, path: Path, progress: Progress, *, overwrite: bool) -> int:
        """Replace the database by a backup. Returns the number of users. Raises StartError, with nothing changed."""
        file = self._settings.database_file
        folder = self._settings.data_dir if file is None else file.parent
        return restore.restore(self.database, path, overwrite=overwrite, folder=folder, progress=progress)

    def move(self, url: str, progress: Progress, *, restart: bool) -> Mapping[str, int]:
        """Copy everything into another database. Returns the number of rows by table. Raises StartError."""
        target = Database(url, pool_size=2)
        try:
            moved = move.move(self.database, target, restart=restart, progress=progress)
        finally:
            target.close()
        return {name: table.rows for name, table in moved.items()}

    def miniflux_source(self, url: str, api_key: str, *, is_operator: bool) -> MinifluxSource:
        """Returns a reader of an account, as a context manager.

        url: in a private network only if the operator names it, or the settings allow that to users.
        """
        return MinifluxSource(url, api_key, guard=self._guard_of_servers(is_operator=is_operator))

    def ttrss_source(self, url: str, username: str, password: str, *, is_operator: bool) -> TtrssSource:
        """Returns a reader of an account, as a context manager. url: as in `miniflux_source`."""
        return TtrssSource(url, username, password, guard=self._guard_of_servers(is_operator=is_operator))

    def _guard_of_servers(self, *, is_operator: bool) -> AddressGuard:
        is_allowed = is_operator or self._settings.fetcher_allow_private_networks
        return AddressGuard(allow_private_networks=is_allowed)

    def database_source(self, dsn: str, reader: str, from_user: str) -> DatabaseSource:
        """Returns the account of a user in the PostgreSQL database of another reader, as a context manager."""
        return database_source(dsn, reader, from_user)

    def file_source(self, path: Path, reader: str) -> FileSource:
        """Returns the content of a file of another reader, as a context manager. reader: as named by the command."""
        return file_source(path, reader, now=to_datetime(system_clock()))

    def problems(self, progress: Progress, *, repair: bool) -> Iterator[Problem]:
        """Yields what is wrong with the database, repaired if that is wanted and possible."""
        return IntegrityCheck(self.database).run(repair=repair, progress=progress)

    def close(self) -> None:
        self.database.close()

    async def _poll(self, stop: threading.Event, name: str, lifetime: WorkerLifetime) -> None:
        wakeup = WakeupEvent(self.database, FEEDS)
        limit = self._settings.worker_pool_size
        poller = Poller(self.services.polling, wakeup, max_concurrent=limit, name=name, on_full=lifetime.ask_for_more)
        deliverer = Deliverer(self.services.delivery_queue, name=name)
        stopping = asyncio.Event()
        waiting = asyncio.get_running_loop().run_in_executor(None, stop.wait)
        waiting.add_done_callback(lambda _: stopping.set())
        try:
            await asyncio.gather(
                poller.run(stopping),
                Indexer(self.services.search, lambda: poller.is_busy).run(stopping),
                ReadingTimeWorker(ReadingTimes(self.database), lambda: poller.is_busy).run(stopping),
                CleanupWorker(self.services.cleanup, poller.name).run(stopping),
                BackupWorker(self.services.scheduled_backup, poller.name).run(stopping),
                ClockWatch(self.services.clock_repair, self.services.clock).run(stopping),
                deliverer.run(stopping),
                Subscriber(self.services.websub, self.services.pushes).run(stopping),
                *([end_when_idle(poller, deliverer, stop, stopping)] if lifetime.ends_when_idle else []),
            )
        finally:
            # After an error: the thread in `stop.wait` would keep the process alive without polling.
            stop.set()
            await wakeup.close()
            await self.services.disconnect()

    async def _refresh(self, username: str | None, progress: Callable[[int, int], None]) -> RefreshSummary:
        limit = self._settings.worker_pool_size
        try:
            return await refresh(self.services, username, progress=progress, max_concurrent=limit)
        finally:
            await self.services.disconnect()


@contextmanager
def build(settings: Settings) -> Iterator[Application]:
    """Yields the application, and close it at the end."""
    application = Application(settings)
    try:
        yield application
    finally:
        application.close()


def build_services(database: Database, settings: Settings, *, clock: Clock = system_clock) -> Services:
    """Returns all services, connected to each other."""
    fetch_settings = FetchSettings(
        user_agent=settings.http_client_user_agent,
        allow_private_networks=settings.fetcher_allow_private_networks,
        max_body_size=settings.http_client_max_body_size,
        timeout_s=settings.http_client_timeout.total_seconds(),
        proxy_url=settings.http_client_proxy or "",
    )
    instance = instance_settings(settings)
    fetcher = PoliteFetcher(Fetcher(fetch_settings), database, clock)
    websub = WebSub(database, HubClient(fetch_settings), clock, callback_base=websub_callback_base(settings))
    recent = RecentDocuments(clock)
    pictures = PictureDecoder()
    icons = Icons(database, fetcher, pictures, clock)
    articles = ArticleFetcher(database, fetcher, ArticleExtractor(), instance=instance)
    full_content = FullContent(database, articles, clock, instance=instance)
    schedule = check_schedule(settings)
    checker = FeedChecker(
        database,
        fetcher,
        clock,
        icons=icons,
        full_content=full_content,
        websub=websub,
        schedule=schedule,
        ingest=IngestQueue(database, clock, websub),
        instance=instance,
    )
    guard = AddressGuard(allow_private_networks=settings.integration_allow_private_networks, setting=SETTING)
    apprise_sender = AppriseSender(database, guard=guard)
    event_sender = EventSender(build_sender(settings), clock, thread_senders={apprise.NAME: apprise_sender.send})
    integrations = Integrations(database, clock, guard=guard, apprise_sender=apprise_sender)
    host_limits = HostLimits(settings.polling_limit_per_host, settings.polling_gap_per_host)
    lease = settings.http_client_timeout + LEASE_BEYOND_TIMEOUT
    cleaning = cleanup_settings(settings)
    backups = backup_settings(settings)
    waits = ScheduleLimits(
        schedule=schedule,
        source_lease=lease,
        host_gap=host_limits.gap,
        job_interval=max(cleaning.interval, backups.interval),
    )
    search_index = SearchIndexer(database)
    authentication = Authentication(database, clock)
    entries = Entries(database, clock, instance=instance)
    account_import = AccountImport(database, clock, integrations, instance=instance)
    return Services(
        database=database,
        clock=clock,
        fetcher=fetcher,
        authentication=authentication,
        users=Users(database, clock),
        sessions=Sessions(database, clock),
        api_keys=ApiKeys(database, clock),
        api_passwords=ApiPasswords(database, clock),
        app_logins=AppLogins(database, clock, authentication),
        categories=Categories(database, clock),
        feeds=Feeds(
            database,
            fetcher,
            clock,
            recent=recent,
            icons=icons,
            full_content=full_content,
            websub=websub,
            schedule=schedule,
            check=integrations.check_feed,
            instance=instance,
        ),
        bulk=BulkFeedChanges(database, clock, schedule=schedule),
        rule_previewer=RulePreviewer(database, clock, instance=instance),
        entries=entries,
        read_marker=ReadMarker(database, clock),
        app_marks=AppMarks(database, clock),
        unread_ids=UnreadIdTexts(),
        public_links=PublicLinks(database),
        feed_links=FeedLinks(database, clock),
        articles=articles,
        saved_pages=SavedPages(database, articles, entries, clock),
        enclosures=Enclosures(database),
        labels=Labels(database, clock),
        media_queue=MediaQueue(database),
        episode_parts=EpisodeParts(database, fetcher),
        media_proxy=build_media_proxy(database, settings, pictures, clock),
        pictures=pictures,
        polling=Polling(database, clock, checker, host_limits=host_limits, lease=lease),
        search=search_index,
        listing=EntryListReader(database, search_index),
        opml=Opml(database, clock, fetcher),
        account_export=AccountExport(database, clock, integrations, application=f"Tidings {__version__}"),
        account_import=account_import,
        foreign_import=ForeignImport(account_import, clock),
        background_imports=BackgroundImports(
            database, clock, ProcessImportRunner(settings), settings.data_dir / IMPORTS
        ),
        discovery=Discovery(fetcher, recent),
        websub=websub,
        pushes=Pushes(database, clock, is_on=websub.is_on, instance=instance),
        status=StatusReader(database, clock, cache_for=settings.metrics_refresh_interval),
        cleanup=Cleanup(database, clock, cleaning),
        scheduled_backup=ScheduledBackup(database, clock, backups),
        clock_repair=ClockRepair(database, clock, waits),
        readiness=Readiness(database, clock),
        integrations=integrations,
        apprise_sender=apprise_sender,
        deliveries=Deliveries(database, event_sender, clock),
        delivery_queue=DeliveryQueue(database, event_sender, clock),
    )


def build_media_proxy(database: Database, settings: Settings, pictures: PictureDecoder, clock: Clock) -> MediaProxy:
    fetch_settings = FetchSettings(
        user_agent=settings.http_client_user_agent,
        allow_private_networks=settings.fetcher_allow_private_networks,
        max_body_size=MAX_PICTURE_BYTES,
        timeout_s=TIMEOUT_S,
    )
    cache = MediaCache(settings.data_dir / "media", limit=settings.media_proxy_cache_size)
    policy = MediaPolicy(settings.media_proxy_mode, settings.media_proxy_resource_types)
    return MediaProxy(database, Fetcher(fetch_settings), MediaRelay(fetch_settings), pictures, cache, clock, policy)


def build_sender(settings: Settings) -> Sender:
    return Sender(
        user_agent=f"Tidings/{__version__}", allow_private_networks=settings.integration_allow_private_networks
    )


def start_metrics(settings: Settings) -> None:
    """Start the counters of this process, if metrics are on."""
    if settings.metrics_collector:
        metrics.start(settings.data_dir / "metrics")


def build_pages(services: Services, settings: Settings, assets: Assets) -> Pages:
    trusted = settings.trusted_reverse_proxy_networks
    at_once = services.database.best_concurrency
    return Pages(services, PAGES, site_config(settings), assets, at_once=at_once, trusted=trusted)


def asgi_app(settings: Settings) -> ASGIApp:
    """Returns the application that a web worker runs. ASGI's lifespan closes it when the server stops."""
    start_metrics(settings)
    served = Application(settings)
    served.expect_schema()
    allocator.release_regularly(served.database.close_unused)
    services = served.services
    at_once = served.database.best_concurrency
    api = Api(
        services,
        ROUTES,
        at_once=at_once,
        trusted=settings.trusted_reverse_proxy_networks,
        base_url=settings.base_url,
    )
    reader = GoogleReader(
        services,
        READER_ROUTES,
        at_once=at_once,
        trusted=settings.trusted_reverse_proxy_networks,
        base_url=settings.base_url,
    )
    fever = Fever(services, FEVER_ROUTES, at_once=at_once, trusted=settings.trusted_reverse_proxy_networks)
    base_path = urlsplit(settings.base_url).path.rstrip("/")
    limits = CallbackLimits(settings.http_client_max_body_size, settings.http_client_timeout.total_seconds())
    assets = Assets(minify_script)
    pages = build_pages(services, settings, assets)
    uploads = UploadFolder(settings.data_dir / IMPORTS, settings.import_max_size)
    api.uploads = pages.uploads = uploads
    application = asgi.application(
        services,
        api,
        reader,
        pages,
        fever=fever,
        static=StaticFiles(assets, pages),
        websub=Callbacks(services.pushes, limits),
        metrics=Metrics(services.status, metrics_access(settings)),
        reference=Reference(partial(openapi, base_path or "/")),
        base_path=base_path,
    )
    if served.database.has_replica:
        for surface in (api, reader, fever, pages):
            surface.read_router = served.database
    return FrontDoor(
        application,
        trusted=settings.trusted_reverse_proxy_networks,
        access_log=settings.access_log,
        on_unix_socket=settings.listen_socket is not None,
    )
