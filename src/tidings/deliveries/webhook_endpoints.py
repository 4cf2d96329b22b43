"""Endpoints for webhooks (docs/webhooks.md). The first of a user may be the one among the integrations."""

from __future__ import annotations

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from tidings.api.schema_annotations import Required, one_of
from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.deliveries.delivery_endpoints import DeliveryOut, delivery_out
from tidings.deliveries.events import EVENTS
from tidings.deliveries.integration_endpoints import IntegrationTestedOut
from tidings.deliveries.services import DeliveryServices
from tidings.deliveries.store import outbox, webhooks
from tidings.deliveries.webhook_settings import ShownWebhook
from tidings.deliveries.webhooks import WEBHOOK
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.binding import LazyBody, Query
from tidings.http.endpoints import Routes
from tidings.http.json_body import sent
from tidings.services import Services
from tidings.services.clock import time_zone

routes = Routes("Webhooks", after="Integrations")

# Deliveries that a webhook is shown with.
RECENT = 20


class WebhookOut(Struct, frozen=True):
    """A webhook, without its secret. is_main: it is the one in the settings of integrations.

    events: the events that it gets. feed_ids, category_ids: only events about these feeds, and about those in these
    categories or below them; both empty: all. query: only entries that match, in the query language.
    problem: why it gets nothing though it may be enabled, "" if it works. last_error: why the last attempt failed.
    """

    id: int
    name: str
    is_main: bool
    enabled: bool
    url: str
    events: list[Annotated[str, one_of(EVENTS)]]
    feed_ids: list[int]
    category_ids: list[int]
    query: str
    problem: str
    last_error: str


class WebhookDetails(WebhookOut, frozen=True):
    """deliveries: its newest 20."""

    deliveries: list[DeliveryOut]


class WebhookWithSecret(WebhookOut, frozen=True):
    """secret: 64 hex digits, with which its events are signed. It is not shown again."""

    secret: str


class WebhookUpdate(Struct, frozen=True):
    """events: names of events. feed_ids, category_ids: empty lists for all feeds."""

    name: str | None = None
    url: str | None = None
    enabled: bool | None = None
    events: list[Annotated[str, one_of(EVENTS)]] | None = None
    feed_ids: list[int] | None = None
    category_ids: list[int] | None = None
    query: Annotated[str, Meta(extra_json_schema={"maxLength": 2000})] | None = None


class WebhookCreate(WebhookUpdate, frozen=True):
    """name: default Webhook. enabled: default true. events: default new_entries, save_entry and rule_matched."""

    url: Required[str] = None


class SampleQuery(Query, frozen=True):
    """event: the event to send a sample of; default: the first that the webhook gets."""

    event: Annotated[str, one_of(EVENTS)] = ""


@routes.get("/v1/webhooks", scope=KeyScope.MANAGE, lists=WebhookOut)
def list_webhooks(caller: User, deliveries: DeliveryServices) -> list[WebhookOut]:
    """List your webhooks. That of the integrations, if there is one, is the first."""
    return [_out(shown) for shown in deliveries.webhooks.list_all(caller.id)]


@routes.post("/v1/webhooks", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def create_webhook(caller: User, deliveries: DeliveryServices, body: WebhookCreate) -> WebhookWithSecret:
    """Create a webhook. The response is the only one with its secret."""
    if not body.url:
        raise InvalidField("url", msg("a webhook needs an address."))
    return _with_secret(deliveries.webhooks.create(caller.id, _values(body)))


@routes.get("/v1/webhooks/{webhook_id}", scope=KeyScope.MANAGE, raises=(InvalidInput, NotFound))
def get_webhook(caller: User, services: Services, deliveries: DeliveryServices, webhook_id: int) -> WebhookDetails:
    """Get a webhook with its newest deliveries."""
    shown = deliveries.webhooks.get(caller.id, webhook_id)
    clock = time_zone(caller.timezone)
    with services.reading() as db:
        recent = outbox.list_deliveries(db, caller.id, integration=shown.hook.key, limit=RECENT)
        main = webhooks.of_key(db, caller.id, WEBHOOK)
    out = _out(shown)
    return WebhookDetails(
        **{name: getattr(out, name) for name in out.__struct_fields__},
        deliveries=[delivery_out(one, clock, main) for one in recent],
    )


@routes.put("/v1/webhooks/{webhook_id}", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, NotFound))
def update_webhook(
    caller: User, deliveries: DeliveryServices, webhook_id: int, body: LazyBody[WebhookUpdate]
) -> WebhookOut:
    """Change a webhook. Members that are not sent keep their values."""
    deliveries.webhooks.get(caller.id, webhook_id)
    return _out(deliveries.webhooks.update(caller.id, webhook_id, _values(body.read())))


@routes.delete("/v1/webhooks/{webhook_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound))
def delete_webhook(caller: User, deliveries: DeliveryServices, webhook_id: int) -> None:
    """Delete a webhook. What waits for it is not sent any more."""
    deliveries.webhooks.delete(caller.id, webhook_id)


@routes.post("/v1/webhooks/{webhook_id}/secret", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, NotFound))
def renew_webhook_secret(caller: User, deliveries: DeliveryServices, webhook_id: int) -> WebhookWithSecret:
    """Give a webhook a new secret, which is used from the next attempt on. Only this response shows it."""
    return _with_secret(deliveries.webhooks.renew_secret(caller.id, webhook_id))


@routes.post("/v1/webhooks/{webhook_id}/test", scope=KeyScope.MANAGE, raises=(InvalidInput, NotFound))
async def send_test_event(
    caller: User, deliveries: DeliveryServices, webhook_id: int, query: SampleQuery
) -> IntegrationTestedOut:
    """Send a sample of an event to a webhook, whether it is switched on or not, and return the result."""
    if query.event and query.event not in EVENTS:
        problem = msg("{value} is not one of {values}.", value=repr(query.event[:40]), values=", ".join(EVENTS))
        raise InvalidField("event", problem)
    shown = await asyncio.to_thread(deliveries.webhooks.get, caller.id, webhook_id)
    event = query.event or shown.hook.event_names[0]
    outcome = await deliveries.redelivery.test(caller.id, shown.hook.key, event)
    return IntegrationTestedOut(
        works=outcome.is_delivered, status=outcome.status, error=outcome.error_text, response=outcome.response
    )


def _values(body: WebhookUpdate) -> dict[str, object]:
    """Return the members that were sent, lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in sent(body).items()}


def _out(shown: ShownWebhook) -> WebhookOut:
    hook = shown.hook
    return WebhookOut(
        id=hook.id,
        name=hook.name,
        is_main=hook.is_main,
        enabled=hook.enabled,
        url=shown.url,
        events=list(hook.event_names),
        feed_ids=list(hook.feeds),
        category_ids=list(hook.categories),
        query=hook.query,
        problem=shown.problem.english() if shown.problem else "",
        last_error=hook.last_error,
    )


def _with_secret(shown: ShownWebhook) -> WebhookWithSecret:
    out = _out(shown)
    return WebhookWithSecret(
        **{name: getattr(out, name) for name in out.__struct_fields__}, secret=shown.hook.own.secret
    )
