"""The poller over a real database and a real publisher."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from support.outbox import MovableClock
from support.people import PASSWORD, rss
from support.publisher import Answer, Cut, Drip, Endless, Hang, Publisher, ReceivedRequest, Reply, Wire
from support.running import environment_for
from tidings.base.times import SECOND
from tidings.domain.polling.shared_sources import SourceLease
from tidings.engine.database import Database
from tidings.engine.notify import FEEDS
from tidings.services.polling.lease import WakeupEvent
from tidings.settings import load
from tidings.storage.feeds import feeds
from tidings.storage.schema import sources
from tidings.wiring.services import AllServices, build_services
from tidings.worker.poller import Poller, end_when_idle

pytestmark = pytest.mark.slow

SLOTS = 2
WORDS = "<article>" + "<p>The rain came late, lasted long, and left by the evening.</p>" * 9 + "</article>"


@dataclass(frozen=True)
class Held(Reply):
    """Sends the body when it is told to."""

    body: str
    until: threading.Event

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        await asyncio.to_thread(self.until.wait, 300)
        return await Answer(self.body).send(wire, seen)


def opened(database: Database, database_url: str, folder: Path, **settings: str) -> AllServices:
    return build_services(database, load(environment_for(database_url, folder, **settings), None))


def subscribe(services: AllServices, name: str, *urls: str, **values: object) -> list[int]:
    """A user with feeds that are all due."""
    user = services.accounts.users.create(name, PASSWORD)
    category = services.feeds.categories.create(user.id, "Feeds")
    moments = {"created_at": 0, "checked_at": 0, "next_check_at": 0}
    with services.database.writing() as db:
        return [
            feeds.add(db, user.id, category_id=category.id, feed_url=url, title=url, **moments, **values)
            for url in urls
        ]


def test_a_source_stays_claimed_while_its_check_outlasts_the_lease(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    clock, lease, may_end = MovableClock(), 2 * SECOND, threading.Event()
    site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    site.script("/feed.xml/0", Held(WORDS, until=may_end))
    settings = load(environment_for(database_url, tmp_path, http_client_timeout="60"), None)
    services = build_services(database, settings, clock=clock)
    services.polling.claims._lease = lease  # the shortest that settings allow is 16 seconds
    subscribe(services, "alice", site.url("/feed.xml"), crawler=True)

    def is_renewed() -> bool:
        with database.reading() as db:
            return bool(db.scalar(select(sources.c.claimed_until)) == clock() + lease)

    async def poll() -> list[SourceLease]:
        wakeup, stop = WakeupEvent(database, FEEDS), asyncio.Event()
        poller = Poller(services.polling.claims, wakeup, max_concurrent=2)
        running = asyncio.create_task(poller.run(stop))
        taken: list[SourceLease] = []
        await asyncio.to_thread(site.wait_for, 1, "/feed.xml/0")
        try:
            for _ in range(3):
                async with asyncio.timeout(180):
                    while not await asyncio.to_thread(is_renewed):  # noqa: ASYNC110 - the database tells nobody
                        await asyncio.sleep(0.05)
                # Nearly the whole lease passes before it is renewed again.
                clock.move(timedelta(seconds=1.9))
                taken += await asyncio.to_thread(services.polling.claims.claim, "another", 10)
        finally:
            may_end.set()
        while await _is_due(services):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        stop.set()
        await running
        await wakeup.close()
        await services.disconnect()
        return taken

    assert asyncio.run(poll()) == []


def test_hanging_slow_broken_and_endless_feeds_do_not_delay_the_others(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    site.script("/hang.xml", Hang())
    site.script("/drip.xml", Drip(b"<rss>" + b" " * 1000))
    site.script("/cut.xml", Cut(rss(["Rain"], "x"), after=100))
    site.script("/flood.xml", Endless())
    site.redirect("/round.xml", to="/round.xml?again")
    site.redirect("/round.xml?again", to="/round.xml")
    hostile = [site.url(f"/{name}.xml") for name in ("hang", "drip", "cut", "flood", "round")]
    good = [site.serve(f"/{number}.xml", rss(["Rain"], site.url("/"))) for number in range(20)]
    services = opened(
        database, database_url, tmp_path, http_client_timeout="4", http_client_max_body_size="1",
        polling_limit_per_host="50", worker_pool_size="8",
    )  # fmt: skip
    ids = subscribe(services, "alice", *hostile, *good, icon_checked_at=4_000_000_000_000_000)

    async def poll() -> float:
        loop = asyncio.get_running_loop()
        wakeup, stop, started = WakeupEvent(database, FEEDS), asyncio.Event(), loop.time()
        running = asyncio.create_task(Poller(services.polling.claims, wakeup, max_concurrent=8).run(stop))
        while await _is_due(services) and loop.time() - started < 300:  # noqa: ASYNC110 - there is no notification to wait for
            await asyncio.sleep(0.05)
        took_s = loop.time() - started
        stop.set()
        await running
        await wakeup.close()
        await services.disconnect()
        return took_s

    # They take their time-out once, side by side; the limit leaves room for a machine that is busy otherwise.
    assert asyncio.run(poll()) < 120
    with database.reading() as db:
        found = {feed.id: feed for feed in feeds.list_all(db, 1)}
    assert [bool(found[feed_id].parsing_error_message) for feed_id in ids] == [True] * 5 + [False] * 20
    assert all(feed.next_check_at > feed.checked_at for feed in found.values())


async def _is_due(services: AllServices) -> bool:
    def look() -> bool:
        with services.database.reading() as db:
            return any(feed.checked_at == 0 for feed in feeds.list_all(db, 1))

    return await asyncio.to_thread(look)


@pytest.mark.parametrize(("due", "asks"), [(2 * SLOTS, True), (2 * SLOTS - 1, False)])
def test_a_poller_says_when_more_may_be_due_than_it_can_claim(
    database: Database, database_url: str, tmp_path: Path, site: Publisher, due: int, asks: bool
) -> None:
    services = opened(database, database_url, tmp_path, polling_limit_per_host="50")
    subscribe(services, "alice", *[site.serve(f"/{number}.xml", rss(["Rain"], site.url("/"))) for number in range(due)])
    asked: list[bool] = []

    async def poll() -> None:
        wakeup, stop = WakeupEvent(database, FEEDS), asyncio.Event()
        poller = Poller(
            services.polling.claims, wakeup, max_concurrent=SLOTS, on_full=lambda: asked.append(poller.is_busy)
        )
        running = asyncio.create_task(poller.run(stop))
        for number in range(due):
            await asyncio.to_thread(site.wait_for, 1, f"/{number}.xml")
        # What waits until the poller has less to do goes on as soon as nothing more is due.
        while poller.is_busy or poller.is_running:  # noqa: ASYNC110 - no event says so
            await asyncio.sleep(0.01)
        stop.set()
        await running
        await wakeup.close()
        await services.disconnect()

    asyncio.run(poll())

    assert any(asked) is asks


def test_a_worker_that_is_not_needed_ends(
    database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidings.worker.poller.IDLE_S", 0.1)
    monkeypatch.setattr("tidings.worker.poller.IDLE_CHECK_INTERVAL_S", 0.01)
    services = opened(database, database_url, tmp_path)
    stop = threading.Event()

    async def rest() -> None:
        wakeup = WakeupEvent(database, FEEDS)
        poller = Poller(services.polling.claims, wakeup, max_concurrent=SLOTS)
        await end_when_idle(poller, lambda: False, stop, asyncio.Event())
        await wakeup.close()
        await services.disconnect()

    asyncio.run(rest())

    assert stop.is_set()
