"""The ASGI application that the server runs: a table of mounts."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from tidings.api import replies
from tidings.api.app import PREFIX, Api
from tidings.api.endpoints.health import ALIVE, READY, HealthChecks, is_alive, is_ready
from tidings.http.responses import empty, send_response
from tidings.services import Services
from tidings.web.app import Pages

# Served without /v1 as well: the contract prints them so.
UNPREFIXED = ("/feeds/{feed_id}/entries/import", "/integrations/status")
# Orchestrators look for these at the root, whatever the base path.
AT_ROOT = (*ALIVE, *(path for path in READY if path != "/healthcheck"))

_UNTIDY = re.compile(r"//|/\.{1,2}(/|$)")


def application(
    services: Services,
    api: Api,
    pages: Pages,
    *,
    static: ASGIApp,
    websub: ASGIApp,
    metrics: ASGIApp,
    reference: ASGIApp,
    base_path: str,
) -> ASGIApp:
    """base_path: "" or a path without a slash at its end, below which everything lies."""
    alive, ready = HealthChecks(is_alive), HealthChecks(partial(is_ready, services))
    health = dict.fromkeys(ALIVE, alive) | dict.fromkeys(READY, ready)
    below: list[BaseRoute] = [
        Mount(PREFIX, api),
        *(Route(path, api) for path in UNPREFIXED),
        *(Route(path, check) for path, check in health.items()),
        Mount("/websub", websub),
        Route("/metrics", metrics),
        Route("/docs/api", reference),
        Route("/static/{fingerprint}/{name:path}", static),
    ]
    inside = TidyPath(Router(below, redirect_slashes=False, default=pages), base_path)
    at_root = [Route(path, health[path]) for path in AT_ROOT]
    routes = [Mount(base_path, inside), Route(base_path, _WithSlash(inside)), *at_root] if base_path else []
    return Router(
        routes,
        redirect_slashes=False,
        default=_nothing if base_path else inside,
        lifespan=_closing(services, api, pages),
    )


def _closing(services: Services, api: Api, pages: Pages) -> Lifespan[Any]:
    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        """What was opened for this process is closed with it."""
        yield
        await services.close()
        api.close()
        pages.close()

    return lifespan


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    response = replies.failure(404, "There is nothing at this address.")
    await send_response(response, scope, receive, send)


class _WithSlash:
    """The base path without a slash at its end shows what it shows with one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        await self._app({**scope, "path": f"{path}/", "root_path": path}, receive, send)


class TidyPath:
    """Redirects from paths with empty segments or dots, and from /v1, to the path that is meant."""

    def __init__(self, app: ASGIApp, base_path: str) -> None:
        self._app = app
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"][len(self._base_path) :]
        if path == PREFIX or _UNTIDY.search(path):
            location = self._base_path + _tidy(path)
            await send_response(_moved(location, scope["query_string"]), scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _tidy(path: str) -> str:
    clean: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del clean[-1:]
        elif part not in ("", "."):
            clean.append(part)
    ends_with_slash = path == PREFIX or path.endswith(("/", "/.", "/.."))
    return "/" + "/".join(clean) + ("/" if ends_with_slash and clean else "")


def _moved(path: str, query: bytes) -> Response:
    """307 keeps method and body (RFC 9110, section 15.4.8); the query comes along.

    The path arrived decoded: what was escaped in it has to be so again.
    """
    location = quote(path, safe="/:@!$&'()*+,;=~") + (f"?{query.decode('latin-1')}" if query else "")
    return empty(307, {"Location": location})
