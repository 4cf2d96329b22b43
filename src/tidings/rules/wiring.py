"""How rules with actions are joined to the rest: their services, their listener, and where their routes are."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.rules.arrival import decide_arrivals
from tidings.rules.rules import Rules
from tidings.rules.services import RuleServices
from tidings.services.entries.listing import EntryListReader
from tidings.services.entries.search_index import SearchIndexer
from tidings.web.settings_menu import MenuItem
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> RuleServices:
    """Return the rules of users, which decide about arriving entries."""
    parts.listeners.entries_arriving.append(decide_arrivals)
    lists = EntryListReader(parts.database, SearchIndexer(parts.database))
    return RuleServices(rules=Rules(parts.database, parts.clock, lists))


SLICE = Slice(
    build=build,
    endpoints=("endpoints",),
    pages=("pages",),
    settings_menu=(MenuItem("/rules", msg("Rules"), after="/settings/filters"),),
)
