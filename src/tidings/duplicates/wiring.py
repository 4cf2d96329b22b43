"""How the search for duplicates is joined to the rest: a listener for new entries, and a loop for stored ones."""

from __future__ import annotations

from tidings.duplicates.search import DuplicateSearch
from tidings.duplicates.services import DuplicateServices
from tidings.duplicates.worker import DuplicateWorker
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> DuplicateServices:
    """Return the search, which hears of new entries."""
    search = DuplicateSearch(parts.database, parts.clock)
    parts.listeners.entries_arriving.append(search.decide_arrivals)
    return DuplicateServices(search)


def loops(services: DuplicateServices, _worker: str) -> tuple[DuplicateWorker]:
    return (DuplicateWorker(services.search),)


SLICE = Slice(build=build, loops=loops)
