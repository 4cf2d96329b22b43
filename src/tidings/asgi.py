"""The ASGI application that the server runs: a table of mounts."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from tidings.agents.app import AGENTS_PATH, Agents
from tidings.api.app import PREFIX, Api
from tidings.fever.app import Fever
from tidings.fever.routes import FEVER_PATHS
from tidings.greader.app import GoogleReader
from tidings.http.password_gate import PasswordGate
from tidings.http.responses import empty, send_response
from tidings.maintenance.health_endpoints import ALIVE, READY, HealthCheck, WithinLimit, alive, notice, why_not_ready
from tidings.maintenance.services import MaintenanceServices
from tidings.web.app import Pages

# Also served without /v1, as the reference of the API documents them.
UNPREFIXED = ("/feeds/{feed_id}/entries/import", "/integrations/status")
# Orchestrators request these at the root, whatever the base path is.
AT_ROOT = (*ALIVE, *(path for path in READY if path != "/healthcheck"))

# Where clients look for the Google Reader API: at the root, like Miniflux, and below the prefix, like FreshRSS. Clients
# that add the prefix double it when the user typed it already.
READER_PATHS = ("/accounts/ClientLogin", "/reader/api/0/{rest:path}")
READER_PREFIX = "/api/greader.php"
_READER_ADDRESSES = (*READER_PATHS, READER_PREFIX, f"{READER_PREFIX}/{{rest:path}}")
# Paths that may end with the URL of a feed.
WITH_ADDRESSES = ("/reader/api/0/", f"{READER_PREFIX}/")

_NOT_NORMALIZED = re.compile(r"//|/\.{1,2}(/|$)")
# Users end the address with a slash, and their app adds another one.
_TO_READER = re.compile(r"(?:/+api/greader\.php)*/+(?=(?:accounts|reader)/)")


def application(
    maintenance: MaintenanceServices,
    api: Api,
    reader: GoogleReader,
    pages: Pages,
    *,
    fever: Fever,
    gate: PasswordGate,
    static: ASGIApp,
    websub: ASGIApp,
    mail: ASGIApp,
    back_channel: ASGIApp,
    agents: Agents | None,
    metrics: ASGIApp,
    reference: ASGIApp,
    base_path: str,
    close: Callable[[], Awaitable[None]],
) -> ASGIApp:
    """Return the application.

    base_path: "", or the path without a trailing slash below which it is served.
    close: called when the server stops, before the surfaces are closed.
    """
    ready = HealthCheck(WithinLimit(partial(why_not_ready, maintenance), partial(notice, maintenance)))
    health = dict.fromkeys(ALIVE, HealthCheck(alive)) | dict.fromkeys(READY, ready)
    routes_below_base: list[BaseRoute] = [
        Mount(PREFIX, api),
        *(Route(path, api) for path in UNPREFIXED),
        *(Route(path, check) for path, check in health.items()),
        *(Route(path, reader) for path in READER_PATHS),
        Route(READER_PREFIX * 2, _AddSlash(reader)),
        Mount(READER_PREFIX * 2, reader),
        Route(READER_PREFIX, _AddSlash(reader)),
        Mount(READER_PREFIX, reader),
        *(Route(path, fever) for path in FEVER_PATHS),
        *([Route(AGENTS_PATH, agents)] if agents else []),
        Mount("/websub", websub),
        Mount("/mail", mail),
        Route("/oauth2/{provider}/backchannel-logout", back_channel),
        Route("/metrics", metrics),
        Route("/docs/api", reference),
        Route("/static/{fingerprint}/{name:path}", static),
    ]
    below_base = NormalizePath(Router(routes_below_base, redirect_slashes=False, default=pages), base_path)
    at_root = [Route(path, health[path]) for path in AT_ROOT]
    at_base: ASGIApp = _WithBasePath(below_base, base_path) if base_path else below_base
    routes: list[BaseRoute] = []
    if base_path:
        # Below a base path such as /reader these are ambiguous; with the prefix in front nothing is at that address.
        is_ambiguous = [path for path in _READER_ADDRESSES if path.startswith(f"{base_path}/")]
        routes += (Route(path, at_base) for path in is_ambiguous)
        routes += (Mount(base_path, below_base), Route(base_path, _AddSlash(below_base)), *at_root)
    return Router(
        routes,
        redirect_slashes=False,
        default=at_base,
        lifespan=_lifespan(close, gate, api, reader, fever, pages, *([agents] if agents else [])),
    )


def _lifespan(
    close: Callable[[], Awaitable[None]], gate: PasswordGate, *surfaces: Api | GoogleReader | Fever | Pages | Agents
) -> Lifespan[Any]:
    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        """Close the connections and threads of this process when the server stops."""
        yield
        await close()
        for surface in surfaces:
            surface.close()
        gate.close()

    return lifespan


class _WithBasePath:
    """Serves paths without the base path, from a proxy that has removed it, as if they had it."""

    def __init__(self, app: ASGIApp, base_path: str) -> None:
        self._app = app
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = {"path": self._base_path + scope["path"], "root_path": self._base_path}
        await self._app({**scope, **given}, receive, send)


class _AddSlash:
    """Serves the base path without a trailing slash as if it had one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        await self._app({**scope, "path": f"{path}/", "root_path": path}, receive, send)


class NormalizePath:
    """Redirects paths with empty or dot segments to their normalized form, and /v1 to /v1/.

    Paths with URLs of feeds are left as they are, except for slashes in front of paths of the Google Reader API: not
    every app follows a redirect of a POST.
    """

    def __init__(self, app: ASGIApp, base_path: str) -> None:
        self._app = app
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"][len(self._base_path) :]
        beginning = _TO_READER.match(path)
        if beginning is not None and "//" in beginning[0]:
            path = re.sub("/+", "/", beginning[0]) + path[beginning.end() :]
            scope = {**scope, "path": self._base_path + path}
        is_address = path.startswith(WITH_ADDRESSES)
        if path == PREFIX or (_NOT_NORMALIZED.search(path) and not is_address):
            location = self._base_path + _normalize(path)
            await send_response(_redirect(location, scope["query_string"]), scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _normalize(path: str) -> str:
    clean: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del clean[-1:]
        elif part not in ("", "."):
            clean.append(part)
    ends_with_slash = path == PREFIX or path.endswith(("/", "/.", "/.."))
    return "/" + "/".join(clean) + ("/" if ends_with_slash and clean else "")


def _redirect(path: str, query: bytes) -> Response:
    """Return a redirect to the path with the same query; 307 keeps method and body (RFC 9110, section 15.4.8).

    path: decoded, as ASGI passes it; it is percent-encoded again here.
    """
    location = quote(path, safe="/:@!$&'()*+,;=~") + (f"?{query.decode('latin-1')}" if query else "")
    return empty(307, {"Location": location})
