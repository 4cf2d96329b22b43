"""WebSub, the subscriber's side: what a feed offers, what becomes of a subscription, whether a push is genuine.

    requested ── verified ─► active ── nobody reads it any more ─► ended
        │  ▲                   │
        ▼  └─ a week later     ▼
      denied ◄──────────── taken back

Source: WebSub, W3C Recommendation of 23 January 2018. PubSubHubbub 0.4 hubs speak the same.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from tidings.domain.feeds.feeds import Feed, ParsedFeed
from tidings.domain.polling.cache_headers import Link
from tidings.domain.times import DAY, MINUTE, SECOND, Instant

# A publisher may name several hubs for safety; the first ones are enough for that.
MOST_HUBS = 3
# Hub and topic stand in an index, where PostgreSQL has room for 2,700 bytes.
LONGEST_ADDRESS = 1000

ASKED_LEASE = 10 * DAY
# A hub may say what it likes: we neither renew all the time nor trust a promise for ever.
SHORTEST_LEASE = 10 * MINUTE
LONGEST_LEASE = 30 * DAY
# How long a hub may take to ask whether it was really us.
VERIFIED_WITHIN = DAY

FIRST_RETRY = 5 * MINUTE
LONGEST_RETRY = DAY
AFTER_DENIAL = 7 * DAY
# What has ended is remembered for longer than any lease: a hub that goes on pushing is told that it is over.
REMEMBERED = LONGEST_LEASE + DAY

_METHODS = frozenset({"sha1", "sha256", "sha384", "sha512"})
_NOT_IN_ADDRESSES = re.compile(r"[\x00-\x20\x7f]")


class SubscriptionState(StrEnum):
    """requested: the hub has not verified it yet. ended: by us; whoever wants it again asks anew."""

    REQUESTED = "requested"
    ACTIVE = "active"
    DENIED = "denied"
    ENDED = "ended"


class HubMode(StrEnum):
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    DENIED = "denied"


class HubOffer(Struct, frozen=True):
    """Where a document is pushed from, and under which name. hubs: at least one."""

    hubs: tuple[str, ...]
    topic: str


class HubSubscription(Struct, frozen=True):
    """One for each hub and topic, whoever reads it. token: of the callback address. asked_at: the last request."""

    id: int
    hub: str
    topic: str
    token: str
    secret: str
    state: str
    next_attempt_at: Instant
    attempts: int = 0
    asked_at: Instant | None = None

    def __repr__(self) -> str:
        """Without token and secret: subscriptions end up in logs and traces."""
        return f"Subscription({self.id})"


class Step(Struct, frozen=True):
    """What to do next about a subscription. ask: send the hub this; changes: to its row; is_over: forget it."""

    ask: HubMode | None = None
    changes: Mapping[str, Any] = {}
    is_over: bool = False


def offered(feed: Feed, links: Iterable[Link], document: ParsedFeed | None) -> HubOffer | None:
    """Link headers win over the document (section 4); a document that does not name itself is its address.

    The topic may lie on another host, as feeds behind a feed service do. No harm comes of what a publisher pretends
    there: a push reaches only the feeds that offered this very hub and topic themselves, and those are its own.
    """
    if not may_be_pushed(feed):
        return None
    links = tuple(links)
    hubs = [link.url for link in links if link.rel == "hub"]
    selves = [link.url for link in links if link.rel == "self"]
    if document is not None:
        hubs = hubs or list(document.hubs)
        selves.append(document.self_url)
    elif not selves:
        return None  # a "not modified" that does not tell its topic tells nothing
    usable = tuple(dict.fromkeys(filter(_is_usable, hubs)))[:MOST_HUBS]
    topic = next(filter(None, selves), feed.feed_url)
    return HubOffer(usable, topic) if usable and _is_usable(topic) else None


def may_be_pushed(feed: Feed) -> bool:
    """Not what is fetched in somebody's own name or way: a hub would not get to see the same."""
    own = (feed.username, feed.password, feed.cookie, feed.proxy_url)
    return not any(own) and not feed.fetch_via_proxy and "@" not in urlsplit(feed.feed_url).netloc


def next_step(subscription: HubSubscription, *, is_wanted: bool, now: Instant, chance: float) -> Step:
    """At `next_attempt_at`, or earlier when somebody noticed that it is not wanted any more.

    chance: from 0 to 1, so that not all of them come at once.
    """
    has_asked = subscription.state in (SubscriptionState.REQUESTED, SubscriptionState.ACTIVE)
    if not is_wanted and not has_asked:
        return Step(is_over=True)
    if not is_wanted:
        # Once is enough: a hub that did not hear it is told so with its next push, and its lease ends.
        changes = {"state": SubscriptionState.ENDED, "next_attempt_at": Instant(now + REMEMBERED), "lease_until": None}
        return Step(HubMode.UNSUBSCRIBE, {**changes, "asked_at": now, "attempts": 0})
    attempts = subscription.attempts + 1
    retry_at = Instant(now + retry_after(attempts, chance))
    changes = {"asked_at": now, "attempts": attempts, "next_attempt_at": retry_at}
    if subscription.state == SubscriptionState.ENDED:
        changes["state"] = SubscriptionState.REQUESTED
    return Step(HubMode.SUBSCRIBE, changes)


def retry_after(attempts: int, chance: float) -> int:
    """Microseconds. attempts: requests since the hub last verified one, counted from 1."""
    wait = min(FIRST_RETRY << min(max(attempts - 1, 0), 12), LONGEST_RETRY)
    return int(wait * (0.75 + chance / 4))


def verified(lease_s: str, *, now: Instant, chance: float) -> Mapping[str, Any]:
    """The changes when a hub verified a subscription. lease_s: as it came; some older hubs leave it out.

    Renewed when between three and four fifths of the lease are over: time for several tries.
    """
    lease = int(lease_s) * SECOND if re.fullmatch(r"[0-9]{1,12}", lease_s, re.ASCII) else ASKED_LEASE
    lease = min(lease, LONGEST_LEASE)
    return {
        "state": SubscriptionState.ACTIVE,
        "lease_until": Instant(now + lease),
        "next_attempt_at": Instant(now + round(max(lease, SHORTEST_LEASE) * (0.6 + chance / 5))),
        "attempts": 0,
        "last_error": "",
    }


_NO_REASON = "The hub gave no reason."


def denied(reason: str, *, now: Instant, chance: float) -> Mapping[str, Any]:
    """Some hubs deny what they do not know yet: later they may."""
    return {
        "state": SubscriptionState.DENIED,
        "lease_until": None,
        "next_attempt_at": Instant(now + round(AFTER_DENIAL * (1 + chance / 4))),
        "last_error": display_text(reason) or _NO_REASON,
    }


def is_awaited(subscription: HubSubscription, mode: str, now: Instant) -> bool:
    """Whether a hub may verify this now: only what we asked for, and not long ago."""
    wanted = HubMode.UNSUBSCRIBE if subscription.state == SubscriptionState.ENDED else HubMode.SUBSCRIBE
    asked_at = subscription.asked_at
    return mode == wanted and asked_at is not None and now - asked_at <= VERIFIED_WITHIN


def is_genuine(secret: str, body: bytes, signature: str) -> bool:
    """signature: the X-Hub-Signature header, `method=hex digits`; compared in constant time.

    SHA-1 is what most hubs still sign with; as an HMAC it holds (section 7.1).
    """
    method, _, digest = signature.strip().partition("=")
    if method.lower() not in _METHODS or not digest.isascii():
        return False
    expected = hmac.new(secret.encode(), body, getattr(hashlib, method.lower())).hexdigest()
    return hmac.compare_digest(expected, digest.lower())


def display_text(text: str) -> str:
    """What a hub says, fit for a log: one line, printable, short."""
    return " ".join(_printable(text).split())[:200]


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text[:1000])


def _is_usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        size = len(url.encode())
    except ValueError:  # UnicodeError is one too
        return False
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    return is_web and size <= LONGEST_ADDRESS and not _NOT_IN_ADDRESSES.search(url)


def form(subscription: HubSubscription, mode: HubMode, callback: str) -> Mapping[str, str]:
    """What a hub is sent (section 5.1). A hub on plain HTTP gets a secret too: that is better than none."""
    sent = {"hub.callback": callback, "hub.mode": mode.value, "hub.topic": subscription.topic}
    if mode is HubMode.SUBSCRIBE:
        sent |= {"hub.lease_seconds": str(ASKED_LEASE // SECOND), "hub.secret": subscription.secret}
    return sent


def addresses(offer: HubOffer | None) -> Iterator[tuple[str, str]]:
    """Hub and topic of each subscription that an offer asks for."""
    if offer is not None:
        yield from ((hub, offer.topic) for hub in offer.hubs)
