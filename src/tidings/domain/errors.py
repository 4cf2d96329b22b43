"""The errors of accounts and articles.

Unauthorized
└── UnknownApiKey       no user has this API key: asking for a password would not help
    └── ExpiredApiKey   it does not work any more
AccountFull             the account has reached one of its limits
SignInThrottled         too many wrong passwords; this one was not verified
FetchError
├── NotAPage            the response is not a web page
└── PageTooDemanding    extracting the article exceeds the limits on time or memory
"""

from __future__ import annotations

from tidings.base.errors import InvalidInput, TidingsError, Unauthorized
from tidings.base.messages import Message
from tidings.net.errors import FetchError


class UnknownApiKey(Unauthorized):
    code = "unknown-key"


class ExpiredApiKey(UnknownApiKey):
    code = "expired-key"


class AccountFull(InvalidInput):
    """The account has reached one of its limits: nothing is added until there is room again."""

    code = "account-full"


class SignInThrottled(TidingsError):
    """Too many failed sign-in attempts.

    retry_after_s: seconds until the next attempt is verified.
    """

    code = "sign-in-throttled"
    is_retryable = True

    def __init__(self, message: Message, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class NotAPage(FetchError):
    code = "not-a-page"
    is_retryable = False


class PageTooDemanding(FetchError):
    code = "page-too-demanding"
    is_retryable = False
