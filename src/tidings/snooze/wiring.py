"""How snoozed entries are joined to the rest: endpoints, pages, and a loop that brings entries back."""

from __future__ import annotations

from tidings.snooze.services import SnoozeServices
from tidings.snooze.snooze import Snooze
from tidings.snooze.worker import SnoozeWorker
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> SnoozeServices:
    return SnoozeServices(Snooze(parts.database, parts.clock, parts.listeners))


def loops(services: SnoozeServices, _worker: str) -> tuple[SnoozeWorker]:
    return (SnoozeWorker(services.snooze),)


SLICE = Slice(build=build, endpoints=("endpoints",), pages=("pages",), loops=loops)
