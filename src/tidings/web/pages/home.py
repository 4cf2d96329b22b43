"""The home page, the about page, feed icons, and the user's own style sheet and script."""

from __future__ import annotations

import re

from starlette.responses import Response

from tidings.base.errors import NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.storage.feeds import icons
from tidings.web import cookies
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.security import SANDBOX_HEADERS

routes = Routes()

# By the user's setting; any other value leads to the unread list.
_HOME_PAGES = {
    "unread": "/unread",
    "starred": "/starred",
    "history": "/history",
    "feeds": "/feeds",
    "categories": "/categories",
}
_ICON_NAME = re.compile("[0-9a-f]{40}")
# The URLs change with the content.
_IMMUTABLE = {"Cache-Control": "private, max-age=604800, immutable", **SANDBOX_HEADERS}
# Pages of any origin may read these, and any cache may keep them.
_PUBLIC = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Access-Control-Allow-Origin": "*",
    **SANDBOX_HEADERS,
}


@routes.get("/")
def go_home(context: RequestContext, caller: User) -> Redirect:
    if not context.sidebar.feed_count:
        return Redirect("/welcome", notice=context.notice)
    if context.sidebar.order:
        # They are sorted by unread entries again.
        context.set_cookie(cookies.ORDER, "", lasts_s=0)
    with context.services.reading() as db:
        views = context.services.entries.queries.views(db, caller.id)
    if home := next((view for view in views if view.is_home), None):
        return Redirect(home.path, notice=context.notice)
    return Redirect(_HOME_PAGES.get(caller.default_home_page, "/unread"))


@routes.get("/about", is_public=True)
def show_about(context: RequestContext) -> PageResponse:
    """Show what the service is, and the URL for apps. It is public: apps are connected without a session here."""
    return PageResponse("about.html", {"title": _("About"), "address": context.site.base_url})


@routes.get("/robots.txt", is_public=True)
def show_robots() -> Response:
    """Asks crawlers to stay away (RFC 9309): pages need an account, and public links are for those who have them."""
    headers = {"Content-Security-Policy": "default-src 'none'"}
    return Response("User-agent: *\nDisallow: /\n", 200, headers, "text/plain")


@routes.get("/icons/{icon_id}")
def show_icon(caller: User, services: Services, icon_id: int) -> Response:
    """Return an icon of one of the user's feeds."""
    with services.reading() as db:
        icon = icons.get(db, caller.id, icon_id)
    if icon is None:
        raise NotFound(verbatim(f"There is no icon {icon_id}."))
    return Response(icon.content, 200, _IMMUTABLE, icon.mime_type)


@routes.get("/feed-icon/{icon_name}", is_public=True)
def show_public_icon(services: Services, icon_name: str) -> Response:
    """Return an icon by its public name (`external_icon_id`), for apps, which load pictures without credentials."""
    with services.reading() as db:
        icon = icons.by_external_id(db, icon_name) if _ICON_NAME.fullmatch(icon_name) else None
    if icon is None:
        raise NotFound(verbatim("There is no such icon."))
    return Response(icon.content, 200, _PUBLIC, icon.mime_type)


# The URL that older versions of Miniflux used.
routes.get("/feed/icon/{icon_name}", is_public=True)(show_public_icon)


@routes.get("/custom.css")
def show_stylesheet(caller: User) -> Response:
    """Return the user's style sheet, as a file so that the content policy needs no exception."""
    return Response(caller.stylesheet, 200, _IMMUTABLE, "text/css; charset=utf-8")


@routes.get("/custom.js")
def show_script(caller: User) -> Response:
    return Response(caller.custom_js, 200, _IMMUTABLE, "text/javascript; charset=utf-8")
