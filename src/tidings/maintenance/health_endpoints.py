"""Health checks for monitoring: plain text, outside /v1, without credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from tidings.api import replies
from tidings.base.errors import StoreUnavailable
from tidings.http.endpoints import Media, Routes
from tidings.http.responses import send_response
from tidings.maintenance.services import MaintenanceServices

ALIVE = ("/healthz", "/liveness")
READY = ("/healthcheck", "/readiness", "/readyz")

# Monitors ask every few seconds, and many give up after two or three.
READY_LIMIT_S = 1.5
RETRY_AFTER_S = 5

routes = Routes("Health")

_OK = Media("text/plain", {"type": "string", "const": "OK"})
# Behind it, which servers of a distributed database do not answer.
_READY = Media("text/plain", {"type": "string", "pattern": "^OK"})


def is_alive() -> Response:
    """OK while the process runs."""
    return PlainTextResponse("OK")


def is_ready(maintenance: MaintenanceServices) -> Response:
    """OK while the database answers within two seconds, takes writes, and has the schema of this version.

    On a database that is distributed over several servers, it also names those that do not answer: their users get 503.
    """
    return _readiness(why_not_ready(maintenance), notice(maintenance))


def why_not_ready(maintenance: MaintenanceServices) -> str:
    """Return "" if requests can be served."""
    try:
        maintenance.readiness.check()
    except StoreUnavailable:
        return "the database cannot be used"
    return ""


def notice(maintenance: MaintenanceServices) -> str:
    """Return what follows after OK: the servers of a distributed database that do not answer; "" if all do."""
    silent = maintenance.readiness.silent_nodes()
    return f", but these servers of the database do not answer: {', '.join(silent)}" if silent else ""


def _readiness(problem: str, notice: str) -> Response:
    if not problem:
        return PlainTextResponse(f"OK{notice}")
    return PlainTextResponse(problem, 503, {"Retry-After": str(RETRY_AFTER_S)})


for _path in ALIVE:
    routes.get(_path, is_public=True, responses={200: _OK})(is_alive)
for _path in READY:
    routes.get(_path, is_public=True, responses={200: _READY, 503: Media("text/plain", {"type": "string"})})(is_ready)


class HealthCheck:
    """An ASGI application that returns the response of `check`."""

    def __init__(self, check: Callable[[], Awaitable[Response]]) -> None:
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in ("GET", "HEAD"):
            response = await self._check()
        else:
            response = replies.failure(405, "This address takes GET and HEAD only.", {"Allow": "GET, HEAD"})
        await send_response(response, scope, receive, send)


class WithinLimit:
    """Runs a check in a thread and waits READY_LIMIT_S for it.

    check: returns a problem, "" for none. notice: returns what follows after OK, without waiting.

    One runs at a time: while one hangs, others wait for its result, so that a database that hangs does not take all
    threads.
    """

    def __init__(self, check: Callable[[], str], notice: Callable[[], str]) -> None:
        self._check = check
        self._notice = notice
        self._running: asyncio.Future[str] | None = None

    async def __call__(self) -> Response:
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(asyncio.to_thread(self._check))
        try:
            problem = await asyncio.wait_for(asyncio.shield(self._running), READY_LIMIT_S)
        except TimeoutError:
            problem = "the database does not answer in time"
        # A new response for each request, since sending it changes it.
        return _readiness(problem, self._notice())


async def alive() -> Response:
    """As `is_alive`, without a thread: it answers while all threads wait."""
    return is_alive()
