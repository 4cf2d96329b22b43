"""How live OPML is joined to the rest: its services, endpoints, page and loop."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.live_opml.archiving import ListArchiver
from tidings.live_opml.services import LiveOpmlServices
from tidings.live_opml.subscriptions import LiveOpml
from tidings.live_opml.worker import ListChecker
from tidings.web.settings_menu import MenuItem
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> LiveOpmlServices:
    parts.joins.live_opml = ListArchiver(parts.clock)
    return LiveOpmlServices(LiveOpml(parts.database, parts.clock, parts.fetcher, parts.listeners))


def loops(services: LiveOpmlServices, worker: str) -> tuple[ListChecker]:
    return (ListChecker(services.subscriptions, worker),)


SLICE = Slice(
    build=build,
    endpoints=("endpoints",),
    pages=("pages",),
    settings_menu=(MenuItem("/opml-subscriptions", msg("Live OPML"), after="/newsletters"),),
    loops=loops,
)
