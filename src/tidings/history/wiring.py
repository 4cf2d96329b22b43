"""How earlier versions of entries are joined to the rest: a listener, endpoints and a page."""

from __future__ import annotations

from tidings.history.store import keep_versions
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> None:
    """Hear of entries that publishers change."""
    parts.listeners.entries_arriving.append(keep_versions)


SLICE = Slice(build=build, endpoints=("endpoints",), pages=("pages",))
