"""The deliveries page: what was sent to other services, the results, and sending again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from starlette.responses import PlainTextResponse

from tidings.base.errors import InvalidInput
from tidings.base.text import sort_key
from tidings.base.times import MINUTE, Instant
from tidings.deliveries.events import EVENTS, DeliveryState
from tidings.deliveries.redelivery import delivery_not_found
from tidings.deliveries.registry import provider_of
from tidings.deliveries.services import DeliveryServices
from tidings.deliveries.store import outbox, webhooks
from tidings.deliveries.store.outbox import ListedDelivery
from tidings.domain.accounts.users import User
from tidings.engine.database import Read
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import N_, _
from tidings.web.message_translation import translated
from tidings.web.security import SANDBOX_HEADERS

routes = Routes()

PATH = "/settings/deliveries"
PER_PAGE = 50
# Maximum number of characters of a body that the page shows; it links to the whole body.
MAX_SHOWN_CHARS = 20_000
STATES = {
    "": N_("All"),
    DeliveryState.PENDING.value: N_("Waiting"),
    DeliveryState.DELIVERED.value: N_("Delivered"),
    DeliveryState.FAILED.value: N_("Failed"),
}


class DeliveryFilterQuery(Query, frozen=True):
    """The filter of the list of deliveries; an empty value matches all."""

    state: str = ""
    service: str = ""
    """Name of the service."""
    receiver: str = ""
    """A `_digest` of a receiver of the service."""
    event: str = ""
    """Name of the event."""
    before: int | None = None
    """Id of the last delivery of the previous page."""


@routes.get(PATH)
def show_deliveries(
    context: RequestContext, caller: User, services: Services, query: DeliveryFilterQuery
) -> PageResponse:
    """List deliveries, the newest first."""
    with services.reading() as db:
        names = outbox.integrations_of(db, caller.id)
        hooks = _names_of_webhooks(db, caller.id)
        service = query.service if query.service in names else ""
        addresses = outbox.receivers_of(db, caller.id, service) if service else []
        receivers = {_digest(address): address for address in addresses} if len(addresses) > 1 else {}
        chosen = {
            "state": query.state if query.state in STATES else "",
            "service": service,
            "receiver": query.receiver if query.receiver in receivers else "",
            "event": query.event if query.event in EVENTS else "",
        }
        deliveries = outbox.list_deliveries(
            db,
            caller.id,
            state=DeliveryState(chosen["state"]) if chosen["state"] else None,
            integration=service or None,
            receiver=receivers.get(chosen["receiver"]),
            event_type=chosen["event"] or None,
            before_id=query.before,
            limit=PER_PAGE + 1,
        )
    shown = deliveries[:PER_PAGE]
    known = {
        "title": _("Deliveries"),
        "deliveries": [_line(delivery, hooks) for delivery in shown],
        "chosen": chosen,
        "states": STATES,
        "services": {name: _names(name, "", hooks)[0] for name in names},
        "receivers": {digest: _names(service, address, hooks)[1] for digest, address in receivers.items()},
        "events": _titles(),
        "is_first": query.before is None,
        "soon": lambda instant: _soon(instant, context.now),
        "before": shown[-1].delivery.id if len(deliveries) > PER_PAGE else None,
    }
    return PageResponse("deliveries/deliveries.html", known)


@routes.get(PATH + "/{delivery_id}")
def show_delivery(caller: User, services: Services, delivery_id: int) -> PageResponse:
    delivery, body = _get(caller, services, delivery_id)
    with services.reading() as db:
        shown, service, receiver = _line(delivery, _names_of_webhooks(db, caller.id))
    known = {
        "title": _("Delivery %(number)s", number=delivery_id),
        "shown": shown,
        "service": service,
        "receiver": receiver,
        "states": STATES,
        "events": _titles(),
        "body": None if body is None else body.decode()[:MAX_SHOWN_CHARS],
        "is_cut": body is not None and len(body.decode()) > MAX_SHOWN_CHARS,
    }
    return PageResponse("deliveries/delivery.html", known)


@routes.get(PATH + "/{delivery_id}/body")
def show_body(caller: User, services: Services, delivery_id: int) -> PlainTextResponse:
    """Return the body byte for byte, as it is sent and signed."""
    _shown, body = _get(caller, services, delivery_id)
    if body is None:
        raise delivery_not_found(delivery_id)
    return PlainTextResponse(body, headers={"Cache-Control": "private, no-cache", **SANDBOX_HEADERS})


@routes.post(PATH + "/{delivery_id}/redeliver")
def redeliver(caller: User, deliveries: DeliveryServices, delivery_id: int) -> Redirect:
    path = f"{PATH}/{delivery_id}"
    try:
        deliveries.redelivery.redeliver(caller.id, delivery_id)
    except InvalidInput as error:
        return Redirect(path, notice=translated(error.text))
    return Redirect(path, notice=_("It is being sent again."))


def _soon(instant: Instant, now: Instant) -> str:
    minutes = -(-(instant - now) // MINUTE)
    if minutes <= 0:
        return _("now")
    return _("in %(count)d min", count=minutes) if minutes < 100 else _("in %(count)d h", count=round(minutes / 60))


def _get(caller: User, services: Services, delivery_id: int) -> tuple[ListedDelivery, bytes | None]:
    with services.reading() as db:
        shown = outbox.get(db, caller.id, delivery_id)
        if shown is None:
            raise delivery_not_found(delivery_id)
        return shown, outbox.body(db, caller.id, delivery_id)


def _line(shown: ListedDelivery, hooks: Mapping[str, str]) -> tuple[ListedDelivery, str, str]:
    """hooks: names of webhooks by key."""
    return (shown, *_names(shown.delivery.integration, shown.delivery.receiver, hooks))


def _names_of_webhooks(db: Read, user_id: int) -> dict[str, str]:
    """Return the names that the user gave to webhooks, by key."""
    return {hook.key: hook.name for hook in webhooks.list_all(db, user_id)}


def _titles() -> dict[str, str]:
    """Return the titles of events by name."""
    titles = {name: translated(event.title) for name, event in EVENTS.items()}
    return dict(sorted(titles.items(), key=lambda event: sort_key(event[1])))


def _names(integration: str, receiver: str, hooks: Mapping[str, str]) -> tuple[str, str]:
    """Return the name of the service, and the receiver without secrets. hooks: names of webhooks by key."""
    provider = provider_of(integration)
    return (
        (hooks.get(integration) or translated(provider.title), translated(provider.describe_receiver(receiver)))
        if provider
        else (integration, "")
    )


def _digest(receiver: str) -> str:
    """Return a short hash of a receiver for page addresses: the receiver may contain secrets."""
    return hashlib.sha256(receiver.encode("utf-8", "replace")).hexdigest()[:12]
