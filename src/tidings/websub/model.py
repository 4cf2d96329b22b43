"""WebSub, the subscriber's side: the states of a subscription, requests to hubs, the signature of a push.

    requested ── verified ─► active ── no feed uses it ─► ended
        │  ▲                   │
        ▼  └─ a week later     ▼
      denied ◄───────── denied by the hub

Source: WebSub, W3C Recommendation of 23 January 2018. PubSubHubbub 0.4 hubs speak the same.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from tidings.base.times import DAY, MINUTE, SECOND, Instant

REQUESTED_LEASE = 10 * DAY
# A hub chooses the lease: these limits prevent constant renewals, and subscriptions that are never renewed.
MIN_LEASE = 10 * MINUTE
MAX_LEASE = 30 * DAY
# For how long after a request the hub may verify it.
VERIFICATION_WINDOW = DAY

FIRST_RETRY = 5 * MINUTE
MAX_RETRY = DAY
RETRY_AFTER_DENIAL = 7 * DAY
# Ended subscriptions are kept for longer than any lease, so that later pushes of the hub get the right response.
ENDED_RETENTION = MAX_LEASE + DAY

_METHODS = frozenset({"sha1", "sha256", "sha384", "sha512"})


class SubscriptionState(StrEnum):
    """The state of a subscription at a hub."""

    REQUESTED = "requested"
    """The hub has not verified it yet."""
    ACTIVE = "active"
    DENIED = "denied"
    ENDED = "ended"
    """Tidings unsubscribed; it can be requested again."""


class HubMode(StrEnum):
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    DENIED = "denied"


class HubSubscription(Struct, frozen=True):
    """A subscription to a topic at a hub: one for each hub and topic, shared by all users."""

    id: int
    hub: str
    topic: str
    token: str
    """Part of the callback URL."""
    secret: str
    state: str
    next_attempt_at: Instant
    attempts: int = 0
    asked_at: Instant | None = None
    """Time of the last request."""

    def __repr__(self) -> str:
        """Leaves out token and secret: subscriptions appear in logs and tracebacks."""
        return f"HubSubscription({self.id})"


class SubscriptionStep(Struct, frozen=True):
    """What to do next with a subscription."""

    request: HubMode | None = None
    """Mode of the request to send to the hub; None for no request."""
    changes: Mapping[str, Any] = {}
    """New values of its columns."""
    is_deleted: bool = False
    """Delete the subscription."""


def next_step(
    subscription: HubSubscription, *, is_wanted: bool, now: Instant, random_fraction: float
) -> SubscriptionStep:
    """Return what to do at `next_attempt_at`, or earlier when no feed uses the subscription any more.

    is_wanted: whether a feed uses it. random_fraction: from 0 to 1, so that not all requests are sent together.
    """
    is_known_to_hub = subscription.state in (SubscriptionState.REQUESTED, SubscriptionState.ACTIVE)
    if not is_wanted and not is_known_to_hub:
        return SubscriptionStep(is_deleted=True)
    if not is_wanted:
        # One request is enough: if it is lost, the response to the next push says it again, and the lease ends.
        kept_until = Instant(now + ENDED_RETENTION)
        changes = {"state": SubscriptionState.ENDED, "next_attempt_at": kept_until, "lease_until": None}
        return SubscriptionStep(HubMode.UNSUBSCRIBE, {**changes, "asked_at": now, "attempts": 0})
    attempts = subscription.attempts + 1
    retry_at = Instant(now + retry_delay(attempts, random_fraction))
    changes = {"asked_at": now, "attempts": attempts, "next_attempt_at": retry_at}
    if subscription.state == SubscriptionState.ENDED:
        changes["state"] = SubscriptionState.REQUESTED
    return SubscriptionStep(HubMode.SUBSCRIBE, changes)


def retry_delay(attempts: int, random_fraction: float) -> int:
    """Return the microseconds until the next request. attempts: requests since the last verification, from 1."""
    wait = min(FIRST_RETRY << min(max(attempts - 1, 0), 12), MAX_RETRY)
    return int(wait * (0.75 + random_fraction / 4))


def verified_columns(lease_s: str, *, now: Instant, random_fraction: float) -> Mapping[str, Any]:
    """Return the changed columns of a subscription that the hub verified.

    lease_s: the hub's value; some hubs leave it out.
    It is renewed after three to four fifths of the lease, which leaves time for several attempts.
    """
    lease = int(lease_s) * SECOND if re.fullmatch(r"[0-9]{1,12}", lease_s, re.ASCII) else REQUESTED_LEASE
    lease = min(lease, MAX_LEASE)
    return {
        "state": SubscriptionState.ACTIVE,
        "lease_until": Instant(now + lease),
        "next_attempt_at": Instant(now + round(max(lease, MIN_LEASE) * (0.6 + random_fraction / 5))),
        "attempts": 0,
        "last_error": "",
    }


_NO_REASON = "The hub gave no reason."


def denied_columns(reason: str, *, now: Instant, random_fraction: float) -> Mapping[str, Any]:
    """Return the changed columns of a subscription that the hub denied.

    It is requested again after a week, because some hubs deny topics that are new to them.
    """
    return {
        "state": SubscriptionState.DENIED,
        "lease_until": None,
        "next_attempt_at": Instant(now + round(RETRY_AFTER_DENIAL * (1 + random_fraction / 4))),
        "last_error": display_text(reason) or _NO_REASON,
    }


def is_awaited(subscription: HubSubscription, mode: str, now: Instant) -> bool:
    """Return whether the subscription expects this verification: the mode last requested, within a day."""
    wanted = HubMode.UNSUBSCRIBE if subscription.state == SubscriptionState.ENDED else HubMode.SUBSCRIBE
    asked_at = subscription.asked_at
    return mode == wanted and asked_at is not None and now - asked_at <= VERIFICATION_WINDOW


def is_genuine(secret: str, body: bytes, signature: str) -> bool:
    """Return whether the signature of a push is valid; the comparison takes constant time.

    signature: the X-Hub-Signature header, `method=hex digits`. Most hubs still use SHA-1, which is secure as an HMAC
    (section 7.1).
    """
    method, _, digest = signature.strip().partition("=")
    if method.lower() not in _METHODS or not digest.isascii():
        return False
    expected = hmac.new(secret.encode(), body, getattr(hashlib, method.lower())).hexdigest()
    return hmac.compare_digest(expected, digest.lower())


def display_text(text: str) -> str:
    """Return a text from a hub in a form suitable for logs: one printable line of at most 200 characters."""
    return " ".join(_printable(text).split())[:200]


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text[:1000])


def request_form(subscription: HubSubscription, mode: HubMode, callback: str) -> Mapping[str, str]:
    """Return the form fields of a request to a hub (section 5.1).

    A hub on plain HTTP gets the secret too: a secret that can be intercepted is better than none.
    """
    fields = {"hub.callback": callback, "hub.mode": mode.value, "hub.topic": subscription.topic}
    if mode is HubMode.SUBSCRIBE:
        fields |= {"hub.lease_seconds": str(REQUESTED_LEASE // SECOND), "hub.secret": subscription.secret}
    return fields
