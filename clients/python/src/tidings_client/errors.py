"""What the service answers when it refuses a request: a class for each status.

All are an `ApiError`, with `status`, `code`, `field`, `detail` and `retry_after_s`.

Written by `make client` from contracts/openapi.json: change the generator, or what the service declares.
"""

from __future__ import annotations

from typing import Final, Literal

from tidings_client._failures import ApiError, TidingsError, Unreachable

__all__ = [
    "ApiError",
    "Conflict",
    "CursorExpired",
    "DiskFull",
    "ErrorCode",
    "Forbidden",
    "NotFound",
    "OutsideFailed",
    "Refused",
    "Throttled",
    "TidingsError",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
    "UnsupportedCoding",
]


ErrorCode = Literal[
    "account-full",
    "address-refused",
    "already-subscribed",
    "body-too-large",
    "category-exists",
    "connect-timeout",
    "cursor-expired",
    "empty-body",
    "expired-key",
    "feed-error",
    "feed-exists",
    "feed-gone",
    "feed-unreadable",
    "fetch-failed",
    "fetch-timeout",
    "forbidden",
    "host-closed",
    "http-error",
    "import-running",
    "insufficient-storage",
    "internal-error",
    "invalid-input",
    "invalid-query",
    "invalid-rule",
    "local-shortage",
    "method-not-allowed",
    "network-error",
    "no-integration",
    "no-items",
    "not-a-feed",
    "not-a-page",
    "not-found",
    "overloaded",
    "page-too-demanding",
    "page-unreadable",
    "refresh-failed",
    "request-too-large",
    "request-too-slow",
    "scope-missing",
    "sign-in-throttled",
    "store-unavailable",
    "tls-error",
    "too-many-redirects",
    "too-many-requests",
    "too-many-streams",
    "unauthorized",
    "undecodable-body",
    "unknown-key",
    "unpacked-too-large",
    "unreachable",
    "unsupported-coding",
    "upload-too-large",
]


class Refused(ApiError):
    """The request is invalid. The message names the field and says what is accepted."""


class Unauthorized(ApiError):
    """Missing or wrong credentials. WWW-Authenticate is sent where a password is accepted."""


class Forbidden(ApiError):
    """The user may not do this, or the API key lacks the scope that the message names."""


class NotFound(ApiError):
    """The resource does not exist or belongs to another user."""


class Conflict(ApiError):
    """Another import of this user runs. Repeat the request when it has ended."""


class CursorExpired(ApiError):
    """What has changed since the cursor is not known any more. Begin again without one."""


class TooLarge(ApiError):
    """The file, or the unpacked body, is larger than the service accepts."""


class UnsupportedCoding(ApiError):
    """The Content-Encoding of the body is neither gzip nor zstd."""


class Throttled(ApiError):
    """Too many wrong passwords for this name or network, requests with this key, or streams. Retry-After:
    seconds.
    """


class OutsideFailed(ApiError):
    """The request to another site failed. The message says why."""


class Unavailable(ApiError):
    """The database does not respond. Repeat the request later."""


class DiskFull(ApiError):
    """The disk of the service has too little free space."""


BY_STATUS: Final[dict[int, type[ApiError]]] = {
    400: Refused,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: CursorExpired,
    413: TooLarge,
    415: UnsupportedCoding,
    429: Throttled,
    500: OutsideFailed,
    503: Unavailable,
    507: DiskFull,
}
