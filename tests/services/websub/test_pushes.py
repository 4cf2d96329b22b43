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

from support.hub import Hub, Manner
from support.people import PASSWORD, rss
from support.running import environment_for
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feeds import Feed, FeedFormat, ParsedFeed
from tidings.domain.polling.cache_headers import Link
from tidings.domain.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.domain.websub.subscriptions import HubSubscription
from tidings.net.fetch import FetchResponse
from tidings.services.websub.pushes import MAX_ATTEMPTS, MAX_WAITING
from tidings.services.websub.subscriptions import CheckedDocument
from tidings.settings import load
from tidings.settings_views import websub_callback_base
from tidings.storage.engine.database import Database
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import claims, sources
from tidings.storage.schema import entries, websub_subscriptions
from tidings.storage.websub import pushes, subscriptions
from tidings.wiring import build_services
from tidings.worker.websub import Subscriber

START = Instant(1_790_000_000 * SECOND)
TOPIC = "https://a.example/feed.xml"
TOKEN = "t" * 43


class World:
    """A database, the services over it, and a time that passes when we say so."""

    def __init__(self, database: Database, folder: Path, *, mode: str = "on") -> None:
        self.now = START
        self.database = database
        environment = environment_for("sqlite:////unused.db", folder, websub=mode)
        self.services = build_services(database, load(environment, None), clock=lambda: self.now)

    def person(self, name: str) -> User:
        return self.services.users.create(name, PASSWORD)

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

    def again(self, feed: Feed) -> Feed:
        with self.database.reading() as db:
            found = feeds.get(db, feed.user_id, feed.id)
        assert found is not None
        return found

    def offered(self, feed: Feed, hub: str = "https://hub.example/", topic: str = TOPIC, token: str = TOKEN) -> None:
        with self.database.writing() as db:
            subscriptions.add_offer(db, feed.id, hub, topic, token=token, secret="secret", now=self.now)

    def active(self, token: str = TOKEN, **changes: Any) -> HubSubscription:
        values: dict[str, Any] = {
            "state": "active",
            "lease_until": self.now + DAY,
            "next_attempt_at": self.now + DAY,
        } | changes
        with self.database.writing() as db:
            found = subscriptions.by_token(db, token)
            assert found is not None
            subscriptions.change(db, found.id, **values)
            changed = subscriptions.by_token(db, token)
        assert changed is not None
        return changed

    def push(self, subscription: HubSubscription, items: Sequence[str], body: bytes | None = None) -> bool:
        raw = rss(items, TOPIC).encode() if body is None else body
        signature = "sha256=" + hmac.new(b"secret", raw, hashlib.sha256).hexdigest()
        return self.services.pushes.receive(subscription, raw, signature=signature, charset="utf-8")

    def store_all(self) -> int:
        count = 0
        while self.services.pushes.store_next():
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
            return any(subscriptions.hubs_of(db, sources.of_feeds(db, [feed.id]), self.now).values())


@pytest.fixture
def world(database: Database, tmp_path: Path) -> World:
    return World(database, tmp_path)


def test_what_a_dead_worker_had_taken_is_taken_again(world: World) -> None:
    feed = world.feed(world.person("alice"))
    world.offered(feed)
    world.push(world.active(), ["One"])
    with world.database.writing() as db:
        assert pushes.claim(db, now=world.now, until=Instant(world.now + 5 * MINUTE)) is not None

    assert world.store_all() == 0
    world.now = Instant(world.now + 5 * MINUTE)
    assert world.store_all() == 1
    assert world.titles(feed) == ["One"]


def test_a_push_that_kills_workers_is_given_up_and_the_feed_polled(world: World) -> None:
    feed = world.feed(world.person("alice"))
    world.offered(feed)
    world.push(world.active(), ["One"])
    for _ in range(MAX_ATTEMPTS):
        with world.database.writing() as db:
            assert pushes.claim(db, now=world.now, until=world.now) is not None

    assert world.store_all() == 1
    assert world.titles(feed) == []
    assert world.again(feed).next_check_at == feed.checked_at + 5 * MINUTE


def test_pushes_of_one_subscription_are_stored_in_their_order(world: World) -> None:
    feed = world.feed(world.person("alice"))
    world.offered(feed)
    subscription = world.active()
    world.push(subscription, ["One"])
    world.push(subscription, ["Two"])
    with world.database.writing() as db:
        first = pushes.claim(db, now=world.now, until=Instant(world.now + MINUTE))
        assert first is not None
        assert pushes.claim(db, now=world.now, until=Instant(world.now + MINUTE)) is None
        pushes.remove(db, first.id)

    assert world.store_all() == 1
    assert world.titles(feed) == ["Two"]


def test_a_hub_that_floods_us_fills_no_disk(world: World) -> None:
    feed = world.feed(world.person("alice"))
    world.offered(feed)
    subscription = world.active()
    for number in range(MAX_WAITING + 5):
        assert world.push(subscription, [f"Item {number}"])
        assert world.push(subscription, [f"Item {number}"])

    with world.database.reading() as db:
        assert pushes.count(db, subscription.id) == MAX_WAITING
    assert world.again(feed).next_check_at == feed.checked_at + 5 * MINUTE


def test_useless_pushes_do_not_have_the_publisher_asked_again_and_again(world: World) -> None:
    feed = world.feed(world.person("alice"), next_check_at=START + 10 * HOUR)
    world.offered(feed)
    subscription = world.active()
    world.now = Instant(START + HOUR)
    world.push(subscription, [], b"")
    assert world.again(feed).next_check_at == world.now

    with world.database.writing() as db:
        later = {"checked_at": world.now, "next_check_at": world.now + 10 * HOUR}
        feeds.change(db, feed.user_id, feed.id, **later)
    world.push(subscription, [], b"")
    assert world.again(feed).next_check_at == world.now + 5 * MINUTE
    with world.database.reading() as db:
        assert not claims.any_due(db, world.now)
        assert claims.any_due(db, Instant(world.now + 5 * MINUTE))


def test_one_feed_of_many_that_cannot_be_stored_keeps_nothing_from_the_others(world: World) -> None:
    alice, bob = world.person("alice"), world.person("bob")
    broken = world.feed(alice, crawler=True)
    whole = world.feed(bob)
    world.offered(broken)
    world.offered(whole)
    world.push(world.active(), ["One"])

    assert world.store_all() == 1
    assert world.titles(whole) == ["One"]
    # Whole articles are for the poller to find.
    assert world.titles(broken) == []
    assert world.again(broken).next_check_at == broken.checked_at + 5 * MINUTE
    assert world.again(whole).next_check_at == whole.next_check_at


def test_a_push_tells_how_lively_a_feed_is_and_nothing_else(world: World) -> None:
    known: dict[str, Any] = {
        "etag_header": '"1"',
        "last_modified_header": "then",
        "body_digest": b"x",
        "news_gap_s": 86_400,
    }
    feed = world.feed(world.person("alice"), **known, news_at=START - DAY, parsing_error_count=2)
    world.offered(feed)
    world.push(world.active(), ["One"])
    world.store_all()

    after = world.again(feed)
    changed = {name for name in Feed.__struct_fields__ if getattr(after, name) != getattr(feed, name)}
    assert changed == {"news_gap_s", "news_at"}
    assert after.news_gap_s < 86_400 * 2


def test_polling_is_slowed_by_pushes_until_one_is_missed(world: World) -> None:
    feed = world.feed(world.person("alice"))
    world.offered(feed)
    subscription = world.active()
    assert not world.pushed(feed)
    world.push(subscription, ["One"])
    world.store_all()
    assert world.pushed(feed)

    document = ParsedFeed(format=FeedFormat.RSS, hubs=("https://hub.example/",), self_url=TOPIC)
    response = FetchResponse(status=200, url=TOPIC)
    world.services.websub.record_offers([CheckedDocument(feed, response, document, has_news=False)])
    assert world.pushed(feed)
    world.services.websub.record_offers([CheckedDocument(feed, response, document, has_news=True)])
    assert not world.pushed(feed)

    world.push(subscription, ["Two"])
    world.store_all()
    assert world.pushed(feed)
    world.now = Instant(world.now + DAY)
    assert not world.pushed(feed), "the lease is over"


def test_a_claim_knows_that_its_source_is_pushed(world: World) -> None:
    alice = world.person("alice")
    pushed, other = world.feed(alice), world.feed(alice, "https://b.example/")
    world.offered(pushed)
    world.push(world.active(), ["One"])
    world.store_all()
    world.now = Instant(world.now + HOUR)

    claims = world.services.polling.claim("worker", 10)

    assert {claim.lead.id: claim.is_pushed for claim in claims} == {pushed.id: True, other.id: False}
    assert {claim.lead.id: claim.has_hub for claim in claims} == {pushed.id: True, other.id: False}


def test_what_a_document_stops_offering_is_ended(world: World) -> None:
    feed = world.feed(world.person("alice"))
    document = ParsedFeed(format=FeedFormat.RSS, hubs=("https://hub.example/",))
    response = FetchResponse(status=200, url=TOPIC)
    world.services.websub.record_offers([CheckedDocument(feed, response, document)])
    world.services.websub.record_offers([CheckedDocument(feed, response, document)])
    assert world.row()["state"] == "requested"
    world.active(world.row()["token"])
    assert world.services.websub.expire_unused() == 0

    # A "not modified" without links says nothing about it.
    world.services.websub.record_offers(
        [CheckedDocument(feed, FetchResponse(status=304, url=TOPIC, not_modified=True), None)]
    )
    assert world.services.websub.expire_unused() == 0
    world.services.websub.record_offers([CheckedDocument(feed, response, ParsedFeed(format=FeedFormat.RSS))])
    assert world.services.websub.expire_unused() == 1
    assert world.row()["next_attempt_at"] == world.now


def test_a_moved_hub_is_followed(world: World) -> None:
    feed = world.feed(world.person("alice"))
    world.offered(feed)
    links = (Link("https://new.example/", "hub"), Link(TOPIC, "self"))
    world.services.websub.record_offers(
        [CheckedDocument(feed, FetchResponse(status=304, url=TOPIC, links=links, not_modified=True), None)]
    )

    with world.database.reading() as db:
        assert set(subscriptions.offered_for(db, feed.id)) == {("https://new.example/", TOPIC)}


def test_subscriptions_over_months(world: World) -> None:
    """Asked, ended when its reader leaves, remembered, and forgotten."""
    alice = world.person("alice")
    with Hub() as hub:
        hub.manner = Manner(asks_back=False)
        feed = world.feed(alice)
        world.offered(feed, hub.url)

        assert ask(world) == 1
        assert ask(world) == 0
        assert [one.mode for one in hub.asked(TOPIC)] == ["subscribe"]
        world.active(attempts=0)
        world.services.feeds.delete(alice.id, feed.id)
        assert world.services.websub.expire_unused() == 1
        assert ask(world) == 1
        assert world.row()["state"] == "ended"
        assert len(hub.asked(TOPIC, "unsubscribe")) == 1
        assert "hub.secret" not in hub.asked(TOPIC, "unsubscribe")[0].form

        world.now = Instant(world.now + 30 * DAY)
        assert ask(world) == 0
        world.now = Instant(world.now + DAY)
        assert ask(world) == 1
        assert world.row() is None


def test_a_hub_that_says_when_to_come_back_is_heard(world: World) -> None:
    feed = world.feed(world.person("alice"))
    with Hub() as hub:
        hub.manner = Manner(status=429, headers={"Retry-After": "7200"})
        world.offered(feed, hub.url)
        ask(world)

    assert world.row()["next_attempt_at"] == world.now + 2 * HOUR
    assert "429" in world.row()["last_error"]


def test_a_feed_that_is_switched_on_again_is_asked_for_again(world: World) -> None:
    feed = world.feed(world.person("alice"), disabled=True)
    world.offered(feed)
    world.active(state="ended")
    assert world.services.websub.expire_unused() == 0
    with world.database.writing() as db:
        feeds.change(db, feed.user_id, feed.id, disabled=False)

    assert world.services.websub.expire_unused() == 1


def test_where_hubs_cannot_reach_us_nothing_is_asked_or_taken(database: Database, tmp_path: Path) -> None:
    world = World(database, tmp_path, mode="auto")
    feed = world.feed(world.person("alice"))
    world.offered(feed)
    subscription = world.active(last_push_at=world.now)

    assert not world.services.websub.is_on
    assert not world.services.pushes.accepts(subscription)
    said = {"hub.mode": "subscribe", "hub.topic": TOPIC, "hub.challenge": "x"}
    assert world.services.pushes.verify(TOKEN, said) is None
    world.services.websub.disable()
    assert not world.pushed(feed)


def test_what_came_before_it_was_switched_off_is_stored(database: Database, tmp_path: Path) -> None:
    feed = (world := World(database, tmp_path)).feed(world.person("alice"))
    world.offered(feed)
    world.push(world.active(), ["One"])
    off = World(database, tmp_path, mode="off").services

    asyncio.run(Subscriber(off.websub, off.pushes).run(asyncio.Event()))

    assert world.titles(feed) == ["One"]


@pytest.mark.parametrize(
    ("mode", "base_url", "found"),
    [
        ("auto", "https://reader.example.org/tidings/", "https://reader.example.org/tidings"),
        ("auto", "http://192.168.1.2:8080", ""),
        ("on", "http://192.168.1.2:8080", "http://192.168.1.2:8080"),
        ("off", "https://reader.example.org", ""),
    ],
)
def test_where_hubs_are_told_to_call(tmp_path: Path, mode: str, base_url: str, found: str) -> None:
    environment = environment_for("sqlite:////unused.db", tmp_path, websub=mode, base_url=base_url)
    assert websub_callback_base(load(environment, None)) == found


def ask(world: World) -> int:
    async def run() -> int:
        try:
            return await world.services.websub.send_due_requests()
        finally:
            await world.services.websub.disconnect()

    return asyncio.run(run())
