"""The first page, what is told about the service, and the small things that browsers ask for."""

from __future__ import annotations

from starlette.responses import Response

from tidings.domain.accounts.users import User
from tidings.domain.errors import NotFound
from tidings.domain.messages import verbatim
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.storage.feeds import icons
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.security import SANDBOX_HEADERS

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
_KEPT = {"Cache-Control": "private, max-age=604800, immutable", **SANDBOX_HEADERS}


@routes.get("/")
def go_home(context: RequestContext, caller: User) -> Redirect:
    if not context.sidebar.feeds:
        return Redirect("/welcome", notice=context.notice)
    return Redirect(_HOMES.get(caller.default_home_page, "/unread"))


@routes.get("/about", is_open=True)
def show_about(context: RequestContext) -> PageResponse:
    """What this is, and the address for apps. Who is not signed in has to know how to connect, too."""
    return PageResponse("about.html", {"title": _("About"), "address": context.site.base_url})


@routes.get("/icons/{icon_id}")
def show_icon(caller: User, services: Services, icon_id: int) -> Response:
    """An icon that one of the user's feeds shows."""
    with services.reading() as db:
        icon = icons.get(db, caller.id, icon_id)
    if icon is None:
        raise NotFound(verbatim(f"There is no icon {icon_id}."))
    return Response(icon.content, 200, _KEPT, icon.mime_type)


@routes.get("/custom.css")
def show_stylesheet(caller: User) -> Response:
    """What the user has written: as a file of its own, so that no page needs an exception for it."""
    return Response(caller.stylesheet, 200, _KEPT, "text/css; charset=utf-8")


@routes.get("/custom.js")
def show_script(caller: User) -> Response:
    return Response(caller.custom_js, 200, _KEPT, "text/javascript; charset=utf-8")
