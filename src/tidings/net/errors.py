"""The errors of outgoing requests.

FetchError              a resource could not be fetched
├── NetworkError        the connection broke, or a redirect has no target
│   └── HostUnreachable the name does not resolve, there is no route, or the connection is refused
├── FetchTimeout        the response took too long
│   └── ConnectTimeout  connecting took too long
├── TlsError            the certificate is not valid
├── AddressRefused      the address guard refuses the address
├── TooManyRedirects
├── BodyTooLarge
├── EmptyBody
├── UndecodableBody     the body is not in the format that Content-Encoding declares
└── HttpError           a status of 400 or above, or a challenge for browsers
    ├── FeedGone        410
    └── ChallengePage   a challenge for browsers, with whatever status
"""

from __future__ import annotations

from typing import ClassVar

from tidings.base.errors import TidingsError
from tidings.base.messages import Message, join_sentences


class FetchError(TidingsError):
    """A URL could not be fetched.

    url: the requested URL, without credentials.
    """

    code = "fetch-failed"
    is_retryable = True
    was_connected: ClassVar[bool] = True
    """False if no connection was established; the cause may be the server or the local network."""

    def __init__(self, message: Message, *, url: str = "") -> None:
        super().__init__(message)
        self.url = url

    @property
    def is_temporary(self) -> bool:
        """Whether the error says nothing about the resource, which most likely has not changed."""
        return isinstance(self, NetworkError | FetchTimeout)

    @property
    def proves_network_is_up(self) -> bool:
        """Whether the error includes a response, so that the local network works."""
        return isinstance(self, HttpError | TooManyRedirects | BodyTooLarge | EmptyBody | UndecodableBody)


class NetworkError(FetchError):
    code = "network-error"


class HostUnreachable(NetworkError):
    code = "unreachable"
    was_connected = False


class FetchTimeout(FetchError):
    code = "fetch-timeout"


class ConnectTimeout(FetchTimeout):
    code = "connect-timeout"
    was_connected = False


class TlsError(FetchError):
    """The server's certificate or its TLS cannot be accepted.

    failure: what is wrong, without the hint that a feed can accept such certificates.
    """

    code = "tls-error"

    def __init__(self, failure: Message, *, url: str = "", hint: Message) -> None:
        super().__init__(join_sentences(failure, hint), url=url)
        self.failure = failure


class AddressRefused(FetchError):
    code = "address-refused"
    is_retryable = False


class TooManyRedirects(FetchError):
    code = "too-many-redirects"


class BodyTooLarge(FetchError):
    code = "body-too-large"


class EmptyBody(FetchError):
    code = "empty-body"


class UndecodableBody(FetchError):
    code = "undecodable-body"


class HttpError(FetchError):
    """The server responded with an error status.

    status: the status of the response. retry_after_s: seconds of Retry-After, None if absent.
    fresh_s: the seconds for which, by its cache headers, the response stays the same.
    """

    code = "http-error"

    def __init__(
        self,
        message: Message,
        *,
        url: str = "",
        status: int,
        retry_after_s: int | None = None,
        fresh_s: int | None = None,
    ) -> None:
        super().__init__(message, url=url)
        self.status = status
        self.retry_after_s = retry_after_s
        self.fresh_s = fresh_s

    @property
    def is_temporary(self) -> bool:
        """True for 429 and 503, by which the server itself says that the error is temporary."""
        return self.status in (429, 503)


class ChallengePage(HttpError):
    """The response is a challenge that only browsers pass, with whatever status."""


class FeedGone(HttpError):
    """Status 410: the publisher states that the feed will not come back."""

    code = "feed-gone"
    is_retryable = False
