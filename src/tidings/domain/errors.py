"""All errors that a user, an operator or a caller can act on.

    TidingsError
    ├── InvalidInput            the input cannot be used; names the field
    │   ├── InvalidField        the same; the message begins with the name of the field
    │   └── InvalidRule         a filter, rewrite or scraper rule; names the rule's number
    ├── NotFound                does not exist or belongs to another user: the two are indistinguishable on purpose
    ├── Forbidden               known caller, not allowed
    ├── Unauthorized            unknown caller
    │   └── UnknownApiKey       no user has this API key: asking for a password would not help
    ├── SignInThrottled         too many wrong passwords; this one was not verified
    ├── FetchError              a resource could not be fetched
    │   ├── NetworkError        the connection broke, or a redirect has no target
    │   │   └── HostUnreachable the name does not resolve, there is no route, or the connection is refused
    │   ├── FetchTimeout        the response took too long
    │   │   └── ConnectTimeout  connecting took too long
    │   ├── TlsError            the certificate is not valid
    │   ├── AddressRefused      the address guard refuses the address
    │   ├── TooManyRedirects
    │   ├── BodyTooLarge
    │   ├── EmptyBody
    │   ├── UndecodableBody     the body is not in the format that Content-Encoding declares
    │   ├── HttpError           a status of 400 or above
    │   │   └── FeedGone        410
    │   ├── NotAPage            the response is not a web page
    │   └── PageTooDemanding    extracting the article exceeds the limits on time or memory
    ├── FeedError               the body holds no usable feed
    │   ├── NotAFeed
    │   └── FeedUnreadable
    ├── ImportRunning           an import of this user has not ended
    ├── InsufficientStorage     the disk of the service is full
    ├── StoreUnavailable        the database does not answer
    ├── LocalShortage           this machine is short of files, memory or threads
    └── StartError              the service cannot start with its settings

A message says what happened and what to do next. Users see it, so it holds no SQL, no traceback and no secrets.
"""

from __future__ import annotations

from typing import ClassVar

from tidings.domain.messages import Message, join_sentences, msg, prefix_field, verbatim


class TidingsError(Exception):
    """code: stable name for logs and documentation. is_retryable: whether trying again later can help.

    text: the message, which can be rendered in any language. message: the message in English, for API, log and
    terminal.
    """

    code: ClassVar[str] = "error"
    is_retryable: ClassVar[bool] = False

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.text = message

    def __str__(self) -> str:
        return self.text.english()

    @property
    def message(self) -> str:
        return str(self)


class InvalidInput(TidingsError):
    """field: the name of the field, parameter or setting as the client knows it; "" if the whole input is wrong."""

    code = "invalid-input"

    def __init__(self, message: Message, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field

    @property
    def problem(self) -> Message:
        """What is wrong, without the name of the field: pages show it beside the labelled field."""
        return self.text

    def with_field(self, field: str) -> InvalidInput:
        """Returns the same error with another name of the field, for a client that knows it by that name."""
        text = self.text.with_texts(lambda text: text.replace(self.field, field)) if self.field else self.text
        return InvalidInput(text, field=field)


class ConcurrentChange(InvalidInput):
    """Another request made the same change at this moment: a repetition finds it made."""

    def __init__(self) -> None:
        super().__init__(msg("Someone else changed the same thing at this moment: look again, then repeat."))


class InvalidField(InvalidInput):
    """The message consists of the name of the field and the problem, as in "limit: send a whole number."."""

    def __init__(self, field: str, problem: Message) -> None:
        super().__init__(prefix_field(field, problem), field=field)
        self._problem = problem

    @property
    def problem(self) -> Message:
        return self._problem

    def with_field(self, field: str) -> InvalidField:
        return InvalidField(field, self._problem)


class InvalidRule(InvalidInput):
    """number: the position of the wrong rule in its text, counted from 1."""

    code = "invalid-rule"

    def __init__(self, message: Message, *, field: str = "", number: int = 1) -> None:
        super().__init__(message, field=field)
        self.number = number


class UnmatchableRule(InvalidRule):
    """A rule that matches nothing. It may be stored: clients send all settings of a feed when they change one."""


class NotFound(TidingsError):
    code = "not-found"


class Forbidden(TidingsError):
    code = "forbidden"


class Unauthorized(TidingsError):
    code = "unauthorized"


class UnknownApiKey(Unauthorized):
    code = "unknown-key"


class SignInThrottled(TidingsError):
    """retry_after_s: seconds until the next attempt is verified."""

    code = "sign-in-throttled"
    is_retryable = True

    def __init__(self, message: Message, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class FetchError(TidingsError):
    """url: the requested URL, without credentials.

    was_connected: False if no connection was established; the cause may be the server or the local network.
    """

    code = "fetch-failed"
    is_retryable = True
    was_connected: ClassVar[bool] = True

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
    """failure: what is wrong, without the hint that a feed can accept such certificates."""

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
    """status: the status of the response. retry_after_s: seconds of Retry-After, None if absent.

    fresh_s: for how many seconds, by its cache headers, the response stays the same.
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


class FeedGone(HttpError):
    """Status 410: the publisher states that the feed will not come back."""

    code = "feed-gone"
    is_retryable = False


class NotAPage(FetchError):
    code = "not-a-page"
    is_retryable = False


class PageTooDemanding(FetchError):
    code = "page-too-demanding"
    is_retryable = False


class FeedError(TidingsError):
    code = "feed-error"
    is_retryable = True


class NotAFeed(FeedError):
    code = "not-a-feed"


class FeedUnreadable(FeedError):
    code = "feed-unreadable"


class ImportRunning(TidingsError):
    """An import of this user has not ended: one runs at a time."""

    code = "import-running"
    is_retryable = True


class InsufficientStorage(TidingsError):
    """The disk of the service has too little free space."""

    code = "insufficient-storage"
    is_retryable = True


class StoreUnavailable(TidingsError):
    """reason: the error of the database, for log and terminal only.

    is_of_transaction: the database rolled back this transaction alone, such as after a deadlock; another may succeed.
    """

    code = "store-unavailable"
    is_retryable = True

    def __init__(self, message: Message, *, reason: str = "", is_of_transaction: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.is_of_transaction = is_of_transaction


class LocalShortage(TidingsError):
    """This machine has too few files, too little memory or too few threads: neither the publisher nor the network."""

    code = "local-shortage"
    is_retryable = True

    def __init__(self) -> None:
        super().__init__(
            msg("The server of Tidings is short of files, memory or threads at the moment; try again shortly.")
        )


class StartError(TidingsError):
    """An error at start: one line in English for the terminal; the process exits with a non-zero code."""

    code = "cannot-start"

    def __init__(self, message: str) -> None:
        super().__init__(verbatim(message))
