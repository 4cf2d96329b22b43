"""Is it alive, is it ready: plain text for whoever watches. Beside /v1, and without credentials."""

from __future__ import annotations

from tidings.api.routes import Media, Routes
from tidings.domain.errors import StoreUnavailable
from tidings.http.replies import Reply, text
from tidings.services import Services

ALIVE = ("/healthz", "/liveness")
READY = ("/healthcheck", "/readiness", "/readyz")

routes = Routes("Health")

_OK = Media("text/plain", {"type": "string", "const": "OK"})


def is_alive() -> Reply:
    """OK while the process runs."""
    return text("OK")


def is_ready(services: Services) -> Reply:
    """OK while the database answers."""
    try:
        services.ping()
    except StoreUnavailable:
        return text("the database does not answer", 503)
    return text("OK")


for _path in ALIVE:
    routes.get(_path, is_open=True, answers={200: _OK})(is_alive)
for _path in READY:
    routes.get(_path, is_open=True, answers={200: _OK, 503: Media("text/plain", {"type": "string"})})(is_ready)
