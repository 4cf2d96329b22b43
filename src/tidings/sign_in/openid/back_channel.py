"""Where the provider says that sessions have ended. The token is the credential.

Source: OpenID Connect Back-Channel Logout 1.0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import parse_qsl

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tidings.base.errors import StoreUnavailable, TidingsError
from tidings.domain.accounts.events import Method, Origin
from tidings.http.requests import Network, Request
from tidings.http.responses import empty, json, raw, send_response
from tidings.services import Services
from tidings.sign_in.openid.errors import BrokenToken, OpenIdError
from tidings.sign_in.openid.sign_in import OpenIdSignIn

log = structlog.get_logger()

MAX_BODY = 64 * 1024
# Logout tokens that are looked at at the same time.
SLOTS = 4
_HEADERS = raw({"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})


class BackChannelLogout:
    """An ASGI application, mounted at one path. openid: None if it is not configured: then there is nothing here."""

    def __init__(self, openid: OpenIdSignIn | None, services: Services, *, trusted: Sequence[Network]) -> None:
        self._openid = openid
        self._services = services
        self._trusted = trusted
        self._slots = asyncio.Semaphore(SLOTS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive))
        await send_response(response, scope, receive, send, _HEADERS)

    async def _answer(self, request: Request) -> Response:
        openid = self._openid
        if openid is None or scope_provider(request) != openid.config.provider:
            return _failure(404, "not_found", "There is nothing at this address.")
        if request.method != "POST":
            return _failure(405, "invalid_request", "This address takes POST only.", {"Allow": "POST"})
        try:
            async with self._slots:
                await request.read(MAX_BODY)
                return await self._end_sessions(openid, request)
        except StoreUnavailable as error:
            return _failure(503, "temporarily_unavailable", str(error), {"Retry-After": "30"})
        except TidingsError as error:  # a body that is too large, too slow or incomplete
            return _failure(400, "invalid_request", str(error))

    async def _end_sessions(self, openid: OpenIdSignIn, request: Request) -> Response:
        origin = Origin.of_request(request.address(self._trusted), request.user_agent, Method.OPENID)
        try:
            subject = await openid.provider.logout_subject(_token_of(request))
        except OpenIdError as error:
            await asyncio.to_thread(self._record, error, origin)
            return _failure(400, "invalid_request", "The logout token is not valid; the log of Tidings has the reason.")
        count = await asyncio.to_thread(openid.accounts.end_sessions, subject, origin)
        log.info("signed out by the provider", sessions=count)
        return empty(200)

    def _record(self, error: OpenIdError, origin: Origin) -> None:
        if isinstance(error, BrokenToken):
            self._services.accounts.authentication.refuse(error.reason, method=Method.OPENID, origin=origin)
        else:
            log.warning("OpenID Connect provider unavailable", reason=error.reason)


def scope_provider(request: Request) -> str:
    """Return the provider in the path."""
    name: str = request.scope["path_params"]["provider"]
    return name


def _token_of(request: Request) -> str:
    """Return the logout token of the form. Raises BrokenToken without one."""
    try:
        fields = parse_qsl(request.content.decode("ascii"), max_num_fields=20)
    except ValueError as error:
        raise BrokenToken("the form cannot be read") from error
    tokens = [value for name, value in fields if name == "logout_token"]
    if len(tokens) != 1:
        raise BrokenToken("the form has no logout token")
    return tokens[0]


def _failure(status: int, error: str, description: str, headers: dict[str, str] | None = None) -> Response:
    return json({"error": error, "error_description": description}, status, headers)
