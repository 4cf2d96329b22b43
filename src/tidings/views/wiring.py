"""How saved views are joined to the rest: their services, listeners, endpoints and pages."""

from __future__ import annotations

from tidings.views import saved_views, store
from tidings.views.saved_views import SavedViewArchiver, SavedViews
from tidings.views.services import ViewServices
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> ViewServices:
    """Return the saved views, and tell the core of them."""
    parts.listeners.saved_views.append(store.list_all)
    parts.listeners.kept_queries.append(saved_views.kept_queries)
    parts.listeners.synced["views"] = saved_views.synced
    parts.joins.views = SavedViewArchiver()
    return ViewServices(SavedViews(parts.database, parts.listeners))


SLICE = Slice(build=build, endpoints=("endpoints",), pages=("pages",))
