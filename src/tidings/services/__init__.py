"""The use cases of the core, grouped by theme. A change and the events it causes are written in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tidings.engine.database import Database, Read
from tidings.services.accounts.api_keys import ApiKeys
from tidings.services.accounts.api_passwords import ApiPasswords
from tidings.services.accounts.app_logins import AppLogins
from tidings.services.accounts.authentication import Authentication
from tidings.services.accounts.sessions import PendingSignIns, Sessions
from tidings.services.accounts.users import Users
from tidings.services.accounts.ways import AccountWays
from tidings.services.clock import Clock
from tidings.services.entries.app_marks import AppMarks
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
from tidings.services.feeds.opml import Opml
from tidings.services.feeds.page_previews import PagePreviews
from tidings.services.feeds.rule_preview import RulePreviewer
from tidings.services.list_tags import ListTags
from tidings.services.pictures import PictureDecoder
from tidings.services.polling.lease import SourceClaims
from tidings.services.polling.page_reader import PageReader
from tidings.services.publisher_requests import PoliteFetcher


@dataclass(frozen=True, slots=True)
class AccountServices:
    """Users and the ways in which they sign in."""

    authentication: Authentication
    users: Users
    sessions: Sessions
    pending: PendingSignIns
    ways: AccountWays
    api_keys: ApiKeys
    api_passwords: ApiPasswords
    app_logins: AppLogins


@dataclass(frozen=True, slots=True)
class FeedServices:
    """Subscriptions and categories."""

    subscriptions: Feeds
    categories: Categories
    bulk: BulkFeedChanges
    rule_previewer: RulePreviewer
    opml: Opml
    discovery: Discovery
    page_previews: PagePreviews


@dataclass(frozen=True, slots=True)
class EntryServices:
    """Entries: lists, states, labels, sharing, and articles from their pages."""

    changes: Entries
    listing: EntryListReader
    queries: Queries
    view_counter: ViewCounter
    read_marker: ReadMarker
    hidden: HiddenEntries
    app_marks: AppMarks
    unread_ids: UnreadIdTexts
    public_links: PublicLinks
    feed_links: FeedLinks
    articles: ArticleFetcher
    saved_pages: SavedPages
    enclosures: Enclosures
    labels: Labels
    search: SearchIndexer


@dataclass(frozen=True, slots=True)
class PollingServices:
    """Claims of due feeds, their checks, the client that fetches documents within the limits of each host, and the
    processes that read pages by selectors.
    """

    claims: SourceClaims
    fetcher: PoliteFetcher
    pages: PageReader


class SliceServices:
    """Base of the services of a slice: what is the same for all when a process ends."""

    __slots__ = ()

    def release_leases(self, worker: str) -> int:  # noqa: ARG002 - most slices have none
        """Release what a worker holds, so that others can claim it. Returns the number of leases."""
        return 0

    async def close(self) -> None:
        """Close connections and child processes. Call it inside the event loop that used them."""


@dataclass(frozen=True, slots=True)
class Services:
    """All services of the core, which the surfaces and the worker use; `wiring.services` builds them."""

    database: Database
    clock: Clock
    accounts: AccountServices
    feeds: FeedServices
    entries: EntryServices
    polling: PollingServices
    pictures: PictureDecoder
    list_tags: ListTags

    @contextmanager
    def reading(self, *, by_key: bool = False) -> Iterator[Read]:
        """Yield a read-only view of the database. by_key: see `Database.reading`."""
        with self.database.reading(by_key=by_key) as db:
            yield db

    async def disconnect(self) -> None:
        """Close connections and child processes. Call it inside the event loop that used them."""
        await self.polling.fetcher.close()
        self.entries.articles.close()
        self.polling.pages.close()
        self.pictures.close()


__all__ = ["AccountServices", "EntryServices", "FeedServices", "PollingServices", "Services", "SliceServices"]
