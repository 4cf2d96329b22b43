"""The endpoint that returns build information."""

from __future__ import annotations

import platform

from msgspec import Struct

from tidings import __version__
from tidings.http.endpoints import Routes

# The version of Miniflux whose API this is. Clients compare it number by number, so it must be exactly three numbers.
API_LEVEL = "2.3.4"

routes = Routes("Version")


class VersionOut(Struct, frozen=True):
    """version: the API level. service_version: the version of Tidings. go_version: the runtime."""

    version: str
    commit: str
    build_date: str
    go_version: str
    compiler: str
    arch: str
    os: str
    service_version: str


@routes.get("/v1/version")
def get_version() -> VersionOut:
    """Get the version of the service and its API."""
    return VersionOut(
        version=API_LEVEL,
        commit=f"v{__version__}",
        build_date=RELEASED,
        go_version=f"python{platform.python_version()}",
        compiler=platform.python_implementation().lower(),
        arch=platform.machine() or "unknown",
        os=platform.system().lower() or "unknown",
        service_version=__version__,
    )


RELEASED = "2026-11-21"
