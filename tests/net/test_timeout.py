"""The timeout does not count time during which the process was suspended."""

from __future__ import annotations

import asyncio
import time

import pytest

from net.fetching import with_fetcher
from support.publisher import Hang, Publisher
from tidings.net.errors import FetchTimeout
from tidings.net.fetch import STEP_S, SUSPENDED_S, Fetcher, FetchRequest, FetchResponse, timeout_excluding_suspend

pytestmark = pytest.mark.slow

FEED = "<rss><channel><title>Rain tomorrow</title></channel></rss>"
STOP_S = STEP_S + SUSPENDED_S + 0.5


def fetch_standing_still(site: Publisher, *, timeout_s: float) -> FetchResponse:
    """Simulates a process that is suspended as soon as it has sent its request."""

    async def use(fetcher: Fetcher) -> FetchResponse:
        fetching = asyncio.create_task(fetcher.get(FetchRequest(url=site.url("/"), timeout_s=timeout_s)))
        await asyncio.to_thread(site.wait_for, 1)
        time.sleep(STOP_S)  # noqa: ASYNC251 - nobody else is here
        return await fetching

    return with_fetcher(use)


@pytest.mark.parametrize("timeout_s", [STEP_S, STOP_S - 0.2], ids=["long before", "shortly before"])
def test_data_that_arrived_during_a_suspension_is_read(timeout_s: float, site: Publisher) -> None:
    """Holds for every timeout that ends during the suspension."""
    site.serve("/", FEED, after_s=0.2)

    found = fetch_standing_still(site, timeout_s=timeout_s)

    assert found.body == FEED.encode()


def test_a_server_that_hangs_after_a_suspension_still_times_out(site: Publisher) -> None:
    site.script("/", Hang())

    with pytest.raises(FetchTimeout):
        fetch_standing_still(site, timeout_s=STEP_S)


def test_a_timeout_of_several_steps_ends_a_fetch_that_hangs(site: Publisher) -> None:
    site.script("/", Hang())

    with pytest.raises(FetchTimeout):
        with_fetcher(lambda fetcher: fetcher.get(FetchRequest(url=site.url("/"), timeout_s=2 * STEP_S + 0.2)))


def test_a_timeout_of_many_steps_is_not_over_after_one(site: Publisher) -> None:
    site.serve("/", FEED, after_s=STEP_S + 0.2)

    found = with_fetcher(lambda fetcher: fetcher.get(FetchRequest(url=site.url("/"), timeout_s=30 * STEP_S)))

    assert found.body == FEED.encode()


def test_a_slightly_late_timer_is_no_suspension() -> None:
    async def use() -> None:
        async with timeout_excluding_suspend(0.1):
            time.sleep(0.5)  # noqa: ASYNC251 - nobody else is here
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(use())


def test_the_timer_is_cancelled_when_the_block_ends() -> None:
    async def use() -> str:
        async with timeout_excluding_suspend(0.1):
            await asyncio.sleep(0)
        await asyncio.sleep(0.3)
        return "done"

    assert asyncio.run(use()) == "done"
