"""The page of live OPML: the lists that are followed, and the feeds that they do not name any more.

/opml-subscriptions   /opml-subscriptions/7/removals   …/7/refresh   …/7/end
"""

from __future__ import annotations

import asyncio
from functools import partial

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.http.binding import Form, parse_id
from tidings.http.endpoints import Routes
from tidings.live_opml.services import LiveOpmlServices
from tidings.net.errors import FetchError
from tidings.services.feeds.typed_urls import reach
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()

PATH = "/opml-subscriptions"


class FollowForm(Form, frozen=True):
    """The form that follows another list."""

    url: str = ""


class RemovalsForm(Form, frozen=True):
    """The form of the feeds that a list does not name any more."""

    feed: tuple[str, ...] = ()
    """Ids of the chosen feeds."""
    action: str = ""
    """remove or keep."""
    with_starred: bool | None = None


@routes.get(PATH)
def show_subscriptions(context: RequestContext, live: LiveOpmlServices) -> PageResponse:
    return _page(context, live)


@routes.post(PATH)
async def follow_list(
    context: RequestContext, caller: User, live: LiveOpmlServices, form: FollowForm
) -> PageResponse | Redirect:
    """Follow a list. If that fails, the form shows the reason and what was typed."""
    try:
        await reach(form.url, partial(live.subscriptions.subscribe, caller.id))
    except (InvalidInput, FetchError) as error:
        return await asyncio.to_thread(_page, context, live, form, field_error(error, field="url"))
    return Redirect(PATH, _("You follow this list now. Its feeds are being checked."))


@routes.post(PATH + "/{subscription_id}/removals")
def decide_removals(caller: User, live: LiveOpmlServices, subscription_id: int, form: RemovalsForm) -> Redirect:
    """Remove or keep the chosen feeds."""
    chosen = [parse_id("feed_id", one) for one in form.feed]
    live.subscriptions.get(caller.id, subscription_id)
    if not chosen:
        return Redirect(PATH, _("Choose feeds first."))
    decided = {"keep": chosen} if form.action == "keep" else {"remove": chosen}
    try:
        live.subscriptions.decide(caller.id, subscription_id, with_starred=bool(form.with_starred), **decided)
    except InvalidInput as error:
        return Redirect(PATH, translated(error.text))
    return Redirect(PATH, _("Saved."))


@routes.post(PATH + "/{subscription_id}/refresh")
def check_list(caller: User, live: LiveOpmlServices, subscription_id: int) -> Redirect:
    live.subscriptions.check_soon(caller.id, subscription_id)
    return Redirect(PATH, _("The list will be checked within a few seconds."))


@routes.post(PATH + "/{subscription_id}/end")
def end_subscription(caller: User, live: LiveOpmlServices, subscription_id: int) -> Redirect:
    """Stop following a list. Nothing is lost, so there is no question before."""
    title = live.subscriptions.get(caller.id, subscription_id).title
    live.subscriptions.end(caller.id, subscription_id)
    return Redirect(PATH, _("You no longer follow this list. Its feeds stay in %(title)s.", title=title))


def _page(
    context: RequestContext, live: LiveOpmlServices, form: FollowForm | None = None, problem: InvalidInput | None = None
) -> PageResponse:
    values = {
        "title": _("Live OPML"),
        "place": "opml-subscriptions",
        "lists": live.subscriptions.list_all(context.caller.id),
        "url_typed": form.url if form else "",
    }
    return PageResponse("live_opml/live_opml.html", values, status=400 if problem else 200, problem=problem)
