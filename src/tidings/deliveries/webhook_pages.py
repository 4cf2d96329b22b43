"""The pages of webhooks, which the page of integrations lists.

/settings/integrations/webhooks/new   /settings/integrations/webhooks/7   …/7/test   …/7/renew   …/7/delete
"""

from __future__ import annotations

import asyncio
from typing import Any

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import msg
from tidings.deliveries.attempts import DeliveryOutcome
from tidings.deliveries.delivery_pages import STATES
from tidings.deliveries.events import EVENTS, MAIN_EVENTS
from tidings.deliveries.services import DeliveryServices
from tidings.deliveries.store import outbox, webhooks
from tidings.deliveries.webhook_settings import ShownWebhook
from tidings.deliveries.webhooks import MAX_NAME_CHARS
from tidings.domain.accounts.users import User
from tidings.domain.feeds.categories import CategoryTree
from tidings.http.binding import Form, parse_id
from tidings.http.endpoints import Routes
from tidings.storage.feeds import categories, feeds
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import WrongPlace, field_error
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()

LIST = "/settings/integrations"
PATH = f"{LIST}/webhooks"
# Feeds to choose from; those of larger accounts are chosen by their category, or in the API.
MAX_FEEDS = 300
# Deliveries that a webhook is shown with.
RECENT = 5


class WebhookForm(Form, frozen=True):
    """The form of a webhook."""

    name: str = ""
    url: str = ""
    enabled: bool | None = None
    event: tuple[str, ...] = MAIN_EVENTS
    place: tuple[str, ...] = ()
    """Feeds (f7) and categories (c3) that it is told of; none: all."""
    more: str = ""
    """One more of them."""
    query: str = ""


@routes.get(f"{PATH}/new")
def show_new_webhook(context: RequestContext) -> PageResponse:
    return _page(context, WebhookForm(enabled=True))


@routes.post(f"{PATH}/new")
def add_webhook(context: RequestContext, deliveries: DeliveryServices, form: WebhookForm) -> PageResponse:
    """Create a webhook, and show its secret."""
    try:
        shown = deliveries.webhooks.create(context.caller.id, _values(form))
    except InvalidInput as error:
        return _page(context, form, problem=error)
    return _page(context, _form(shown), shown, secret=shown.hook.own.secret)


@routes.get(PATH + "/{webhook_id}")
def show_webhook(context: RequestContext, deliveries: DeliveryServices, webhook_id: int) -> PageResponse:
    shown = deliveries.webhooks.get(context.caller.id, webhook_id)
    return _page(context, _form(shown), shown)


@routes.post(PATH + "/{webhook_id}")
def change_webhook(
    context: RequestContext, deliveries: DeliveryServices, webhook_id: int, form: WebhookForm
) -> PageResponse | Redirect:
    shown = deliveries.webhooks.get(context.caller.id, webhook_id)
    try:
        deliveries.webhooks.update(context.caller.id, webhook_id, _values(form))
    except InvalidInput as error:
        return _page(context, form, shown, problem=error)
    return Redirect(f"{PATH}/{webhook_id}", notice=_("Saved."))


@routes.post(PATH + "/{webhook_id}/test")
async def test_webhook(
    context: RequestContext, deliveries: DeliveryServices, webhook_id: int, form: WebhookForm
) -> PageResponse:
    """Save the form, then send a sample."""
    user_id = context.caller.id
    shown = await asyncio.to_thread(deliveries.webhooks.get, user_id, webhook_id)
    try:
        shown = await asyncio.to_thread(deliveries.webhooks.update, user_id, webhook_id, _values(form))
        outcome = await deliveries.redelivery.test(user_id, shown.hook.key, shown.hook.event_names[0])
    except InvalidInput as error:
        return await asyncio.to_thread(_page, context, form, shown, problem=error)
    return await asyncio.to_thread(_page, context, _form(shown), shown, outcome=outcome)


@routes.post(PATH + "/{webhook_id}/renew")
def renew_webhook_secret(context: RequestContext, deliveries: DeliveryServices, webhook_id: int) -> PageResponse:
    """Make a new secret, and show it."""
    shown = deliveries.webhooks.renew_secret(context.caller.id, webhook_id)
    return _page(context, _form(shown), shown, secret=shown.hook.own.secret)


@routes.get(PATH + "/{webhook_id}/delete")
def confirm_deletion(caller: User, deliveries: DeliveryServices, webhook_id: int) -> PageResponse:
    """Ask first."""
    shown = deliveries.webhooks.get(caller.id, webhook_id)
    values = {"title": _("Delete a webhook"), "hook": shown.hook, "path": f"{PATH}/{webhook_id}"}
    return PageResponse("deliveries/webhook_delete.html", values)


@routes.post(PATH + "/{webhook_id}/delete")
def delete_webhook(caller: User, deliveries: DeliveryServices, webhook_id: int) -> Redirect:
    shown = deliveries.webhooks.get(caller.id, webhook_id)
    deliveries.webhooks.delete(caller.id, webhook_id)
    return Redirect(LIST, notice=_("%(title)s deleted.", title=shown.hook.name))


def _values(form: WebhookForm) -> dict[str, Any]:
    """Return what a form says. Raises InvalidField for what no form of ours sends."""
    places = dict.fromkeys([*form.place, *([form.more] if form.more else [])])
    if any(place[:1] not in ("c", "f") for place in places):
        raise InvalidField("more", msg("choose one from the list."))
    return {
        "name": form.name or None,
        "url": form.url,
        "enabled": bool(form.enabled),
        "events": form.event,
        "feed_ids": tuple(parse_id("more", place[1:]) for place in places if place[0] == "f"),
        "category_ids": tuple(parse_id("more", place[1:]) for place in places if place[0] == "c"),
        "query": form.query,
    }


def _form(shown: ShownWebhook) -> WebhookForm:
    hook = shown.hook
    return WebhookForm(
        name=hook.name,
        url=shown.url,
        enabled=hook.enabled,
        event=hook.event_names,
        place=(*(f"c{one}" for one in hook.categories), *(f"f{one}" for one in hook.feeds)),
        query=hook.query,
    )


def _page(
    context: RequestContext,
    form: WebhookForm,
    shown: ShownWebhook | None = None,
    *,
    problem: InvalidInput | None = None,
    outcome: DeliveryOutcome | None = None,
    secret: str = "",
) -> PageResponse:
    """Return the page of a webhook. shown: as it is stored; None for a new one."""
    user_id = context.caller.id
    with context.services.reading() as db:
        tree = CategoryTree(categories.list_all(db, user_id))
        some = webhooks.feeds_to_choose(db, user_id, limit=MAX_FEEDS)
        places = {f"c{one.id}": tree.path(one.id) for one, _depth in tree.walk()}
        places |= {f"f{id_}": title for id_, title in some}
        named = [int(place[1:]) for place in form.place if place[:1] == "f" and place[1:].isdecimal()]
        places |= {f"f{feed.id}": feed.title for feed in feeds.get_many(db, user_id, named)}
        recent = outbox.list_deliveries(db, user_id, integration=shown.hook.key, limit=RECENT) if shown else []
    values = {
        "title": _("Change a webhook") if shown else _("New webhook"),
        "form": form,
        "shown": shown,
        "path": f"{PATH}/{shown.hook.id}" if shown else f"{PATH}/new",
        "events": [(name, translated(event.title)) for name, event in EVENTS.items()],
        "chosen": [(place, places.get(place, _("Deleted"))) for place in form.place],
        "categories": [(place, name) for place, name in places.items() if place[0] == "c" and place not in form.place],
        "feeds": [(place, name) for place, name in places.items() if place[0] == "f" and place not in form.place],
        "place": WrongPlace.of(form.query, problem) if problem else None,
        "recent": recent,
        "states": STATES,
        "outcome": outcome,
        "secret": secret,
        "max_name": MAX_NAME_CHARS,
    }
    renamed = {"feed_ids": "more", "category_ids": "more", "events": "event"}
    wrong = field_error(problem, renamed=renamed) if problem else None
    # A new secret, or credentials in the address, are on the page.
    return PageResponse(
        "deliveries/webhook.html", values, status=400 if problem else 200, problem=wrong, has_secret=True
    )
