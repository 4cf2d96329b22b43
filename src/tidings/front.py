"""The ASGI application that the server runs: what answers at which address.

base path ─► /v1/… API │ /docs/api its reference │ /websub/… hubs │ /healthcheck, /metrics … │ anything else the pages
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

from tidings.api import replies
from tidings.api.app import Api
from tidings.api.health import ALIVE, READY, is_alive, is_ready
from tidings.api.websub import Callbacks
from tidings.http.replies import Reply, Send, respond
from tidings.http.requests import Receive
from tidings.services import Services
from tidings.web.app import Pages

# Served without /v1 as well: the contract prints them so (spec/behaviour.md, section 4.6).
UNPREFIXED = re.compile(r"/feeds/[^/]+/entries/import|/integrations/status")
# Orchestrators look for these at the root, whatever the base path.
AT_ROOT = {*ALIVE, *READY} - {"/healthcheck"}

_UNTIDY = re.compile(r"//|/\.{1,2}(/|$)")

Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class Front:
    """base_path: "" or a path without a slash at its end, below which everything lies."""

    def __init__(
        self,
        services: Services,
        api: Api,
        reference: Application,
        pages: Pages,
        *,
        callbacks: Callbacks,
        metrics: Application,
        base_path: str,
    ) -> None:
        self._services = services
        self._api = api
        self._callbacks = callbacks
        self._metrics = metrics
        self._reference = reference
        self._pages = pages
        self._base_path = base_path

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _answer(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = self._below_base(scope["path"])
        if path is None:
            await respond(send, replies.failure(404, "There is nothing at this address."))
        elif path == "/v1" or _UNTIDY.search(path):
            await respond(send, _elsewhere(self._base_path, path, scope.get("query_string", b"")))
        elif path.startswith("/v1/") or UNPREFIXED.fullmatch(path):
            path = path if path.startswith("/v1/") else f"/v1{path}"
            await self._api({**scope, "root_path": self._base_path}, path, receive, send)
        elif path in ALIVE or path in READY:
            await respond(send, await self._health(scope["method"], path), head=scope["method"] == "HEAD")
        elif path.startswith("/websub/"):
            await self._callbacks(scope, path, receive, send)
        elif path == "/metrics":
            await self._metrics(scope, receive, send)
        elif path == "/docs/api":
            await self._reference(scope, receive, send)
        else:
            await self._pages({**scope, "path": path, "root_path": self._base_path}, receive, send)

    def _below_base(self, path: str) -> str | None:
        if path in AT_ROOT or not self._base_path:
            return path
        if path == self._base_path or path.startswith(self._base_path + "/"):
            return path[len(self._base_path) :] or "/"
        return None

    async def _health(self, method: str, path: str) -> Reply:
        if method not in ("GET", "HEAD"):
            return replies.failure(405, "This address takes GET and HEAD only.", (("Allow", "GET, HEAD"),))
        return await asyncio.to_thread(is_ready, self._services) if path in READY else is_alive()

    async def _live(self, receive: Receive, send: Send) -> None:
        """ASGI lifespan: what was opened for this process is closed with it."""
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self._services.close()
                self._api.close()
                self._pages.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _elsewhere(base_path: str, path: str, query: bytes) -> Reply:
    """307 keeps method and body (RFC 9110, section 15.4.8); the query comes along."""
    clean: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del clean[-1:]
        elif part not in ("", "."):
            clean.append(part)
    ends_with_slash = path == "/v1" or path.endswith(("/", "/.", "/.."))
    target = "/" + "/".join(clean) + ("/" if ends_with_slash and clean else "")
    # The path arrived decoded: what was escaped in it has to be so again.
    location = quote(base_path + target, safe="/:@!$&'()*+,;=~") + (f"?{query.decode('latin-1')}" if query else "")
    return Reply(307, headers=(("Location", location),))
