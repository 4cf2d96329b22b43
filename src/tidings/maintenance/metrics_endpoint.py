"""/metrics: metrics in the format of Prometheus. Outside /v1, with its own access rules."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Sequence
from functools import partial

from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tidings import metrics
from tidings.api import replies
from tidings.api.app import credentials_of
from tidings.base.errors import StoreUnavailable, Unauthorized
from tidings.http.requests import Network, Request, is_within
from tidings.http.responses import send_response
from tidings.maintenance.status import StatusReader, gauges

_not_found = partial(replies.failure, 404, "There is nothing at this address.")
_forbidden = partial(replies.failure, 403, "Your network may not read this: see TIDINGS_METRICS_ALLOWED_NETWORKS.")
_unauthorized = partial(
    replies.failure, 401, "This asks for the user name and password of the metrics.", replies.CHALLENGE
)
_method_not_allowed = partial(replies.failure, 405, "This address takes GET and HEAD only.", {"Allow": "GET, HEAD"})


class Access(Struct, frozen=True):
    """Who may read metrics.

    networks: of clients. trusted: proxies whose X-Forwarded-For is used. username, password: required if one is set.
    """

    networks: Sequence[Network] = ()
    trusted: Sequence[Network] = ()
    username: str = ""
    password: str = ""

    def refusal(self, request: Request) -> Response | None:
        """Return the error response for a request; None if it may read."""
        if not is_within(request.address(self.trusted), self.networks):
            return _forbidden()
        if (self.username or self.password) and not self._knows_password(request):
            return _unauthorized()
        return None

    def _knows_password(self, request: Request) -> bool:
        try:
            credentials = credentials_of(request, self.trusted)
        except Unauthorized:
            return False
        # Always compares both, so that the time reveals nothing.
        same_name = hmac.compare_digest((credentials.username or "").encode(), self.username.encode())
        same_password = hmac.compare_digest((credentials.password or "").encode(), self.password.encode())
        return same_name and same_password


class Metrics:
    """An ASGI application that returns the metrics. access: None to return 404 for every request."""

    def __init__(self, status: StatusReader, access: Access | None) -> None:
        self._status = status
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive))
        await send_response(response, scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if self._access is None or not metrics.is_enabled():
            return _not_found()
        if refusal := self._access.refusal(request):
            return refusal
        if request.method not in ("GET", "HEAD"):
            return _method_not_allowed()
        return await asyncio.to_thread(self._exposition)

    def _exposition(self) -> Response:
        try:
            now = gauges(self._status.cached()) | {"tidings_up": ("1 while the database answers.", 1.0)}
        except StoreUnavailable:
            # Counters of this process are useful while the database is down.
            now = {"tidings_up": ("1 while the database answers.", 0.0)}
        body, media_type = metrics.exposition(now)
        return Response(body, media_type=media_type)
