"""Measures how much more memory subscribing to a feed takes, in a process of its own.

python -m support.memory DATABASE_URL DATA_FOLDER SMALL_FEED_URL FEED_URL      prints the peak in bytes

Linux only: the peak is reset after subscribing to a small feed, so that imports and permanent caches do not count.
"""

from __future__ import annotations

import asyncio
import re
import resource
import sys
from pathlib import Path

from support.people import PASSWORD
from support.running import environment_for
from tidings.engine.database import Database
from tidings.settings import load
from tidings.wiring.services import build_services

# Above this limit allocation fails, before the system kills another process.
ENOUGH = 3 * 2**30
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def main(database_url: str, folder: str, small: str, large: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ENOUGH, ENOUGH))
    services = build_services(Database(database_url), load(environment_for(database_url, Path(folder)), None))
    user = services.accounts.users.create("alice", PASSWORD)

    async def subscribe() -> None:
        await services.feeds.subscriptions.create(user, {"feed_url": small})
        before = _reset_peak()
        await services.feeds.subscriptions.create(user, {"feed_url": large})
        # The first line ends the log.
        sys.stdout.write(f"\n{(_kilobytes('VmHWM') - before) * 1024}\n")
        await services.close()

    asyncio.run(subscribe())


def _reset_peak() -> int:
    """Reset the peak. Returns the kilobytes in use now."""
    RESET.write_text("5")
    return _kilobytes("VmRSS")


def _kilobytes(field: str) -> int:
    match = re.search(rf"^{field}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    assert match
    return int(match[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
