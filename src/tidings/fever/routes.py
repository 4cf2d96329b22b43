"""The routes of the Fever API."""

from tidings.fever.endpoint import PATHS, routes

ROUTES = routes.all

__all__ = ["PATHS", "ROUTES"]
