"""How deliveries are joined to the rest: their services, listeners, routes and worker."""

from __future__ import annotations

from tidings import __version__
from tidings.base.messages import msg
from tidings.deliveries import webhook_settings
from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.attempts import EventSender
from tidings.deliveries.integrations import Integrations
from tidings.deliveries.outbox import Outbox
from tidings.deliveries.providers import apprise
from tidings.deliveries.queue import RECEIVER_LEASE, DeliveryQueue, remove_finished_deliveries, remove_idle_receivers
from tidings.deliveries.redelivery import Deliveries
from tidings.deliveries.retries import RetryPolicy
from tidings.deliveries.services import DeliveryServices
from tidings.deliveries.webhook_archiver import OwnWebhookArchiver
from tidings.deliveries.webhook_settings import Webhooks
from tidings.deliveries.worker import Deliverer
from tidings.net.guard import AddressGuard
from tidings.net.post import SETTING, Sender
from tidings.services.listeners import CleanupTask
from tidings.settings import Settings
from tidings.web.settings_menu import MenuItem
from tidings.wiring.slice import Parts, Slice

CLEANUP_TASKS = (
    CleanupTask("deliveries", remove_finished_deliveries),
    CleanupTask("receivers", remove_idle_receivers),
)


def build(parts: Parts) -> DeliveryServices:
    """Return integrations and their deliveries, and register the outbox."""
    settings, database, clock = parts.settings, parts.database, parts.clock
    guard = AddressGuard(allow_private_networks=settings.integration_allow_private_networks, setting=SETTING)
    timeout_s = round(settings.integration_timeout.total_seconds())
    # Shorter than the timeout of the attempt, so that this one reports first.
    apprise_sender = AppriseSender(database, guard=guard, timeout_s=round(timeout_s * 0.9, 1))
    event_sender = EventSender(
        build_sender(settings), clock, thread_senders={apprise.NAME: apprise_sender.send}, timeout_s=timeout_s
    )
    integrations = Integrations(database, clock, guard=guard, apprise_sender=apprise_sender)
    parts.listeners.feed_checks.append(integrations.check_feed)
    outbox = Outbox(parts.listeners, clock)
    parts.listeners.entries_stored.append(outbox.post_stored_entries)
    parts.listeners.savers.append(outbox)
    parts.listeners.announcers.append(outbox)
    parts.listeners.states_changed.append(outbox.post_states)
    parts.listeners.feeds_changed_state.append(outbox.post_feed_states)
    parts.listeners.imports_finished.append(outbox.post_import)
    parts.listeners.kept_queries.append(webhook_settings.kept_queries)
    parts.listeners.cleanup_tasks.extend(CLEANUP_TASKS)
    webhooks = Webhooks(database, clock, parts.listeners, integrations.url_refusal)
    parts.joins.integrations = integrations
    parts.joins.webhooks = OwnWebhookArchiver(webhooks)
    parts.joins.receiver_lease = RECEIVER_LEASE
    parts.joins.delivery_retry = RetryPolicy().give_up_after
    return DeliveryServices(
        integrations=integrations,
        webhooks=webhooks,
        redelivery=Deliveries(database, event_sender, clock),
        queue=DeliveryQueue(database, event_sender, clock),
        apprise_sender=apprise_sender,
    )


def build_sender(settings: Settings) -> Sender:
    """Return the client that sends events."""
    return Sender(
        user_agent=f"Tidings/{__version__}",
        allow_private_networks=settings.integration_allow_private_networks,
        # Shorter than the timeout of the attempt: a receiver that takes no connection is told from a slow one.
        connect_timeout_s=0.8 * settings.integration_timeout.total_seconds(),
    )


def loops(services: DeliveryServices, worker: str) -> tuple[Deliverer]:
    return (Deliverer(services.queue, name=worker),)


SLICE = Slice(
    build=build,
    endpoints=("integration_endpoints", "webhook_endpoints", "delivery_endpoints"),
    pages=("webhook_pages", "integration_pages", "delivery_pages"),
    settings_menu=(
        MenuItem("/settings/integrations", msg("Integrations"), after="/settings/api-passwords"),
        MenuItem("/settings/deliveries", msg("Deliveries"), after="/settings/integrations"),
    ),
    loops=loops,
)
