"""What happens to accounts: who came in, who was refused, and what was changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from tidings.base.times import Instant
from tidings.domain.accounts.users import User


class Method(StrEnum):
    """By what a user proves who they are."""

    PASSWORD = "password"  # noqa: S105 - its name
    PASSKEY = "passkey"
    CODE = "code"
    """A one-time code."""
    RECOVERY_CODE = "recovery_code"
    OPENID = "openid"
    PROXY = "proxy"
    """A reverse proxy names the user."""
    API_KEY = "api_key"
    API_PASSWORD = "api_password"  # noqa: S105 - its name
    LINK = "link"
    """A link that an administrator, or the command line, has made."""
    COMMAND = "command"
    """The command line: nobody signs in with it."""

    @classmethod
    def read(cls, text: str) -> Method | None:
        """Return the method with this name, None if there is none."""
        return cls(text) if text in cls._value2member_map_ else None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from."""

    address: str = ""
    """The client's IP address; empty for the command line."""
    user_agent: str = ""
    method: Method | None = None
    """By what the request proves who its user is; None if unknown."""

    @classmethod
    def of_request(cls, address: str, user_agent: str, method: Method | None = None) -> Origin:
        """Return an origin with texts of bounded length, without control characters."""
        return cls(printable(address, MAX_ADDRESS), printable(user_agent, MAX_USER_AGENT), method)


# A command of the operator.
COMMAND_LINE = Origin(method=Method.COMMAND)
MAX_ADDRESS = 100
MAX_USER_AGENT = 500
MAX_DETAIL = 200


class EventKind(StrEnum):
    """What happened to an account."""

    SIGNED_IN = "signed_in"
    REFUSED = "refused"
    """Someone did not prove to be the user."""
    SIGNED_OUT = "signed_out"
    SESSION_ENDED = "session_ended"
    """A session of another browser was ended."""
    SESSIONS_ENDED = "sessions_ended"
    """All sessions were ended, or all but one."""
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 - its name
    USER_CREATED = "user_created"
    USER_CHANGED = "user_changed"
    """The name, the role or the limits: what only an administrator or the user may set."""
    USER_REMOVED = "user_removed"
    API_KEY_CREATED = "api_key_created"
    API_KEY_REMOVED = "api_key_removed"
    API_PASSWORD_CREATED = "api_password_created"  # noqa: S105 - its name
    API_PASSWORD_REMOVED = "api_password_removed"  # noqa: S105 - its name
    IDENTITY_LINKED = "identity_linked"
    IDENTITY_UNLINKED = "identity_unlinked"
    PASSKEY_ADDED = "passkey_added"
    PASSKEY_REMOVED = "passkey_removed"
    FACTOR_ADDED = "factor_added"
    """A second factor, or its recovery codes."""
    FACTOR_REMOVED = "factor_removed"
    INVITED = "invited"
    INVITATION_REMOVED = "invitation_removed"


class AccountEvent(Struct, frozen=True, kw_only=True):
    """Something that happened to an account. It has no secrets."""

    kind: EventKind
    at: Instant
    user_id: int | None
    """None if there is no such user, or not any more."""
    username: str
    """As it was given; empty if none was."""
    origin: Origin = Origin()
    actor_id: int | None = None
    """The administrator who did it; None for the user, and for the command line."""
    detail: str = ""
    """What it was about: the name of a key, the reason of a refusal."""
    second_method: Method | None = None
    """The second step of a sign-in."""
    session_id: int | None = None
    """The session that begins."""
    note: str = ""
    """What the way of signing in keeps with the session that begins. Listeners do not store it in logs."""

    @classmethod
    def of(
        cls, kind: EventKind, user: User, *, at: Instant, origin: Origin, actor: User | None = None, detail: str = ""
    ) -> AccountEvent:
        """Return what happened to the account of a user. actor: who did it, if that is known; maybe the user."""
        return cls(
            kind=kind,
            at=at,
            user_id=user.id,
            username=user.username,
            origin=origin,
            actor_id=actor.id if actor and actor.id != user.id else None,
            detail=detail,
        )


def printable(text: str, max_length: int) -> str:
    """Return the beginning of a text that was sent, without control characters."""
    return "".join(letter for letter in text[:max_length] if letter.isprintable())
