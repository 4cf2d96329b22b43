"""What a slice declares about itself, in the module `wiring` of its folder; `wiring.slices` lists the slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from tidings.archives.archived_bridges import BridgeArchiver
from tidings.archives.archived_list_settings import ListSettingArchiver
from tidings.archives.archived_live_opml import OpmlArchiver
from tidings.archives.archived_newsletters import NewsletterArchiver
from tidings.archives.archived_old_unread import ReadAfterArchiver
from tidings.archives.archived_rules import RuleArchiver
from tidings.archives.archived_views import ViewArchiver
from tidings.archives.archived_webhooks import WebhookArchiver
from tidings.archives.integration_settings import IntegrationArchiver
from tidings.engine.database import Database
from tidings.services import SliceServices
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.services.pictures import PictureDecoder
from tidings.services.publisher_requests import PoliteFetcher
from tidings.settings import Settings
from tidings.web.settings_menu import MenuItem
from tidings.worker.loops import Loop

S = TypeVar("S", bound=SliceServices | None)


@dataclass(slots=True)
class Joins:
    """What slices have for other slices, which they do not know. A slice sets it before a later one reads it."""

    integrations: IntegrationArchiver = field(init=False)
    """From deliveries, for archives."""
    views: ViewArchiver = field(init=False)
    """From views, for archives."""
    rules: RuleArchiver = field(init=False)
    """From rules, for archives."""
    webhooks: WebhookArchiver = field(init=False)
    """From deliveries, for archives."""
    newsletters: NewsletterArchiver = field(init=False)
    """From newsletters, for archives."""
    live_opml: OpmlArchiver = field(init=False)
    """From live OPML, for archives."""
    old_unread: ReadAfterArchiver = field(init=False)
    """From old unread entries, for archives."""
    list_settings: ListSettingArchiver = field(init=False)
    """From list settings, for archives."""
    bridges: BridgeArchiver = field(init=False)
    """From bridges, for archives."""
    receiver_lease: timedelta = field(init=False)
    """From deliveries, for maintenance: how long a worker holds the queue of a receiver."""
    delivery_retry: timedelta = field(init=False)
    """From deliveries, for maintenance: how long a failing delivery is repeated."""
    push_lease: int = field(init=False)
    """From websub, for maintenance: how long a worker holds a document that a hub pushed, in microseconds."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What slices build their services from."""

    settings: Settings
    database: Database
    clock: Clock
    fetcher: PoliteFetcher
    """Fetches documents within the limits of each host."""
    pictures: PictureDecoder
    listeners: Listeners
    """Where a slice registers for what it wants to hear of."""
    joins: Joins


def no_loops(_services: object, _worker: str) -> Sequence[Loop]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice(Generic[S]):
    """A capability, as its folder declares it. Handlers are named, so that commands do not import them."""

    build: Callable[[Parts], S]
    """Registers listeners, and returns the services that handlers and commands ask for; None if it has none."""
    endpoints: tuple[str, ...] = ()
    """Modules of the folder with the `routes` of its endpoints in the API."""
    pages: tuple[str, ...] = ()
    """Modules of the folder with the `routes` of its pages."""
    settings_menu: tuple[MenuItem, ...] = ()
    """Its pages among the settings."""
    loops: Callable[[S, str], Sequence[Loop]] = no_loops
    """Returns its background loops. Called in a worker, with the services and the worker's name."""
