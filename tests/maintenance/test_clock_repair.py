"""What was written while a clock was a day ahead is corrected; what a correct clock wrote stays as it is."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select, update

from support.people import PASSWORD, rss
from support.publisher import Answer, Publisher
from support.running import environment_for
from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.deliveries.tables import deliveries, receivers
from tidings.engine.database import Database
from tidings.maintenance import clock_watch
from tidings.maintenance.clock_watch import ClockWatch
from tidings.maintenance.tables import chores
from tidings.services.clock import system_clock
from tidings.settings import load
from tidings.storage.accounts import sign_in_failures
from tidings.storage.feeds import feeds
from tidings.storage.schema import hosts, sources
from tidings.storage.schema import sign_in_failures as failure_table
from tidings.websub.tables import websub_pushes, websub_subscriptions
from tidings.wiring.services import AllServices, build_services

NOW = Instant(1_800_000_000 * SECOND)


class Machine:
    """A machine whose clock can be set."""

    def __init__(self, database: Database, database_url: str, folder: Path) -> None:
        self.now = NOW
        self.database = database
        settings = load(environment_for(database_url, folder, polling_limit_per_host="50"), None)
        self.services: AllServices = build_services(database, settings, clock=lambda: self.now)
        self.user = self.services.accounts.users.create("alice", PASSWORD)

    def subscribe(self, *urls: str, **values: object) -> list[int]:
        category = self.services.feeds.categories.create(self.user.id, f"Feeds of {urls[0]}")
        given = {"created_at": 0, "checked_at": 0, "next_check_at": 0, "icon_checked_at": 4_000_000_000_000_000}
        with self.database.writing() as db:
            return [
                feeds.add(db, self.user.id, category_id=category.id, feed_url=url, title=url, **given | values)
                for url in urls
            ]

    def poll(self) -> int:
        """Check what is due. Returns the number of sources."""

        async def check_all() -> int:
            try:
                claims = await asyncio.to_thread(self.services.polling.claims.claim, "worker", 100)
                for claim in claims:
                    await self.services.polling.claims.check(claim)
                return len(claims)
            finally:
                await self.services.disconnect()

        return asyncio.run(check_all())

    def repair(self, *, was_set_back: bool = False) -> int:
        return self.services.maintenance.clock_repair.run(was_set_back=was_set_back)

    def column(self, column: object) -> list[object]:
        with self.database.reading() as db:
            return db.scalars(select(column))  # type: ignore[call-overload]


@pytest.fixture
def machine(database: Database, database_url: str, tmp_path: Path) -> Machine:
    return Machine(database, database_url, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(days=1), timedelta(days=400)], ids=str)
def test_feeds_checked_while_the_clock_was_ahead_are_due_again(
    machine: Machine, site: Publisher, ahead: timedelta
) -> None:
    machine.subscribe(*(site.serve(f"/{n}.xml", rss(["Rain"], site.url(f"/{n}.xml"))) for n in range(3)))
    machine.now = Instant(NOW + ahead // timedelta(microseconds=1))
    assert machine.poll() == 3
    machine.now = Instant(NOW + 5 * MINUTE)
    assert machine.poll() == 0

    machine.repair()

    assert machine.poll() == 3
    machine.now = Instant(machine.now + DAY + HOUR)
    assert machine.poll() == 3


def test_refreshing_all_takes_feeds_that_were_checked_in_the_future(machine: Machine, site: Publisher) -> None:
    machine.subscribe(site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml"))))
    machine.now = Instant(NOW + DAY)
    assert machine.poll() == 1
    machine.now = NOW

    assert machine.services.polling.claims.refresh_all(machine.user.id) == 1

    assert machine.poll() == 1


def test_a_lease_from_the_future_is_free(machine: Machine, site: Publisher) -> None:
    machine.subscribe(site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml"))))
    machine.now = Instant(NOW + DAY)
    assert machine.services.polling.claims.claim("killed", 10)
    machine.now = NOW
    assert machine.poll() == 0

    assert machine.repair() == 1

    assert machine.poll() == 1


def test_a_pause_of_a_host_set_by_a_wrong_clock_is_cleared(machine: Machine, site: Publisher) -> None:
    limited = site.script("/a.xml", Answer("slow down", status=429, headers={"Retry-After": "60"}))
    (first,) = machine.subscribe(limited)
    (second,) = machine.subscribe(site.serve("/b.xml", rss(["Rain"], site.url("/b.xml"))), next_check_at=NOW + 2 * DAY)
    (third,) = machine.subscribe(
        site.serve("/c.xml", rss(["Rain"], site.url("/c.xml"))), next_check_at=NOW + DAY + SECOND
    )
    with machine.database.writing() as db:
        feeds.change(db, machine.user.id, second, checked_at=NOW, check_interval_minutes=2 * 24 * 60)
    machine.now = Instant(NOW + DAY)
    assert machine.poll() == 1
    machine.now = NOW

    machine.repair()

    assert machine.column(hosts.c.host) == []
    with machine.database.reading() as db:
        due = {feed.id: feed.next_check_at for feed in feeds.list_all(db, machine.user.id)}
    assert due == {first: NOW, second: NOW + 2 * DAY, third: NOW}


def test_feeds_postponed_for_longer_than_the_pause_of_others_are_due_again(machine: Machine, site: Publisher) -> None:
    limited = site.script("/a.xml", Answer("slow down", status=429, headers={"Retry-After": "7200"}))
    _, sibling = machine.subscribe(limited), machine.subscribe(site.serve("/b.xml", rss(["Rain"], site.url("/b.xml"))))
    with machine.database.writing() as db:
        feeds.change(db, machine.user.id, sibling[0], next_check_at=NOW + DAY + MINUTE)
    machine.now = Instant(NOW + DAY)
    assert machine.poll() == 1
    machine.now = NOW

    machine.repair()

    with machine.database.reading() as db:
        assert {feed.next_check_at for feed in feeds.list_all(db, machine.user.id)} == {NOW}


def test_what_a_correct_clock_wrote_stays(machine: Machine, site: Publisher) -> None:
    (feed,) = machine.subscribe(site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml"))))
    assert machine.poll() == 1
    (monthly,) = machine.subscribe("https://example.org/monthly", checked_at=NOW, check_interval_minutes=43_200)
    (sundays,) = machine.subscribe(
        "https://example.org/sundays", checked_at=NOW, publisher_hints='{"skip_days":[0,1,2,3,4,5]}'
    )
    with machine.database.writing() as db:
        feeds.change(db, machine.user.id, monthly, next_check_at=NOW + 30 * DAY)
        feeds.change(db, machine.user.id, sundays, next_check_at=NOW + 6 * DAY)
        db.run(insert(hosts).values(host="asked.example", closed_until=NOW + DAY, is_asked=True))
        receiver = {"user_id": machine.user.id, "integration": "webhook", "failing_since": NOW, "failures": 3}
        db.run(insert(receivers).values(**receiver, address_digest=b"1", next_attempt_at=NOW + DAY))
        sign_in_failures.add_failure(db, {b"key": Instant(NOW + MINUTE)}, now=NOW, since=NOW)
    before = [
        machine.column(one) for one in (hosts.c.closed_until, receivers.c.next_attempt_at, sources.c.next_check_at)
    ]

    assert machine.repair() == 0

    after = [
        machine.column(one) for one in (hosts.c.closed_until, receivers.c.next_attempt_at, sources.c.next_check_at)
    ]
    assert after == before
    assert machine.column(failure_table.c.lane) != []
    assert feed


def test_deliveries_of_a_future_clock_are_due_again(machine: Machine) -> None:
    with machine.database.writing() as db:
        healthy = {"user_id": machine.user.id, "integration": "webhook", "next_attempt_at": NOW + DAY}
        failing = healthy | {"failures": 2, "failing_since": NOW + DAY}
        db.run(insert(receivers).values(**healthy, address_digest=b"well"))
        db.run(insert(receivers).values(**failing, address_digest=b"failing"))
        held = healthy | {"claimed_by": "killed", "claimed_until": NOW + DAY, "next_attempt_at": NOW}
        db.run(insert(receivers).values(**held, address_digest=b"held"))

    machine.repair()

    assert machine.column(receivers.c.next_attempt_at) == [NOW] * 3
    assert machine.column(receivers.c.claimed_by) == [""] * 3
    assert {NOW, None} == {*machine.column(receivers.c.failing_since)}


def test_when_the_clock_was_set_back_every_failing_receiver_is_tried_at_once(machine: Machine) -> None:
    with machine.database.writing() as db:
        receiver = {"user_id": machine.user.id, "integration": "webhook", "failing_since": NOW, "failures": 3}
        db.run(insert(receivers).values(**receiver, address_digest=b"1", next_attempt_at=NOW + HOUR))
    assert machine.repair() == 0

    assert machine.repair(was_set_back=True) == 1

    assert machine.column(receivers.c.next_attempt_at) == [NOW]


@pytest.mark.parametrize(("ahead", "was_set_back", "due"), [(HOUR, False, HOUR), (HOUR, True, 0), (2 * DAY, False, 0)])
def test_a_delivery_that_stepped_aside_waits_unless_the_clock_was_wrong(
    machine: Machine, ahead: int, was_set_back: bool, due: int
) -> None:
    with machine.database.writing() as db:
        queue = {"user_id": machine.user.id, "integration": "webhook", "address_digest": b"1"}
        db.run(insert(receivers).values(**queue, pending=1, failures=1, next_attempt_at=NOW + ahead))
        delivery = {"user_id": machine.user.id, "delivery_id": "1", "integration": "webhook", "receiver": "one"}
        db.run(insert(deliveries).values(**delivery, event_type="save_entry", created_at=NOW, retry_at=NOW + ahead))

    machine.repair(was_set_back=was_set_back)

    assert machine.column(deliveries.c.retry_at) == machine.column(receivers.c.next_attempt_at) == [NOW + due]


@pytest.mark.slow
def test_sign_ins_jobs_and_hubs_do_not_wait_for_the_wrong_clock(machine: Machine) -> None:
    hub = {"hub": "https://hub.example/", "topic": "t", "token": "t", "secret": "", "created_at": NOW}
    with machine.database.writing() as db:
        sign_in_failures.add_failure(db, {b"key": Instant(NOW + DAY)}, now=Instant(NOW + DAY), since=NOW)
        db.run(insert(chores).values(name="late", next_at=NOW + 3 * DAY))
        db.run(insert(chores).values(name="held", next_at=NOW, claimed_by="killed", claimed_until=NOW + DAY))
        db.run(insert(websub_subscriptions).values(**hub, asked_at=NOW + DAY, next_attempt_at=NOW + 2 * DAY))
        subscription = db.scalar(select(func.max(websub_subscriptions.c.id)))
        db.run(
            insert(websub_pushes).values(
                subscription_id=subscription, digest=b"", body=b"", received_at=NOW, claimed_until=NOW + DAY, attempts=1
            )
        )

    assert machine.repair() == 5

    assert machine.column(failure_table.c.lane) == []
    assert set(machine.column(chores.c.next_at)) == {NOW}
    assert set(machine.column(chores.c.claimed_until)) == {None}
    assert machine.column(websub_subscriptions.c.next_attempt_at) == [NOW]
    assert machine.column(websub_pushes.c.claimed_until) == [None]


def test_a_worker_notices_that_its_clock_was_set_back(
    machine: Machine, site: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The times are near the real one, since PostgreSQL's own clock is compared with ours."""
    monkeypatch.setattr(clock_watch, "CHECK_INTERVAL_S", 0.05)
    machine.subscribe(site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml"))))
    real = system_clock()
    machine.now = Instant(real + HOUR)
    assert machine.poll() == 1

    async def set_back() -> None:
        stop, wrong = asyncio.Event(), asyncio.get_running_loop().create_future()

        def clock() -> Instant:
            if not wrong.done():
                wrong.set_result(True)
                return Instant(real + HOUR)
            return real

        machine.now = real
        watch = asyncio.create_task(
            ClockWatch(machine.services.maintenance.clock_repair, clock, elapsed=lambda: 0.0).run(stop)
        )
        while not await asyncio.to_thread(machine.services.polling.claims.claim, "worker", 10):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        stop.set()
        await watch

    asyncio.run(asyncio.wait_for(set_back(), 120))


def test_times_stay_while_the_clocks_of_machine_and_database_server_differ(machine: Machine) -> None:
    if machine.database.is_sqlite:
        pytest.skip("SQLite has no clock of its own")
    with machine.database.writing() as db:
        db.run(insert(chores).values(name="late", next_at=system_clock()))
    machine.now = Instant(system_clock() - 30 * DAY)
    watch = ClockWatch(machine.services.maintenance.clock_repair, lambda: machine.now)

    watch._correct(was_set_back=True)
    late = machine.column(chores.c.next_at)
    machine.now = system_clock()
    with machine.database.writing() as db:
        db.run(update(chores).values(next_at=machine.now + 3 * DAY))
    watch._correct(was_set_back=False)

    assert late != [machine.now - 30 * DAY]
    assert machine.column(chores.c.next_at) == [machine.now]
