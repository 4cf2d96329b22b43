"""Deliveries: what was sent to other services, what became of it, and sending it once more."""

from __future__ import annotations

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
    """state: "" for all. before: the id of the last one of the page before."""

    state: str = ""
    before: int | None = None


@routes.get(PATH)
def show_deliveries(visit: Visit, caller: User, services: Services, query: Which) -> Page:
    """The newest first."""
    state = query.state if query.state in STATES else ""
    with services.reading() as db:
        found = deliveries.listed(
            db, caller.id, state=State(state) if state else None, before_id=query.before, limit=PER_PAGE + 1
        )
    shown = found[:PER_PAGE]
    known = {
        "title": _("Deliveries"),
        "deliveries": [_line(one) for one in shown],
        "state": state,
        "states": STATES,
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
        return Redirect(path, notice=error.message)
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
    """With the name of the service and of the receiver, in which there are no secrets."""
    leaf = REGISTRY.get(shown.delivery.integration)
    if leaf is None:
        return shown, shown.delivery.integration, ""
    return shown, leaf.title, leaf.shown(shown.delivery.receiver)
