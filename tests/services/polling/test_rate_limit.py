"""Hosts are left alone as they wish, by every user, process and machine that shares the database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.people import PASSWORD, rss
from support.publisher import Answer, Publisher
from support.running import environment_for
from tidings.domain.polling.sources import SourceLease
from tidings.domain.times import SECOND, Instant
from tidings.net.fetch import FetchRequest
from tidings.services import Services
from tidings.services.polling.claims import RefreshFailed
from tidings.services.polling.rate_limit import HostClosed
from tidings.settings import load
from tidings.storage.engine.database import Database
from tidings.storage.feeds import feeds
from tidings.storage.polling import host_limits
from tidings.wiring import build_services

NOW = Instant(1_800_000_000 * SECOND)
TOO_MANY = Answer("slow down", status=429, headers={"Retry-After": "120"})


class Machine:
    """One of several that share a database; its clock goes when it is told to."""

    def __init__(self, database: Database, database_url: str, folder: Path, **settings: str) -> None:
        self.now = NOW
        self.database = database
        environment = environment_for(database_url, folder, **settings)
        self.services: Services = build_services(database, load(environment, None), clock=lambda: self.now)

    def subscribe(self, name: str, *urls: str) -> list[int]:
        user = self.services.users.create(name, PASSWORD)
        category = self.services.categories.create(user.id, "Feeds")
        given = {"created_at": 0, "checked_at": 0, "next_check_at": 0, "icon_checked_at": 4_000_000_000_000_000}
        with self.database.writing() as db:
            return [feeds.add(db, user.id, category_id=category.id, feed_url=url, title=url, **given) for url in urls]

    def claim(self, worker: str = "worker", limit: int = 100) -> list[SourceLease]:
        return self.services.polling.claim(worker, limit)

    def poll(self) -> int:
        """How many sources it took."""

        async def check_all() -> int:
            try:
                claims = await asyncio.to_thread(self.claim)
                for claim in claims:
                    await self.services.polling.check(claim)
                return len(claims)
            finally:
                await self.services.disconnect()

        return asyncio.run(check_all())

    def refresh(self, user_id: int, feed_id: int) -> None:
        async def refresh() -> None:
            try:
                await self.services.polling.refresh_now(user_id, feed_id)
            finally:
                await self.services.disconnect()

        asyncio.run(refresh())

    def next_check_at(self, user_id: int, feed_id: int) -> Instant:
        with self.database.reading() as db:
            feed = feeds.get(db, user_id, feed_id)
        assert feed is not None
        return feed.next_check_at


@pytest.fixture
def one(database: Database, database_url: str, tmp_path: Path) -> Machine:
    return Machine(database, database_url, tmp_path)


@pytest.fixture
def other(database: Database, database_url: str, tmp_path: Path) -> Machine:
    return Machine(database, database_url, tmp_path)


def test_a_host_that_has_had_enough_gets_no_request_from_anyone(one: Machine, other: Machine, site: Publisher) -> None:
    limited = site.script("/a.xml", TOO_MANY)
    calm = site.serve("/b.xml", rss(["Rain"], site.url("/b.xml")))
    (first,) = one.subscribe("alice", limited)
    (second,) = other.subscribe("bob", calm)
    with pytest.raises(RefreshFailed):
        one.refresh(1, first)
    assert len(site.requests) == 1

    # Neither the pollers, nor a stranger who refreshes by hand, nor whatever else is fetched.
    assert one.poll() == other.poll() == 0
    with pytest.raises(RefreshFailed, match="left alone"):
        other.refresh(2, second)
    other.now = Instant(NOW + 119 * SECOND)
    assert other.poll() == 0
    with pytest.raises(HostClosed):
        asyncio.run(_fetch(other, site.url("/")))

    assert len(site.requests) == 1
    assert other.next_check_at(2, second) == NOW + 120 * SECOND

    other.now = Instant(NOW + 120 * SECOND)
    assert other.poll() >= 1


def test_too_many_without_a_word_about_when_is_a_minute(one: Machine, site: Publisher) -> None:
    (feed_id,) = one.subscribe("alice", site.script("/a.xml", Answer("slow down", status=429)))
    with pytest.raises(RefreshFailed):
        one.refresh(1, feed_id)

    one.now = Instant(NOW + 59 * SECOND)
    with pytest.raises(RefreshFailed, match="another second"):
        one.refresh(1, feed_id)


def test_being_kept_waiting_is_no_failure_of_the_feed(one: Machine, site: Publisher) -> None:
    limited, calm = one.subscribe("alice", site.script("/a.xml", TOO_MANY), site.url("/b.xml"))
    with pytest.raises(RefreshFailed):
        one.refresh(1, limited)
    with pytest.raises(RefreshFailed):
        one.refresh(1, calm)

    with one.database.reading() as db:
        feed = feeds.get(db, 1, calm)
    assert feed is not None
    assert (feed.parsing_error_count, feed.parsing_error_message) == (0, "")


def test_one_host_is_asked_for_so_much_at_a_time_by_all(one: Machine, other: Machine) -> None:
    one.subscribe("alice", *(f"https://a.example/{number}" for number in range(9)))
    one.subscribe("bob", *(f"https://b.example/{number}" for number in range(9)))

    mine, theirs = one.claim("one"), other.claim("two")

    assert sorted(claim.lead.feed_url for claim in mine) == [
        "https://a.example/0",
        "https://a.example/1",
        "https://b.example/0",
        "https://b.example/1",
    ]
    assert theirs == []


def test_who_waits_for_a_busy_host_keeps_nobody_else_waiting(one: Machine) -> None:
    """Many overdue feeds of one host stand before the one of another."""
    one.subscribe("alice", *(f"https://busy.example/{number}" for number in range(300)))
    one.subscribe("bob", "https://calm.example/feed")

    hosts_taken = {claim.lead.feed_url.split("/")[2] for claim in one.claim(limit=10)}

    assert hosts_taken == {"busy.example", "calm.example"}


def test_there_is_a_gap_between_two_fetches_from_a_host(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    one, other = (Machine(database, database_url, tmp_path, polling_gap_per_host="500") for _ in range(2))
    one.subscribe("alice", *(site.serve(f"/{n}.xml", rss(["Rain"], site.url(f"/{n}.xml"))) for n in range(3)))

    assert one.poll() == 1
    assert other.poll() == 0
    one.now = other.now = Instant(NOW + SECOND // 2)
    assert (other.poll(), one.poll()) == (1, 0)


def test_a_gap_between_feeds_keeps_no_user_waiting(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    one = Machine(database, database_url, tmp_path, polling_gap_per_host="60000")
    feed_id, _ = one.subscribe("alice", *(site.serve(f"/{n}.xml", rss(["Rain"], site.url("/"))) for n in range(2)))
    assert one.poll() == 1

    one.refresh(1, feed_id)


def test_claims_of_the_dead_count_until_their_lease_ends(one: Machine, other: Machine) -> None:
    one.subscribe("alice", *(f"https://a.example/{number}" for number in range(2)))
    assert len(one.claim("dead")) == 2

    assert other.claim("alive") == []
    other.now = Instant(NOW + int(one.services.polling.lease_s * SECOND) + 1)

    assert len(other.claim("alive")) == 2


def test_hosts_that_are_open_again_are_forgotten(one: Machine, database: Database) -> None:
    with database.writing() as db:
        host_limits.close(db, {"a.example": Instant(NOW + SECOND), "b.example": Instant(NOW - SECOND)}, asked=True)
        # Whoever asks for longer is heard, not whoever asks last.
        host_limits.close(db, {"a.example": Instant(NOW)}, asked=True)

    assert one.services.polling.forget_hosts() == 1
    with database.reading() as db:
        assert host_limits.asked_until(db, "a.example") == NOW + SECOND


async def _fetch(machine: Machine, url: str) -> None:
    try:
        await machine.services.fetcher.get(FetchRequest(url=url))
    finally:
        await machine.services.disconnect()
