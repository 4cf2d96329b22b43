"""The hubs that a feed offers, the states of a subscription, and the signatures of pushes."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import DAY, HOUR, MINUTE, Instant
from tidings.content.model import FeedFormat, ParsedFeed
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.check_times import PublishRate, Schedule, after_check
from tidings.net.responses import Link
from tidings.websub.model import (
    MAX_LEASE,
    REQUESTED_LEASE,
    HubMode,
    HubSubscription,
    SubscriptionState,
    denied_columns,
    display_text,
    is_awaited,
    is_genuine,
    next_step,
    retry_delay,
    verified_columns,
)
from tidings.websub.subscriptions import HubOffer, find_offer

# An HMAC key that is shorter than a block is filled with NUL: with one at its end it would be the same key (RFC 2104).
SECRETS = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=80)
NOW = Instant(1_800_000_000_000_000)
HUB, OTHER_HUB = "https://hub.example/", "https://other.example/hub"
URL = "https://a.example/feed.xml"
SELF, CANONICAL = "https://a.example/self", "https://a.example/canonical"
MANY = tuple(f"https://{number}.example/" for number in range(9))
ODD = ("ftp://hub.example/", "javascript:alert(1)", "https://", "https://u:p@hub.example/", "https://[")
fractions = st.floats(0, 1, exclude_max=True)


def feed(**fields: Any) -> Feed:
    when = {"checked_at": NOW, "next_check_at": NOW}
    return Feed(id=1, user_id=1, category_id=1, title="A", **({"feed_url": URL} | when | fields))


def document(*hubs: str, self_url: str = "") -> ParsedFeed:
    return ParsedFeed(format=FeedFormat.ATOM, hubs=hubs, self_url=self_url)


def subscription(state: SubscriptionState, **fields: Any) -> HubSubscription:
    known: dict[str, Any] = {"id": 1, "hub": HUB, "topic": URL, "token": "t", "secret": "s", "next_attempt_at": NOW}
    return HubSubscription(state=state, **(known | fields))


@pytest.mark.parametrize(
    ("links", "parsed", "offer"),
    [
        ([], document(), None),
        ([], document(HUB), HubOffer((HUB,), URL)),
        ([], document(HUB, OTHER_HUB, self_url=CANONICAL), HubOffer((HUB, OTHER_HUB), CANONICAL)),
        ([Link(OTHER_HUB, "hub"), Link(SELF, "self")], document(HUB, self_url=URL), HubOffer((OTHER_HUB,), SELF)),
        ([Link(SELF, "self")], document(HUB, self_url=URL), HubOffer((HUB,), SELF)),
        ([Link(HUB, "hub")], document(self_url=CANONICAL), HubOffer((HUB,), CANONICAL)),
        ([Link(HUB, "hub"), Link(URL, "self")], None, HubOffer((HUB,), URL)),
        ([Link(HUB, "hub")], None, None),
        ([], None, None),
        ([], document(HUB, HUB), HubOffer((HUB,), URL)),
        ([], document(*MANY), HubOffer(MANY[:3], URL)),
        ([], document(*ODD, HUB), HubOffer((HUB,), URL)),
        ([], document(HUB, self_url="https://a.example/" + "x" * 1000), None),
        ([], document(HUB, self_url="https://a.example/\nx"), None),
        ([], document("https://hub.example/\ud800"), None),
    ],
)  # fmt: skip
def test_link_headers_win_over_the_document_and_that_over_the_url(
    links: list[Link], parsed: ParsedFeed | None, offer: HubOffer | None
) -> None:
    assert find_offer(feed(), links, parsed) == offer


@pytest.mark.parametrize(
    "own",
    [
        {"username": "u"},
        {"password": "p"},
        {"cookie": "c"},
        {"proxy_url": "http://proxy.example"},
        {"fetch_via_proxy": True},
        {"feed_url": "https://u:p@a.example/feed.xml"},
    ],
)
def test_a_feed_with_credentials_or_a_proxy_offers_no_hub(own: dict[str, Any]) -> None:
    assert find_offer(feed(**own), [], document(HUB)) is None


@pytest.mark.parametrize(
    "state", [SubscriptionState.REQUESTED, SubscriptionState.ACTIVE, SubscriptionState.DENIED, SubscriptionState.ENDED]
)
def test_a_subscription_in_use_is_requested(state: SubscriptionState) -> None:
    step = next_step(subscription(state, attempts=1), is_wanted=True, now=NOW, random_fraction=0.5)

    assert step.request is HubMode.SUBSCRIBE
    assert step.changes["attempts"] == 2
    assert step.changes["asked_at"] == NOW
    assert step.changes["next_attempt_at"] > NOW
    assert step.changes.get("state", state) == (
        SubscriptionState.REQUESTED if state is SubscriptionState.ENDED else state
    )


@pytest.mark.parametrize("state", [SubscriptionState.REQUESTED, SubscriptionState.ACTIVE])
def test_an_unused_subscription_is_ended_and_kept(state: SubscriptionState) -> None:
    step = next_step(subscription(state), is_wanted=False, now=NOW, random_fraction=0.5)

    assert step.request is HubMode.UNSUBSCRIBE
    assert step.changes["state"] == SubscriptionState.ENDED
    assert step.changes["next_attempt_at"] > NOW + MAX_LEASE


@pytest.mark.parametrize(
    "state",
    [SubscriptionState.DENIED, SubscriptionState.ENDED],
)
def test_an_unused_ended_or_denied_subscription_is_deleted(state: SubscriptionState) -> None:
    assert next_step(subscription(state), is_wanted=False, now=NOW, random_fraction=0.5).is_deleted


@pytest.mark.slow
@given(random_fraction=fractions)
def test_the_delay_between_requests_to_a_silent_hub_grows(random_fraction: float) -> None:
    waits = [retry_delay(attempts, random_fraction) for attempts in range(1, 2000)]

    assert waits == sorted(waits)
    assert 3 * MINUTE < waits[0] <= 5 * MINUTE
    assert 18 * HOUR <= waits[-1] <= DAY


@given(lease_s=st.one_of(st.integers(-5, 10**13).map(str), st.text()), random_fraction=fractions)
def test_any_lease_is_renewed_in_time_but_not_constantly(lease_s: str, random_fraction: float) -> None:
    changes = verified_columns(lease_s, now=NOW, random_fraction=random_fraction)
    lease, wait = changes["lease_until"] - NOW, changes["next_attempt_at"] - NOW

    assert 0 <= lease <= MAX_LEASE
    assert wait >= 6 * MINUTE
    assert wait < lease or lease < 10 * MINUTE
    assert changes["state"] == SubscriptionState.ACTIVE


def test_without_a_lease_in_the_verification_the_requested_one_applies() -> None:
    assert verified_columns("", now=NOW, random_fraction=0)["lease_until"] == NOW + REQUESTED_LEASE


def test_a_denial_holds_for_a_week() -> None:
    assert denied_columns("", now=NOW, random_fraction=0)["next_attempt_at"] == NOW + 7 * DAY
    assert denied_columns("", now=NOW, random_fraction=0)["last_error"] != ""


@pytest.mark.parametrize(
    ("state", "mode", "asked_at", "awaited"),
    [
        (SubscriptionState.REQUESTED, "subscribe", NOW - MINUTE, True),
        (SubscriptionState.ACTIVE, "subscribe", NOW - MINUTE, True),
        (SubscriptionState.DENIED, "subscribe", NOW - MINUTE, True),
        (SubscriptionState.ENDED, "unsubscribe", NOW - MINUTE, True),
        (SubscriptionState.ENDED, "subscribe", NOW - MINUTE, False),
        (SubscriptionState.ACTIVE, "unsubscribe", NOW - MINUTE, False),
        (SubscriptionState.ACTIVE, "", NOW - MINUTE, False),
        (SubscriptionState.REQUESTED, "subscribe", None, False),
        (SubscriptionState.ACTIVE, "subscribe", NOW - DAY - 1, False),
    ],
)
def test_only_a_recent_request_can_be_verified(
    state: SubscriptionState, mode: str, asked_at: Instant | None, awaited: bool
) -> None:
    assert is_awaited(subscription(state, asked_at=asked_at), mode, NOW) == awaited


@pytest.mark.slow
@given(body=st.binary(max_size=200), secret=SECRETS, other=SECRETS)
def test_a_push_is_genuine_only_with_the_secret(body: bytes, secret: str, other: str) -> None:
    secret, other = (text.encode("utf-8", "replace").decode() for text in (secret, other))
    for method in ("sha1", "sha256", "sha384", "sha512"):
        digest = hmac.new(secret.encode(), body, getattr(hashlib, method)).hexdigest()
        assert is_genuine(secret, body, f"{method}={digest}")
        assert is_genuine(secret, body, f" {method.upper()}={digest.upper()} ")
        assert not is_genuine(secret, body + b".", f"{method}={digest}")
        assert not is_genuine(secret, body, f"{method}={digest[:-1]}")
        assert is_genuine(other, body, f"{method}={digest}") == (other.encode() == secret.encode())


@given(signature=st.text(max_size=60))
def test_any_signature_is_checked_without_errors(signature: str) -> None:
    assert not is_genuine("secret", b"body", signature)


@given(text=st.text(max_size=2000))
def test_display_text_is_one_short_line(text: str) -> None:
    line = display_text(text)
    assert len(line) <= 200
    assert line.isprintable()


@given(random_fraction=fractions, gap_s=st.integers(1, 10_000_000))
def test_with_pushes_checks_are_less_frequent_within_the_limits(random_fraction: float, gap_s: int) -> None:
    rate, schedule = PublishRate(gap_s, NOW), Schedule()
    alone = after_check(NOW, schedule, rate, random_fraction=random_fraction)
    pushed = after_check(NOW, schedule, rate, random_fraction=random_fraction, is_pushed=True)

    assert alone <= pushed <= NOW + DAY
    assert pushed - NOW >= min(7 * (alone - NOW), 20 * HOUR)
    own = [
        after_check(NOW, schedule, rate, random_fraction=random_fraction, user_interval_minutes=5, is_pushed=flag)
        for flag in (False, True)
    ]
    assert own[0] == own[1]


def test_repr_shows_neither_token_nor_secret() -> None:
    assert repr(subscription(SubscriptionState.ACTIVE)) == "HubSubscription(1)"
