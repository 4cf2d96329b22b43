"""Three workers on one PostgreSQL, of which some are killed and some stop dead: nobody else is held up.

COMPANY_FEEDS and COMPANY_S make it longer: `COMPANY_FEEDS=2000 COMPANY_S=120 make test ARGS="-k company"`.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import defaultdict
from pathlib import Path

import pytest
from sqlalchemy import func, select

from support.people import PASSWORD, rss
from support.publisher import Answer, Publisher
from support.running import RunningService, environment_for, running
from tidings.engine.database import Database
from tidings.settings import load
from tidings.storage.feeds import feeds
from tidings.storage.schema import entries, feed_counters
from tidings.storage.schema import feeds as feed_table
from tidings.wiring.services import build_services

pytestmark = pytest.mark.slow

FEEDS = int(os.environ.get("COMPANY_FEEDS", "240"))
DURATION_S = float(os.environ.get("COMPANY_S", "4"))
ITEMS = [f"Item {number}" for number in range(5)]
RESPONSE_DELAY_S = 0.1
# Of the claims of the dead: the time-out of a fetch, and 15 seconds more.
LEASE_S = 25


def test_killed_and_suspended_workers_do_not_stop_the_others(
    engine: str, database_url: str, database: Database, site: Publisher, tmp_path: Path
) -> None:
    if engine == "sqlite":
        pytest.skip("SQLite has one writer: who is stopped in the middle of it holds up the file")
    environment = environment_for(
        database_url, tmp_path, http_client_timeout="10", polling_limit_per_host="24", worker_pool_size="8"
    )
    services = build_services(database, load(environment, None))
    user = services.accounts.users.create("alice", PASSWORD)
    category = services.feeds.categories.create(user.id, "Feeds")
    moments = {"created_at": 0, "checked_at": 0, "next_check_at": 0, "icon_checked_at": 4_000_000_000_000_000}
    rows = []
    for number in range(FEEDS):
        path = f"/{number}.xml"
        site.script(path, Answer(rss(ITEMS, site.url(path)), after_s=RESPONSE_DELAY_S))
        rows.append({"category_id": category.id, "feed_url": site.url(path), "title": path, **moments})
    with database.writing() as db:
        feeds.add_many(db, user.id, rows)

    with (
        running("worker", environment, tmp_path) as killed,
        running("worker", environment, tmp_path) as frozen,
        running("worker", environment, tmp_path) as healthy,
    ):
        _wait_for_polled(database, FEEDS // 10)
        _kill_and_suspend(killed, frozen)
        _wait_for_polled(database, FEEDS)
        # It goes on where it stopped, when others have long taken what it held.
        os.killpg(frozen.process.pid, signal.SIGCONT)
        time.sleep(1)
        assert frozen.stop() == healthy.stop() == 0

    with database.reading() as db:
        stored = db.tuples(select(entries.c.feed_id, entries.c.title))
        counted = db.scalars(select(feed_counters.c.unread))
    assert len(stored) == len(set(stored)) == FEEDS * len(ITEMS)
    assert set(counted) == {len(ITEMS)}
    assert _concurrent_requests(site) == []


def _kill_and_suspend(killed: RunningService, frozen: RunningService) -> None:
    """One dies, one stops dead; where there is more time, the latter comes and goes."""
    rng, end = random.Random(7), time.monotonic() + DURATION_S
    os.killpg(killed.process.pid, signal.SIGKILL)
    while time.monotonic() < end:
        os.killpg(frozen.process.pid, signal.SIGSTOP)
        time.sleep(rng.uniform(1, max(2, DURATION_S / 4)))
        os.killpg(frozen.process.pid, signal.SIGCONT)
        time.sleep(rng.uniform(0.1, 1))
    os.killpg(frozen.process.pid, signal.SIGSTOP)


def _concurrent_requests(site: Publisher) -> list[str]:
    """Feeds that were asked for while an answer about them was under way."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for seen in site.requests:
        times[seen.path].append(seen.at)
    return [
        path
        for path, at in times.items()
        if any(later - earlier < RESPONSE_DELAY_S for earlier, later in zip(sorted(at), sorted(at)[1:], strict=False))
    ]


def _polled(database: Database) -> int:
    with database.reading() as db:
        return int(db.scalar(select(func.count()).select_from(feed_table).where(feed_table.c.checked_at > 0)))


def _wait_for_polled(database: Database, count: int) -> None:
    """Wait until so many feeds were polled. On a slow machine each takes longer, but there is always a next one."""
    polled, deadline = -1, 0.0
    while polled < count:
        now, before = time.monotonic(), polled
        polled = _polled(database)
        if polled > before:
            deadline = now + DURATION_S + 6 * LEASE_S
        assert now < deadline, f"no feed was polled after the first {polled}"
        time.sleep(0.05)
