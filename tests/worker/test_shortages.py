"""A machine that is short of files or threads is not told as the publisher's or the receiver's fault."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from support.outbox import delivery_queue, hook
from support.people import PASSWORD, rss
from support.publisher import Publisher
from support.running import environment_for
from tidings.base.errors import LocalShortage
from tidings.base.shortages import is_shortage
from tidings.content.articles import Article
from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.engine.database import Database
from tidings.engine.notify import FEEDS
from tidings.net.fetch import Fetcher, FetchRequest, FetchSettings
from tidings.services.entries.fetch_content import ArticleFetcher
from tidings.services.polling.lease import WakeupEvent
from tidings.settings import load
from tidings.storage.feeds import feeds
from tidings.wiring.services import AllServices, build_services
from tidings.worker import poller
from tidings.worker.poller import Poller

pytestmark = pytest.mark.slow


@contextmanager
def no_more_files() -> Iterator[None]:
    """No file can be opened in this process; those that are open stay so."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (OSError(errno.EMFILE, "too many open files"), True),
        (OSError(errno.ENOMEM, "out of memory"), True),
        (MemoryError(), True),
        (RuntimeError("can't start new thread"), True),
        (RuntimeError("another"), False),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), False),
        (TimeoutError(), False),
    ],
    ids=str,
)
def test_a_shortage_is_recognised_also_as_a_cause(error: Exception, is_one: bool) -> None:
    consequence = ValueError("a consequence")
    consequence.__cause__ = error

    assert is_shortage(error) is is_shortage(consequence) is is_one


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_fetch_without_files_is_a_shortage(site: Publisher, name: str) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml"))).replace("127.0.0.1", name)

    async def fetch() -> None:
        async with Fetcher(FetchSettings(user_agent="Tidings/test", allow_private_networks=True)) as fetcher:
            with no_more_files(), pytest.raises(LocalShortage):
                await fetcher.get(FetchRequest(url=url))

    asyncio.run(fetch())


def subscribed(services: AllServices, url: str, **fields: Any) -> None:
    user = services.accounts.users.create("alice", PASSWORD)
    category = services.feeds.categories.create(user.id, "Feeds")
    moments = {"created_at": 0, "checked_at": 0, "next_check_at": 0, "icon_checked_at": 4_000_000_000_000_000}
    with services.database.writing() as db:
        feeds.add(db, user.id, category_id=category.id, feed_url=url, title=url, **moments, **fields)


def test_polling_pauses_without_files_and_blames_no_feed(
    database: Database, database_url: str, tmp_path: Path, site: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Until it is ended below.
    monkeypatch.setattr(poller, "SHORTAGE_PAUSE_S", 3600)
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    services = build_services(database, load(environment_for(database_url, tmp_path), None))
    services.polling.claims._lease = 2_000_000
    subscribed(services, url)

    async def poll() -> None:
        bell, stop = WakeupEvent(database, FEEDS), asyncio.Event()
        database.ping()
        # A claim opens nothing new on a pool that is warm.
        await asyncio.to_thread(services.polling.claims.release_all, "nobody")
        with capture_logs() as logged:
            polling = Poller(services.polling.claims, bell, max_concurrent=2)
            running = asyncio.create_task(polling.run(stop))
            with no_more_files():
                while not any(line["event"] == "polling paused" for line in logged):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            with database.reading() as db:
                (feed,) = feeds.list_all(db, 1)
            assert (feed.failed_checks, feed.parsing_error_message, feed.checked_at) == (0, "", 0)
            polling._paused_until = 0.0
            while not site.requests_for("/feed.xml"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        stop.set()
        await running
        await bell.close()
        await services.disconnect()

    asyncio.run(asyncio.wait_for(poll(), 180))


def test_an_article_without_files_is_fetched_by_the_next_check(
    database: Database, database_url: str, tmp_path: Path, site: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidings.services.polling.check.USER_TIMEOUT_S", 300)
    article = "<p>" + "The rain came late, lasted long, and left by the evening. " * 10 + "</p>"
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    site.serve("/feed.xml/0", f"<html><body><article><h1>Rain</h1>{article}{article}</article></body></html>")
    services = build_services(database, load(environment_for(database_url, tmp_path), None))
    subscribed(services, url, crawler=True)
    find = ArticleFetcher.find

    async def find_without_files(*given: Any, **named: Any) -> Article:
        with no_more_files():
            return await find(*given, **named)

    async def check_twice() -> None:
        with monkeypatch.context() as short:
            short.setattr(ArticleFetcher, "find", find_without_files)
            with pytest.raises(LocalShortage):
                await services.polling.claims.refresh_now(1, 1)
        with services.entries.listing.open(1) as lists:
            assert lists.page(EntryFilter(), PageRequest()).entries == []
        await services.polling.claims.refresh_now(1, 1)
        await services.disconnect()

    asyncio.run(check_twice())

    with services.entries.listing.open(1) as lists:
        page = lists.page(EntryFilter(), PageRequest())
    assert ["lasted long" in content for content in page.contents.values()] == [True]


def test_polling_pauses_without_threads(
    database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPython says it with this error; the limit on threads of a user would hit everything else that runs as it."""
    services = build_services(database, load(environment_for(database_url, tmp_path), None))
    bell = WakeupEvent(database, FEEDS)

    def claim(*_args: object, **_named: object) -> list[object]:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(services.polling.claims, "claim", claim)

    async def poll() -> list[str]:
        stop = asyncio.Event()
        with capture_logs() as logged:
            running = asyncio.create_task(Poller(services.polling.claims, bell, max_concurrent=2).run(stop))
            while not any(line["event"] == "polling paused" for line in logged):
                assert not running.done()
                await asyncio.sleep(0.02)
            stop.set()
            await running
        await bell.close()
        await services.disconnect()
        return [line["event"] for line in logged]

    assert "polling paused" in asyncio.run(asyncio.wait_for(poll(), 180))


def test_a_delivery_without_files_counts_as_no_failure_of_its_receiver(database: Database, site: Publisher) -> None:
    mine = hook(database, site.serve("/hook"))
    mine.post("one")
    queue = delivery_queue(database)

    async def deliver() -> None:
        (receiver,) = await asyncio.to_thread(queue.claim, "worker", limit=1, max_failing=1)
        with no_more_files(), pytest.raises(LocalShortage):
            await queue.serve(receiver, "worker")
        await queue.close()

    asyncio.run(deliver())

    (shown,) = mine.all()
    assert (shown.delivery.state, shown.delivery.attempts, shown.delivery.last_error) == ("pending", 0, "")
