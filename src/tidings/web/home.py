"""The first page, what is told about the service, and the small things that browsers ask for."""

from __future__ import annotations

from tidings.domain.errors import NotFound
from tidings.domain.users import User
from tidings.http.replies import Reply
from tidings.services import Services
from tidings.storage import icons
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.security import NOTHING_RUNS
from tidings.web.visits import Page, Redirect, Visit

routes = Routes()

# Pages that a user may begin with and that exist already; others begin with the unread list.
_HOMES = {
    "unread": "/unread",
    "starred": "/starred",
    "history": "/history",
    "feeds": "/feeds",
    "categories": "/categories",
}
# Asked for by a name that changes with what is in it.
_KEPT = (("Cache-Control", "private, max-age=604800, immutable"), *NOTHING_RUNS)


@routes.get("/")
def go_home(visit: Visit, caller: User) -> Redirect:
    if not visit.sidebar.feeds:
        return Redirect("/welcome", notice=visit.notice)
    return Redirect(_HOMES.get(caller.default_home_page, "/unread"))


@routes.get("/about", is_open=True)
def show_about(visit: Visit) -> Page:
    """What this is, and the address for apps. Who is not signed in has to know how to connect, too."""
    return Page("about.html", {"title": _("About"), "address": visit.home.base_url})


@routes.get("/icons/{icon_id}")
def show_icon(caller: User, services: Services, icon_id: int) -> Reply:
    """An icon that one of the user's feeds shows."""
    with services.reading() as db:
        icon = icons.get(db, caller.id, icon_id)
    if icon is None:
        raise NotFound(f"There is no icon {icon_id}.")
    return Reply(200, icon.content, icon.mime_type, _KEPT)


@routes.get("/custom.css")
def show_stylesheet(caller: User) -> Reply:
    """What the user has written: as a file of its own, so that no page needs an exception for it."""
    return Reply(200, caller.stylesheet.encode(), "text/css; charset=utf-8", _KEPT)


@routes.get("/custom.js")
def show_script(caller: User) -> Reply:
    return Reply(200, caller.custom_js.encode(), "text/javascript; charset=utf-8", _KEPT)
