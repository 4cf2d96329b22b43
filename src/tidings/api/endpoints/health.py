"""Health checks for monitoring: plain text, outside /v1, without credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from tidings.api import replies
from tidings.domain.errors import StoreUnavailable
from tidings.http.endpoints import Media, Routes
from tidings.http.responses import send_response
from tidings.services import Services

ALIVE = ("/healthz", "/liveness")
READY = ("/healthcheck", "/readiness", "/readyz")

routes = Routes("Health")

_OK = Media("text/plain", {"type": "string", "const": "OK"})


def is_alive() -> Response:
    """OK while the process runs."""
    return PlainTextResponse("OK")


def is_ready(services: Services) -> Response:
    """OK while the database answers."""
    try:
        services.ping()
    except StoreUnavailable:
        return PlainTextResponse("the database does not answer", 503)
    return PlainTextResponse("OK")


for _path in ALIVE:
    routes.get(_path, is_open=True, answers={200: _OK})(is_alive)
for _path in READY:
    routes.get(_path, is_open=True, answers={200: _OK, 503: Media("text/plain", {"type": "string"})})(is_ready)


class HealthChecks:
    """An ASGI application that returns the response of `check`, which runs in a thread."""

    def __init__(self, check: Callable[[], Response]) -> None:
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in ("GET", "HEAD"):
            response = await asyncio.to_thread(self._check)
        else:
            response = replies.failure(405, "This address takes GET and HEAD only.", {"Allow": "GET, HEAD"})
        await send_response(response, scope, receive, send)
