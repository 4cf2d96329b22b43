"""How things stand, for administrators: the numbers of `tidings status`."""

from __future__ import annotations

from tidings.services import Services
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.visits import Page

routes = Routes()

ENGINES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@routes.get("/instance", admin=True)
def show_instance(services: Services) -> Page:
    overview = services.status.recent()
    known = {"title": _("This instance"), "seen": overview, "engine": ENGINES[overview.database_engine]}
    return Page("settings/instance.html", known)
