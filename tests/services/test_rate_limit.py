"""Hosts are left alone as they wish, by every user, process and machine that shares the database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import select

from support.people import PASSWORD, rss
from support.publisher import Answer, Publisher
from support.running import environment_for
from tidings.base.times import DAY, HOUR, SECOND, Instant
from tidings.domain.accounts.users import User
from tidings.domain.polling.shared_sources import SourceLease, host_with_port
from tidings.engine.database import Database
from tidings.net.fetch import FetchRequest
from tidings.services.polling.lease import RefreshFailed
from tidings.services.publisher_requests import HostClosed
from tidings.settings import load
from tidings.storage.feeds import feeds
from tidings.storage.polling import host_limits
from tidings.storage.schema import entries as entry_table
from tidings.wiring.services import AllServices, build_services

NOW = Instant(1_800_000_000 * SECOND)
TOO_MANY = Answer("slow down", status=429, headers={"Retry-After": "120"})


class Machine:
    """One of several that share a database; its clock goes when it is told to."""

    def __init__(self, database: Database, database_url: str, folder: Path, **settings: str) -> None:
        self.now = NOW
        self.database = database
        environment = environment_for(database_url, folder, **settings)
        self.services: AllServices = build_services(database, load(environment, None), clock=lambda: self.now)

    def subscribe(self, name: str, *urls: str) -> list[int]:
        user = self.services.accounts.users.create(name, PASSWORD)
        category = self.services.feeds.categories.create(user.id, "Feeds")
        given = {"created_at": 0, "checked_at": 0, "next_check_at": 0, "icon_checked_at": 4_000_000_000_000_000}
        with self.database.writing() as db:
            return [feeds.add(db, user.id, category_id=category.id, feed_url=url, title=url, **given) for url in urls]

    def claim(self, worker: str = "worker", limit: int = 100) -> list[SourceLease]:
        return self.services.polling.claims.claim(worker, limit)

    def poll(self) -> int:
        """How many sources it took."""

        async def check_all() -> int:
            try:
                claims = await asyncio.to_thread(self.claim)
                for claim in claims:
                    await self.services.polling.claims.check(claim)
                return len(claims)
            finally:
                await self.services.disconnect()

        return asyncio.run(check_all())

    def refresh(self, user_id: int, feed_id: int) -> None:
        async def refresh() -> None:
            try:
                await self.services.polling.claims.refresh_now(user_id, feed_id)
            finally:
                await self.services.disconnect()

        asyncio.run(refresh())

    def pause(self, site: Publisher) -> None:
        """The host of the site has asked for a day without requests."""
        until = Instant(NOW + DAY)
        with self.database.writing() as db:
            host_limits.pause(db, host_with_port(site.url()), until=until, asked_until=until)

    def next_check_at(self, user_id: int, feed_id: int) -> Instant:
        with self.database.reading() as db:
            feed = feeds.get(db, user_id, feed_id)
        assert feed is not None
        return feed.next_check_at


@pytest.fixture
def machine(database: Database, database_url: str, tmp_path: Path) -> Machine:
    return Machine(database, database_url, tmp_path)


@pytest.fixture
def other_machine(database: Database, database_url: str, tmp_path: Path) -> Machine:
    return Machine(database, database_url, tmp_path)


def test_a_host_that_returned_429_is_polled_by_no_process(
    machine: Machine, other_machine: Machine, site: Publisher
) -> None:
    limited = site.script("/a.xml", TOO_MANY)
    calm = site.serve("/b.xml", rss(["Rain"], site.url("/b.xml")))
    (first,) = machine.subscribe("alice", limited)
    (second,) = other_machine.subscribe("bob", calm)
    with pytest.raises(RefreshFailed):
        machine.refresh(1, first)
    assert len(site.requests) == 1

    # Neither the pollers, nor what belongs to another document: pages of new entries, icons.
    assert machine.poll() == other_machine.poll() == 0
    other_machine.now = Instant(NOW + 119 * SECOND)
    assert other_machine.poll() == 0
    with pytest.raises(HostClosed):
        asyncio.run(_fetch(other_machine, site.url("/")))

    assert len(site.requests) == 1
    assert other_machine.next_check_at(2, second) == NOW + 120 * SECOND

    other_machine.now = Instant(NOW + 120 * SECOND)
    assert other_machine.poll() >= 1


def test_429_without_retry_after_pauses_the_host_for_a_minute(machine: Machine, site: Publisher) -> None:
    (feed_id,) = machine.subscribe("alice", site.script("/a.xml", Answer("slow down", status=429)))
    with pytest.raises(RefreshFailed):
        machine.refresh(1, feed_id)

    machine.now = Instant(NOW + 59 * SECOND)
    with pytest.raises(HostClosed, match="another second"):
        asyncio.run(_fetch(machine, site.url("/a.xml")))
    with pytest.raises(RefreshFailed, match="once a minute"):
        machine.refresh(1, feed_id)
    assert len(site.requests) == 1

    machine.now = Instant(NOW + 60 * SECOND)
    asyncio.run(_fetch(machine, site.serve("/b.xml", "x")))


def test_what_users_do_by_hand_passes_once_a_minute_each(
    machine: Machine, other_machine: Machine, site: Publisher
) -> None:
    limited = site.script("/a.xml", TOO_MANY)
    (first,) = machine.subscribe("alice", limited)
    (second,) = machine.subscribe("bob", site.serve("/b.xml", rss(["Rain"], site.url("/b.xml"))))
    with pytest.raises(RefreshFailed, match="429"):
        machine.refresh(1, first)

    # Alice has just tried, Bob has not: no process forgets that.
    other_machine.refresh(2, second)
    for each in (machine, other_machine):
        with pytest.raises(RefreshFailed, match="once a minute"):
            each.refresh(1, first)
        with pytest.raises(RefreshFailed, match="once a minute"):
            each.refresh(2, second)
    assert [one.path for one in site.requests] == ["/a.xml", "/b.xml"]

    machine.now = Instant(NOW + 60 * SECOND)
    machine.refresh(2, second)
    with pytest.raises(RefreshFailed, match="once a minute"):
        machine.refresh(2, second)
    assert len(site.requests) == 3


def test_a_pass_is_for_one_host_only(machine: Machine, site: Publisher) -> None:
    (feed_id,) = machine.subscribe("alice", site.serve("/b.xml", rss(["Rain"], site.url("/b.xml"))))
    with machine.database.writing() as db:
        assert host_limits.record_attempt(db, 1, "other.example", NOW) is None
    machine.pause(site)

    machine.refresh(1, feed_id)


def test_attempts_of_a_wrong_clock_do_not_count(machine: Machine) -> None:
    machine.subscribe("alice")
    with machine.database.writing() as db:
        assert host_limits.record_attempt(db, 1, "a.example", Instant(NOW + DAY)) is None
        assert host_limits.record_attempt(db, 1, "a.example", NOW) is None
        assert host_limits.record_attempt(db, 1, "a.example", Instant(NOW + 20 * SECOND)) == NOW + 60 * SECOND


@pytest.mark.slow
def test_everything_a_user_does_by_hand_may_pass(machine: Machine, site: Publisher) -> None:
    page = "<html><body><article><p>" + "Much rain fell on the plain. " * 40 + "</p></article></body></html>"
    site.serve("/article/0", page, headers={"Content-Type": "text/html"})
    machine.subscribe("alice")
    new_feed = site.serve("/c.xml", rss(["Sun"], site.url("/article")))

    async def subscribe(user: User) -> None:
        await machine.services.feeds.subscriptions.create(user, {"feed_url": new_feed})

    async def discover(user: User) -> None:
        assert await machine.services.feeds.discovery.find(user.id, {"url": new_feed})

    async def fetch_article(user: User) -> None:
        with machine.database.reading() as db:
            (entry_id,) = db.scalars(select(entry_table.c.id).where(entry_table.c.user_id == user.id))
        assert "rain" in (await machine.services.entries.articles.fetch(user, entry_id, store=False)).content

    async def act() -> None:
        user = machine.services.accounts.users.list_all()[0]
        for action in (subscribe, discover, fetch_article):
            machine.now = Instant(machine.now + 60 * SECOND)
            await asyncio.to_thread(machine.pause, site)
            await action(user)
            with pytest.raises(HostClosed, match="once a minute"):
                await discover(user)
        await machine.services.disconnect()

    asyncio.run(act())


@pytest.mark.slow
def test_a_pause_through_the_feed_of_a_user_lasts_an_hour_at_most_for_others(
    machine: Machine, other_machine: Machine, site: Publisher
) -> None:
    limited = site.script("/a.xml", Answer("slow down", status=429, headers={"Retry-After": "7200"}))
    first, sibling = machine.subscribe("alice", limited, site.serve("/b.xml", rss(["Rain"], site.url("/b.xml"))))
    (other,) = machine.subscribe("bob", site.serve("/c.xml", rss(["Sun"], site.url("/c.xml"))))
    with pytest.raises(RefreshFailed):
        machine.refresh(1, first)

    assert machine.next_check_at(1, first) >= NOW + 2 * HOUR
    assert machine.next_check_at(1, sibling) == NOW + 2 * HOUR
    assert machine.next_check_at(2, other) == NOW + HOUR
    other_machine.now = Instant(NOW + HOUR - 1)
    assert other_machine.poll() == 0
    other_machine.now = Instant(NOW + HOUR)
    assert other_machine.poll() == 1
    assert [one.path for one in site.requests] == ["/a.xml", "/c.xml"]


def test_a_user_who_tries_by_hand_does_not_prolong_the_pause_of_others(machine: Machine, site: Publisher) -> None:
    limited = site.script("/a.xml", Answer("slow down", status=429, headers={"Retry-After": "3600"}))
    (first,) = machine.subscribe("alice", limited)
    (other,) = machine.subscribe("bob", site.url("/c.xml"))
    for minute in range(3):
        machine.now = Instant(NOW + minute * 60 * SECOND)
        with pytest.raises(RefreshFailed, match="429"):
            machine.refresh(1, first)

    assert machine.next_check_at(2, other) == NOW + HOUR
    machine.now = Instant(NOW + HOUR)
    assert len(machine.claim()) == 1


def test_a_pause_of_the_host_is_no_error_of_the_feed(machine: Machine, site: Publisher) -> None:
    limited, calm = machine.subscribe("alice", site.script("/a.xml", TOO_MANY), site.url("/b.xml"))
    with pytest.raises(RefreshFailed):
        machine.refresh(1, limited)
    with pytest.raises(RefreshFailed):
        machine.refresh(1, calm)

    with machine.database.reading() as db:
        feed = feeds.get(db, 1, calm)
    assert feed is not None
    assert (feed.parsing_error_count, feed.parsing_error_message) == (0, "")


def test_the_limit_per_host_applies_to_all_processes_together(machine: Machine, other_machine: Machine) -> None:
    machine.subscribe("alice", *(f"https://a.example/{number}" for number in range(9)))
    machine.subscribe("bob", *(f"https://b.example/{number}" for number in range(9)))

    mine, theirs = machine.claim("one"), other_machine.claim("two")

    assert sorted(claim.lead.feed_url for claim in mine) == [
        "https://a.example/0",
        "https://a.example/1",
        "https://b.example/0",
        "https://b.example/1",
    ]
    assert theirs == []


@pytest.mark.slow
def test_feeds_of_a_busy_host_do_not_delay_feeds_of_other_hosts(machine: Machine) -> None:
    """Many overdue feeds of one host stand before the one of another."""
    machine.subscribe("alice", *(f"https://busy.example/{number}" for number in range(300)))
    machine.subscribe("bob", "https://calm.example/feed")

    hosts_taken = {claim.lead.feed_url.split("/")[2] for claim in machine.claim(limit=10)}

    assert hosts_taken == {"busy.example", "calm.example"}


def test_there_is_a_gap_between_two_fetches_from_a_host(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    machine, other_machine = (Machine(database, database_url, tmp_path, polling_gap_per_host="500") for _ in range(2))
    machine.subscribe("alice", *(site.serve(f"/{n}.xml", rss(["Rain"], site.url(f"/{n}.xml"))) for n in range(3)))

    assert machine.poll() == 1
    assert other_machine.poll() == 0
    machine.now = other_machine.now = Instant(NOW + SECOND // 2)
    assert (other_machine.poll(), machine.poll()) == (1, 0)


def test_the_gap_between_fetches_does_not_delay_a_user(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    machine = Machine(database, database_url, tmp_path, polling_gap_per_host="60000")
    feed_id, _ = machine.subscribe("alice", *(site.serve(f"/{n}.xml", rss(["Rain"], site.url("/"))) for n in range(2)))
    assert machine.poll() == 1

    machine.refresh(1, feed_id)


def test_claims_of_a_killed_worker_count_until_their_lease_ends(machine: Machine, other_machine: Machine) -> None:
    machine.subscribe("alice", *(f"https://a.example/{number}" for number in range(2)))
    assert len(machine.claim("dead")) == 2

    assert other_machine.claim("alive") == []
    other_machine.now = Instant(NOW + int(machine.services.polling.claims.lease_s * SECOND) + 1)

    assert len(other_machine.claim("alive")) == 2


def test_expired_pauses_of_hosts_are_deleted(machine: Machine, database: Database) -> None:
    with database.writing() as db:
        for host, until in (("a.example", NOW + SECOND), ("b.example", NOW - SECOND)):
            host_limits.pause(db, host, until=Instant(until), asked_until=Instant(until))
        # The longer pause counts, not the last.
        host_limits.pause(db, "a.example", until=NOW, asked_until=NOW)

    assert machine.services.polling.claims.forget_hosts() == 1
    with database.reading() as db:
        assert host_limits.paused_until(db, "a.example") == NOW + SECOND


async def _fetch(machine: Machine, url: str) -> None:
    try:
        await machine.services.polling.fetcher.get(FetchRequest(url=url), [1])
    finally:
        await machine.services.disconnect()
