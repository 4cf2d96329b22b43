"""The API as a surface: authentication, permissions and error responses.

    OPTIONS ─► origin ─► credentials ─► route ─► permission ─► path ids ─► body ─► handler
                403          401       404/405      403          400       400

`tidings.http.surface` calls these steps in this order.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import structlog
from msgspec import Struct
from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.api import replies
from tidings.api.feed_style import PLAIN, FeedStyle, MissingIcon
from tidings.api.fields import ALL_FIELDS, Fields, lean, wanted_fields
from tidings.api.openapi import ApiDocument
from tidings.api.public_address import PublicAddress
from tidings.api.replies import Failure
from tidings.api.scopes import scope_of
from tidings.base.errors import Forbidden, InvalidInput, TidingsError, Unauthorized
from tidings.base.messages import verbatim
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.rights import ALL_RIGHTS, KeyScope, Rights
from tidings.domain.accounts.users import User
from tidings.http import binding
from tidings.http.binding import Call
from tidings.http.endpoints import Conditional, Endpoint
from tidings.http.origins import is_foreign, is_sent_by_another_site
from tidings.http.password_gate import PasswordGate
from tidings.http.requests import Network, Request
from tidings.http.responses import raw
from tidings.http.surface import BUSY, BUSY_RETRY_AFTER_S, SAFE, Surface
from tidings.services import Services
from tidings.services.accounts.authentication import WRONG_PASSWORD, Credentials, Recognised
from tidings.services.accounts.grants import Grant
from tidings.services.accounts.key_quotas import HEADERS, KeyQuotas, Quota

log = structlog.get_logger()

PREFIX = "/v1"
# What pages of other origins may send.
ALLOWED_HEADERS = (
    "X-Auth-Token",
    "Authorization",
    "Content-Type",
    "Content-Encoding",
    "Accept",
    "If-None-Match",
    "Last-Event-ID",
)


class Caller(Struct):
    """The caller of a request, and what it wants of the items of a list."""

    user: User | None
    """None for endpoints without credentials, whose handlers have no such parameter."""
    origin: Origin
    style: FeedStyle = PLAIN
    rights: Rights = ALL_RIGHTS
    quota: Quota | None = None
    """What is left to the API key, where the operator limits requests."""
    fields: Fields = ALL_FIELDS
    """Read once, when the request is checked."""
    key_id: int = 0
    """The id of the API key; 0 for a password."""

    @property
    def grant(self) -> Grant:
        """What let the request in."""
        assert self.user is not None
        return Grant(self.user.id, key_id=self.key_id)


class Api(Surface[Caller]):
    """The API.

    slices: services of the slices by type, as handlers ask for them. trusted: proxies whose X-Forwarded-For is used.
    base_url: the public URL of the service. quotas: of API keys; None for no limit.
    """

    headers = raw({
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE, OPTIONS",
        "Access-Control-Allow-Headers": ", ".join(ALLOWED_HEADERS),
        "Access-Control-Expose-Headers": ", ".join((replies.CODE_HEADER, "Link", "ETag", "Retry-After", *HEADERS)),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
    })  # fmt: skip
    answers_preflight = True
    unpacks_bodies = True
    # Ample: an OPML document of ten thousand feeds has 3 MB.
    body_limit = 32 * 2**20

    def __init__(
        self,
        services: Services,
        slices: Mapping[type, object],
        endpoints: Iterable[Endpoint],
        document: ApiDocument,
        *,
        gate: PasswordGate,
        max_concurrency: int,
        trusted: Sequence[Network] = (),
        base_url: str = "",
        quotas: KeyQuotas | None = None,
    ) -> None:
        address = PublicAddress(base_url.rstrip("/"))
        sources: dict[Any, Any] = {
            User: lambda call: call.context.user,
            Origin: lambda call: call.context.origin,
            FeedStyle: lambda call: call.context.style,
            Rights: lambda call: call.context.rights,
            Fields: lambda call: call.context.fields,
            Grant: lambda call: call.context.grant,
            Services: lambda _call: services,
            ApiDocument: lambda _call: document,
            PublicAddress: lambda _call: address,
            **binding.constants(slices),
        }
        endpoints = [replace(endpoint, scope=scope_of(endpoint) or "") for endpoint in endpoints]
        super().__init__(endpoints, sources, name="api", max_concurrency=max_concurrency, prefix=PREFIX)
        self._authentication = services.accounts.authentication
        self._tags = services.list_tags
        self._trusted = trusted
        self._base_url = base_url
        self._gate = gate
        self._quotas = quotas

    def identify(self, request: Request, endpoint: Endpoint | None) -> Caller | None:
        if endpoint is not None and endpoint.is_public:
            return Caller(None, Origin.of_request(request.address(self._trusted), request.user_agent))
        credentials = credentials_of(request, self._trusted)
        self._refuse_cross_site(request, credentials)
        found = self._authentication.recognise(credentials)
        if found is None:
            return None
        origin = credentials.origin(Method.API_KEY if credentials.token else Method.PASSWORD)
        quota = self._quotas.take(found.key_id) if self._quotas and found.key_id else None
        style = self._style(request, found)
        return Caller(_limited(found.user, found.rights), origin, style, found.rights, quota, key_id=found.key_id)

    async def identify_slowly(self, request: Request) -> Caller:
        credentials = credentials_of(request, self._trusted)
        await asyncio.sleep(await self._in_thread(request, self._authentication.start_attempt, credentials))
        user = await self._gate.run(self._authentication.verify_alone, credentials)
        return Caller(user, credentials.origin(Method.PASSWORD), self._style(request, Recognised(user)))

    def tag(self, call: Call[Caller]) -> str | None:
        user, request = call.context.user, call.request
        assert user is not None
        view_id = call.path.get("view_id")
        try:
            queries = [value for name, value in request.query if name == "query"]
        except InvalidInput:
            return None
        return self._tags.tag(
            user,
            [request.path, request.query_string, call.context.style],
            queries=queries,
            uses_view=(lambda view: str(view.id) == view_id) if view_id else None,
            with_checks=call.endpoint.conditional is Conditional.EXCEPT_CHECKS,
        )

    def uploader(self, call: Call[Caller]) -> int:
        return 0 if call.context.user is None else call.context.user.id

    def permit(self, call: Call[Caller]) -> None:
        user, rights, needed = call.context.user, call.context.rights, call.endpoint.scope
        if rights.scope is not KeyScope.ADMIN and needed:
            rights.require(KeyScope(needed))
        if call.endpoint.admin and not (user and user.is_admin):
            raise Forbidden(verbatim("Only an administrator may do this."))

    def check_request(self, call: Call[Caller]) -> None:
        super().check_request(call)
        call.context.fields = wanted_fields(call.request, call.endpoint)

    def render(self, call: Call[Caller], result: Any) -> Response:
        if call.endpoint.lists is not None:
            result = lean(result, call.context.fields)
        return _with_quota(super().render(call, result), call.context)

    def render_error(self, error: Exception, request: Request, context: Caller | None) -> Response:
        return _with_quota(_in_form(self._failure(error, request), request), context)

    def refuse(self, request: Request) -> Response:
        return _in_form(Failure(503, BUSY, "overloaded", {"Retry-After": str(BUSY_RETRY_AFTER_S)}), request)

    def _failure(self, error: Exception, request: Request) -> Failure:
        if isinstance(error, TidingsError):
            return replies.failure_of(error)
        if isinstance(error, HTTPException):
            return _no_such_route(error, request)
        log.error("request failed", method=request.method, path=request.scope["path"], exc_info=error)
        message = "Something went wrong on our side; the log of the server has the details."
        return Failure(500, message, "internal-error")

    def _style(self, request: Request, found: Recognised) -> FeedStyle:
        """Apps in a browser are pages of other origins. ReactFlux fails once the icon of a feed is null."""
        origin = request.headers.get("origin", "")
        is_app = bool(origin) and (origin == "null" or is_foreign(origin, request, self._base_url))
        wants_object = is_app or found.needs_icon_object
        hides_secrets = not found.rights.scope.includes(KeyScope.MANAGE)
        if not wants_object and not hides_secrets:
            return PLAIN
        return FeedStyle(MissingIcon.OBJECT if wants_object else MissingIcon.NULL, hides_secrets)

    def _refuse_cross_site(self, request: Request, credentials: Credentials) -> None:
        """Raise Forbidden for a change with a password that a page of another site made the browser send.

        Browsers attach a remembered password to such requests, but never an API key.
        """
        is_safe = request.method in SAFE
        if credentials.username and not is_safe and is_sent_by_another_site(request, self._base_url):
            raise Forbidden(verbatim("A page of another site sent this. Nothing was changed."))


def _limited(user: User, rights: Rights) -> User:
    """Return the user as handlers see who calls: without the scope `admin`, nobody is an administrator."""
    if user.is_admin and rights.scope is not KeyScope.ADMIN:
        return replace(user, is_admin=False)
    return user


def _with_quota(response: Response, caller: Caller | None) -> Response:
    if caller is not None and caller.quota is not None:
        response.headers.update(caller.quota.headers)
    return response


def _in_form(failure: Failure, request: Request) -> Response:
    return replies.in_form(failure, ",".join(request.headers.getlist("accept")), _base_path(request))


def _base_path(request: Request) -> str:
    path: str = request.scope.get("root_path", "")
    return path.removesuffix(PREFIX)


def _no_such_route(error: HTTPException, request: Request) -> Failure:
    if error.status_code == 404:
        message = f"There is nothing at this address: see {_base_path(request)}/docs/api for what there is."
        return Failure(404, message, "not-found")
    message = f"This address does not take {request.method}."
    return Failure(405, message, "method-not-allowed", dict(error.headers or {}))


def credentials_of(request: Request, trusted: Sequence[Network]) -> Credentials:
    """Return the credentials of a request. Raises Unauthorized if they cannot be decoded.

    trusted: proxies whose X-Forwarded-For is used.
    """
    address, agent = request.address(trusted), request.user_agent
    if token := request.headers.get("x-auth-token", "").strip():
        return Credentials(token=token, address=address, user_agent=agent)
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return Credentials(address=address, user_agent=agent)
    try:
        username, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise Unauthorized(WRONG_PASSWORD) from error
    if "\0" in username:
        raise Unauthorized(WRONG_PASSWORD)  # such a user name cannot exist, and PostgreSQL refuses the parameter
    return Credentials(username=username, password=password, address=address, user_agent=agent)
