"""The progressive web app: manifest, icons, service worker and offline page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec
from starlette.responses import Response

from tidings.domain.icons import app_icon
from tidings.http.endpoints import Routes
from tidings.web.context import PageResponse, RequestContext
from tidings.web.language import _
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


@routes.get("/manifest.webmanifest", is_public=True)
def show_manifest(context: RequestContext) -> Response:
    """Returns the manifest. Its display mode is the user's setting."""
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
    """Returns the icon for browsers that do not read the page's link element."""
    return Response(app_icon.render_app_icon(48), 200, _A_DAY, "image/png")


@routes.get("/offline", is_public=True)
def show_offline() -> PageResponse:
    return PageResponse("offline.html", {"title": _("No connection")})


@routes.get("/worker.js", is_public=True)
def show_worker() -> Response:
    """Returns the service worker. Its scope follows from its URL, so it is not served below /static."""
    return Response(_worker(), 200, _WORKER, "text/javascript; charset=utf-8")


def _icon(name: str) -> Response:
    side, is_maskable = ICONS[name]
    return Response(app_icon.render_app_icon(side, is_maskable=is_maskable), 200, _A_DAY, "image/png")


@cache
def _worker() -> bytes:
    return files("tidings.web").joinpath("static", "js", "worker.js").read_bytes()
