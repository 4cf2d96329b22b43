"""Everything that can go wrong and that somebody can act on.

    TidingsError
    ├── InvalidInput            what was sent cannot be used; names the field
    │   └── InvalidRule         a filter, rewrite or scraper rule; names the rule's number
    ├── NotFound                no such thing, or not yours: the two look alike on purpose
    ├── Forbidden               known caller, but not allowed
    ├── Unauthorized            unknown caller
    │   └── UnknownKey          an API key that nobody has: asking for a password would not help
    ├── FetchError              the outside did not give us what we asked for
    │   ├── NetworkError        closed half-way, sent on to nowhere
    │   │   └── Unreachable     no name, no route, no connection
    │   ├── FetchTimeout        too slow
    │   │   └── ConnectTimeout  not even a connection came about
    │   ├── TlsError            the certificate does not convince
    │   ├── AddressRefused      the address guard said no
    │   ├── TooManyRedirects
    │   ├── BodyTooLarge
    │   ├── EmptyBody
    │   ├── UndecodableBody     the bytes are not what Content-Encoding says
    │   ├── HttpError           a status of 400 or above
    │   │   └── FeedGone        410
    │   ├── NotAPage            something came, but no web page
    │   └── PageTooDemanding    to find the article in it takes more time or memory than it may
    ├── FeedError               a body came, but no feed in it
    │   ├── NotAFeed
    │   └── FeedUnreadable
    ├── StoreUnavailable        the database does not answer
    └── StartError              the service cannot start as it is set up

A message says what happened and what to do next; it is shown to people, so it holds no SQL, no trace, no secret.
"""

from __future__ import annotations

from typing import ClassVar

from tidings.domain.wording import Words


class TidingsError(Exception):
    """code: stable name for logs and documentation; worth_retrying: whether waiting can help."""

    code: ClassVar[str] = "error"
    worth_retrying: ClassVar[bool] = False

    def __init__(self, message: Words) -> None:
        super().__init__(message)

    @property
    def message(self) -> Words:
        return str(self)


class InvalidInput(TidingsError):
    """field: the name of the field, parameter or setting as its sender knows it; empty for the whole."""

    code = "invalid-input"

    def __init__(self, message: Words, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class InvalidRule(InvalidInput):
    """number: which rule of the text is at fault, counted from 1."""

    code = "invalid-rule"

    def __init__(self, message: Words, *, field: str = "", number: int = 1) -> None:
        super().__init__(message, field=field)
        self.number = number


class NotFound(TidingsError):
    code = "not-found"


class Forbidden(TidingsError):
    code = "forbidden"


class Unauthorized(TidingsError):
    code = "unauthorized"


class UnknownKey(Unauthorized):
    code = "unknown-key"


class FetchError(TidingsError):
    """url: what was asked for, without credentials.

    was_reached: False when no connection came about: it may be them, it may be us.
    """

    code = "fetch-failed"
    worth_retrying = True
    was_reached: ClassVar[bool] = True

    def __init__(self, message: Words, *, url: str = "") -> None:
        super().__init__(message)
        self.url = url

    @property
    def is_passing(self) -> bool:
        """It says nothing about the document, which is most likely as good as before."""
        return isinstance(self, NetworkError | FetchTimeout)

    @property
    def says_network_is_up(self) -> bool:
        """Somebody out there sent us something."""
        return isinstance(self, HttpError | TooManyRedirects | BodyTooLarge | EmptyBody | UndecodableBody)


class NetworkError(FetchError):
    code = "network-error"


class Unreachable(NetworkError):
    code = "unreachable"
    was_reached = False


class FetchTimeout(FetchError):
    code = "fetch-timeout"


class ConnectTimeout(FetchTimeout):
    code = "connect-timeout"
    was_reached = False


class TlsError(FetchError):
    code = "tls-error"


class AddressRefused(FetchError):
    code = "address-refused"
    worth_retrying = False


class TooManyRedirects(FetchError):
    code = "too-many-redirects"


class BodyTooLarge(FetchError):
    code = "body-too-large"


class EmptyBody(FetchError):
    code = "empty-body"


class UndecodableBody(FetchError):
    code = "undecodable-body"


class HttpError(FetchError):
    """status: the response status; retry_after_s: what Retry-After asked for, in seconds, if anything.

    fresh_s: for how many seconds, by its cache headers, the answer will be the same.
    """

    code = "http-error"

    def __init__(
        self,
        message: Words,
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
    def is_passing(self) -> bool:
        """Too many requests, or out of service: so the host says itself."""
        return self.status in (429, 503)


class FeedGone(HttpError):
    """The publisher says this feed will not come back (410)."""

    code = "feed-gone"
    worth_retrying = False


class NotAPage(FetchError):
    code = "not-a-page"
    worth_retrying = False


class PageTooDemanding(FetchError):
    code = "page-too-demanding"
    worth_retrying = False


class FeedError(TidingsError):
    code = "feed-error"
    worth_retrying = True


class NotAFeed(FeedError):
    code = "not-a-feed"


class FeedUnreadable(FeedError):
    code = "feed-unreadable"


class StoreUnavailable(TidingsError):
    code = "store-unavailable"
    worth_retrying = True


class StartError(TidingsError):
    """One clear line for the terminal; the process ends with a non-zero exit code."""

    code = "cannot-start"
