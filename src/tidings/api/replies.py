"""Error responses: the status and body of each kind of error."""

from __future__ import annotations

from msgspec import Struct
from starlette.responses import Response

from tidings.api.problems import PROBLEM_JSON, Problem, problem_type, title_of, wants_problem
from tidings.base.errors import CursorExpired, Forbidden, InvalidInput, NotFound, TidingsError, Unauthorized
from tidings.domain.errors import SignInThrottled, UnknownApiKey
from tidings.domain.feeds.categories import CategoryExists
from tidings.http.content_coding import ACCEPTED, UnpackedTooLarge, UnsupportedCoding
from tidings.http.event_stream import TooManyStreams
from tidings.http.requests import RequestTooLarge
from tidings.http.responses import COMMON_STATUSES, json
from tidings.http.uploads import UploadTooLarge
from tidings.net.errors import FetchError
from tidings.services.accounts.key_quotas import KeyThrottled
from tidings.services.feeds.feeds import SubscriptionExists
from tidings.services.polling.lease import RefreshFailed

CHALLENGE = {"WWW-Authenticate": 'Basic realm="Tidings", charset="UTF-8"'}

# First match wins. Client libraries read the message of 400 and 500 only, so there are few statuses.
STATUSES: tuple[tuple[type[TidingsError], int], ...] = (
    (Unauthorized, 401),
    (SignInThrottled, 429),
    (KeyThrottled, 429),
    (Forbidden, 403),
    (NotFound, 404),
    (CursorExpired, 410),
    (InvalidInput, 400),
    (UploadTooLarge, 413),
    (UnpackedTooLarge, 413),
    (UnsupportedCoding, 415),
    (RequestTooLarge, 400),
    (RefreshFailed, 500),
    (FetchError, 500),
    *COMMON_STATUSES,
)


# The stable code of the error, for programs; the body has one field, as clients expect.
CODE_HEADER = "X-Error-Code"
# Apps compare these messages as a whole: they do not begin with the name of the field.
_COMPARED = (CategoryExists, SubscriptionExists)


class ErrorBody(Struct, frozen=True):
    """An error. error_message: what happened and what to do. Its stable code is in X-Error-Code."""

    error_message: str


class Failure(Struct, frozen=True):
    """An error, before it is known in which form the client wants it."""

    status: int
    message: str
    code: str
    headers: dict[str, str] = {}
    field: str = ""


def failure(status: int, message: str, headers: dict[str, str] | None = None, *, code: str = "") -> Response:
    """Return an error response. code: for programs; health checks and hubs read the status alone."""
    return json(ErrorBody(message), status, {CODE_HEADER: code, **(headers or {})} if code else headers)


def from_error(error: TidingsError) -> Response:
    """Return the response for an error, in the form of the contract."""
    return in_form(failure_of(error))


def failure_of(error: TidingsError) -> Failure:
    """Return what is answered to an error."""
    field = error.field if isinstance(error, InvalidInput) else ""
    return Failure(status_of(type(error)), _message_with_field(error), error.code, _headers_of(error), field)


def in_form(failure: Failure, accept: str = "", base_path: str = "") -> Response:
    """Return an error response in the form that the client wants.

    accept: the Accept header. base_path: the path below which the service lies.
    """
    headers = {CODE_HEADER: failure.code, **failure.headers}
    if not wants_problem(accept):
        return json(ErrorBody(failure.message), failure.status, headers)
    problem = Problem(
        type=problem_type(failure.code, base_path),
        title=title_of(failure.code),
        status=failure.status,
        detail=failure.message,
        code=failure.code,
        field=failure.field,
    )
    response = json(problem, failure.status, {**headers, "Vary": "Accept"})
    response.headers["content-type"] = PROBLEM_JSON
    return response


def _headers_of(error: TidingsError) -> dict[str, str]:
    match error:
        case SignInThrottled():
            return {"Retry-After": str(error.retry_after_s)}
        case KeyThrottled():
            return {"Retry-After": str(error.quota.reset_s), **error.quota.headers}
        case TooManyStreams():
            return {"Retry-After": "60"}
        case UnsupportedCoding():
            return {"Accept-Encoding": ACCEPTED}
        case Unauthorized() if not isinstance(error, UnknownApiKey):
            return CHALLENGE
    return {}


def _message_with_field(error: TidingsError) -> str:
    field = error.field if isinstance(error, InvalidInput) and not isinstance(error, _COMPARED) else ""
    return error.message if field in error.message else f"{field}: {error.message}"


def status_of(error: type[TidingsError]) -> int:
    """Return the HTTP status of a kind of error."""
    return next(status for kind, status in STATUSES if issubclass(error, kind))
