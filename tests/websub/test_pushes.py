"""Pushes on their way from a hub to the entries of feeds, and subscriptions over weeks, with a clock of our own."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from support.hub import Behaviour, Hub
from support.people import PASSWORD, rss
from support.running import environment_for
from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.content.model import FeedFormat, ParsedFeed
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.net.fetch import FetchResponse
from tidings.net.responses import Link
from tidings.services.listeners import CheckedDocument
from tidings.settings import load
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import sources
from tidings.storage.schema import entries
from tidings.websub import store
from tidings.websub.model import HubSubscription
from tidings.websub.pushes import MAX_ATTEMPTS, MAX_WAITING
from tidings.websub.tables import websub_subscriptions
from tidings.websub.wiring import callback_base
from tidings.websub.worker import Subscriber
from tidings.wiring.services import build_services

START = Instant(1_790_000_000 * SECOND)
TOPIC = "https://a.example/feed.xml"
TOKEN = "t" * 43


class WebSubFixture:
    """A database, the services over it, and a time that passes when we say so."""

    def __init__(self, database: Database, folder: Path, *, mode: str = "on") -> None:
        self.now = START
        self.database = database
        environment = environment_for("sqlite:////unused.db", folder, websub=mode)
        self.services = build_services(database, load(environment, None), clock=lambda: self.now)

    def person(self, name: str) -> User:
        return self.services.accounts.users.create(name, PASSWORD)

    def feed(self, user: User, url: str = TOPIC, **fields: Any) -> Feed:
        with self.database.writing() as db:
            category = categories.first(db, user.id)
            assert category is not None
            when = {"created_at": self.now, "checked_at": self.now, "next_check_at": self.now + HOUR}
            values = {"category_id": category.id, "feed_url": url, "title": url} | when | fields
            id_ = feeds.add(db, user.id, **values)
            feed = feeds.get(db, user.id, id_)
        assert feed is not None
        return feed

    def reloaded(self, feed: Feed) -> Feed:
        with self.database.reading() as db:
            found = feeds.get(db, feed.user_id, feed.id)
        assert found is not None
        return found

    def offered(self, feed: Feed, hub: str = "https://hub.example/", topic: str = TOPIC, token: str = TOKEN) -> None:
        with self.database.writing() as db:
            store.add_offer(db, feed.id, hub, topic, token=token, secret="secret", now=self.now)

    def active(self, token: str = TOKEN, **changes: Any) -> HubSubscription:
        values: dict[str, Any] = {
            "state": "active",
            "lease_until": self.now + DAY,
            "next_attempt_at": self.now + DAY,
        } | changes
        with self.database.writing() as db:
            found = store.by_token(db, token)
            assert found is not None
            store.change(db, found.id, **values)
            changed = store.by_token(db, token)
        assert changed is not None
        return changed

    def push(self, subscription: HubSubscription, items: Sequence[str], body: bytes | None = None) -> bool:
        raw = rss(items, TOPIC).encode() if body is None else body
        signature = "sha256=" + hmac.new(b"secret", raw, hashlib.sha256).hexdigest()
        return self.services.websub.pushes.receive(subscription, raw, signature=signature, charset="utf-8")

    def store_all(self) -> int:
        count = 0
        while self.services.websub.pushes.store_next():
            count += 1
        return count

    def titles(self, feed: Feed) -> list[str]:
        with self.database.reading() as db:
            return sorted(db.scalars(select(entries.c.title).where(entries.c.feed_id == feed.id)))

    def row(self) -> Any:
        with self.database.reading() as db:
            return db.row(select(websub_subscriptions))

    def pushed(self, feed: Feed) -> bool:
        with self.database.reading() as db:
            return any(store.hubs_of(db, sources.of_feeds(db, [feed.id]), self.now).values())


@pytest.fixture
def websub(database: Database, tmp_path: Path) -> WebSubFixture:
    return WebSubFixture(database, tmp_path)


def test_pushes_claimed_by_a_killed_worker_are_claimed_again(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"))
    websub.offered(feed)
    websub.push(websub.active(), ["One"])
    with websub.database.writing() as db:
        assert store.claim_push(db, now=websub.now, until=Instant(websub.now + 5 * MINUTE)) is not None

    assert websub.store_all() == 0
    websub.now = Instant(websub.now + 5 * MINUTE)
    assert websub.store_all() == 1
    assert websub.titles(feed) == ["One"]


def test_a_push_that_kills_workers_is_given_up_and_the_feed_polled(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"))
    websub.offered(feed)
    websub.push(websub.active(), ["One"])
    for _ in range(MAX_ATTEMPTS):
        with websub.database.writing() as db:
            assert store.claim_push(db, now=websub.now, until=websub.now) is not None

    assert websub.store_all() == 1
    assert websub.titles(feed) == []
    assert websub.reloaded(feed).next_check_at == feed.checked_at + 5 * MINUTE


def test_pushes_of_one_subscription_are_stored_in_their_order(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"))
    websub.offered(feed)
    subscription = websub.active()
    websub.push(subscription, ["One"])
    websub.push(subscription, ["Two"])
    with websub.database.writing() as db:
        first = store.claim_push(db, now=websub.now, until=Instant(websub.now + MINUTE))
        assert first is not None
        assert store.claim_push(db, now=websub.now, until=Instant(websub.now + MINUTE)) is None
        store.remove_push(db, first.id)

    assert websub.store_all() == 1
    assert websub.titles(feed) == ["Two"]


def test_the_number_of_stored_pushes_is_limited(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"))
    websub.offered(feed)
    subscription = websub.active()
    for number in range(MAX_WAITING + 5):
        assert websub.push(subscription, [f"Item {number}"])
        assert websub.push(subscription, [f"Item {number}"])

    with websub.database.reading() as db:
        assert store.count_pushes(db, subscription.id) == MAX_WAITING
    assert websub.reloaded(feed).next_check_at == feed.checked_at + 5 * MINUTE


def test_useless_pushes_cause_no_repeated_polls(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"), next_check_at=START + 10 * HOUR)
    websub.offered(feed)
    subscription = websub.active()
    websub.now = Instant(START + HOUR)
    websub.push(subscription, [], b"")
    assert websub.reloaded(feed).next_check_at == websub.now

    with websub.database.writing() as db:
        later = {"checked_at": websub.now, "next_check_at": websub.now + 10 * HOUR}
        feeds.change(db, feed.user_id, feed.id, **later)
    websub.push(subscription, [], b"")
    assert websub.reloaded(feed).next_check_at == websub.now + 5 * MINUTE
    with websub.database.reading() as db:
        assert not sources.any_due(db, websub.now)
        assert sources.any_due(db, Instant(websub.now + 5 * MINUTE))


def test_a_feed_that_cannot_be_stored_does_not_affect_other_subscribers(websub: WebSubFixture) -> None:
    alice, bob = websub.person("alice"), websub.person("bob")
    broken = websub.feed(alice, crawler=True)
    whole = websub.feed(bob)
    websub.offered(broken)
    websub.offered(whole)
    websub.push(websub.active(), ["One"])

    assert websub.store_all() == 1
    assert websub.titles(whole) == ["One"]
    # Whole articles are for the poller to find.
    assert websub.titles(broken) == []
    assert websub.reloaded(broken).next_check_at == broken.checked_at + 5 * MINUTE
    assert websub.reloaded(whole).next_check_at == whole.next_check_at


def test_a_push_updates_the_publish_rate_and_no_other_column(websub: WebSubFixture) -> None:
    known: dict[str, Any] = {
        "etag_header": '"1"',
        "last_modified_header": "then",
        "body_digest": b"x",
        "news_gap_s": 86_400,
    }
    feed = websub.feed(websub.person("alice"), **known, news_at=START - DAY, parsing_error_count=2)
    websub.offered(feed)
    websub.push(websub.active(), ["One"])
    websub.store_all()

    after = websub.reloaded(feed)
    changed = {name for name in Feed.__struct_fields__ if getattr(after, name) != getattr(feed, name)}
    assert changed == {"news_gap_s", "news_at"}
    assert after.news_gap_s < 86_400 * 2


def test_polling_is_slowed_by_pushes_until_one_is_missed(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"))
    websub.offered(feed)
    subscription = websub.active()
    assert not websub.pushed(feed)
    websub.push(subscription, ["One"])
    websub.store_all()
    assert websub.pushed(feed)

    document = ParsedFeed(format=FeedFormat.RSS, hubs=("https://hub.example/",), self_url=TOPIC)
    response = FetchResponse(status=200, url=TOPIC)
    websub.services.websub.subscriptions.record_offers([CheckedDocument(feed, response, document, has_news=False)])
    assert websub.pushed(feed)
    websub.services.websub.subscriptions.record_offers([CheckedDocument(feed, response, document, has_news=True)])
    assert not websub.pushed(feed)

    websub.push(subscription, ["Two"])
    websub.store_all()
    assert websub.pushed(feed)
    websub.now = Instant(websub.now + DAY)
    assert not websub.pushed(feed), "the lease is over"


def test_a_claim_knows_that_its_source_is_pushed(websub: WebSubFixture) -> None:
    alice = websub.person("alice")
    pushed, other = websub.feed(alice), websub.feed(alice, "https://b.example/")
    websub.offered(pushed)
    websub.push(websub.active(), ["One"])
    websub.store_all()
    websub.now = Instant(websub.now + HOUR)

    claims = websub.services.polling.claims.claim("worker", 10)

    assert {claim.lead.id: claim.is_pushed for claim in claims} == {pushed.id: True, other.id: False}
    assert {claim.lead.id: claim.has_hub for claim in claims} == {pushed.id: True, other.id: False}


def test_a_subscription_to_a_hub_that_is_no_longer_named_is_ended(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"))
    document = ParsedFeed(format=FeedFormat.RSS, hubs=("https://hub.example/",))
    response = FetchResponse(status=200, url=TOPIC)
    websub.services.websub.subscriptions.record_offers([CheckedDocument(feed, response, document)])
    websub.services.websub.subscriptions.record_offers([CheckedDocument(feed, response, document)])
    assert websub.row()["state"] == "requested"
    websub.active(websub.row()["token"])
    assert websub.services.websub.subscriptions.expire_unused() == 0

    # A "not modified" without links says nothing about it.
    websub.services.websub.subscriptions.record_offers(
        [CheckedDocument(feed, FetchResponse(status=304, url=TOPIC, not_modified=True), None)]
    )
    assert websub.services.websub.subscriptions.expire_unused() == 0
    websub.services.websub.subscriptions.record_offers(
        [CheckedDocument(feed, response, ParsedFeed(format=FeedFormat.RSS))]
    )
    assert websub.services.websub.subscriptions.expire_unused() == 1
    assert websub.row()["next_attempt_at"] == websub.now


def test_a_moved_hub_is_followed(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"))
    websub.offered(feed)
    links = (Link("https://new.example/", "hub"), Link(TOPIC, "self"))
    websub.services.websub.subscriptions.record_offers(
        [CheckedDocument(feed, FetchResponse(status=304, url=TOPIC, links=links, not_modified=True), None)]
    )

    with websub.database.reading() as db:
        assert set(store.offered_for(db, feed.id)) == {("https://new.example/", TOPIC)}


def test_subscriptions_over_months(websub: WebSubFixture) -> None:
    """Asked, ended when its reader leaves, remembered, and forgotten."""
    alice = websub.person("alice")
    with Hub() as hub:
        hub.behaviour = Behaviour(verifies=False)
        feed = websub.feed(alice)
        websub.offered(feed, hub.url)

        assert ask(websub) == 1
        assert ask(websub) == 0
        assert [one.mode for one in hub.requests(TOPIC)] == ["subscribe"]
        websub.active(attempts=0)
        websub.services.feeds.subscriptions.delete(alice.id, feed.id)
        assert websub.services.websub.subscriptions.expire_unused() == 1
        assert ask(websub) == 1
        assert websub.row()["state"] == "ended"
        assert len(hub.requests(TOPIC, "unsubscribe")) == 1
        assert "hub.secret" not in hub.requests(TOPIC, "unsubscribe")[0].form

        websub.now = Instant(websub.now + 30 * DAY)
        assert ask(websub) == 0
        websub.now = Instant(websub.now + DAY)
        assert ask(websub) == 1
        assert websub.row() is None


def test_retry_after_of_a_hub_is_honoured(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"))
    with Hub() as hub:
        hub.behaviour = Behaviour(status=429, headers={"Retry-After": "7200"})
        websub.offered(feed, hub.url)
        ask(websub)

    assert websub.row()["next_attempt_at"] == websub.now + 2 * HOUR
    assert "429" in websub.row()["last_error"]


def test_an_enabled_feed_is_subscribed_to_again(websub: WebSubFixture) -> None:
    feed = websub.feed(websub.person("alice"), disabled=True)
    websub.offered(feed)
    websub.active(state="ended")
    assert websub.services.websub.subscriptions.expire_unused() == 0
    with websub.database.writing() as db:
        feeds.change(db, feed.user_id, feed.id, disabled=False)

    assert websub.services.websub.subscriptions.expire_unused() == 1


def test_without_a_public_url_nothing_is_requested_or_accepted(database: Database, tmp_path: Path) -> None:
    websub = WebSubFixture(database, tmp_path, mode="auto")
    feed = websub.feed(websub.person("alice"))
    websub.offered(feed)
    subscription = websub.active(last_push_at=websub.now)

    assert not websub.services.websub.subscriptions.is_on
    assert not websub.services.websub.pushes.accepts(subscription)
    said = {"hub.mode": "subscribe", "hub.topic": TOPIC, "hub.challenge": "x"}
    assert websub.services.websub.pushes.verify(TOKEN, said) is None
    websub.services.websub.subscriptions.disable()
    assert not websub.pushed(feed)


def test_pushes_received_before_websub_was_disabled_are_stored(database: Database, tmp_path: Path) -> None:
    feed = (websub := WebSubFixture(database, tmp_path)).feed(websub.person("alice"))
    websub.offered(feed)
    websub.push(websub.active(), ["One"])
    off = WebSubFixture(database, tmp_path, mode="off").services

    asyncio.run(Subscriber(off.websub.subscriptions, off.websub.pushes).run(asyncio.Event()))

    assert websub.titles(feed) == ["One"]


@pytest.mark.parametrize(
    ("mode", "base_url", "found"),
    [
        ("auto", "https://reader.example.org/tidings/", "https://reader.example.org/tidings"),
        ("auto", "http://192.168.1.2:8080", ""),
        ("on", "http://192.168.1.2:8080", "http://192.168.1.2:8080"),
        ("off", "https://reader.example.org", ""),
    ],
)
def test_the_callback_url_follows_the_settings(tmp_path: Path, mode: str, base_url: str, found: str) -> None:
    environment = environment_for("sqlite:////unused.db", tmp_path, websub=mode, base_url=base_url)
    assert callback_base(load(environment, None)) == found


def ask(websub: WebSubFixture) -> int:
    async def run() -> int:
        try:
            return await websub.services.websub.subscriptions.send_due_requests()
        finally:
            await websub.services.websub.subscriptions.disconnect()

    return asyncio.run(run())
