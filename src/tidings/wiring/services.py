"""Builds all services from the settings, connects them, and registers what slices listen to."""

from __future__ import annotations

from dataclasses import dataclass

from tidings import __version__, metrics
from tidings.archives.account_export import AccountExport
from tidings.archives.account_import import AccountImport
from tidings.archives.background_imports import BackgroundImports
from tidings.archives.foreign_import import ForeignImport
from tidings.archives.import_runner import ProcessImportRunner
from tidings.archives.integration_settings import IntegrationArchiver
from tidings.archives.services import ArchiveServices
from tidings.deliveries import outbox
from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.attempts import EventSender
from tidings.deliveries.integrations import Integrations
from tidings.deliveries.providers import apprise
from tidings.deliveries.queue import RECEIVER_LEASE, DeliveryQueue, remove_finished_deliveries, remove_idle_receivers
from tidings.deliveries.redelivery import Deliveries
from tidings.deliveries.retries import RetryPolicy
from tidings.deliveries.services import DeliveryServices
from tidings.engine.database import Database
from tidings.maintenance.cleanup import Cleanup, CleanupTask
from tidings.maintenance.clock_repair import ClockRepair, ScheduleLimits
from tidings.maintenance.readiness import Readiness
from tidings.maintenance.scheduled_backup import ScheduledBackup
from tidings.maintenance.services import MaintenanceServices
from tidings.maintenance.status import StatusReader
from tidings.media.cache import MediaCache
from tidings.media.episode_parts import EpisodeParts
from tidings.media.policy import MediaPolicy
from tidings.media.proxy import MAX_PICTURE_BYTES, TIMEOUT_S, MediaProxy
from tidings.media.queue import MediaQueue
from tidings.media.services import MediaServices
from tidings.net.fetch import Fetcher, FetchSettings
from tidings.net.guard import AddressGuard
from tidings.net.post import SETTING, Sender
from tidings.net.relay import MediaRelay
from tidings.services import AccountServices, EntryServices, FeedServices, PollingServices, Services
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
from tidings.services.entries.labels import Labels
from tidings.services.entries.listing import EntryListReader
from tidings.services.entries.public_links import PublicLinks
from tidings.services.entries.read_state import ReadMarker
from tidings.services.entries.saved_pages import SavedPages
from tidings.services.entries.search_index import SearchIndexer
from tidings.services.entries.unread_ids import UnreadIdTexts
from tidings.services.feeds.bulk import BulkFeedChanges
from tidings.services.feeds.categories import Categories
from tidings.services.feeds.discovery import Discovery
from tidings.services.feeds.feeds import Feeds
from tidings.services.feeds.icons import Icons
from tidings.services.feeds.opml import Opml
from tidings.services.feeds.recent_documents import RecentDocuments
from tidings.services.feeds.rule_preview import RulePreviewer
from tidings.services.listeners import Listeners
from tidings.services.pictures import PictureDecoder
from tidings.services.polling.check import FeedChecker
from tidings.services.polling.full_content import FullContent
from tidings.services.polling.lease import Polling
from tidings.services.rate_limit import PoliteFetcher
from tidings.settings import Settings
from tidings.websub.hubs import HubClient
from tidings.websub.pushes import PUSH_LEASE, Pushes
from tidings.websub.services import WebSubServices
from tidings.websub.store import hubs_of
from tidings.websub.subscriptions import WebSub
from tidings.wiring.arguments import (
    backup_settings,
    check_schedule,
    cleanup_settings,
    instance_settings,
    source_lease,
    websub_callback_base,
)

# What the cleanup removes for other slices.
CLEANUP_TASKS = (
    CleanupTask("deliveries", remove_finished_deliveries),
    CleanupTask("receivers", remove_idle_receivers),
)
# Folder of uploaded files, inside the data folder.
IMPORTS = "imports"


@dataclass(frozen=True, slots=True)
class AllServices(Services):
    """The services of the core, and the services of each slice."""

    archives: ArchiveServices
    deliveries: DeliveryServices
    websub: WebSubServices
    media: MediaServices
    maintenance: MaintenanceServices

    def slices(self) -> dict[type, object]:
        """Return the services of the slices by type, as handlers of the slices ask for them."""
        groups = (self.archives, self.deliveries, self.websub, self.media, self.maintenance)
        return {type(group): group for group in groups}

    async def disconnect(self) -> None:
        """Close connections and child processes. Call it inside the event loop that used them."""
        await Services.disconnect(self)
        await self.media.close()
        await self.deliveries.close()
        await self.websub.close()
        self.archives.close()

    async def close(self) -> None:
        """Close connections, child processes and the database. Call it as `disconnect`."""
        await self.disconnect()
        self.database.close()


def build_services(database: Database, settings: Settings, *, clock: Clock = system_clock) -> AllServices:
    """Return all services, connected to each other."""
    fetch_settings = FetchSettings(
        user_agent=settings.http_client_user_agent,
        allow_private_networks=settings.fetcher_allow_private_networks,
        max_body_size=settings.http_client_max_body_size,
        timeout_s=settings.http_client_timeout.total_seconds(),
        proxy_url=settings.http_client_proxy or "",
    )
    instance = instance_settings(settings)
    fetcher = PoliteFetcher(Fetcher(fetch_settings), database, clock)
    listeners = Listeners()
    deliveries = build_deliveries(database, settings, clock, listeners)
    websub = build_websub(database, fetch_settings, settings, clock, listeners)
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
        listeners=listeners,
        schedule=schedule,
        instance=instance,
    )
    recent = RecentDocuments(clock)
    authentication = Authentication(database, clock)
    entries = Entries(database, clock, listeners, instance=instance)
    search = SearchIndexer(database)
    return AllServices(
        database=database,
        clock=clock,
        accounts=AccountServices(
            authentication=authentication,
            users=Users(database, clock),
            sessions=Sessions(database, clock),
            api_keys=ApiKeys(database, clock),
            api_passwords=ApiPasswords(database, clock),
            app_logins=AppLogins(database, clock, authentication),
        ),
        feeds=FeedServices(
            subscriptions=Feeds(
                database,
                fetcher,
                clock,
                recent=recent,
                icons=icons,
                full_content=full_content,
                listeners=listeners,
                schedule=schedule,
                check=deliveries.integrations.check_feed,
                instance=instance,
            ),
            categories=Categories(database, clock),
            bulk=BulkFeedChanges(database, clock, schedule=schedule),
            rule_previewer=RulePreviewer(database, clock, instance=instance),
            opml=Opml(database, clock, fetcher),
            discovery=Discovery(fetcher, recent),
        ),
        entries=EntryServices(
            changes=entries,
            listing=EntryListReader(database, search),
            read_marker=ReadMarker(database, clock),
            app_marks=AppMarks(database, clock, listeners),
            unread_ids=UnreadIdTexts(),
            public_links=PublicLinks(database),
            feed_links=FeedLinks(database, clock),
            articles=articles,
            saved_pages=SavedPages(database, articles, entries, clock),
            enclosures=Enclosures(database),
            labels=Labels(database, clock),
            search=search,
        ),
        polling=PollingServices(
            claims=Polling(
                database,
                clock,
                checker,
                listeners,
                per_host=settings.polling_limit_per_host,
                gap=settings.polling_gap_per_host,
                lease=source_lease(settings),
            ),
            fetcher=fetcher,
        ),
        pictures=pictures,
        archives=build_archives(database, settings, clock, deliveries.integrations),
        deliveries=deliveries,
        websub=websub,
        media=MediaServices(
            proxy=build_media_proxy(database, settings, pictures, clock),
            queue=MediaQueue(database),
            episode_parts=EpisodeParts(database, fetcher),
        ),
        maintenance=build_maintenance(database, settings, clock),
    )


def build_archives(
    database: Database, settings: Settings, clock: Clock, integrations: IntegrationArchiver
) -> ArchiveServices:
    """Return exports and imports of accounts."""
    account_import = AccountImport(database, clock, integrations, instance=instance_settings(settings))
    return ArchiveServices(
        account_export=AccountExport(database, clock, integrations, application=f"Tidings {__version__}"),
        account_import=account_import,
        foreign_import=ForeignImport(account_import, clock),
        background_imports=BackgroundImports(
            database, clock, ProcessImportRunner(settings), settings.data_dir / IMPORTS
        ),
        integrations=integrations,
    )


def build_deliveries(database: Database, settings: Settings, clock: Clock, listeners: Listeners) -> DeliveryServices:
    """Return integrations and their deliveries, and register the outbox."""
    guard = AddressGuard(allow_private_networks=settings.integration_allow_private_networks, setting=SETTING)
    timeout_s = round(settings.integration_timeout.total_seconds())
    # Shorter than the timeout of the attempt, so that this one reports first.
    apprise_sender = AppriseSender(database, guard=guard, timeout_s=round(timeout_s * 0.9, 1))
    event_sender = EventSender(
        build_sender(settings), clock, thread_senders={apprise.NAME: apprise_sender.send}, timeout_s=timeout_s
    )
    listeners.entries_stored.append(outbox.post_stored_entries)
    listeners.savers.append(outbox.OutboxSaver())
    return DeliveryServices(
        integrations=Integrations(database, clock, guard=guard, apprise_sender=apprise_sender),
        redelivery=Deliveries(database, event_sender, clock),
        queue=DeliveryQueue(database, event_sender, clock),
        apprise_sender=apprise_sender,
    )


def build_websub(
    database: Database, fetch_settings: FetchSettings, settings: Settings, clock: Clock, listeners: Listeners
) -> WebSubServices:
    """Return the subscriptions at hubs, which hear of every checked document."""
    websub = WebSub(database, HubClient(fetch_settings), clock, callback_base=websub_callback_base(settings))
    listeners.documents_checked.append(websub.record_offers)
    listeners.hub_lookups.append(hubs_of)
    pushes = Pushes(database, clock, listeners, is_on=websub.is_on, instance=instance_settings(settings))
    return WebSubServices(subscriptions=websub, pushes=pushes)


def build_maintenance(database: Database, settings: Settings, clock: Clock) -> MaintenanceServices:
    """Return cleanup, backups and status; the cleanup includes what other slices no longer need."""
    cleaning, backups = cleanup_settings(settings), backup_settings(settings)
    limits = ScheduleLimits(
        schedule=check_schedule(settings),
        source_lease=source_lease(settings),
        receiver_lease=RECEIVER_LEASE,
        push_lease=PUSH_LEASE,
        host_gap=settings.polling_gap_per_host,
        job_interval=max(cleaning.interval, backups.interval),
        delivery_retry=RetryPolicy().give_up_after,
    )
    return MaintenanceServices(
        cleanup=Cleanup(database, clock, cleaning, CLEANUP_TASKS),
        clock_repair=ClockRepair(database, clock, limits),
        readiness=Readiness(database, clock),
        scheduled_backup=ScheduledBackup(database, clock, backups),
        status=StatusReader(database, clock, cache_for=settings.metrics_refresh_interval),
    )


def build_media_proxy(database: Database, settings: Settings, pictures: PictureDecoder, clock: Clock) -> MediaProxy:
    """Return the proxy for pictures and sounds, with its cache on disk."""
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
    """Return the client that sends events."""
    return Sender(
        user_agent=f"Tidings/{__version__}",
        allow_private_networks=settings.integration_allow_private_networks,
        # Shorter than the timeout of the attempt: a receiver that takes no connection is told from a slow one.
        connect_timeout_s=0.8 * settings.integration_timeout.total_seconds(),
    )


def start_metrics(settings: Settings) -> None:
    """Start the counters of this process, if metrics are on."""
    if settings.metrics_collector:
        metrics.start(settings.data_dir / "metrics")
