"""Builds all services from the settings, and connects them. Slices build their own and register their listeners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from tidings import metrics
from tidings.archives.services import ArchiveServices
from tidings.deliveries.services import DeliveryServices
from tidings.engine.database import Database
from tidings.maintenance.services import MaintenanceServices
from tidings.media.services import MediaServices
from tidings.net.fetch import Fetcher
from tidings.services import (
    AccountServices,
    EntryServices,
    FeedServices,
    PollingServices,
    Services,
    SliceServices,
)
from tidings.services.accounts.api_keys import ApiKeys
from tidings.services.accounts.api_passwords import ApiPasswords
from tidings.services.accounts.app_logins import AppLogins
from tidings.services.accounts.authentication import Authentication
from tidings.services.accounts.sessions import PendingSignIns, Sessions
from tidings.services.accounts.users import Users
from tidings.services.accounts.ways import AccountWays
from tidings.services.clock import Clock, system_clock
from tidings.services.entries.app_marks import AppMarks
from tidings.services.entries.article_extraction import ArticleExtractor
from tidings.services.entries.enclosures import Enclosures
from tidings.services.entries.entries import Entries
from tidings.services.entries.feed_links import FeedLinks
from tidings.services.entries.fetch_content import ArticleFetcher
from tidings.services.entries.hidden import HiddenEntries
from tidings.services.entries.labels import Labels
from tidings.services.entries.listing import EntryListReader
from tidings.services.entries.public_links import PublicLinks
from tidings.services.entries.queries import Queries
from tidings.services.entries.read_state import ReadMarker
from tidings.services.entries.saved_pages import SavedPages
from tidings.services.entries.search_index import SearchIndexer
from tidings.services.entries.unread_ids import UnreadIdTexts
from tidings.services.entries.view_counts import ViewCounter
from tidings.services.feeds.bulk import BulkFeedChanges
from tidings.services.feeds.categories import Categories
from tidings.services.feeds.discovery import Discovery
from tidings.services.feeds.feeds import Feeds
from tidings.services.feeds.icons import Icons
from tidings.services.feeds.opml import Opml
from tidings.services.feeds.page_previews import PagePreviews
from tidings.services.feeds.recent_documents import RecentDocuments
from tidings.services.feeds.rule_preview import RulePreviewer
from tidings.services.list_tags import ListTags
from tidings.services.listeners import Listeners
from tidings.services.pictures import PictureDecoder
from tidings.services.polling.check import FeedChecker
from tidings.services.polling.full_content import FullContent
from tidings.services.polling.lease import SourceClaims
from tidings.services.polling.page_reader import PageReader
from tidings.services.publisher_requests import PoliteFetcher
from tidings.settings import Settings
from tidings.sign_in.services import SignInServices
from tidings.websub.services import WebSubServices
from tidings.wiring.arguments import check_schedule, fetch_settings, instance_settings, source_lease
from tidings.wiring.slice import Joins, Parts
from tidings.wiring.slices import SLICES

T = TypeVar("T", bound=SliceServices)


@dataclass(frozen=True, slots=True)
class AllServices(Services):
    """The services of the core, and the services of each slice."""

    slices: Mapping[str, SliceServices | None]
    """By the slice's name; None for a slice that has none."""

    def by_type(self) -> dict[type, object]:
        """Return the services of the slices by type, as handlers of the slices ask for them."""
        return {type(group): group for group in self.slices.values() if group is not None}

    def of(self, kind: type[T]) -> T:
        """Return the services of a slice."""
        return next(group for group in self.slices.values() if isinstance(group, kind))

    # Those that commands, the worker and the surfaces name.

    @property
    def archives(self) -> ArchiveServices:
        return self.of(ArchiveServices)

    @property
    def deliveries(self) -> DeliveryServices:
        return self.of(DeliveryServices)

    @property
    def sign_in(self) -> SignInServices:
        return self.of(SignInServices)

    @property
    def websub(self) -> WebSubServices:
        return self.of(WebSubServices)

    @property
    def media(self) -> MediaServices:
        return self.of(MediaServices)

    @property
    def maintenance(self) -> MaintenanceServices:
        return self.of(MaintenanceServices)

    def release_leases(self, worker: str) -> int:
        """Release what an ended worker holds, so that others can claim it now. Returns the number of leases."""
        of_slices = sum(group.release_leases(worker) for group in self.slices.values() if group is not None)
        return self.polling.claims.release_all(worker) + of_slices

    async def disconnect(self) -> None:
        """Close connections and child processes. Call it inside the event loop that used them."""
        await Services.disconnect(self)
        for group in self.slices.values():
            if group is not None:
                await group.close()

    async def close(self) -> None:
        """Close connections, child processes and the database. Call it as `disconnect`."""
        await self.disconnect()
        self.database.close()


def build_services(database: Database, settings: Settings, *, clock: Clock = system_clock) -> AllServices:
    """Return all services, connected to each other."""
    instance = instance_settings(settings)
    fetcher = PoliteFetcher(Fetcher(fetch_settings(settings)), database, clock)
    listeners = Listeners()
    pictures = PictureDecoder()
    parts = Parts(settings, database, clock, fetcher, pictures, listeners, Joins())
    icons = Icons(database, fetcher, pictures, clock)
    articles = ArticleFetcher(database, fetcher, ArticleExtractor(), instance=instance)
    full_content = FullContent(database, articles, clock, instance=instance)
    pages = PageReader()
    schedule = check_schedule(settings)
    checker = FeedChecker(
        database,
        fetcher,
        clock,
        icons=icons,
        full_content=full_content,
        pages=pages,
        listeners=listeners,
        schedule=schedule,
        instance=instance,
    )
    recent = RecentDocuments(clock)
    authentication = Authentication(database, clock, listeners)
    entries = Entries(database, clock, listeners, instance=instance)
    search = SearchIndexer(database)
    listing = EntryListReader(database, search)
    queries = Queries(database, clock, listeners)
    return AllServices(
        database=database,
        clock=clock,
        accounts=AccountServices(
            authentication=authentication,
            users=Users(database, clock, listeners),
            sessions=Sessions(database, clock, listeners),
            pending=PendingSignIns(database, clock),
            ways=AccountWays(database, listeners),
            api_keys=ApiKeys(database, clock, listeners),
            api_passwords=ApiPasswords(database, clock, listeners),
            app_logins=AppLogins(database, clock, authentication, listeners),
        ),
        feeds=FeedServices(
            subscriptions=Feeds(
                database,
                fetcher,
                clock,
                recent=recent,
                icons=icons,
                full_content=full_content,
                pages=pages,
                listeners=listeners,
                schedule=schedule,
                instance=instance,
            ),
            categories=Categories(database, clock, listeners),
            bulk=BulkFeedChanges(database, clock, schedule=schedule),
            rule_previewer=RulePreviewer(database, clock, instance=instance),
            opml=Opml(database, clock, fetcher, listeners),
            discovery=Discovery(fetcher, recent, listeners),
            page_previews=PagePreviews(fetcher, recent, pages, clock),
        ),
        entries=EntryServices(
            changes=entries,
            listing=listing,
            queries=queries,
            view_counter=ViewCounter(database, clock, search, listeners),
            read_marker=ReadMarker(database, clock, listing, listeners),
            hidden=HiddenEntries(database, listing),
            app_marks=AppMarks(database, clock, listeners),
            unread_ids=UnreadIdTexts(),
            public_links=PublicLinks(database),
            feed_links=FeedLinks(database, clock),
            articles=articles,
            saved_pages=SavedPages(database, articles, entries, clock),
            enclosures=Enclosures(database),
            labels=Labels(database, clock, listeners),
            search=search,
        ),
        polling=PollingServices(
            claims=SourceClaims(
                database,
                clock,
                checker,
                listeners,
                per_host=settings.polling_limit_per_host,
                gap=settings.polling_gap_per_host,
                lease=source_lease(settings),
            ),
            fetcher=fetcher,
            pages=pages,
        ),
        pictures=pictures,
        list_tags=ListTags(database, clock, queries),
        slices={name: one.build(parts) for name, one in SLICES.items()},
    )


def start_metrics(settings: Settings) -> None:
    """Start the counters of this process, if metrics are on."""
    if settings.metrics_collector:
        metrics.start(settings.data_dir / "metrics")
