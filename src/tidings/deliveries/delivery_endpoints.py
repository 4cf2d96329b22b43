"""Deliveries: what was sent to other services, what became of it, and sending it once more."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, structs
from starlette.responses import Response

from tidings.api.fields import Fields, lean
from tidings.api.paging import link_to
from tidings.api.schema_annotations import Timestamp, one_of, up_to
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.deliveries.events import DeliveryState
from tidings.deliveries.redelivery import delivery_not_found
from tidings.deliveries.registry import provider_of
from tidings.deliveries.services import DeliveryServices
from tidings.deliveries.store import outbox, webhooks
from tidings.deliveries.store.outbox import ListedDelivery
from tidings.deliveries.webhook_settings import owned_webhook
from tidings.deliveries.webhooks import WEBHOOK, Webhook, id_in, is_webhook
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import json
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone

routes = Routes("Integrations", after="API passwords")

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000


class DeliveryOut(Struct, frozen=True):
    """The delivery of an event to one receiver. delivery_id: as in the header X-Service-Delivery.

    webhook_id: null for other integrations. The webhook may be deleted.
    receiver: a URL without credentials, or the name of the service. feed_id: null if it belongs to no feed.
    size: of the body, in bytes. next_attempt_at: null if no further attempt follows. finished_at: null until then.
    last_status: HTTP status of the last response, 0 without one. last_error: why the last attempt failed, "" if it
    succeeded. Times are in the time zone of the user.
    """

    id: int
    delivery_id: str
    integration: str
    webhook_id: int | None
    event_type: str
    receiver: str
    feed_id: int | None
    state: Annotated[str, one_of(DeliveryState)]
    attempts: int
    size: int
    created_at: Timestamp
    next_attempt_at: Timestamp | None
    finished_at: Timestamp | None
    last_status: int
    last_error: str


class DeliveryDetails(DeliveryOut, frozen=True):
    """body: as sent, byte for byte; null if it was not kept. last_response: the beginning of the last response."""

    body: str | None
    last_response: str


class DeliveryList(Struct, frozen=True):
    deliveries: list[DeliveryOut]


class DeliveriesQuery(Query, frozen=True):
    """state: pending, delivered or failed; default: all. limit: default 100. before_id: exclusive.
    webhook_id: only those of this webhook.
    """

    state: Annotated[str, one_of(DeliveryState)] = ""
    limit: Annotated[int | None, up_to(MAX_LIMIT)] = None
    offset: int | None = None
    before_id: int | None = None
    webhook_id: int | None = None


@routes.get(
    "/v1/webhooks/deliveries",
    scope=KeyScope.MANAGE,
    lists=DeliveryOut,
    raises=(InvalidInput, NotFound),
    responses={200: DeliveryList},
)
def list_deliveries(
    caller: User, services: Services, request: Request, fields: Fields, query: DeliveriesQuery
) -> Response:
    """List deliveries to other services, sent or waiting, the newest first."""
    if query.state not in ("", *DeliveryState):
        raise InvalidInput(verbatim(f"state: {query.state[:40]!r} is not pending, delivered or failed."), field="state")
    if (query.limit or 0) > MAX_LIMIT:
        raise InvalidInput(verbatim(f"limit: {MAX_LIMIT} at most."), field="limit")
    limit, clock = query.limit or DEFAULT_LIMIT, time_zone(caller.timezone)
    with services.reading() as db:
        hook = None if query.webhook_id is None else owned_webhook(db, caller.id, query.webhook_id)
        found = outbox.list_deliveries(
            db,
            caller.id,
            state=DeliveryState(query.state) if query.state else None,
            integration=None if hook is None else hook.key,
            before_id=query.before_id,
            limit=limit + 1,
            offset=query.offset or 0,
        )
        main = webhooks.of_key(db, caller.id, WEBHOOK)
    listed = DeliveryList([delivery_out(shown, clock, main) for shown in found[:limit]])
    headers = link_to(request, {"before_id": str(listed.deliveries[-1].id)}) if len(found) > limit else None
    return json(lean(listed, fields), headers=headers)


@routes.get("/v1/webhooks/deliveries/{delivery_id}", scope=KeyScope.MANAGE, raises=(InvalidInput, NotFound))
def get_delivery(caller: User, services: Services, delivery_id: int) -> DeliveryDetails:
    """Get a delivery, with its body and the beginning of the last response."""
    with services.reading() as db:
        shown = outbox.get(db, caller.id, delivery_id)
        if shown is None:
            raise delivery_not_found(delivery_id)
        body = outbox.body(db, caller.id, delivery_id)
        main = webhooks.of_key(db, caller.id, WEBHOOK)
    return DeliveryDetails(
        **structs.asdict(delivery_out(shown, time_zone(caller.timezone), main)),
        body=None if body is None else body.decode(),
        last_response=shown.delivery.last_response,
    )


@routes.post(
    "/v1/webhooks/deliveries/{delivery_id}/redeliver",
    scope=KeyScope.MANAGE,
    status=202,
    raises=(InvalidInput, NotFound),
)
def redeliver(caller: User, services: Services, deliveries: DeliveryServices, delivery_id: int) -> DeliveryOut:
    """Send a delivery again, with the same delivery id. A delivery that is waiting is sent immediately."""
    deliveries.redelivery.redeliver(caller.id, delivery_id)
    with services.reading() as db:
        shown = outbox.get(db, caller.id, delivery_id)
        main = webhooks.of_key(db, caller.id, WEBHOOK)
    if shown is None:
        raise delivery_not_found(delivery_id)
    return delivery_out(shown, time_zone(caller.timezone), main)


def delivery_out(shown: ListedDelivery, clock: TimeZone, main: Webhook | None) -> DeliveryOut:
    """Return a delivery as the API shows it. main: the user's main webhook."""
    delivery = shown.delivery
    provider = provider_of(delivery.integration)
    return DeliveryOut(
        id=delivery.id,
        delivery_id=delivery.delivery_id,
        # A client of before there were several knows these names only.
        integration=provider.name if provider else delivery.integration,
        webhook_id=_webhook_id(delivery.integration, main),
        event_type=delivery.event_type,
        # The receiver of an unknown provider could contain secrets.
        receiver=provider.describe_receiver(delivery.receiver).english() if provider else delivery.integration,
        feed_id=delivery.feed_id,
        state=delivery.state,
        attempts=delivery.attempts,
        size=delivery.size,
        created_at=clock.format(delivery.created_at),
        next_attempt_at=clock.format_optional(shown.next_attempt_at),
        finished_at=clock.format_optional(delivery.finished_at),
        last_status=delivery.last_status,
        last_error=delivery.last_error,
    )


def _webhook_id(integration: str, main: Webhook | None) -> int | None:
    if not is_webhook(integration):
        return None
    number = id_in(integration)
    return main.id if number is None and main else number
