"""One round over all feeds, for a person at a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from tidings.domain.polling.sources import SourceLease
from tidings.services import Services


class Refreshed(Struct, frozen=True):
    feeds: int
    failed: int
    new_entries: int


async def refresh(
    services: Services, username: str | None, *, progress: Callable[[int, int], None], places: int
) -> Refreshed:
    """progress: called with how many feeds are done and how many there are. places: fetches at the same time."""
    claims = await asyncio.to_thread(services.polling.enabled, username)
    total = sum(len(claim.feeds) for claim in claims)
    place, done, failed, new = asyncio.Semaphore(places), 0, 0, 0
    progress(0, total)

    async def check(claim: SourceLease) -> None:
        nonlocal done, failed, new
        async with place:
            outcomes = await services.polling.check(claim)
        done += len(outcomes)
        failed += sum(one.error is not None for one in outcomes.values())
        new += sum(len(one.new_ids) for one in outcomes.values())
        progress(done, total)

    await asyncio.gather(*(check(claim) for claim in claims))
    return Refreshed(total, failed, new)
