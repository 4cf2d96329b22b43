"""What goes back, and how errors become statuses: the one place that decides."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from tidings.domain.errors import (
    FetchError,
    Forbidden,
    InvalidInput,
    NotFound,
    StoreUnavailable,
    TidingsError,
    Unauthorized,
    UnknownKey,
)
from tidings.http.replies import Reply
from tidings.http.requests import RequestTooLarge
from tidings.services.polling import RefreshFailed

CHALLENGE = (("WWW-Authenticate", 'Basic realm="Tidings", charset="UTF-8"'),)

# First match wins. Client libraries read the message of a 400 and a 500 only, so the set stays small.
STATUSES: tuple[tuple[type[TidingsError], int], ...] = (
    (Unauthorized, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (InvalidInput, 400),
    (RequestTooLarge, 400),
    (RefreshFailed, 500),
    (FetchError, 500),
    (StoreUnavailable, 503),
    (TidingsError, 400),
)


class ErrorBody(Struct, frozen=True):
    error_message: str


def json(value: Any, status: int = 200) -> Reply:
    return Reply(status, msgspec.json.encode(value))


def failure(status: int, message: str, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    return Reply(status, msgspec.json.encode(ErrorBody(message)), headers=headers)


def from_error(error: TidingsError) -> Reply:
    status = status_of(type(error))
    wants_password = isinstance(error, Unauthorized) and not isinstance(error, UnknownKey)
    return failure(status, _naming_the_field(error), CHALLENGE if wants_password else ())


def _naming_the_field(error: TidingsError) -> str:
    field = error.field if isinstance(error, InvalidInput) else ""
    return error.message if field in error.message else f"{field}: {error.message}"


def status_of(error: type[TidingsError]) -> int:
    return next(status for kind, status in STATUSES if issubclass(error, kind))
