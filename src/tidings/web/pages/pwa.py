"""The progressive web app: manifest, icons, service worker, and the copies that it keeps for reading offline.

A copy says that it is one, and when it was saved. Making one marks nothing read: that is left to opening it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.responses import Response

from tidings import __version__
from tidings.content import icons
from tidings.http.endpoints import Routes
from tidings.services.entries.entries import owned_entry
from tidings.web import cookies, entry_list_pages
from tidings.web.article_page import entry_page
from tidings.web.assets import WORKER, Assets
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.devices import Device
from tidings.web.entry_list_pages import ListPage, ListQuery
from tidings.web.language import _, current
from tidings.web.list_page import list_page
from tidings.web.security import COMMON_HEADERS, SANDBOX_HEADERS

routes = Routes()

# Side in pixels, and whether the icon is maskable.
ICONS = {"icon-192.png": (192, False), "icon-512.png": (512, False), "icon-maskable.png": (512, True)}
_A_DAY = {"Cache-Control": "public, max-age=86400", **SANDBOX_HEADERS}
# The service worker may connect to this host only.
_WORKER = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
    **COMMON_HEADERS,
}

# What a browser may keep: the name of its copies, or NOTHING.
HEADER = "Tidings-Offline"
NOTHING = "none"
# What does not change the copy of an article. The list is copied again all the time.
_IRRELEVANT: dict[str, Any] = {
    "last_login_at": None,
    "entry_sorting_direction": "",
    "entry_sorting_order": "",
    "has_chosen_direction": False,
}
# Maximum number of articles whose copies are kept: the list does not have more rows.
MAX_ROWS = 100
# Without a connection, nobody can ask for the entries that are read.
_ALL = ListQuery(show="all")
_REFUSED = {HEADER: NOTHING, "Cache-Control": "no-store", **SANDBOX_HEADERS}


def is_allowed(context: RequestContext) -> bool:
    """Return whether this browser may keep copies: signed in, on a device of one person who wants them."""
    return context.signed_in is not None and not context.cookie(cookies.SHARED) and context.device.offline != NOTHING


def copies_name(context: RequestContext, release: str) -> str:
    """Return the name of the copies that this browser may keep, for the header; NOTHING when it may keep none.

    It changes with everything that a copy depends on except the entry, so that older copies are dropped, and does not
    reveal the session. release: a fingerprint of our styles and scripts.
    """
    if context.signed_in is None or not is_allowed(context):
        return NOTHING
    # The values as they were before the page of a copy changed them.
    user = msgspec.structs.replace(context.signed_in.user, **_IRRELEVANT)
    device = Device.read(context.cookie(cookies.DEVICE))
    device = msgspec.structs.replace(device, density="", sidebar_width="", list_width="")
    parts = (context.cookie(cookies.SESSION), device.packed(), release, __version__)
    return hashlib.sha256(msgspec.json.encode((user, parts))).hexdigest()[:20]


@routes.get("/manifest.webmanifest", is_public=True)
def show_manifest(context: RequestContext) -> Response:
    """Return the manifest. Its display mode is the user's setting."""
    icons = [
        {
            "src": context.url(f"/{name}"),
            "sizes": f"{side}x{side}",
            "type": "image/png",
            "purpose": "maskable" if is_maskable else "any",
        }
        for name, (side, is_maskable) in ICONS.items()
    ]
    manifest = {
        "name": "Tidings",
        "short_name": "Tidings",
        "lang": current().code,
        "dir": current().direction,
        "description": _("Read what the sites you follow publish."),
        "id": context.url("/"),
        "start_url": context.url("/"),
        "scope": context.url("/"),
        "display": context.user.display_mode if context.user else "standalone",
        "background_color": "#fbfaf7",
        "theme_color": "#fbfaf7",
        "icons": icons,
        "share_target": {
            "action": context.url("/feeds/add"),
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
        "shortcuts": [
            {"name": _("Unread"), "url": context.url("/unread")},
            {"name": _("Starred"), "url": context.url("/starred")},
            {"name": _("Add feed"), "url": context.url("/feeds/add")},
        ],
    }
    headers = {"Cache-Control": "private, max-age=3600", **SANDBOX_HEADERS}
    return Response(msgspec.json.encode(manifest), 200, headers, "application/manifest+json")


@routes.get("/icon-192.png", is_public=True)
def show_small_icon() -> Response:
    return _icon("icon-192.png")


@routes.get("/icon-512.png", is_public=True)
def show_large_icon() -> Response:
    return _icon("icon-512.png")


@routes.get("/icon-maskable.png", is_public=True)
def show_full_icon() -> Response:
    return _icon("icon-maskable.png")


@routes.get("/favicon.ico", is_public=True)
def show_favicon() -> Response:
    """Return the icon for browsers that do not read the page's link element."""
    return Response(icons.render_app_icon(48), 200, _A_DAY, "image/png")


@routes.get("/worker.js", is_public=True)
def show_worker(assets: Assets) -> Response:
    """Return the service worker. Its scope follows from its URL: that below /static would not do."""
    return Response(assets.content(WORKER), 200, _WORKER, "text/javascript; charset=utf-8")


def _icon(name: str) -> Response:
    side, is_maskable = ICONS[name]
    return Response(icons.render_app_icon(side, is_maskable=is_maskable), 200, _A_DAY, "image/png")


@routes.get("/offline", is_public=True)
def show_offline() -> PageResponse:
    """Shown for pages that are not kept. It has no data of a user."""
    return PageResponse("offline.html", {"title": _("No connection")})


@routes.get("/offline/unread")
def copy_unread(context: RequestContext) -> PageResponse | Redirect | Response:
    return _copy_list(context, "/unread", lambda: entry_list_pages.unread(context, ListQuery()))


@routes.get("/offline/starred")
def copy_starred(context: RequestContext) -> PageResponse | Redirect | Response:
    return _copy_list(context, "/starred", lambda: entry_list_pages.starred(context, ListQuery()))


@routes.get("/offline/feeds/{feed_id}")
def copy_feed(context: RequestContext, feed_id: int) -> PageResponse | Redirect | Response:
    return _copy_list(context, f"/feeds/{feed_id}", lambda: entry_list_pages.feed(context, _ALL, feed_id))


@routes.get("/offline/categories/{category_id}")
def copy_category(context: RequestContext, category_id: int) -> PageResponse | Redirect | Response:
    path = f"/categories/{category_id}"
    return _copy_list(context, path, lambda: entry_list_pages.category(context, _ALL, category_id))


@routes.get("/offline/labels/{label_id}")
def copy_label(context: RequestContext, label_id: int) -> PageResponse | Redirect | Response:
    return _copy_list(context, f"/labels/{label_id}", lambda: entry_list_pages.label(context, _ALL, label_id))


@routes.get("/offline/{entry_id}")
def copy_entry(context: RequestContext, entry_id: int) -> PageResponse | Redirect | Response:
    path = f"/unread/{entry_id}"
    if refusal := _refusal(context, path):
        return refusal
    with context.services.reading() as db:
        entry = owned_entry(db, context.caller.id, entry_id)
    context.prepare_copy()
    context.device = msgspec.structs.replace(context.device, columns="list")
    return _copy(context, entry_page(context, entry_list_pages.unread(context, ListQuery()), entry), path)


def _copy_list(
    context: RequestContext, path: str, list_of: Callable[[], ListPage]
) -> PageResponse | Redirect | Response:
    if refusal := _refusal(context, path):
        return refusal
    context.prepare_copy()
    return _copy(context, list_page(context, list_of(), ListQuery(), max_rows=MAX_ROWS), path, next_url="")


def _refusal(context: RequestContext, path: str) -> Redirect | Response | None:
    """Return the response to a request that is not for a copy to keep, or None.

    path: the page's own path, for people who open the address.
    """
    if context.request.headers.get("sec-fetch-mode", "") == "navigate":
        return Redirect(path)
    return None if is_allowed(context) else Response(status_code=204, headers=_REFUSED)


def _copy(context: RequestContext, page: PageResponse, path: str, **values: Any) -> PageResponse:
    known = {**page.values, **values, "back": path, "kept_at": context.now}
    return msgspec.structs.replace(page, values=known)
