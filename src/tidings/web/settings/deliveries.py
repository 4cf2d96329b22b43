"""Deliveries: what was sent to other services, what became of it, and sending it once more."""

from __future__ import annotations

import hashlib

from tidings.domain.deliveries import State
from tidings.domain.errors import InvalidInput
from tidings.domain.integrations import REGISTRY
from tidings.domain.times import MINUTE, Instant
from tidings.domain.users import User
from tidings.http.queries import Query
from tidings.http.replies import Reply
from tidings.services import Services
from tidings.services.deliveries import unknown
from tidings.storage import deliveries
from tidings.storage.deliveries import Shown
from tidings.web.language import N_, _
from tidings.web.routes import Routes
from tidings.web.security import NOTHING_RUNS
from tidings.web.visits import Page, Redirect, Visit
from tidings.web.wording import translated

routes = Routes()

PATH = "/settings/deliveries"
PER_PAGE = 50
# Of a body that is shown on the page; the whole is one link away.
MOST_SHOWN = 20_000
STATES = {
    "": N_("All"),
    State.PENDING.value: N_("Waiting"),
    State.DELIVERED.value: N_("Delivered"),
    State.FAILED.value: N_("Failed"),
}
EVENTS = {"new_entries": N_("New entries"), "save_entry": N_("Saved entry")}


class Which(Query, frozen=True):
    """ "" is all. service: its name. receiver: of that service, as `_digest` has it. event: see EVENTS.

    before: the id of the last one of the page before.
    """

    state: str = ""
    service: str = ""
    receiver: str = ""
    event: str = ""
    before: int | None = None


@routes.get(PATH)
def show_deliveries(visit: Visit, caller: User, services: Services, query: Which) -> Page:
    """The newest first."""
    with services.reading() as db:
        names = deliveries.integrations_of(db, caller.id)
        service = query.service if query.service in names else ""
        addresses = deliveries.receivers_of(db, caller.id, service) if service else []
        receivers = {_digest(address): address for address in addresses} if len(addresses) > 1 else {}
        chosen = {
            "state": query.state if query.state in STATES else "",
            "service": service,
            "receiver": query.receiver if query.receiver in receivers else "",
            "event": query.event if query.event in EVENTS else "",
        }
        found = deliveries.listed(
            db,
            caller.id,
            state=State(chosen["state"]) if chosen["state"] else None,
            integration=service or None,
            receiver=receivers.get(chosen["receiver"]),
            event_type=chosen["event"] or None,
            before_id=query.before,
            limit=PER_PAGE + 1,
        )
    shown = found[:PER_PAGE]
    known = {
        "title": _("Deliveries"),
        "deliveries": [_line(one) for one in shown],
        "chosen": chosen,
        "states": STATES,
        "services": {name: _names(name, "")[0] for name in names},
        "receivers": {digest: _names(service, address)[1] for digest, address in receivers.items()},
        "events": EVENTS,
        "is_first": query.before is None,
        "soon": lambda instant: _soon(instant, visit.now),
        "before": shown[-1].delivery.id if len(found) > PER_PAGE else None,
    }
    return Page("settings/deliveries.html", known)


@routes.get(PATH + "/{delivery_id}")
def show_delivery(caller: User, services: Services, delivery_id: int) -> Page:
    found, body = _one(caller, services, delivery_id)
    shown, service, receiver = _line(found)
    known = {
        "title": _("Delivery %(number)d", number=delivery_id),
        "shown": shown,
        "service": service,
        "receiver": receiver,
        "states": STATES,
        "events": EVENTS,
        "body": None if body is None else body.decode()[:MOST_SHOWN],
        "is_cut": body is not None and len(body.decode()) > MOST_SHOWN,
    }
    return Page("settings/delivery.html", known)


@routes.get(PATH + "/{delivery_id}/body")
def show_body(caller: User, services: Services, delivery_id: int) -> Reply:
    """Byte for byte, as it is sent and signed."""
    _shown, body = _one(caller, services, delivery_id)
    if body is None:
        raise unknown(delivery_id)
    return Reply(200, body, "text/plain; charset=utf-8", (("Cache-Control", "private, no-cache"), *NOTHING_RUNS))


@routes.post(PATH + "/{delivery_id}/redeliver")
def redeliver(caller: User, services: Services, delivery_id: int) -> Redirect:
    path = f"{PATH}/{delivery_id}"
    try:
        services.deliveries.redeliver(caller.id, delivery_id)
    except InvalidInput as error:
        return Redirect(path, notice=translated(error.message))
    return Redirect(path, notice=_("It is on its way once more."))


def _soon(instant: Instant, now: Instant) -> str:
    minutes = -(-(instant - now) // MINUTE)
    if minutes <= 0:
        return _("now")
    return _("in %(count)d min", count=minutes) if minutes < 100 else _("in %(count)d h", count=round(minutes / 60))


def _one(caller: User, services: Services, delivery_id: int) -> tuple[Shown, bytes | None]:
    with services.reading() as db:
        shown = deliveries.get(db, caller.id, delivery_id)
        if shown is None:
            raise unknown(delivery_id)
        return shown, deliveries.body(db, delivery_id)


def _line(shown: Shown) -> tuple[Shown, str, str]:
    return (shown, *_names(shown.delivery.integration, shown.delivery.receiver))


def _names(integration: str, receiver: str) -> tuple[str, str]:
    """Of a service and of the receiver, in which there are no secrets."""
    leaf = REGISTRY.get(integration)
    return (translated(leaf.title), translated(leaf.shown(receiver))) if leaf else (integration, "")


def _digest(receiver: str) -> str:
    """For addresses of pages: there may be secrets in it."""
    return hashlib.sha256(receiver.encode("utf-8", "replace")).hexdigest()[:12]
