"""Decides whether the claims of a token prove who someone is (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.times import SECOND, Instant
from tidings.domain.accounts.users import validate_username
from tidings.sign_in.openid.errors import BrokenToken

# Seconds by which the clocks of the provider and of this machine may differ.
LEEWAY_S: Final = 60
# Characters; subjects have 255 at most (OpenID Connect Core, section 2).
MAX_SUBJECT: Final = 255
MAX_SESSION_ID: Final = 255
MAX_GROUPS: Final = 2_000
MAX_GROUP: Final = 500
# Seconds after which a logout token is too old, whatever it says itself.
MAX_LOGOUT_AGE_S: Final = 600
_LOGOUT_EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"


class Subject(Struct, frozen=True):
    """Whom a token is about."""

    issuer: str
    subject: str
    """"" in a logout token that names the session only."""
    session_id: str = ""
    """The session at the provider (`sid`), "" if it does not say."""


class Profile(Struct, frozen=True):
    """Someone whom the provider has signed in."""

    issuer: str
    subject: str
    username: str
    """The name that a new account gets, in the form in which it is stored; "" if the provider sends none."""
    shown_name: str
    """How the provider calls the user, for pages."""
    groups: tuple[str, ...] = ()
    session_id: str = ""
    id_token: str = ""

    def __repr__(self) -> str:
        return f"Profile({self.issuer!r}, {self.subject!r})"


def check_id_token(
    claims: Mapping[str, Any],
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    now: Instant,
    max_age_s: int | None = None,
    token_hash: str = "",
) -> Subject:
    """Return whom an ID token is about. Raises BrokenToken unless it was made for this sign-in.

    max_age_s: how long ago the user may have proved to the provider who they are, if the provider says that.
    token_hash: what at_hash has to be, if the token has it.
    """
    _check_issuer_and_audience(claims, issuer, client_id)
    now_s = now // SECOND
    if now_s > _time(claims, "exp") + LEEWAY_S:
        raise BrokenToken("the token has expired (exp)")
    if _time(claims, "iat") > now_s + LEEWAY_S:
        raise BrokenToken("the token comes from the future (iat): is a clock wrong?")
    if "nbf" in claims and _time(claims, "nbf") > now_s + LEEWAY_S:
        raise BrokenToken("the token is not valid yet (nbf): is a clock wrong?")
    sent_nonce = claims.get("nonce")
    if not isinstance(sent_nonce, str) or not hmac.compare_digest(
        sent_nonce.encode("utf-8", "replace"), nonce.encode()
    ):
        raise BrokenToken("the token belongs to another sign-in (nonce)")
    if max_age_s is not None and "auth_time" in claims and now_s > _time(claims, "auth_time") + max_age_s + LEEWAY_S:
        raise BrokenToken("the provider did not ask the user to sign in again (auth_time)")
    if "at_hash" in claims and claims["at_hash"] != token_hash:
        raise BrokenToken("the token belongs to another access token (at_hash)")
    subject = _text(claims, "sub", MAX_SUBJECT)
    if not subject:
        raise BrokenToken("the token does not say whom it is about (sub)")
    return Subject(issuer, subject, _text(claims, "sid", MAX_SESSION_ID))


def check_logout_token(claims: Mapping[str, Any], *, issuer: str, client_id: str, now: Instant) -> Subject:
    """Return whose sessions have to end. Raises BrokenToken.

    Source: OpenID Connect Back-Channel Logout 1.0, section 2.6.
    """
    _check_issuer_and_audience(claims, issuer, client_id)
    now_s, issued = now // SECOND, _time(claims, "iat")
    if issued > now_s + LEEWAY_S or now_s > issued + MAX_LOGOUT_AGE_S:
        raise BrokenToken("the logout token is too old, or comes from the future (iat)")
    if "exp" in claims and now_s > _time(claims, "exp") + LEEWAY_S:
        raise BrokenToken("the logout token has expired (exp)")
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(_LOGOUT_EVENT), dict):
        raise BrokenToken("the token is not a logout token (events)")
    if "nonce" in claims:
        raise BrokenToken("the token is not a logout token (nonce)")
    subject, session_id = _text(claims, "sub", MAX_SUBJECT), _text(claims, "sid", MAX_SESSION_ID)
    if not subject and not session_id:
        raise BrokenToken("the logout token names neither a user nor a session (sub, sid)")
    return Subject(issuer, subject, session_id)


def read_username(claims: Mapping[str, Any]) -> str:
    """Return the first usable name of `preferred_username` and `email`, in the form in which it is stored; else "".

    An address that the provider has not verified is left out: anybody could have typed it.
    """
    names = [claims.get("preferred_username")]
    if claims.get("email_verified") is not False:
        names.append(claims.get("email"))
    for name in names:
        try:
            if isinstance(name, str) and name.strip():
                return validate_username(name.strip())
        except InvalidInput:
            continue
    return ""


def read_shown_name(claims: Mapping[str, Any]) -> str:
    """Return how the provider calls the user: a short text for pages."""
    for claim in ("preferred_username", "email", "name", "sub"):
        value = claims.get(claim)
        if isinstance(value, str) and value.strip():
            return "".join(letter for letter in value.strip()[:100] if letter.isprintable())
    return ""


def read_groups(claims: Mapping[str, Any], claim: str) -> tuple[str, ...]:
    """Return the user's groups. claim: its name; dots lead into objects, unless the name itself has them."""
    value: Any = claims
    for part in [claim] if claim in claims else claim.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return ()
    return tuple(each for each in value[:MAX_GROUPS] if isinstance(each, str) and 0 < len(each) <= MAX_GROUP)


def _check_issuer_and_audience(claims: Mapping[str, Any], issuer: str, client_id: str) -> None:
    if claims.get("iss") != issuer:
        raise BrokenToken(f"the token is from {str(claims.get('iss'))[:200]!r}, expected {issuer!r} (iss)")
    audience = claims.get("aud")
    audiences = [audience] if isinstance(audience, str) else audience
    if not isinstance(audiences, list) or client_id not in audiences:
        raise BrokenToken("the token is for someone else (aud)")
    party = claims.get("azp")
    if (len(audiences) > 1 or party is not None) and party != client_id:
        raise BrokenToken("the token was given to someone else (azp)")


def _time(claims: Mapping[str, Any], name: str) -> float:
    """Return a time in seconds since 1970. Raises BrokenToken if it is missing or not a number."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        raise BrokenToken(f"the token has no usable {name}")
    return value


def _text(claims: Mapping[str, Any], name: str, limit: int) -> str:
    value = claims.get(name, "")
    if not isinstance(value, str) or len(value) > limit or not value.isprintable():
        raise BrokenToken(f"the token has no usable {name}")
    return value
