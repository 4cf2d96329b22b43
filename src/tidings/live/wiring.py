"""How live events are joined to the rest: their hub, endpoint and page."""

from __future__ import annotations

from tidings.live.hub import Hub
from tidings.live.services import LiveServices
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> LiveServices:
    """Return the hub, which opens nothing before the first stream."""
    return LiveServices(Hub(parts.database, parts.clock))


SLICE = Slice(build=build, endpoints=("endpoints",), pages=("pages",))
