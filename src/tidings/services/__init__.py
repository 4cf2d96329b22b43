"""The use cases: a change and the events it causes are written together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tidings.services.api_keys import ApiKeys
from tidings.services.articles import Articles
from tidings.services.authentication import Authentication
from tidings.services.bulk import Bulk
from tidings.services.categories import Categories
from tidings.services.clock import Clock
from tidings.services.deliveries import Deliveries
from tidings.services.delivering import Delivering
from tidings.services.discovery import Discovery
from tidings.services.enclosures import Enclosures
from tidings.services.entries import Entries
from tidings.services.feeds import Feeds
from tidings.services.fetching import PoliteFetcher
from tidings.services.integrations import Integrations
from tidings.services.list_links import ListLinks
from tidings.services.marks import Marks
from tidings.services.notifications import Notifications
from tidings.services.opml import Opml
from tidings.services.polling import Polling
from tidings.services.pushes import Pushes
from tidings.services.search import Search
from tidings.services.sessions import Sessions
from tidings.services.shares import Shares
from tidings.services.status import Status
from tidings.services.tidying import Tidying
from tidings.services.trials import Trials
from tidings.services.users import Users
from tidings.services.websub import WebSub
from tidings.storage.database import Database, Read


@dataclass(frozen=True, slots=True)
class Services:
    """Everything a surface may ask for; `wiring` builds it."""

    database: Database
    clock: Clock
    fetcher: PoliteFetcher
    authentication: Authentication
    users: Users
    sessions: Sessions
    api_keys: ApiKeys
    categories: Categories
    feeds: Feeds
    bulk: Bulk
    trials: Trials
    entries: Entries
    marks: Marks
    shares: Shares
    list_links: ListLinks
    articles: Articles
    enclosures: Enclosures
    polling: Polling
    search: Search
    opml: Opml
    discovery: Discovery
    websub: WebSub
    pushes: Pushes
    status: Status
    tidying: Tidying
    integrations: Integrations
    notifications: Notifications
    deliveries: Deliveries
    delivering: Delivering

    @contextmanager
    def reading(self) -> Iterator[Read]:
        """For surfaces that only look."""
        with self.database.reading() as db:
            yield db

    def ping(self) -> None:
        """StoreUnavailable when the database does not answer."""
        self.database.ping()

    async def disconnect(self) -> None:
        """Inside the event loop that fetched: connections and processes that served it."""
        await self.fetcher.close()
        await self.delivering.close()
        await self.websub.disconnect()
        self.articles.close()
        self.notifications.close()

    async def close(self) -> None:
        """As `disconnect`, and the database too."""
        await self.disconnect()
        self.database.close()


__all__ = ["Services"]
