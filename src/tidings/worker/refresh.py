"""One round over all feeds, for a person at a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from tidings.domain.feeds import Feed
from tidings.services import Services


class Refreshed(Struct, frozen=True):
    feeds: int
    failed: int
    new_entries: int


async def refresh(
    services: Services, username: str | None, *, progress: Callable[[int, int], None], places: int
) -> Refreshed:
    """progress: called with how many are done and how many there are. places: feeds checked at the same time."""
    feeds = await asyncio.to_thread(services.polling.enabled_feeds, username)
    place, done, failed, new = asyncio.Semaphore(places), 0, 0, 0
    progress(0, len(feeds))

    async def check(feed: Feed) -> None:
        nonlocal done, failed, new
        async with place:
            outcome = await services.polling.check(feed)
        done += 1
        failed += outcome.error is not None
        new += outcome.new_entries
        progress(done, len(feeds))

    await asyncio.gather(*(check(feed) for feed in feeds))
    return Refreshed(len(feeds), failed, new)
