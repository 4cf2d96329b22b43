"""How WebSub is joined to the rest: services, listeners and worker. Hubs call `endpoints`, which is mounted apart."""

from __future__ import annotations

from tidings.settings import Settings
from tidings.settings.values import WebSubMode
from tidings.websub.hubs import HubClient, is_public_address
from tidings.websub.pushes import PUSH_LEASE, Pushes
from tidings.websub.services import WebSubServices
from tidings.websub.store import hubs_of
from tidings.websub.subscriptions import WebSub
from tidings.websub.worker import Subscriber
from tidings.wiring.arguments import fetch_settings, instance_settings
from tidings.wiring.slice import Parts, Slice


def callback_base(settings: Settings) -> str:
    """Return the URL below which hubs reach this service; "" if WebSub is off or hubs could not reach it."""
    is_on = settings.websub is WebSubMode.ON
    if settings.websub is WebSubMode.AUTO:
        is_on = is_public_address(settings.base_url)
    return settings.base_url.rstrip("/") if is_on else ""


def build(parts: Parts) -> WebSubServices:
    """Return the subscriptions at hubs, which hear of every checked document."""
    settings, database, clock, listeners = parts.settings, parts.database, parts.clock, parts.listeners
    websub = WebSub(database, HubClient(fetch_settings(settings)), clock, callback_base=callback_base(settings))
    listeners.documents_checked.append(websub.record_offers)
    listeners.hub_lookups.append(hubs_of)
    parts.joins.push_lease = PUSH_LEASE
    pushes = Pushes(database, clock, listeners, is_on=websub.is_on, instance=instance_settings(settings))
    return WebSubServices(subscriptions=websub, pushes=pushes)


def loops(services: WebSubServices, _worker: str) -> tuple[Subscriber]:
    return (Subscriber(services.subscriptions, services.pushes),)


SLICE = Slice(build=build, loops=loops)
