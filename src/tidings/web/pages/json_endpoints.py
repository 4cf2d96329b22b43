"""Endpoints for scripts: unread counts and playback positions. Also the page of keyboard shortcuts."""

from __future__ import annotations

from starlette.responses import Response

from tidings.domain.accounts.users import User
from tidings.http.binding import Form, Query
from tidings.http.endpoints import Routes
from tidings.http.responses import json
from tidings.services import Services
from tidings.storage.feeds import feeds
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.security import SANDBOX_HEADERS
from tidings.web.shortcuts import help_groups

routes = Routes()

_NO_STORE = {"Cache-Control": "no-store", **SANDBOX_HEADERS}


class PlaybackPositionForm(Form, frozen=True):
    """position: seconds from the beginning."""

    position: int | None = None
    back: str = ""


class CountsQuery(Query, frozen=True):
    """checking: "1" to count the feeds that wait for a worker, too. category: only those in this one."""

    checking: str = ""
    category: int | None = None


@routes.get("/counts")
def show_counts(context: RequestContext, query: CountsQuery) -> Response:
    """Return unread and starred, and f7, c3 or v2 for each feed, category or saved view that has unread entries.

    at_least: those of them that have more.
    """
    sidebar = context.sidebar
    views = context.services.entries.view_counter.count(context.caller).views
    counts: dict[str, int | list[str]] = {
        f"c{line.category.id}": line.unread for line in sidebar.categories if line.unread
    }
    counts |= {f"f{feed.id}": feed.unread for feed in sidebar.feeds if feed.unread}
    counts |= {view.key: unread.number for view, unread in views if unread and unread.number}
    counts["at_least"] = [view.key for view, unread in views if unread and not unread.is_exact]
    counts |= {"unread": sidebar.unread, "starred": sidebar.starred}
    if query.checking:
        with context.services.reading() as db:
            counts["checking"] = feeds.count_due(db, context.caller.id, context.now, category_id=query.category)
    return json(counts, headers=_NO_STORE)


@routes.get("/session")
def show_session(context: RequestContext, caller: User) -> Response:
    """Return the id of the user and the token for forms, which a page needs that outlived its session."""
    return json({"user": caller.id, "csrf": context.csrf}, headers=_NO_STORE)


@routes.post("/enclosures/{enclosure_id}/position")
def keep_position(caller: User, services: Services, enclosure_id: int, form: PlaybackPositionForm) -> Redirect:
    services.entries.enclosures.set_progression(caller.id, enclosure_id, min(form.position or 0, 2**31 - 1))
    return Redirect("/")


@routes.get("/keys")
def show_keys(caller: User) -> PageResponse:
    return PageResponse("keys.html", {"title": _("Keyboard shortcuts"), "groups": help_groups(caller)})
