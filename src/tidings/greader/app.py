"""The Google Reader API as a surface: authentication and responses.

    OPTIONS ─► Authorization: GoogleLogin ─► route ─► body ─► T of a POST ─► handler
                401 on any other call        404/405   400     401            a struct becomes JSON

A call is authenticated by its header; a POST by its edit token alone as well. Cookies are ignored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import structlog
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from tidings.base.errors import Forbidden, NotFound, TidingsError, Unauthorized
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled
from tidings.greader.credentials import PasswordCheck, PublicUrl, ReaderCaller, is_accepted_edit_token, token_of
from tidings.http import forms
from tidings.http.binding import Call
from tidings.http.endpoints import Endpoint
from tidings.http.password_gate import PasswordGate
from tidings.http.requests import Network, Request
from tidings.http.responses import COMMON_STATUSES, raw
from tidings.http.surface import Surface
from tidings.services import Services
from tidings.services.accounts.app_logins import UNKNOWN_TOKEN, AppLogin
from tidings.services.accounts.authentication import Credentials

log = structlog.get_logger()

BAD_TOKEN = {"X-Reader-Google-Bad-Token": "true", "Google-Bad-Token": "true"}

# First match wins.
STATUSES: tuple[tuple[type[TidingsError], int], ...] = (
    (Unauthorized, 401),
    (SignInThrottled, 429),
    (Forbidden, 403),
    (NotFound, 404),
    *COMMON_STATUSES,
)


class GoogleReader(Surface[ReaderCaller]):
    """The surface that serves the Google Reader API.

    trusted: proxies whose X-Forwarded-For is used. base_url: the public URL of the service.
    """

    headers = raw({
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": "GET, POST",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match",
        "Access-Control-Expose-Headers": "X-Reader-Google-Bad-Token, Google-Bad-Token, Retry-After, ETag",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    })  # fmt: skip
    answers_preflight = True
    # An OPML of ten thousand feeds has 3 MB; ten thousand long ids have half of one.
    body_limit = 32 * 2**20
    # The limit for callers who are not identified before the body is read.
    unknown_body_limit = 2**20

    def __init__(
        self,
        services: Services,
        endpoints: Iterable[Endpoint],
        *,
        gate: PasswordGate,
        max_concurrency: int,
        trusted: Sequence[Network] = (),
        base_url: str = "",
    ) -> None:
        site, check = PublicUrl(base_url.rstrip("/")), PasswordCheck(self._sign_in)
        sources: dict[Any, Any] = {
            ReaderCaller: lambda call: call.context,
            User: lambda call: call.context.user,
            Services: lambda _call: services,
            PublicUrl: lambda _call: site,
            PasswordCheck: lambda _call: check,
        }
        super().__init__(endpoints, sources, name="greader", max_concurrency=max_concurrency)
        self._logins = services.accounts.app_logins
        self._tags = services.list_tags
        self._site = site
        self._trusted = trusted
        self._gate = gate

    def identify(self, request: Request, endpoint: Endpoint | None) -> ReaderCaller:
        origin = Origin.of_request(request.address(self._trusted), request.user_agent, Method.API_PASSWORD)
        token = token_of(request)
        if endpoint is not None and endpoint.is_public:
            return ReaderCaller(origin)
        may_have_edit_token = endpoint is not None and request.method == "POST"
        if token:
            try:
                return ReaderCaller(origin, self._logins.by_token(token, origin))
            except Unauthorized:
                if not may_have_edit_token:
                    raise
        elif not may_have_edit_token:
            raise Unauthorized(UNKNOWN_TOKEN)
        # The edit token is in the body.
        return ReaderCaller(origin)

    def tag(self, call: Call[ReaderCaller]) -> str | None:
        request = [call.request.path, call.request.query_string, self._site]
        return self._tags.tag(call.context.user, request, uses_view=lambda view: view.in_apps)

    def limit(self, call: Call[ReaderCaller]) -> int:
        own = super().limit(call)
        return own if call.context.login else min(own, self.unknown_body_limit)

    def check_request(self, call: Call[ReaderCaller]) -> None:
        super().check_request(call)
        if call.endpoint.is_public or call.request.method != "POST":
            return
        sent = _edit_token(call)
        if call.context.login is None:
            if not sent:
                raise Unauthorized(UNKNOWN_TOKEN)
            call.context.login = self._logins.by_token(sent, call.context.origin)
        elif not is_accepted_edit_token(sent, call.context.login.token):
            raise Unauthorized(UNKNOWN_TOKEN)

    def render(self, call: Call[ReaderCaller], result: Any) -> Response:
        if isinstance(result, str):
            return PlainTextResponse(result, call.endpoint.status)
        return super().render(call, result)

    def render_error(self, error: Exception, request: Request, context: ReaderCaller | None) -> Response:  # noqa: ARG002
        """Return the response for an error: one line of text, which clients show unchanged."""
        if isinstance(error, Unauthorized):
            return PlainTextResponse("Unauthorized", 401, BAD_TOKEN)
        if isinstance(error, SignInThrottled):
            return PlainTextResponse(error.message, 429, {"Retry-After": str(error.retry_after_s)})
        if isinstance(error, TidingsError):
            status = next(status for kind, status in STATUSES if isinstance(error, kind))
            return PlainTextResponse(error.message.replace("\n", " "), status)
        if isinstance(error, HTTPException):
            return PlainTextResponse(error.detail, error.status_code, error.headers)
        log.error("request failed", method=request.method, path=request.scope["path"], exc_info=error)
        return PlainTextResponse("Internal Server Error", 500)

    async def _sign_in(self, credentials: Credentials) -> AppLogin:
        """Return the login of a name and a password. Raises Unauthorized or SignInThrottled."""
        login = await self._complete.run(self._logins.recognise, credentials)
        if login is not None:
            return login
        await asyncio.sleep(await self._complete.run(self._logins.start_attempt, credentials))
        return await self._gate.run(self._logins.verify, credentials)


def _edit_token(call: Call[ReaderCaller]) -> str:
    """Return the field T, "" without one. If the body is not a form, it is in the query."""
    pairs = [*call.request.query, *(() if call.endpoint.request_bodies else forms.fields(call.request))]
    return next((value for name, value in pairs if name == "T"), "").strip()
