"""The database is the only state: a poller may be killed at any instant."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select

from support.people import PASSWORD, rss
from support.publisher import Answer, Hang, Publisher, ReceivedRequest, Reply
from support.random_examples import in_long_run
from support.running import environment_for, running
from tidings.domain.accounts.users import User
from tidings.engine.database import Database
from tidings.settings import load
from tidings.storage.feeds import feeds
from tidings.storage.schema import entries, feed_counters, sources
from tidings.storage.schema import feeds as feed_table
from tidings.wiring.services import build_services

pytestmark = pytest.mark.slow

FEEDS = in_long_run(200, otherwise=100)
ITEMS = [f"Item {number}" for number in range(5)]


def seed(
    database: Database,
    environment: dict[str, str],
    site: Publisher,
    reply: Reply | None = None,
    *,
    delay_s: Callable[[int], float] = lambda _number: 0.05,
) -> User:
    """Feeds that are all due. reply: to each request; by default the feed, after a delay that depends on its number."""
    services = build_services(database, load(environment, None))
    user = services.accounts.users.create("alice", PASSWORD)
    category = services.feeds.categories.create(user.id, "Feeds")
    for number in range(FEEDS):
        path = f"/{number}.xml"
        site.script(path, reply or _delayed(rss(ITEMS, site.url(path)), partial(delay_s, number)))
        with database.writing() as db:
            feeds.add(
                db, user.id, category_id=category.id, feed_url=site.url(path), title=path,
                created_at=0, checked_at=0, next_check_at=0,
            )  # fmt: skip
    return user


def _delayed(document: str, delay_s: Callable[[], float]) -> Callable[[ReceivedRequest], Reply]:
    return lambda _seen: Answer(document, after_s=delay_s())


def polled(database: Database) -> int:
    with database.reading() as db:
        return int(db.scalar(select(func.count()).select_from(feed_table).where(feed_table.c.checked_at > 0)))


def leased_sources(database: Database) -> int:
    """Return how many sources are leased to a worker."""
    with database.reading() as db:
        return int(db.scalar(select(func.count()).select_from(sources).where(sources.c.claimed_until.is_not(None))))


def wait_for(condition: Callable[[], bool], within_s: float = 120) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_a_killed_poller_loses_duplicates_and_blocks_nothing(
    database_url: str, database: Database, site: Publisher, tmp_path: Path
) -> None:
    environment = environment_for(
        database_url, tmp_path, http_client_timeout="10", polling_limit_per_host="8", worker_pool_size="8"
    )
    is_killed = threading.Event()
    # Until it is killed, the second half takes so long that nobody can be too late for that.
    user = seed(database, environment, site, delay_s=lambda n: 0.05 if is_killed.is_set() or n < FEEDS // 2 else 3)

    with running("worker", environment, tmp_path) as first:
        wait_for(lambda: polled(database) > FEEDS // 4)
        os.killpg(first.process.pid, signal.SIGKILL)
        first.process.wait()
    is_killed.set()
    stored_before_restart = polled(database)
    assert stored_before_restart < FEEDS

    with running("worker", environment, tmp_path) as second:
        # What the first one held is free again when its lease ends: the timeout and 15 seconds more.
        wait_for(lambda: polled(database) == FEEDS)
        assert second.stop() == 0

    with database.reading() as db:
        stored = db.tuples(select(entries.c.feed_id, entries.c.title))
        counted = db.tuples(select(feed_counters.c.unread).where(feed_counters.c.user_id == user.id))
    assert len(stored) == len(set(stored)) == FEEDS * len(ITEMS)
    assert leased_sources(database) == 0
    assert [row[0] for row in counted] == [len(ITEMS)] * FEEDS


def test_two_pollers_never_check_a_feed_at_the_same_time(
    database_url: str, database: Database, site: Publisher, tmp_path: Path
) -> None:
    environment = environment_for(database_url, tmp_path, polling_limit_per_host="8", worker_pool_size="8")
    seed(database, environment, site)

    with running("worker", environment, tmp_path), running("worker", environment, tmp_path):
        wait_for(lambda: polled(database) == FEEDS)

    requested = [seen.path for seen in site.requests if seen.path.endswith(".xml")]
    assert sorted(requested) == sorted(f"/{number}.xml" for number in range(FEEDS))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_poller_releases_its_leases(
    database_url: str, database: Database, site: Publisher, tmp_path: Path, how: signal.Signals
) -> None:
    environment = environment_for(
        database_url, tmp_path, http_client_timeout="600", polling_limit_per_host="4", worker_pool_size="8"
    )
    seed(database, environment, site, Hang())

    with running("worker", environment, tmp_path) as worker:
        site.wait_for(4)
        assert leased_sources(database) >= 4
        # The checks that it has begun would take ten minutes.
        assert worker.stop(how) == 0

    assert leased_sources(database) == 0
