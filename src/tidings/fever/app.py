"""The Fever API as a surface: keys, and responses to errors.

    OPTIONS ─► route ─► body ─► key ─► handler
     204      404/405  400/408   a wait, or 429, after many unknown keys

An unknown key is not an error: the response is 200 with auth 0, by which clients recognize it. The key is in the body
of a POST, so the body is read first. Cookies count for nothing here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import structlog
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.base.errors import TidingsError
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.errors import SignInThrottled
from tidings.fever.parameters import FeverCaller, key_of
from tidings.fever.wire import FeverError
from tidings.http.binding import Call
from tidings.http.endpoints import Endpoint
from tidings.http.requests import Network, Request
from tidings.http.responses import COMMON_STATUSES, json, raw
from tidings.http.surface import SAFE, Surface
from tidings.services import Services

log = structlog.get_logger()

# First match wins.
STATUSES: tuple[tuple[type[TidingsError], int], ...] = (
    (SignInThrottled, 429),
    *COMMON_STATUSES,
)


class Fever(Surface[FeverCaller]):
    """The surface that serves the Fever API.

    trusted: proxies whose X-Forwarded-For is used.
    """

    headers = raw({
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": "GET, POST",
        "Access-Control-Allow-Headers": "Content-Type",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    })  # fmt: skip
    answers_preflight = True

    def __init__(
        self,
        services: Services,
        endpoints: Iterable[Endpoint],
        *,
        max_concurrency: int,
        trusted: Sequence[Network] = (),
    ) -> None:
        sources: dict[Any, Any] = {FeverCaller: lambda call: call.context, Services: lambda _call: services}
        super().__init__(endpoints, sources, name="fever", max_concurrency=max_concurrency)
        self._logins = services.accounts.app_logins
        self._trusted = trusted

    def identify(self, request: Request, endpoint: Endpoint | None) -> FeverCaller | None:
        """Return the caller; None until the body has arrived, which may have the key, and for an unknown key."""
        if endpoint is None:
            return FeverCaller()
        if request.method not in SAFE:
            if not request.has_arrived:
                return None
            request.use_received(self.body_limit)
        return self._caller(request)

    async def identify_slowly(self, request: Request) -> FeverCaller:
        if request.method not in SAFE and not request.has_arrived:
            await request.read(self.body_limit, self.body_pace)
            if caller := await self._in_thread(request, self._caller, request):
                return caller
        throttle, address = self._logins.throttle_unknown_key, request.address(self._trusted)
        await asyncio.sleep(await self._in_thread(request, throttle, address))
        return FeverCaller()

    def limit(self, call: Call[FeverCaller]) -> int:  # noqa: ARG002
        """Return 0: the body was read for its key."""
        return 0

    def render_error(self, error: Exception, request: Request, context: FeverCaller | None) -> Response:
        auth = int(context is not None and context.login is not None)
        if isinstance(error, SignInThrottled):
            return json(FeverError(error.message), 429, {"Retry-After": str(error.retry_after_s)})
        if isinstance(error, TidingsError):
            status = next(status for kind, status in STATUSES if isinstance(error, kind))
            return json(FeverError(error.message.replace("\n", " "), auth=auth), status)
        if isinstance(error, HTTPException):
            return json(FeverError(error.detail), error.status_code, dict(error.headers or {}))
        log.error("request failed", method=request.method, path=request.scope["path"], exc_info=error)
        return json(FeverError("Something went wrong on our side; the log of the server has the details."), 500)

    def _caller(self, request: Request) -> FeverCaller | None:
        """Return the caller of a request whose body was read, None for an unknown key."""
        key = key_of(request)
        login = self._logins.by_fever_key(key, self._origin(request)) if key else None
        return FeverCaller(login) if login or not key else None

    def _origin(self, request: Request) -> Origin:
        return Origin.of_request(request.address(self._trusted), request.user_agent, Method.API_PASSWORD)
