"""The routes of the API and of the pages, with those of the slices. Importing this imports every handler."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from tidings.api.openapi import ApiDocument
from tidings.api.routes import CORE_API_ROUTES
from tidings.http.endpoints import Routes, placed
from tidings.maintenance import health_endpoints
from tidings.web.routes import CORE_PAGE_ROUTES
from tidings.web.settings_menu import settings_menu
from tidings.wiring.slices import SLICES


def _routes(name: str, modules: Iterable[str]) -> list[Routes]:
    return [import_module(f"tidings.{name}.{module}").routes for module in modules]


API_ROUTES = placed(
    CORE_API_ROUTES, [routes for name, one in SLICES.items() for routes in _routes(name, one.endpoints)]
)
PAGE_ROUTES = placed(CORE_PAGE_ROUTES, [routes for name, one in SLICES.items() for routes in _routes(name, one.pages)])
SETTINGS_MENU = settings_menu(item for one in SLICES.values() for item in one.settings_menu)
# The health checks are not below /v1.
DOCUMENTED_ROUTES = [*API_ROUTES, *health_endpoints.routes.all]
API_DOCUMENT = ApiDocument(DOCUMENTED_ROUTES)
