"""The use cases. A change and the events it causes are written in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tidings.archives.account_export import AccountExport
from tidings.archives.account_import import AccountImport
from tidings.archives.background_imports import BackgroundImports
from tidings.archives.foreign_import import ForeignImport
from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.integrations import Integrations
from tidings.deliveries.queue import DeliveryQueue
from tidings.deliveries.redelivery import Deliveries
from tidings.engine.database import Database, Read
from tidings.maintenance.cleanup import Cleanup
from tidings.maintenance.clock_repair import ClockRepair
from tidings.maintenance.readiness import Readiness
from tidings.maintenance.scheduled_backup import ScheduledBackup
from tidings.maintenance.status import StatusReader
from tidings.media.episode_parts import EpisodeParts
from tidings.media.proxy import MediaProxy
from tidings.media.queue import MediaQueue
from tidings.services.accounts.api_keys import ApiKeys
from tidings.services.accounts.api_passwords import ApiPasswords
from tidings.services.accounts.app_logins import AppLogins
from tidings.services.accounts.authentication import Authentication
from tidings.services.accounts.sessions import Sessions
from tidings.services.accounts.users import Users
from tidings.services.clock import Clock
from tidings.services.entries.app_marks import AppMarks
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
from tidings.services.feeds.opml import Opml
from tidings.services.feeds.rule_preview import RulePreviewer
from tidings.services.pictures import PictureDecoder
from tidings.services.polling.claims import Polling
from tidings.services.polling.rate_limit import PoliteFetcher
from tidings.websub.pushes import Pushes
from tidings.websub.subscriptions import WebSub


@dataclass(frozen=True, slots=True)
class Services:
    """All services that the surfaces and the worker use; `wiring` builds them."""

    database: Database
    clock: Clock
    fetcher: PoliteFetcher
    authentication: Authentication
    users: Users
    sessions: Sessions
    api_keys: ApiKeys
    api_passwords: ApiPasswords
    app_logins: AppLogins
    categories: Categories
    feeds: Feeds
    bulk: BulkFeedChanges
    rule_previewer: RulePreviewer
    entries: Entries
    listing: EntryListReader
    read_marker: ReadMarker
    app_marks: AppMarks
    unread_ids: UnreadIdTexts
    public_links: PublicLinks
    feed_links: FeedLinks
    articles: ArticleFetcher
    saved_pages: SavedPages
    enclosures: Enclosures
    labels: Labels
    episode_parts: EpisodeParts
    media_queue: MediaQueue
    media_proxy: MediaProxy
    pictures: PictureDecoder
    polling: Polling
    search: SearchIndexer
    opml: Opml
    account_export: AccountExport
    account_import: AccountImport
    foreign_import: ForeignImport
    background_imports: BackgroundImports
    discovery: Discovery
    websub: WebSub
    pushes: Pushes
    status: StatusReader
    cleanup: Cleanup
    scheduled_backup: ScheduledBackup
    clock_repair: ClockRepair
    readiness: Readiness
    integrations: Integrations
    apprise_sender: AppriseSender
    deliveries: Deliveries
    delivery_queue: DeliveryQueue

    @contextmanager
    def reading(self) -> Iterator[Read]:
        """Yields a read-only view of the database."""
        with self.database.reading() as db:
            yield db

    async def disconnect(self) -> None:
        """Close connections and child processes. Call it inside the event loop that used them."""
        await self.fetcher.close()
        await self.media_proxy.close()
        await self.delivery_queue.close()
        await self.websub.disconnect()
        self.articles.close()
        self.pictures.close()
        self.background_imports.close()
        self.apprise_sender.close()

    async def close(self) -> None:
        """Close connections, child processes and the database. Call it as `disconnect`."""
        await self.disconnect()
        self.database.close()


__all__ = ["Services"]
