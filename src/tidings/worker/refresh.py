"""Checks all enabled feeds once, for `tidings refresh`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from tidings.domain.polling.shared_sources import SourceLease
from tidings.services import Services


class RefreshSummary(Struct, frozen=True):
    """Counts of one refresh."""

    feeds: int
    """Number of feeds checked, including failed ones."""
    failed: int
    new_entries: int


async def refresh(
    services: Services, username: str | None, *, progress: Callable[[int, int], None], max_concurrent: int
) -> RefreshSummary:
    """Check the enabled feeds of one user, or of all if `username` is None. Raises NotFound for an unknown user.

    progress: called with the number of feeds checked and the total. max_concurrent: fetches at the same time.
    """
    leases = await asyncio.to_thread(services.polling.claims.enabled, username)
    total = sum(len(lease.feeds) for lease in leases)
    slots, done, failed, new = asyncio.Semaphore(max_concurrent), 0, 0, 0
    progress(0, total)

    async def check(lease: SourceLease) -> None:
        nonlocal done, failed, new
        async with slots:
            results = await services.polling.claims.check(lease)
        done += len(results)
        failed += sum(result.error is not None for result in results.values())
        new += sum(len(result.new_ids) for result in results.values())
        progress(done, total)

    await asyncio.gather(*(check(lease) for lease in leases))
    return RefreshSummary(total, failed, new)
