"""The endpoint for agents as a surface: who calls, and errors in the form of JSON-RPC.

    origin ─► API key ─► route ─► Accept, Content-Type ─► body ─► messages ─► methods
     403       401       405        406, 415               400

Only API keys let in: an agent keeps what it is given, and a key can be limited and ended. Pages of other sites are
refused, as the protocol asks for: a browser may have been led to a server in the user's own network.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import structlog
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.agents import protocol
from tidings.agents.methods import InThread, Methods
from tidings.agents.protocol import RpcError
from tidings.base.errors import Forbidden, NotFound, TidingsError, Unauthorized
from tidings.base.messages import msg, verbatim
from tidings.domain.accounts.rights import ALL_RIGHTS, Rights, ScopeMissing
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled
from tidings.http.binding import Call
from tidings.http.content_coding import ACCEPTED, UnpackedTooLarge, UnsupportedCoding
from tidings.http.endpoints import Endpoint
from tidings.http.origins import origin_of
from tidings.http.requests import Network, Request, RequestTooLarge
from tidings.http.responses import COMMON_STATUSES, JSON, json, raw, weights_of
from tidings.http.surface import BUSY, BUSY_RETRY_AFTER_S, Surface
from tidings.services import Services
from tidings.services.accounts.authentication import Credentials
from tidings.services.accounts.key_quotas import KeyQuotas, KeyThrottled, Quota

log = structlog.get_logger()

AGENTS_PATH: Final = "/mcp"
_REALM: Final = 'Bearer realm="Tidings"'


# First match wins.
STATUSES: tuple[tuple[type[TidingsError], int], ...] = (
    (Unauthorized, 401),
    (SignInThrottled, 429),
    (KeyThrottled, 429),
    (Forbidden, 403),
    (NotFound, 404),
    (RequestTooLarge, 413),
    (UnpackedTooLarge, 413),
    (UnsupportedCoding, 415),
    *COMMON_STATUSES,
)


class AgentCaller(Struct, frozen=True):
    """The holder of an API key."""

    user: User
    rights: Rights = ALL_RIGHTS
    quota: Quota | None = None
    """What is left to the key, where the operator limits requests."""


class Agents(Surface[AgentCaller]):
    """The surface for agents.

    trusted: proxies whose X-Forwarded-For is used. base_url: the public URL of the service, whose pages may call.
    quotas: shared with the API; None for no limit.
    """

    headers = raw({
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    })  # fmt: skip
    unpacks_bodies = True
    # The longest message marks a hundred entries, or has a long query.
    body_limit = 256 * 2**10

    def __init__(
        self,
        services: Services,
        methods: Methods,
        endpoints: Iterable[Endpoint],
        *,
        max_concurrency: int,
        trusted: Sequence[Network] = (),
        base_url: str = "",
        quotas: KeyQuotas | None = None,
    ) -> None:
        sources: dict[Any, Any] = {
            AgentCaller: lambda call: call.context,
            Methods: lambda _call: methods,
            InThread: self._thread_of,
        }
        super().__init__(endpoints, sources, name="agents", max_concurrency=max_concurrency)
        self._authentication = services.accounts.authentication
        self._trusted = trusted
        self._base_url = base_url
        self._quotas = quotas

    def identify(self, request: Request, endpoint: Endpoint | None) -> AgentCaller:  # noqa: ARG002
        origin = request.headers.get("origin")
        if origin is not None and origin != origin_of(self._base_url):
            problem = (
                f"Pages of {origin[:200]} may not call this: only {origin_of(self._base_url)}, see TIDINGS_BASE_URL."
            )
            raise Forbidden(verbatim(problem))
        token = _token_of(request)
        if not token:
            raise Unauthorized(msg("Sign in: send an API key as Authorization: Bearer, or in X-Auth-Token."))
        credentials = Credentials(token=token, address=request.address(self._trusted), user_agent=request.user_agent)
        found = self._authentication.recognise(credentials)
        # Only passwords are verified later.
        assert found is not None
        quota = self._quotas.take(found.key_id) if self._quotas and found.key_id else None
        return AgentCaller(found.user, found.rights, quota)

    def permit(self, call: Call[AgentCaller]) -> None:
        accepted = ",".join(call.request.headers.getlist("accept"))
        weights = weights_of(accepted) if accepted.strip() else {JSON: 1.0}
        if not any(weights.get(name, 0.0) > 0 for name in (JSON, "application/*", "*/*")):
            raise RpcError(406, "Answers are JSON: accept application/json and text/event-stream.", status=406)
        content_type = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != JSON:
            raise RpcError(415, "Messages are JSON: send Content-Type: application/json.", status=415)

    def render(self, call: Call[AgentCaller], result: Any) -> Response:
        return _with_quota(super().render(call, result), call.context)

    def render_error(self, error: Exception, request: Request, context: AgentCaller | None) -> Response:
        return _with_quota(error_response(error, request), context)

    def refuse(self, request: Request) -> Response:  # noqa: ARG002
        return _response(
            RpcError(503, BUSY, status=503, headers={"Retry-After": str(BUSY_RETRY_AFTER_S)}), "overloaded"
        )

    def _thread_of(self, call: Call[AgentCaller]) -> InThread:
        return lambda function, *arguments: self._in_thread(call.request, function, *arguments)


def error_response(error: Exception, request: Request, request_id: protocol.Id | None = None) -> Response:
    """Return the response to an error. request_id: of the message that it answers, None if it answers none."""
    if isinstance(error, RpcError):
        return _response(error, "rpc-error")
    if isinstance(error, HTTPException):
        failed = RpcError(error.status_code, error.detail, status=error.status_code, headers=error.headers)
        return _response(failed, "method-not-allowed" if error.status_code == 405 else "not-found")
    if isinstance(error, TidingsError):
        return _response(rpc_error(error, request_id), error.code)
    log.error("request failed", method=request.method, path=request.scope["path"], exc_info=error)
    message = "Something went wrong on our side; the log of the server has the details."
    return _response(RpcError(protocol.INTERNAL_ERROR, message, status=500, request_id=request_id), "internal-error")


def rpc_error(error: TidingsError, request_id: protocol.Id | None = None) -> RpcError:
    """Return an error of the service in the form of JSON-RPC. Its number is that of its HTTP status."""
    status = next(status for kind, status in STATUSES if isinstance(error, kind))
    headers: dict[str, str] = {}
    data: dict[str, str] | None = None
    match error:
        case SignInThrottled():
            headers = {"Retry-After": str(error.retry_after_s)}
        case KeyThrottled():
            headers = {"Retry-After": str(error.quota.reset_s), **error.quota.headers}
        case UnsupportedCoding():
            headers = {"Accept-Encoding": ACCEPTED}
        case ScopeMissing():
            # RFC 6750, section 3.1.
            headers = {"WWW-Authenticate": f'{_REALM}, error="insufficient_scope", scope="{error.needed}"'}
            data = {"scope": str(error.needed)}
        case Unauthorized():
            headers = {"WWW-Authenticate": f'{_REALM}, scope="read"'}
    return RpcError(status, error.message, status=status, request_id=request_id, data=data, headers=headers)


def _response(error: RpcError, code: str) -> Response:
    return json(error.body(), error.status, {"X-Error-Code": code, **error.headers})


def _token_of(request: Request) -> str:
    if token := request.headers.get("x-auth-token", "").strip():
        return token
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _with_quota(response: Response, caller: AgentCaller | None) -> Response:
    if caller is not None and caller.quota is not None:
        response.headers.update(caller.quota.headers)
    return response
