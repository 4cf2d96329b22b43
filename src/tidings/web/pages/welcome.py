"""The first page of an account without feeds: three ways to the first article."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tidings.archives.archive_pages import progress
from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.domain.feeds import opml
from tidings.domain.feeds.opml import OpmlSubscription
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()


class StarterFeedsForm(Form, frozen=True):
    """The form that subscribes to starter feeds."""

    feed: tuple[str, ...] = ()
    """URLs of the chosen feeds."""


@routes.get("/welcome")
def show_welcome(context: RequestContext) -> PageResponse:
    return PageResponse(
        "welcome.html", {"title": _("Welcome"), "place": "", "starters": by_category(), **progress(context)}
    )


@routes.post("/welcome")
def subscribe_to_starters(caller: User, services: Services, form: StarterFeedsForm) -> Redirect:
    chosen = [feed for feed in starters() if feed.values["feed_url"] in form.feed]
    if not chosen:
        return Redirect("/welcome", notice=_("Select the feeds that you want to read first."))
    try:
        services.feeds.opml.subscribe(caller.id, chosen)
    except InvalidInput as error:
        return Redirect("/welcome", notice=translated(error.text))
    return Redirect("/welcome")


@cache
def starters() -> list[OpmlSubscription]:
    return opml.read(files("tidings.web").joinpath("starters.opml").read_bytes()).subscriptions


def by_category() -> dict[str, list[OpmlSubscription]]:
    """Return the starter feeds by category, in the order of the file."""
    subscriptions: dict[str, list[OpmlSubscription]] = {}
    for feed in starters():
        subscriptions.setdefault(feed.category, []).append(feed)
    return subscriptions
