"""The instance page for administrators: the numbers of `tidings status`."""

from __future__ import annotations

from tidings.http.endpoints import Routes
from tidings.maintenance.services import MaintenanceServices
from tidings.web.context import PageResponse
from tidings.web.language import _

routes = Routes()

ENGINES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@routes.get("/instance", admin=True)
def show_instance(maintenance: MaintenanceServices) -> PageResponse:
    overview = maintenance.status.cached()
    known = {"title": _("This instance"), "seen": overview, "engine": ENGINES[overview.database_engine]}
    return PageResponse("maintenance/instance.html", known)
