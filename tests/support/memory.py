"""How much more memory it takes to subscribe to a feed: a process of its own that does that and tells.

python -m support.memory DATABASE_URL DATA_FOLDER SMALL_FEED_URL FEED_URL      prints bytes, at the peak

Linux only: the peak of a process is set back after it has subscribed to something small, so that what it imports and
keeps for good does not count.
"""

from __future__ import annotations

import asyncio
import re
import resource
import sys
from pathlib import Path

from support.people import PASSWORD
from support.running import environment_for
from tidings.settings import load
from tidings.storage.engine.database import Database
from tidings.wiring import build_services

# Beyond this limit allocation fails, before the system kills another process.
ENOUGH = 3 * 2**30
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def main(database_url: str, folder: str, small: str, large: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ENOUGH, ENOUGH))
    services = build_services(Database(database_url), load(environment_for(database_url, Path(folder)), None))
    user = services.users.create("alice", PASSWORD)

    async def subscribe() -> None:
        await services.feeds.create(user, {"feed_url": small})
        before = _start_anew()
        await services.feeds.create(user, {"feed_url": large})
        # The log comes before.
        sys.stdout.write(f"\n{(_kilobytes('VmHWM') - before) * 1024}\n")
        await services.close()

    asyncio.run(subscribe())


def _start_anew() -> int:
    """Kilobytes from which on the peak counts."""
    RESET.write_text("5")
    return _kilobytes("VmRSS")


def _kilobytes(what: str) -> int:
    found = re.search(rf"^{what}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    assert found
    return int(found[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
