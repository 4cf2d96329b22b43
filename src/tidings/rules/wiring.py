"""How rules with actions are joined to the rest: their services, their listener, and where their routes are."""

from __future__ import annotations

from functools import partial

from tidings.base.messages import msg
from tidings.rules.archiver import OwnRuleArchiver
from tidings.rules.arrival import decide_arrivals
from tidings.rules.rules import Rules, kept_queries, synced
from tidings.rules.runs import RuleRuns, remove_expired
from tidings.rules.services import RuleServices
from tidings.rules.worker import RuleApplier
from tidings.services.entries.listing import EntryListReader
from tidings.services.entries.search_index import SearchIndexer
from tidings.services.listeners import CleanupTask
from tidings.web.settings_menu import MenuItem
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> RuleServices:
    """Return the rules of users, which decide about arriving entries."""
    parts.listeners.entries_arriving.append(partial(decide_arrivals, parts.listeners))
    parts.listeners.kept_queries.append(kept_queries)
    parts.listeners.synced["rules"] = synced
    parts.joins.rules = OwnRuleArchiver(parts.listeners)
    lists = EntryListReader(parts.database, SearchIndexer(parts.database))
    parts.listeners.cleanup_tasks.append(CleanupTask("rule runs", remove_expired))
    joined = (parts.database, parts.clock, lists, parts.listeners)
    return RuleServices(rules=Rules(*joined), runs=RuleRuns(*joined))


def loops(services: RuleServices, worker: str) -> tuple[RuleApplier]:
    return (RuleApplier(services.runs, worker),)


SLICE = Slice(
    build=build,
    endpoints=("endpoints",),
    pages=("pages",),
    settings_menu=(MenuItem("/rules", msg("Rules"), after="/settings/filters"),),
    loops=loops,
)
