"""`python -m benchmarks NAME …`, runs the named benchmarks, all of them without a name."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]


def main() -> int:
    from benchmarks import (
        apps,
        capacity,
        connections,
        deliveries,
        events,
        fan_out,
        first_sync,
        growth,
        imports,
        ingest,
        latency,
        lists,
        pages,
        queries,
        rendering,
        rules,
        schedule,
        subscribers,
        sync,
    )

    known = {
        "ingest": ingest.run,
        "lists": lists.run,
        "apps": apps.run,
        "first-sync": first_sync.run,
        "imports": imports.run,
        "pages": pages.run,
        "queries": queries.run,
        "rendering": rendering.run,
        "rules": rules.run,
        "schedule": schedule.run,
        "sync": sync.run,
        "latency": latency.run,
        "deliveries": deliveries.run,
        "connections": connections.run,
        "events": events.run,
        "growth": growth.run,
        "capacity": capacity.run,
        "subscribers": subscribers.run,
        "fan-out": fan_out.run,
    }
    chosen = sys.argv[1:] or list(known)
    if unknown := [name for name in chosen if name not in known]:
        sys.stderr.write(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(known)}\n")
        return 2
    # Some return a status: 1 if something is slower than it has to be.
    return max(known[name]() or 0 for name in chosen)


if __name__ == "__main__":
    sys.exit(main())
