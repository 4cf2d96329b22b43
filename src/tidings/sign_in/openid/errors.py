"""Why a sign-in at the provider failed: a message for the page, and the reason for the log."""

from __future__ import annotations

from typing import ClassVar

from tidings.base.errors import TidingsError
from tidings.base.messages import Message, msg


class OpenIdError(TidingsError):
    """A sign-in at the provider that cannot be completed.

    reason: for the log: what exactly was wrong, without secrets.
    """

    code = "openid-error"
    status: ClassVar[int] = 400

    def __init__(self, message: Message, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class ProviderUnavailable(OpenIdError):
    """The provider does not respond, or not as the standards say."""

    code = "openid-provider-unavailable"
    is_retryable = True
    status = 502

    def __init__(self, reason: str) -> None:
        super().__init__(_UNAVAILABLE, reason)


class CodeRefused(OpenIdError):
    """The provider does not give tokens for the code, or for our id and secret."""

    status = 502

    def __init__(self, reason: str) -> None:
        super().__init__(_CODE_REFUSED, reason)


class BrokenToken(OpenIdError):
    """A token that does not prove what it should prove."""

    code = "openid-broken-token"

    def __init__(self, reason: str) -> None:
        super().__init__(_BROKEN_TOKEN, reason)


class UnknownKey(BrokenToken):
    """The key that signed a token is not among the provider's keys, as far as they are known."""


class StateMismatch(OpenIdError):
    """The response does not belong to a sign-in that was started in this browser a short time ago."""

    def __init__(self, reason: str) -> None:
        super().__init__(_STATE_MISMATCH, reason)


class Denied(OpenIdError):
    """The provider has not signed the user in, or the user has cancelled."""

    status = 403

    def __init__(self, reason: str) -> None:
        super().__init__(_DENIED, reason)


class NotAdmitted(OpenIdError):
    """The provider has signed someone in who may not use this service."""

    status = 403


_UNAVAILABLE = msg(
    "The sign-in service does not respond as it should. Try again in a few minutes. If it stays like this, tell the "
    "administrator: the log of the server has the details."
)
_CODE_REFUSED = msg(
    "The sign-in service did not confirm the sign-in. Try again. If it stays like this, tell the administrator: the "
    "log of the server has the details."
)
_BROKEN_TOKEN = msg(
    "What the sign-in service sent is not valid, so that you are not signed in. Try again. If it stays like this, tell "
    "the administrator: the log of the server has the reason."
)
_STATE_MISMATCH = msg(
    "This sign-in was not started in this browser, or it took longer than ten minutes. Start again from the sign-in "
    "page. The browser has to accept cookies."
)
_DENIED = msg("The sign-in service did not sign you in. Try again, or choose another way to sign in.")
